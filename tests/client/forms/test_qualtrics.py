"""A survey of Qualtrics becomes a survey with a report: its flow, question types, logic and languages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.client.forms.test_mapper import verdicts

from deniable.errors import SurveyError
from deniable.forms import ImportedForm, form_kind, read_form
from deniable.survey import Survey
from deniable.survey.dump import to_yaml

Question = dict[str, Any]


def asked(qid: str, kind: str, selector: str, text: str, **more: Any) -> Question:
    payload = {"QuestionID": qid, "DataExportTag": f"Q{qid[3:]}", "QuestionType": kind, "Selector": selector, "QuestionText": text}
    return payload | {"Language": [], "Validation": {"Settings": {"ForceResponse": "ON", "Type": "None"}}} | more


def choices(*labels: str) -> dict[str, Any]:
    return {"Choices": {str(n): {"Display": label} for n, label in enumerate(labels, 1)}, "ChoiceOrder": list(range(1, len(labels) + 1))}


def logic(*parts: tuple[str, str, str], kind: str = "Question") -> dict[str, Any]:
    """A display logic of (operand, operator, conjunction)."""
    expressions = {
        str(n): {
            "LogicType": kind,
            "LeftOperand": operand,
            "Operator": operator,
            "RightOperand": "18",
            "Conjuction": conjunction,
            "Description": "<b>If</b> it",
        }
        for n, (operand, operator, conjunction) in enumerate(parts)
    }
    return {"0": {**expressions, "Type": "If"}, "Type": "BooleanExpression"}


YES = ("q://QID1/SelectableChoice/1", "Selected", "And")
QUESTIONS = [
    asked("QID1", "MC", "SAVR", "Do you agree?", **choices("Yes", "No"), Language={"DE": {"QuestionText": "Stimmen Sie zu?"}}),
    asked("QID2", "DB", "TB", "Now <b>read</b> this."),
    asked(
        "QID3",
        "MC",
        "MAVR",
        "Which?",
        Randomization={"Type": "All"},
        Choices={"1": {"Display": "Tea"}, "5": {"Display": "None", "ExclusiveAnswer": True}},
        ChoiceOrder=["5", "1"],
    ),
    asked(
        "QID4",
        "Matrix",
        "Likert",
        "Rate",
        SubSelector="SingleAnswer",
        **choices("Pay", "Boss"),
        Answers={str(n): {"Display": f"Step {n}"} for n in (1, 2, 3)},
        AnswerOrder=[1, 2, 3],
    ),
    asked(
        "QID5", "Slider", "HSLIDER", "How much?", **choices("x"), Configuration={"CSSliderMin": 0, "CSSliderMax": 100, "NumDecimals": "0"}
    ),
    asked(
        "QID6",
        "TE",
        "SL",
        "Age?",
        Validation={
            "Settings": {
                "ForceResponse": "OFF",
                "Type": "ContentType",
                "ContentType": "ValidNumber",
                "ValidNumber": {"Min": "0", "Max": "120", "NumDecimals": ""},
            }
        },
    ),
    asked(
        "QID7",
        "MC",
        "SAVR",
        "Adult?",
        **choices("Yes", "No"),
        DisplayLogic=logic(("q://QID6/ChoiceTextEntryValue", "GreaterThanOrEqual", "And")),
    ),
    asked(
        "QID8", "MC", "SAVR", "Tea or not?", **choices("A", "B"), DisplayLogic=logic(YES, ("q://QID3/SelectableChoice/1", "Selected", "Or"))
    ),
    asked(
        "QID9",
        "MC",
        "SAVR",
        "Phone, ${q://QID1/ChoiceGroup/SelectedChoices}?",
        **choices("A", "B"),
        DisplayLogic=logic(YES, kind="DeviceType"),
    ),
    asked(
        "QID10",
        "MC",
        "SAVR",
        "Bad pay?",
        **choices("A", "B"),
        DisplayLogic=logic(("q://QID4/SelectableAnswer/1/1", "Selected", "And")),
    ),
    asked("QID11", "TE", "SL", "Why?"),
    asked("QID12", "MC", "SAVR", "Unused", **choices("A", "B")),
    asked("QID13", "MC", "SAVR", "Again and again", **choices("A", "B")),
    asked("QID14", "MC", "NPS", "Recommend?", Choices={str(n): {"Display": str(n)} for n in range(11)}, ChoiceOrder=list(range(11))),
]
BLOCKS = {
    "first": [1],
    "main": [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14],
    "loop": [13],
}


def qsf(questions: list[Question] = QUESTIONS, flow: list[dict[str, Any]] | None = None) -> bytes:
    blocks = [
        {"Type": "Standard", "ID": name, "Description": name, "Options": {"Looping": "Question"} if name == "loop" else {}}
        | {"BlockElements": [{"Type": "Question", "QuestionID": f"QID{number}"} for number in numbers]}
        for name, numbers in BLOCKS.items()
    ]
    end = {"Type": "Branch", "BranchLogic": logic(("q://QID1/SelectableChoice/2", "Selected", "And")), "Flow": [{"Type": "EndSurvey"}]}
    randomizer = {
        "Type": "BlockRandomizer",
        "FlowID": "FL_1",
        "SubSet": 1,
        "Flow": [{"Type": "Block", "ID": "main"}, {"Type": "Block", "ID": "loop"}],
    }
    elements = [
        {"Element": "BL", "PrimaryAttribute": "Survey Blocks", "Payload": blocks},
        {
            "Element": "FL",
            "PrimaryAttribute": "Survey Flow",
            "Payload": {"Type": "Root", "Flow": flow or [{"Type": "Block", "ID": "first"}, end, randomizer]},
        },
        *({"Element": "SQ", "PrimaryAttribute": one["QuestionID"], "Payload": one} for one in questions),
    ]
    return json.dumps({"SurveyEntry": {"SurveyName": "Habits", "SurveyLanguage": "EN"}, "SurveyElements": elements}).encode()


def imported() -> ImportedForm:
    found = read_form(qsf())
    assert Survey.from_text(to_yaml(found.document)) == Survey.from_dict(found.document)
    return found


def test_question_types_logic_and_flow_become_those_of_a_survey() -> None:
    document = imported().document
    by_id = {one["id"]: one for one in document["questions"]}
    agreed = {"question": "Q1", "is": ["yes"]}
    assert {name: one["type"] for name, one in by_id.items()} == {
        "Q1": "yes_no",
        "Q3": "multi_choice",
        "Q4_1_block": "rating",
        "Q5_1": "number",
        "Q6": "number",
        "Q7": "yes_no",
        "Q8": "choice",
        "Q9": "choice",
        "Q10": "choice",
        "Q14": "scale",
    }
    assert by_id["Q3"]["options"] == ["None", "Tea"]
    assert by_id["Q3"]["none"] == "None"
    assert by_id["Q3"]["show_if"] == agreed  # the others have left by then
    assert by_id["Q3"]["help"] == "Now read this."
    assert by_id["Q7"]["show_if"] == {"all": [agreed, {"question": "Q6", "at_least": "18"}]}
    assert by_id["Q8"]["show_if"] == {"all": [agreed, {"any": [agreed, {"question": "Q3", "is": ["Tea"]}]}]}
    assert by_id["Q9"]["show_if"] == agreed
    assert by_id["Q10"]["show_if"] == {"all": [agreed, {"question": "Q4_1", "is": ["Step 1"]}]}
    assert (by_id["Q5_1"]["low"], by_id["Q5_1"]["high"], by_id["Q6"]["high"]) == ("0", "100", "120")
    assert document["translations"] == {"de": {"questions": {"Q1": {"text": "Stimmen Sie zu?"}}}}


def test_everything_else_is_reported_with_its_reason() -> None:
    lines = verdicts(imported())
    assert lines["Q11"] == ("refused", "free text is not possible: a unique answer cannot be hidden")
    assert lines["Q13"] == ("refused", "it is repeated: each repetition would reveal more")
    assert lines["FL_1"] == ("refused", "all are asked all 2 parts, not 1 of them by chance")
    assert "its condition leaves out If it" in lines["Q9"][1]
    assert "Q12" not in lines


@pytest.mark.parametrize(
    "raw",
    [
        b'{"SurveyElements": []}',
        b'{"SurveyEntry": {}, "SurveyElements": [{"Element": "SQ"}]}',
        b'{"SurveyEntry": [], "SurveyElements": 3}',
        b'{"SurveyElements"' + b"[" * 100_000,
        b'{"SurveyElements": "\xff"}',
        b'{"SurveyElements": ' + b" " * (8 << 20) + b"[]}",
    ],
)
def test_a_hostile_file_is_refused_in_one_line(raw: bytes) -> None:
    assert form_kind(raw) == "Qualtrics"
    with pytest.raises(SurveyError, match="must ") as refused:
        read_form(raw)
    assert len(refused.value.problems) == 1


def test_a_survey_without_a_flow_asks_its_blocks_in_order() -> None:
    survey = json.loads(qsf())
    survey["SurveyElements"] = [one for one in survey["SurveyElements"] if one["Element"] != "FL"]
    assert [one["id"] for one in read_form(json.dumps(survey).encode()).document["questions"]][:2] == ["Q1", "Q3"]


@pytest.mark.parametrize(
    ("settings", "keys", "why"),
    [
        ({"Type": "MaxChoices", "MaxChoices": "2"}, {"at_most": "2"}, ""),
        ({"Type": "MinChoices", "MinChoices": "1"}, {"at_least": "1"}, ""),
        ({"Type": "ChoiceRange", "MinChoices": "1", "MaxChoices": "2"}, {"at_least": "1", "at_most": "2"}, ""),
        ({"Type": "ChoiceRange", "MinChoices": "3", "MaxChoices": "2"}, {}, "the limits of how many options may be chosen are left out"),
        ({"Type": "ChoicesTotal", "ChoiceTotal": "100"}, {}, "its validation is left out"),
    ],
)
def test_the_numbers_of_choices_become_limits_or_are_reported(settings: dict[str, str], keys: dict[str, str], why: str) -> None:
    validation = {"Settings": {"ForceResponse": "ON", **settings}}
    one = asked("QID1", "MC", "MAVR", "Which?", **choices("Tea", "Milk", "Water"), Validation=validation)
    found = read_form(qsf([one], [{"Type": "Block", "ID": "first"}]))
    [question] = found.document["questions"]
    assert {key: question[key] for key in ("at_least", "at_most") if key in question} == keys
    assert (verdicts(found)["Q1"][1] == why) if why else verdicts(found)["Q1"][0] == "mapped"


def skip(qid: str, target: str, operator: str = "Selected", option: str = "2") -> dict[str, Any]:
    operand = f"q://{qid}/SelectableChoice/{option}"
    return {"Locator": operand, "Condition": operator, "SkipToDestination": target, "SkipToDescription": f"If {qid} is {option}"}


def survey_of(
    questions: list[Question],
    blocks: dict[str, list[str]],
    flow: list[dict[str, Any]] | None = None,
    skips: dict[str, list[dict[str, Any]]] | None = None,
    options: dict[str, dict[str, Any]] | None = None,
) -> bytes:
    """A file whose blocks have the given questions, skip logic and options."""
    payload = [
        {"Type": "Standard", "ID": name, "Description": name, "Options": (options or {}).get(name, {})}
        | {"BlockElements": [{"Type": "Question", "QuestionID": qid, "SkipLogic": (skips or {}).get(qid)} for qid in qids]}
        for name, qids in blocks.items()
    ]
    elements = [
        {"Element": "BL", "PrimaryAttribute": "Survey Blocks", "Payload": payload},
        {"Element": "FL", "PrimaryAttribute": "Survey Flow", "Payload": {"Flow": flow or [block(name) for name in blocks]}},
        *({"Element": "SQ", "PrimaryAttribute": one["QuestionID"], "Payload": one} for one in questions),
    ]
    return json.dumps({"SurveyEntry": {"SurveyName": "Habits", "SurveyLanguage": "EN"}, "SurveyElements": elements}).encode()


def block(name: str) -> dict[str, Any]:
    return {"Type": "Block", "ID": name}


def branch(qid: str, *inner: dict[str, Any]) -> dict[str, Any]:
    """A branch for people who chose the second option."""
    return {"Type": "Branch", "BranchLogic": logic((f"q://{qid}/SelectableChoice/2", "Selected", "And")), "Flow": list(inner)}


END: dict[str, Any] = {"Type": "EndSurvey"}
FOUR = [asked(f"QID{number}", "MC", "SAVR", f"Question {number}?", **choices("First", "Second", "Third")) for number in range(1, 5)]
IN_ONE = {"main": ["QID1", "QID2", "QID3", "QID4"]}
NOT_SECOND = {"question": "Q1", "is": ["First", "Third"]}


def asked_if(raw: bytes) -> dict[str, Any]:
    return {one["id"]: one.get("show_if") for one in read_form(raw).document["questions"]}


@pytest.mark.parametrize(
    ("target", "skipping"),
    [("QID3", ["Q2"]), ("ENDOFBLOCK", ["Q2", "Q3"]), ("ENDOFSURVEY", ["Q2", "Q3", "Q4"])],
)
def test_skip_logic_becomes_a_condition_of_the_questions_that_are_passed_over(target: str, skipping: list[str]) -> None:
    blocks = {"main": ["QID1", "QID2", "QID3"], "last": ["QID4"]}
    conditions = asked_if(survey_of(FOUR, blocks, skips={"QID1": [skip("QID1", target)]}))
    assert conditions == {"Q1": None} | {name: NOT_SECOND if name in skipping else None for name in ("Q2", "Q3", "Q4")}


def test_of_several_skip_rules_each_has_its_own_target() -> None:
    rules = [skip("QID1", "QID3"), skip("QID1", "QID4", option="3")]
    conditions = asked_if(survey_of(FOUR, IN_ONE, skips={"QID1": rules}))
    assert conditions == {
        "Q1": None,
        "Q2": {"question": "Q1", "is": ["First"]},
        "Q3": {"question": "Q1", "is": ["Second", "First"]},
        "Q4": None,
    }


def test_people_who_never_saw_a_question_are_not_taken_for_those_who_left_its_option_out() -> None:
    shown = logic(("q://QID1/SelectableChoice/1", "Selected", "And"))
    questions = [FOUR[0], FOUR[1] | {"DisplayLogic": shown}, *FOUR[2:]]
    conditions = asked_if(survey_of(questions, IN_ONE, skips={"QID2": [skip("QID2", "ENDOFSURVEY", "NotSelected", "1")]}))
    assert conditions["Q3"] == {"any": [{"question": "Q1", "is": ["Second", "Third"]}, {"question": "Q2", "is": ["First"]}]}


def test_skip_logic_about_anything_but_answers_is_reported_at_each_question_after_it() -> None:
    rule = {"Locator": "q://QID1/Metadata", "Condition": "MatchesRegex", "SkipToDestination": "QID4", "SkipToDescription": "Old browser"}
    lines = verdicts(read_form(survey_of(FOUR, IN_ONE, skips={"QID1": [rule]})))
    assert lines["Q2"][1] == "all are asked and may skip it: a survey cannot express its condition not(Old browser)"
    assert "Old browser" in lines["Q3"][1]
    assert lines["Q4"][0] == "mapped"


def test_an_end_of_the_survey_counts_after_all_branches_and_groups_around_it() -> None:
    blocks = {"one": ["QID1"], "two": ["QID2"], "three": ["QID3"], "four": ["QID4"]}
    flow = [
        block("one"),
        branch("QID1", block("two"), {"Type": "Group", "Flow": [branch("QID2", END)]}),
        block("three"),
        END,
        block("four"),
    ]
    raw = survey_of(FOUR, blocks, flow)
    assert asked_if(raw) == {
        "Q1": None,
        "Q2": {"question": "Q1", "is": ["Second"]},
        "Q3": {"any": [NOT_SECOND, {"question": "Q2", "is": ["First", "Third"]}]},
    }
    assert verdicts(read_form(raw))["Q4"][0] == "refused"


def test_random_questions_of_a_block_are_reported_and_those_never_shown_are_left_out() -> None:
    details = {"FixedOrder": ["QID1"], "RandomSubSet": ["QID2", "QID3"], "TotalRandSubset": 1, "Undisplayed": ["QID4"]}
    options = {"main": {"RandomizeQuestions": "Advanced", "Randomization": {"Advanced": details}}}
    lines = verdicts(read_form(survey_of(FOUR, IN_ONE, options=options)))
    assert lines["main"] == ("refused", "all are asked all 2 questions, not 1 of them by chance")
    assert lines["Q4"] == ("refused", "the form never shows it")


def test_an_exclusive_answer_of_a_single_choice_is_an_option_like_any_other() -> None:
    one = asked("QID1", "MC", "SAVR", "Which?", Choices={"1": {"Display": "A"}, "2": {"Display": "B", "ExclusiveAnswer": True}})
    document = read_form(survey_of([one], {"main": ["QID1"]})).document
    assert Survey.from_dict(document)
    assert "exclusive" not in document["questions"][0]
