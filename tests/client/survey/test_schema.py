"""The published JSON Schema: what the parser accepts it accepts, and most of what the parser refuses it refuses."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from deniable.errors import SurveyError
from deniable.survey import Survey
from deniable.survey.content import Content
from deniable.survey.schema import survey_schema

VALIDATOR = Draft202012Validator(survey_schema())

START = "deniable: 1\nid: s\ntitle: T\nabout: A\n"
YES_NO = "questions: [{id: q, text: Q, type: yes_no}]\n"


def by_schema(text: str) -> bool:
    """As an editor does it: a YAML 1.2 reader, then the schema."""
    value: Any = YAML(typ="safe", pure=True).load(text)
    return bool(VALIDATOR.is_valid(value))


def by_parser(text: str) -> bool:
    try:
        Survey.from_text(text)
    except SurveyError:
        return False
    return True


def with_question(question: str, epsilon: str = "epsilon: 1\n") -> str:
    return f"{START}{epsilon}questions: [{question}]\n"


GOOD = [
    START + "epsilon: ln 9\n" + YES_NO,
    START + "epsilon: 'ln(9)'\n" + YES_NO,
    START + "epsilon: ' ln ( 2.5 ) '\n" + YES_NO,
    START + "epsilon: 8\n" + YES_NO,
    START + "epsilon: 10\naccept_high_epsilon: true\n" + YES_NO,
    START + "epsilon: 10\naccept_high_epsilon: 'true'\n" + YES_NO,
    START + "epsilon: 1\naccept_high_epsilon: false\n" + YES_NO,
    START + "epsilon: 0.01\n" + YES_NO,
    START + "epsilon: '2.5'\n" + YES_NO,
    START.replace("deniable: 1", "deniable: '1'") + "epsilon: 1\n" + YES_NO,
    START.replace("id: s", "id: 2024") + "epsilon: 1\n" + YES_NO,
    START.replace("id: s", "id: true") + "epsilon: 1\n" + YES_NO,
    START.replace("title: T", "title: 1984") + "epsilon: 1\n" + YES_NO,
    START.replace("about: A", "about: |\n  Two\n  lines.") + "epsilon: 1\n" + YES_NO,
    START + "epsilon: 1\nbatch: 1\naccept_small_batches: true\n" + YES_NO,
    START + "epsilon: 1\nrelease: close\n" + YES_NO,
    START + "epsilon: 1\nbatch: '1000'\n" + YES_NO,
    with_question("{id: q, text: Q, type: yes_no, epsilon: ln 3}", epsilon=""),
    with_question("{id: q, text: Q, type: choice, options: [yes, no, 1.10, 1.1, true, 7]}"),
    with_question("{id: q, text: true, type: choice, options: [1, 2]}"),
    with_question("{id: q, text: Q, type: yes_no, weight: 0.01}, {id: r, text: Q, type: yes_no, weight: 100}"),
    with_question("{id: a, text: Q, type: yes_no, epsilon: 1}, {id: b, text: Q, type: choice, options: [x, y], epsilon: 2}", epsilon=""),
]

BAD = [
    with_question("{id: q, text: Q, type: yes_no, weight: 0.009}"),
    with_question("{id: q, text: Q, type: yes_no, weight: 100.1}"),
    with_question("{id: q, text: Q, type: yes_no, weight: [1]}"),
    with_question("{id: q, text: Q, type: yes_no, epsilon: 1, weight: 1}", epsilon=""),
    START + YES_NO,
    "[]",
    "text",
    START.replace("deniable: 1", "deniable: 2") + "epsilon: 1\n" + YES_NO,
    START.replace("deniable: 1\n", "") + "epsilon: 1\n" + YES_NO,
    START.replace("id: s", "id: S") + "epsilon: 1\n" + YES_NO,
    START.replace("id: s", f"id: {'a' * 65}") + "epsilon: 1\n" + YES_NO,
    START.replace("title: T", "title: ''") + "epsilon: 1\n" + YES_NO,
    START.replace("title: T", "title: ~") + "epsilon: 1\n" + YES_NO,
    START.replace("title: T", f"title: {'x' * 201}") + "epsilon: 1\n" + YES_NO,
    START.replace("title: T", "title: [T]") + "epsilon: 1\n" + YES_NO,
    START + "epsilon: 0\n" + YES_NO,
    START + "epsilon: -1\n" + YES_NO,
    START + "epsilon: 10.1\n" + YES_NO,
    START + "epsilon: log 9\n" + YES_NO,
    START + "epsilon: ln(3\n" + YES_NO,
    START + "epsilon: ln 3)\n" + YES_NO,
    START + "epsilon: ln\n" + YES_NO,
    START + "epsilon: 1\naccept_high_epsilon: 1\n" + YES_NO,
    START + "epsilon: 1\naccept_high_epsilon: perhaps\n" + YES_NO,
    START + "epsilon: 1\naccept_high_epsilon: [true]\n" + YES_NO,
    START + "epsilon: true\n" + YES_NO,
    START + "epsilon: ln -9\n" + YES_NO,
    START + "epsilon: 1\nquestions: []\n",
    START + "epsilon: 1\nquestions: {}\n",
    START + "epsilon: 1\nextra: 1\n" + YES_NO,
    START + "epsilon: 1\nbatch: 0\n" + YES_NO,
    START + "epsilon: 1\nbatch: 1001\n" + YES_NO,
    START + "epsilon: 1\nbatch: 1.5\n" + YES_NO,
    START + "epsilon: 1\nrelease: weekly\n" + YES_NO,
    with_question("{id: q, text: Q, type: yes_no, epsilon: 1}"),
    with_question("{id: a, text: Q, type: yes_no, epsilon: 1}, {id: b, text: Q, type: yes_no}", epsilon=""),
    with_question("{id: q, text: Q, type: yesno}"),
    with_question("{id: q, text: Q}"),
    with_question("{id: 1q, text: Q, type: yes_no}"),
    with_question("{id: q, type: yes_no}"),
    with_question("{id: q, text: Q, type: yes_no, options: [a, b]}"),
    with_question("{id: q, text: Q, type: choice}"),
    with_question("{id: q, text: Q, type: choice, options: [a]}"),
    with_question("{id: q, text: Q, type: choice, options: a}"),
    with_question("{id: q, text: Q, type: choice, options: [a, [b]]}"),
    with_question("{id: q, text: Q, type: choice, options: [a, ~]}"),
    with_question(f"{{id: q, text: Q, type: choice, options: [{', '.join(map(str, range(1025)))}]}}"),
    with_question("q"),
]

STRICTER = [
    with_question("{id: q, text: Q, type: yes_no}, {id: q, text: Q, type: yes_no}"),
    with_question("{id: q, text: Q, type: choice, options: [a, a]}"),
    START + "epsilon: ln 30000\n" + YES_NO,
    START + "epsilon: '11'\n" + YES_NO,
    START + "epsilon: 10\n" + YES_NO,
    START + "epsilon: 10\naccept_high_epsilon: false\n" + YES_NO,
]


def test_the_schema_is_itself_valid_and_plain_json():
    Draft202012Validator.check_schema(survey_schema())
    assert json.loads(json.dumps(survey_schema())) == survey_schema()


def test_the_schema_has_every_key_of_a_survey() -> None:
    """A key that is added to Content only would be accepted by the parser and refused by the schema."""
    assert set(survey_schema()["properties"]) == {"deniable", "epsilon", *(key.name for key in fields(Content))}


@pytest.mark.parametrize("text", GOOD)
def test_a_good_file_passes_both(text):
    assert (by_parser(text), by_schema(text)) == (True, True)


@pytest.mark.parametrize("text", BAD)
def test_a_bad_file_passes_neither(text):
    assert (by_parser(text), by_schema(text)) == (False, False)


@pytest.mark.parametrize("text", STRICTER)
def test_the_parser_is_stricter_where_a_schema_cannot_be(text):
    assert (by_parser(text), by_schema(text)) == (False, True)


def test_every_example_that_is_shipped_passes_both():
    files = [*(Path(__file__).parents[3] / "examples").glob("*.yaml")]
    assert files
    for file in files:
        assert (by_parser(file.read_text()), by_schema(file.read_text())) == (True, True)
