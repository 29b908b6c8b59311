"""Options of a multiple choice that go with no other one: what a file may say of them, and what stays the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from deniable.errors import SurveyError
from deniable.survey import Survey
from deniable.survey.dump import to_yaml
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
    ],
)
def test_what_breaks_a_rule_is_named_with_its_place(keys: dict[str, Any], problem: str) -> None:
    with pytest.raises(SurveyError) as refusal:
        Survey.from_dict(source(**keys))
    assert f"questions[0].{problem}" in str(refusal.value)


@pytest.mark.parametrize("keys", [{}, {"exclusive": ["unsure"]}, {"none": "neither"}, {"exclusive": ["unsure"], "none": "neither"}])
def test_a_file_a_definition_and_the_schema_say_the_same(keys: dict[str, Any]) -> None:
    survey = Survey.from_text(to_yaml(source(**keys)))
    assert survey.definition == Survey.from_definition(survey.definition).definition
    own = json.loads(survey.definition)["questions"][0]
    assert {key: own[key] for key in ("exclusive", "none") if key in own} == keys
    assert survey.questions[0].exclusive == (*keys.get("exclusive", ()), *([keys["none"]] if "none" in keys else []))
    assert list(Draft202012Validator(survey_schema()).iter_errors(source(**keys))) == []


def test_neither_epsilon_nor_the_coins_depend_on_exclusive_options() -> None:
    plain, keyed = Survey.from_dict(source()), Survey.from_dict(source(exclusive=["unsure"], none="neither"))
    assert plain.odds == keyed.odds
    assert [item.channel for item in plain.items] == [item.channel for item in keyed.items]
    assert plain.digest != keyed.digest


def test_a_survey_without_them_has_the_digest_that_it_had() -> None:
    habits = Survey.from_file(Path(__file__).parents[3] / "examples" / "habits.yaml")
    assert b'"exclusive"' not in habits.definition
    assert b'"none"' not in habits.definition
