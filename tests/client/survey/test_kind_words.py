"""Documents and pages say how many options people may select, and what comes in a random order."""

from __future__ import annotations

from typing import Any

import pytest

from deniable.survey import Survey
from deniable.survey.kind_words import kind_in_words, orders_in_words

OPTIONS = {"id": "q", "text": "Which?", "type": "multi_choice", "options": ["a", "b", "c", "d"]}
SCALE = {"id": "s", "text": "How?", "type": "scale", "options": ["bad", "good"]}


def survey_of(*questions: dict[str, Any], **keys: Any) -> Survey:
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A.", "epsilon": 4, "questions": list(questions), **keys})


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({}, "any number of several options"),
        ({"at_most": 2}, "up to 2 of several options"),
        ({"at_least": 2}, "2 to 4 of several options"),
        ({"at_least": 2, "at_most": 2}, "2 of several options"),
        ({"exclusive": ["d"], "at_most": 2}, "up to 2 of several options, or one that excludes all others"),
        ({"exclusive": ["d"]}, "up to 3 of several options, or one that excludes all others"),
        ({"none": "d"}, "1 to 3 of several options, or one that excludes all others"),
    ],
)
def test_the_limits_of_a_selection_are_in_its_kind(keys: dict[str, Any], words: str) -> None:
    assert kind_in_words(survey_of({**OPTIONS, **keys}).questions[0]) == words


def test_other_kinds_have_the_title_of_their_type() -> None:
    assert kind_in_words(survey_of(SCALE).questions[0]) == "options in order, with scores"


def test_every_drawn_order_is_named_and_none_where_nothing_is_drawn() -> None:
    block = {
        "id": "b",
        "text": "B",
        "type": "rating",
        "options": ["a", "b"],
        "order": "random",
        "items": [{"id": "b1", "text": "I"}, {"id": "b2", "text": "J"}],
    }
    sections = {"section": {"title": "One"}}, {"section": {"title": "Two"}}
    assert orders_in_words(survey_of(OPTIONS, SCALE)) == ""
    assert (
        orders_in_words(survey_of(OPTIONS, SCALE, order="random"))
        == "Each device draws the order of questions at random, and does not report it."
    )
    every = survey_of(
        {**OPTIONS, **sections[0], "order": "rotate"}, {**SCALE, **sections[1]}, block, order="random", section_order="random"
    )
    assert "the order of sections, questions, items of rating blocks and options at random" in orders_in_words(every)
