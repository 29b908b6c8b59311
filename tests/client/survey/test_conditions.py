"""After which answers a question is shown: one condition, lists with all and any, ranges of bins; and what a survey says of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from deniable.errors import SurveyError
from deniable.survey import Condition, Survey
from deniable.survey.condition import Combination, in_words
from deniable.survey.schema import survey_schema

SCHEMA = Draft202012Validator(survey_schema())
SMOKES = {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"}
OFTEN = {"id": "often", "text": "How often?", "type": "choice", "options": ["daily", "at times"], "required": False}
AGE = {"id": "age", "text": "How old?", "type": "number", "low": 16, "high": 99}
BINS = [{"name": "young", "from": 16}, {"name": "middle", "from": 30.5}, {"name": "old", "from": 65}]
GRID = {**AGE, "id": "grid"}
YES, DAILY = {"question": "smokes", "is": ["yes"]}, {"question": "often", "is": ["daily"]}
OLD = {"question": "age", "at_least": 30.5}


def survey_of(show_if: Any, **keys: Any) -> Survey:
    last = {"id": "last", "text": "Why?", "type": "yes_no", "show_if": show_if}
    document = {"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 5, **keys}
    return Survey.from_dict({**document, "questions": [SMOKES, OFTEN, {**AGE, "bins": BINS}, GRID, last]})


def parsed(show_if: Any) -> Any:
    return survey_of(show_if).questions[-1].show_if


def wrong(show_if: Any) -> list[str]:
    with pytest.raises(SurveyError) as caught:
        survey_of(show_if)
    return [f"{problem.where.removeprefix('questions[4].')} {problem.message}" for problem in caught.value.problems]


def test_conditions_are_joined_by_all_and_any_and_one_inside_the_other() -> None:
    yes, daily = Condition("smokes", ("yes",)), Condition("often", ("daily",))
    assert parsed(YES) == yes
    assert parsed({"all": [YES, DAILY]}) == Combination("all", (yes, daily))
    assert parsed({"any": [YES, {"all": [YES, DAILY]}]}) == Combination("any", (yes, Combination("all", (yes, daily))))
    assert parsed({"all": [{"any": [YES, DAILY]}, DAILY]}) == Combination("all", (Combination("any", (yes, daily)), daily))


@pytest.mark.parametrize(
    ("ends", "bins"),
    [
        ({"at_least": 16}, ("young", "middle", "old")),
        ({"at_least": "30.50"}, ("middle", "old")),
        ({"at_least": 65}, ("old",)),
        ({"below": 65}, ("young", "middle")),
        ({"at_least": 30.5, "below": "65"}, ("middle",)),
    ],
)
def test_a_range_is_the_bins_that_it_consists_of(ends: dict[str, Any], bins: tuple[str, ...]) -> None:
    assert parsed({"question": "age", **ends}) == Condition("age", bins)
    assert survey_of({"question": "age", **ends}) == survey_of({"question": "age", "is": list(bins)})


def test_what_is_joined_is_the_same_after_publishing_and_says_no_range_any_more() -> None:
    survey = survey_of({"any": [OLD, {"all": [YES, DAILY]}]})
    assert Survey.from_definition(survey.definition) == Survey.from_dict(survey.to_dict()) == survey
    own = json.loads(survey.definition)["questions"][-1]["show_if"]
    assert own == {"any": [{"question": "age", "is": ["middle", "old"]}, {"all": [YES, DAILY]}]}


def test_every_mistake_has_its_place_and_its_rule() -> None:
    deep = "must be a condition: a list of `all` may have lists of `any`, and the reverse, but no deeper lists"
    lists = "must be a mapping with the keys question and is, or all or any with a list of conditions, got"
    assert wrong("smokes") == [f"show_if {lists} str"]
    assert wrong({"all": [YES, {"any": [YES, "x"]}]}) == ["show_if.all[1].any[1] must be a mapping with the keys question and is, got str"]
    assert wrong({"all": [YES]}) == ["show_if.all must be a list of 2 to 20 conditions, got 1"]
    assert wrong({"any": YES}) == ["show_if.any must be a list of 2 to 20 conditions, got dict"]
    assert wrong({"any": [YES] * 21}) == ["show_if.any must be a list of 2 to 20 conditions, got 21"]
    assert wrong({"all": [YES, {"all": [YES, DAILY]}]}) == [f"show_if.all[1] {deep}"]
    assert wrong({"all": [YES, {"any": [YES, {"all": [YES, DAILY]}]}]}) == [f"show_if.all[1].any[1] {deep}"]
    assert wrong({"all": [YES, DAILY], "question": "smokes"}) == ["show_if.question is not a known key; the keys here are all"]
    assert wrong({"all": [{"question": "smokes", "is": ["no", "x"]}, {"question": "nobody", "is": ["a"]}]}) == [
        "show_if.all[0].is[1] must be one of yes, no, got 'x'",
        "show_if.all[1].question must be the id of an earlier question with options, got 'nobody'",
    ]


def test_a_range_begins_and_ends_where_bins_do_since_a_record_tells_no_more() -> None:
    edges = "must be where a bin of age begins, one of"
    number = "show_if.question must be the id of an earlier number with bins, got"
    assert wrong({"question": "age", "at_least": 18}) == [f"show_if.at_least {edges} 16, 30.5, 65, got 18"]
    assert wrong({"question": "age", "below": 16}) == [f"show_if.below {edges} 30.5, 65, got 16"]
    assert wrong({"question": "age", "below": 99}) == [f"show_if.below {edges} 30.5, 65, got 99"]
    assert wrong({"question": "age", "at_least": "old"}) == [f"show_if.at_least {edges} 16, 30.5, 65, got 'old'"]
    assert wrong({"question": "age", "at_least": 65, "below": 30.5}) == ["show_if.below must be above at_least"]
    assert wrong({"question": "grid", "below": 65}) == [f"{number} 'grid'"]
    assert wrong({"question": "often", "at_least": 1}) == [f"{number} 'often'"]
    assert wrong({"question": "age", "is": ["old"], "below": 65}) == ["show_if.is must be left out beside below; keep one of the two"]
    assert wrong({"question": "age", "at_most": 65})[0] == "show_if.at_most is not a known key; did you mean at_least?"


GOOD = [YES, OLD, {"question": "age", "below": "65"}, {"all": [YES, OLD]}, {"any": [YES, {"all": [OLD, DAILY]}]}]
BAD = [
    *({"all": [YES]}, {"any": []}, {"all": YES}, {"all": [YES, DAILY], "any": [YES, DAILY]}, {"all": [YES, {"all": [YES, DAILY]}]}),
    *({"question": "age"}, {**OLD, "is": ["old"]}, {"at_least": 16}, {"question": "age", "at_least": [16]}, {"any": [YES] * 21}),
    {"all": [YES, {"any": [YES, {"all": [YES, DAILY]}]}]},
]


@pytest.mark.parametrize("show_if", [*GOOD, *BAD], ids=str)
def test_the_schema_and_the_parser_agree(show_if: Any) -> None:
    document = {"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 5}
    last = {"id": "last", "text": "Why?", "type": "yes_no", "show_if": show_if}
    assert SCHEMA.is_valid({**document, "questions": [SMOKES, OFTEN, {**AGE, "bins": BINS}, GRID, last]}) == (show_if in GOOD)
    if show_if in GOOD:
        survey_of(show_if)
    else:
        assert wrong(show_if)


def test_a_mistake_in_an_earlier_question_comes_first() -> None:
    last = {"id": "last", "text": "Why?", "type": "yes_no", "show_if": {"all": [YES, {"question": "other", "is": ["a"]}]}}
    broken = {"id": "other", "text": "?", "type": "choice", "options": ["a"]}
    with pytest.raises(SurveyError) as caught:
        Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 5, "questions": [SMOKES, broken, last]})
    assert [problem.where for problem in caught.value.problems] == ["questions[1].options"]


def test_a_condition_is_said_in_words() -> None:
    def one(condition: Condition) -> str:
        return f"{' or '.join(condition.options)} to {condition.question}"

    assert in_words(parsed({"any": [{"all": [YES, OLD]}, DAILY]}), one) == "(yes to smokes and middle or old to age) or daily to often"


def test_questions_that_a_condition_ties_together_are_drawn_together() -> None:
    def blocks(*names: Any) -> tuple[tuple[int, ...], ...]:
        questions = []
        for index, asked in enumerate(names):
            parts = [{"question": f"q{number}", "is": ["yes"]} for number in asked]
            showing = {"show_if": parts[0] if len(parts) == 1 else {"any": parts}} if parts else {}
            questions.append({"id": f"q{index}", "text": "?", "type": "yes_no", **showing})
        return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 5, "questions": questions}).blocks

    assert blocks((), (), (), (0, 2)) == ((0, 2, 3), (1,))
    assert blocks((), (0,), (), (2,), (1, 3), ()) == ((0, 1, 2, 3, 4), (5,))
    assert blocks((), (), (0,), (1,), (), (4,)) == ((0, 2), (1, 3), (4, 5))
    assert blocks((), (), (), (1, 2), (0, 3)) == ((0, 1, 2, 3, 4),)
