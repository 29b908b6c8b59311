"""While a survey is written: the figures are those of the planner, and a proposal keeps what it promises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deniable.plan import outlook, plan, proposals
from deniable.plan.proposals import verdict, widest
from deniable.survey import Survey
from deniable.survey.document import parse, read

HABITS = Path(__file__).parents[3] / "examples" / "habits.yaml"


def of_yes_no(count: int, **keys: Any) -> dict[str, Any]:
    questions = [{"id": f"q{place}", "text": "Q", "type": "yes_no"} for place in range(count)]
    return {"deniable": "1", "id": "s", "title": "T", "about": "A", "epsilon": "4", "questions": questions, **keys}


@pytest.mark.slow
@pytest.mark.parametrize(("document", "n"), [(of_yes_no(3), 50), (of_yes_no(3, ask="2"), 999), (read(HABITS).value, 800)])
def test_the_figures_are_those_of_a_plan(document: dict[str, Any], n: int) -> None:
    survey = Survey.from_dict(document)
    planned = {row.question.partition("[")[0]: row for row in plan(survey, n=n).rows}
    for one in outlook(survey, n):
        row = planned[one.question]
        assert (one.respondents, one.half_width, one.no_privacy, one.curator, one.smallest_difference) == (
            row.respondents,
            row.half_width,
            row.half_width_no_privacy,
            row.half_width_curator,
            row.smallest_difference,
        )
        assert one.smallest_group == pytest.approx(row.smallest_group, rel=0.05)  # which is the slow one to tell exactly
    assert widest(survey, n) == max(row.half_width for row in planned.values())


def test_twelve_questions_are_too_many_for_800_people_and_what_helps_is_said() -> None:
    document = of_yes_no(12)
    assert verdict(Survey.from_dict(document), 800) == "12 questions, 800 people: 21.0 points"
    found = {one.words: one for one in proposals(document, 800)}
    assert list(found) == ["Ask each person 2 of the 12 questions, drawn at random"]
    for one in found.values():
        changed = Survey.from_dict(one.document)
        assert one.half_width == widest(changed, 800) == max(row.half_width for row in outlook(changed, 800))
    assert [round(100 * one.half_width, 1) for one in found.values()] == [11.2]


def test_every_proposal_keeps_what_it_promises_and_changes_nothing_else() -> None:
    document = {**read(HABITS).value, "epsilon": "ln 27"}
    found = proposals(document, 800)
    assert {one.words.split()[0] for one in found} == {"Ask", "Leave", "Give"}
    for one in found:
        survey = Survey.from_dict(one.document)
        assert one.half_width == widest(survey, 800) <= 0.9 * widest(Survey.from_dict(document), 800)
        changed = {key for key in document if document[key] != one.document.get(key)} | (set(one.document) - set(document))
        assert changed <= {"ask"} or changed <= {"questions", "translations"}
    assert document == {**read(HABITS).value, "epsilon": "ln 27"}


def test_a_question_that_others_are_asked_after_is_never_left_out() -> None:
    document = parse(
        "deniable: 1\nid: s\ntitle: T\nabout: A\nepsilon: 1\nquestions:\n- {id: a, text: A, type: yes_no}\n"
        "- {id: b, text: B, type: yes_no, show_if: {question: a, is: [yes]}}\ntranslations: {de: {questions: {b: {text: B}}}}\n"
    ).value
    (one,) = [one for one in proposals(document, 800) if one.words.startswith("Leave")]
    assert one.words == "Leave out “B”"
    assert "translations" not in one.document


@pytest.mark.parametrize(("document", "n"), [(of_yes_no(1), 800), (of_yes_no(1), 1), (of_yes_no(2, ask="1"), 10**9)])
def test_where_nothing_helps_nothing_is_proposed(document: dict[str, Any], n: int) -> None:
    assert not [one for one in proposals(document, n) if one.words.startswith(("Ask", "Give"))]


def test_the_least_precise_question_is_given_more_where_that_helps() -> None:
    document = of_yes_no(2)
    document["questions"][1] |= {"text": "Eight", "type": "choice", "options": list("abcdefgh")}
    found = {one.words: one for one in proposals(document, 2000)}
    assert found["Give “Eight” the weight 2"].document["questions"][1]["weight"] == "2"
    assert "weight" not in document["questions"][1]


def test_a_survey_with_an_epsilon_for_each_question_is_not_weighted() -> None:
    document = of_yes_no(3)
    del document["epsilon"]
    document["questions"] = [{**one, "epsilon": epsilon} for one, epsilon in zip(document["questions"], ("0.2", "1", "1"), strict=True)]
    assert {one.words for one in proposals(document, 800)} <= {"Leave out “Q”"}


def test_a_section_that_begins_with_a_question_stays_when_the_question_is_left_out() -> None:
    document = of_yes_no(4, epsilon="1")
    main, first, second, third = document["questions"]
    first |= {"text": "First", "section": {"title": "One"}, "weight": "0.1"}
    third["section"] = {"title": "Three"}
    german = {"q1": {"text": "Q auf Deutsch", "section": {"title": "Eins"}}, "q2": {"text": "Zwei"}}
    document["translations"] = {"de": {"questions": german}}
    found = next(one.document for one in proposals(document, 800) if one.words == "Leave out “First”")
    assert found["questions"] == [main, {**second, "section": {"title": "One"}}, third]
    assert found["translations"] == {"de": {"questions": {"q2": {"text": "Zwei", "section": {"title": "Eins"}}}}}
    Survey.from_dict(found)
    assert first["section"] == {"title": "One"}
    assert "section" not in second


def test_a_question_that_any_condition_needs_is_never_left_out() -> None:
    document = of_yes_no(4, epsilon="1")
    yes = [{"question": f"q{place}", "is": ["yes"]} for place in range(3)]
    document["questions"][3]["show_if"] = {"any": [yes[0], {"all": yes[1:]}]}
    assert {one.words for one in proposals(document, 300) if one.words.startswith("Leave")} <= {"Leave out “Q”"}


def test_the_first_question_is_never_left_out_and_leaving_out_comes_last() -> None:
    document = of_yes_no(3, epsilon="1")
    document["questions"][0] |= {"text": "Main", "weight": "0.1"}  # the least precise one
    words = [one.words for one in proposals(document, 800)]
    assert words
    assert not [one for one in words if "Leave out “Main”" in one]
    assert [one.startswith("Leave out") for one in words] == sorted(one.startswith("Leave out") for one in words)
