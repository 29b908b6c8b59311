"""Options of a multiple choice that go with no other one, and limits of a selection: what a file may say, and what stays the same."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from deniable.errors import SurveyError
from deniable.survey import Survey
from deniable.survey.dump import to_yaml
from deniable.survey.exclusive import contradictions
from deniable.survey.schema import survey_schema

OPTIONS = ["tea", "coffee", "neither", "unsure"]


def source(**keys: Any) -> dict[str, Any]:
    question = {"id": "q", "text": "Which?", "type": "multi_choice", "options": OPTIONS, **keys}
    return {"deniable": "1", "id": "s", "title": "T", "about": "A", "epsilon": "2", "questions": [question]}


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"exclusive": []}, "exclusive: must be a list of one option or more"),
        ({"exclusive": "unsure"}, "exclusive: must be a list of one option or more"),
        ({"exclusive": ["milk"]}, "exclusive[0]: must be one of the options, got 'milk'"),
        ({"exclusive": ["unsure", "unsure"]}, "exclusive[1]: must differ from the others"),
        ({"exclusive": [["unsure"]]}, "exclusive[0]: must be one of the options"),
        ({"none": "milk"}, "none: must be one of the options, got 'milk'"),
        ({"none": None}, "none: must be one of the options"),
        ({"exclusive": ["neither"], "none": "neither"}, "exclusive[0]: must be left out: `none` is exclusive by itself"),
        ({"exclusive": OPTIONS}, "exclusive: must leave an option that goes with others; otherwise use the type choice"),
        (
            {"exclusive": OPTIONS[:3], "none": "unsure"},
            "exclusive: must leave an option that goes with others; otherwise use the type choice",
        ),
        ({"type": "choice", "exclusive": ["unsure"]}, "exclusive: is not a known key"),
        ({"options": "tea", "exclusive": ["tea"]}, "options: must be a list of texts"),
        ({"options": "tea", "at_most": "1"}, "options: must be a list of texts"),
        ({"at_most": "4"}, "at_most: must be a whole number from 1 to 3, fewer than the options of the question, got 4"),
        ({"at_most": "0"}, "at_most: must be a whole number from 1 to 3, fewer than the options of the question, got 0"),
        ({"at_most": "1.5"}, "at_most: must be a whole number from 1 to 3, fewer than the options of the question, got 1.5"),
        ({"at_most": "two"}, "at_most: must be a whole number from 1 to 3, fewer than the options of the question, got two"),
        ({"at_most": ["2"]}, "at_most: must be a whole number from 1 to 3, fewer than the options of the question"),
        ({"at_least": "4"}, "at_least: must be a whole number from 1 to 3, fewer than the options of the question, got 4"),
        ({"at_least": "3", "at_most": "2"}, "at_least: must be at most 2, which `at_most` is, got 3"),
        (
            {"at_most": "3", "none": "neither"},
            "at_most: must be a whole number from 1 to 2, fewer than the options that are not exclusive, got 3",
        ),
        ({"at_most": "1", "exclusive": OPTIONS[:2], "none": "neither"}, "at_most: must be left out: only one option is not exclusive"),
        ({"type": "choice", "at_most": "2"}, "at_most: is not a known key"),
    ],
)
def test_what_breaks_a_rule_is_named_with_its_place(keys: dict[str, Any], problem: str) -> None:
    with pytest.raises(SurveyError) as refusal:
        Survey.from_dict(source(**keys))
    assert f"questions[0].{problem}" in str(refusal.value)


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"exclusive": ["unsure"]},
        {"none": "neither"},
        {"exclusive": ["unsure"], "none": "neither"},
        {"at_most": 2},
        {"at_least": 1},
        {"at_least": 1, "at_most": 2, "exclusive": ["unsure"]},
    ],
)
def test_a_file_a_definition_and_the_schema_say_the_same(keys: dict[str, Any]) -> None:
    survey = Survey.from_text(to_yaml(source(**keys)))
    assert survey.definition == Survey.from_definition(survey.definition).definition
    own = json.loads(survey.definition)["questions"][0]
    assert {key: own[key] for key in ("exclusive", "none", "at_least", "at_most") if key in own} == keys
    assert survey.questions[0].exclusive == (*keys.get("exclusive", ()), *([keys["none"]] if "none" in keys else []))
    assert list(Draft202012Validator(survey_schema()).iter_errors(source(**keys))) == []


@pytest.mark.parametrize("keys", [{"exclusive": ["unsure"], "none": "neither"}, {"at_least": "1", "at_most": "2"}])
def test_neither_epsilon_nor_the_coins_depend_on_rules_about_options(keys: dict[str, Any]) -> None:
    plain, keyed = Survey.from_dict(source()), Survey.from_dict(source(**keys))
    assert plain.odds == keyed.odds
    assert [item.channel for item in plain.items] == [item.channel for item in keyed.items]
    assert plain.digest != keyed.digest


def test_a_survey_without_them_has_the_digest_that_it_had() -> None:
    habits = Survey.from_file(Path(__file__).parents[3] / "examples" / "habits.yaml")
    assert b'"exclusive"' not in habits.definition
    assert b'"none"' not in habits.definition
    assert b'"at_' not in habits.definition


def test_an_option_for_other_answers_counts_among_those_that_are_limited() -> None:
    survey = Survey.from_dict(source(options=OPTIONS[:2], other="true", at_most="2"))
    assert (survey.questions[0].labels, survey.questions[0].limits) == (("tea", "coffee", "Other"), (0, 2))


# --- privacy --------------------------------------------------------------------------------------------------------------


def allowed_answers(survey: Survey) -> list[tuple[int, ...]]:
    """Every answer to a survey of one question that a device may send, as the categories of its items."""
    items, [question] = survey.items, survey.questions
    rows = list(itertools.product((0, 1), repeat=len(items))) + [(2,) * len(items)] * (not question.required)
    wrong = [bad for _, _, bad in contradictions(survey, np.array(rows).T)] or [np.zeros(len(rows), dtype=bool)]
    return [row for row, bad in zip(rows, wrong[0], strict=True) if not bad]


def worst_odds(survey: Survey) -> Fraction:
    """The largest ratio of the chances of one record under two allowed answers, over all of these and all records, in whole numbers."""
    channel, answers = survey.items[0].channel, allowed_answers(survey)
    reports = list(itertools.combinations(range(channel.k), channel.d))
    own, rest = Fraction(channel.keep_threshold), Fraction((1 << 32) - channel.keep_threshold)
    shared = [math.comb(channel.k - 1, channel.d - 1), math.comb(channel.k - 1, channel.d)]  # reports with a category, and without
    of_one = {(c, report): own / shared[0] if c in report else rest / shared[1] for c in range(channel.k) for report in reports}
    worst = Fraction(1)
    for record in itertools.product(reports, repeat=len(survey.items)):
        chances = [math.prod(of_one[one] for one in zip(answer, record, strict=True)) for answer in answers]
        worst = max(worst, max(chances) / min(chances))
    return worst


@pytest.mark.parametrize(
    ("keys", "differ"),
    [
        ({}, 4),
        ({"at_most": 1}, 2),
        ({"at_most": 2}, 4),
        ({"at_most": 3}, 4),
        ({"at_least": 3}, 2),
        ({"at_least": 1, "at_most": 1}, 2),
        ({"at_least": 3, "at_most": 3}, 2),
        ({"at_most": 1, "exclusive": ["unsure"]}, 2),
        ({"at_most": 2, "exclusive": ["unsure"]}, 3),
        ({"exclusive": ["unsure"]}, 4),
        ({"exclusive": OPTIONS[2:]}, 3),
        ({"at_most": 1, "required": False}, 4),
        ({"at_least": 3, "required": False}, 4),
        ({"at_most": 1, "exclusive": ["unsure"], "required": False}, 4),
    ],
)
def test_the_stated_privacy_holds_for_every_allowed_answer_and_is_reached_where_two_differ_in_all_options(
    keys: dict[str, Any], differ: int
) -> None:
    survey = Survey.from_dict(source(**keys))
    odds = survey.items[0].channel.odds
    assert worst_odds(survey) == odds**differ
    assert survey.odds == odds**4  # the stated privacy: of all lists, also of those that a program without the rule sends
