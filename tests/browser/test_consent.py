"""How well a record is protected, as respondents are told: levels, claims and numbers, computed and compared before they are written."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from babel.numbers import format_percent

from deniable.privacy.claims import FILE, facts_of, guesses
from deniable.privacy.posterior import posterior_bound, right_for
from deniable.survey import Survey

pytestmark = pytest.mark.browser
Javascript = Callable[..., Any]
Vectors = Callable[[str], list[dict[str, Any]]]

ISSUER = base64.urlsafe_b64encode((1 << 2047 | 1).to_bytes(256, "big")).decode().rstrip("=")
TABLE = json.loads(FILE.read_text(encoding="utf-8"))
ON_A_PAGE = """
const block = document.createElement("script");
Object.assign(block, { type: "application/json", id: "messages", textContent: JSON.stringify({ language: given.language, messages: {} }) });
document.head.append(block);
const { levelOf } = await import("/claims.mjs");
const { percent } = await import("/language.mjs");
const bounds = given.odds.map((own) => posterior.posteriorBound({ own: BigInt(own), other: 1n }));
return bounds.map((bound) => [levelOf(bound, given.levels), percent(bound)]);
"""
CLAIMS = """
const { isMet, levelOf } = await import("/claims.mjs");
return given.cells.map(({ bounds, facts }) => [
  bounds.map((percent) => levelOf({ percent }, given.levels)),
  given.claims.filter(({ when }) => isMet(when, facts)).map(({ id }) => id),
]);
"""
FACTS = """
const { factsOf } = await import("/claims.mjs");
const read = (text) => definition.readDefinition(new TextEncoder().encode(text));
return Promise.all(given.definitions.map(async (text) => factsOf(await read(text), given.levels)));
"""
ODDS = [1, 2, 3, 4, 9, 10, 48, 50, 98, 99, 101, 729, 2980, 22026, 10**6, 10**9, 10**11, 10**12, 10**300]
BOUNDS = [posterior_bound(Fraction(odds)) for odds in ODDS]
LANGUAGES = ["en", "de", "ar", "fr", "fa", "hi"]


def given(language: str) -> dict[str, Any]:
    return {"language": language, "odds": [str(odds) for odds in ODDS], "levels": TABLE["levels"]}


def level(bound: Any) -> str:
    return "strong" if bound <= 75 else "medium" if bound <= 90 else "weak" if bound <= 99 else "none"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_level_is_the_same_in_every_language(javascript: Javascript, language: str) -> None:
    assert [name for name, _ in javascript(ON_A_PAGE, given(language))] == [level(bound) for bound in BOUNDS]


def disagreements(got: list[Any], cells: list[dict[str, Any]]) -> list[Any]:
    return [
        (cell["facts"], set(names) ^ set(cell["true"]))
        for (levels, names), cell in zip(got, cells, strict=True)
        if levels != [cell["facts"]["one"], cell["facts"]["record"]] or set(names) != set(cell["true"])
    ]


def test_the_browser_shows_the_claims_that_are_true_and_no_others(javascript: Javascript, vectors: Vectors) -> None:
    cells = vectors("claims")
    assert disagreements(javascript(CLAIMS, {**TABLE, "cells": cells}), cells) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("value >= (required.least ?? value)", "true"),
        ("value <= (required.most ?? value)", "true"),
        ("return required.includes(value);", "return true;"),
        ("percent <= most", "percent < most || most > 99"),
        (".every(([name, required])", ".some(([name, required])"),
    ],
)
def test_a_browser_that_judges_otherwise_is_noticed(broken_javascript: Javascript, vectors: Vectors, right: str, wrong: str) -> None:
    """The control."""
    cells = vectors("claims")
    assert disagreements(broken_javascript("claims.mjs", right, wrong, CLAIMS, {**TABLE, "cells": cells}), cells)


def surveys() -> list[Survey]:
    yes_no = [{"id": f"q{n}", "text": "A?", "type": "yes_no"} for n in range(4)]
    several = {"id": "m", "text": "Which?", "type": "multi_choice", "options": ["a", "b", "c"], "required": False}
    number = {"id": "n", "text": "How many?", "type": "number", "low": 0, "high": 20, "levels": 5}
    keys: list[dict[str, Any]] = [
        {"questions": yes_no[:1], "epsilon": "ln 3"},
        {"questions": yes_no, "epsilon": "ln 9", "ask": 2},
        {"questions": [*yes_no, several, number], "epsilon": 4.6, "groups": ["A", "B", "C"], "access": "invited"},
        {
            "questions": [several, number],
            "epsilon": 10,
            "accept_high_epsilon": True,
            "release": "close",
            "batch": 3,
            "accept_small_batches": True,
        },
    ]
    found = [Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", **one}) for one in keys]
    return [survey.with_issuer(ISSUER) if survey.access == "invited" else survey for survey in found]


def test_the_browser_finds_the_facts_that_python_finds(javascript: Javascript) -> None:
    definitions = [survey.definition.decode() for survey in surveys()]
    got = javascript(FACTS, {"definitions": definitions, "levels": TABLE["levels"]})
    assert got == [facts_of(survey) for survey in surveys()]
    assert {facts["weaker"] for facts in got} == {"strong", "medium", "none"}


def test_people_are_never_counted_in_the_flattering_direction() -> None:
    counted = [right_for(bound) for bound in BOUNDS]
    assert all(Fraction(right, of) >= Fraction(odds, odds + 1) for (of, right), odds in zip(counted, ODDS, strict=True))
    assert [right_for(posterior_bound(Fraction(odds))) for odds in (9, 243, 22026, 10**6)] == [
        (100, 90),
        (1000, 996),
        (10**5, 99996),
        (100, 100),
    ]
    for survey in surveys():
        people = guesses(survey)
        assert Fraction(people.one, people.of) * 100 >= Fraction(posterior_bound(max(q.odds for q in survey.questions)))
        assert people.blind * 2 == people.of


def plain(text: str) -> str:
    """A text without what only spaces it or turns it around."""
    return "".join(character for character in text if character not in " \u00a0\u202f\u200e\u200f\u061c")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_percentage_is_the_one_of_exact_arithmetic_as_the_language_writes_it(javascript: Javascript, language: str) -> None:
    got = [plain(written) for _, written in javascript(ON_A_PAGE, given(language))]
    assert got == [plain(format_percent(b / 100, locale=language, decimal_quantization=False, numbering_system="latn")) for b in BOUNDS]
