"""A question that nobody is ever shown is told; one that somebody is shown never is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tests.client.device.test_branching import every_answer, surveys

from deniable.device.branching import apply_skip_logic
from deniable.survey import Survey
from deniable.survey.reachable import unreachable


def survey_of(*questions: dict[str, Any]) -> Survey:
    made = [{"id": f"q{place}", "text": "?", "type": "yes_no", **one} for place, one in enumerate(questions)]
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 5, "questions": made})


def told(survey: Survey) -> list[str]:
    return [
        sentence.split(":")[0].removeprefix("the question ").removesuffix(" is never shown") for sentence in unreachable(survey.questions)
    ]


YES, NO = {"question": "q0", "is": ["yes"]}, {"question": "q0", "is": ["no"]}
SEVERAL = {"type": "multi_choice", "options": ["x", "y"]}
BOTH = {"all": [{"question": "q0", "is": ["x"]}, {"question": "q0", "is": ["y"]}]}


def test_answers_that_exclude_each_other_are_found_in_any_number_of_steps() -> None:
    assert told(survey_of({}, {"show_if": {"all": [YES, NO]}})) == ["q1"]
    assert told(survey_of({}, {"show_if": YES}, {"show_if": {"all": [NO, {"question": "q1", "is": ["yes"]}]}})) == ["q2"]
    after = {"show_if": {"question": "q1", "is": ["no"]}}
    assert told(survey_of({}, {"show_if": {"all": [YES, NO]}}, after)) == ["q1", "q2"]


def test_what_somebody_can_answer_is_no_mistake() -> None:
    assert told(survey_of({}, {"show_if": {"any": [YES, NO]}}, {"show_if": {"all": [YES, {"question": "q1", "is": ["yes"]}]}})) == []
    assert told(survey_of(SEVERAL, {"show_if": BOTH})) == []
    assert told(survey_of({"type": "choice", "options": ["x", "y"]}, {"show_if": BOTH})) == ["q1"]


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True)
@given(surveys())
def test_it_is_what_the_device_does_with_every_answer(survey: Survey) -> None:
    answers = every_answer(survey)
    sent, rows = apply_skip_logic(survey, answers), np.cumsum([0, *(len(question.items) for question in survey.questions)])
    hidden = [
        question.id
        for question, start in zip(survey.questions, rows, strict=False)
        if question.show_if and (sent[start] == question.k - 1).all()
    ]
    assert told(survey) == hidden


def test_of_a_condition_on_very_many_answers_nothing_is_said() -> None:
    many = {"type": "multi_choice", "options": [f"o{place}" for place in range(20)]}
    each = {"all": [{"question": "q0", "is": [f"o{place}"]} for place in range(20)]}
    assert told(survey_of(many, {"show_if": each})) == []


@pytest.mark.slow
def test_a_long_chain_is_no_trouble() -> None:
    chain = [{"show_if": {"question": f"q{place}", "is": ["yes"]}} for place in range(1020)]
    assert told(survey_of({}, *chain)) == []
