"""What a respondent is told of weak protection: computed as a number, compared as a number, and only then written in a language."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from deniable.privacy.accounting import surest

pytestmark = pytest.mark.browser
Javascript = Callable[..., Any]

ON_A_PAGE = """
const block = document.createElement("script");
Object.assign(block, { type: "application/json", id: "messages", textContent: JSON.stringify({ language: given.language, messages: {} }) });
document.head.append(block);
const { surest, weakness } = await import("/consent.mjs");
"""
ODDS = [2, 3, 9, 48, 50, 99, 101, 729, 2980, 22026, 10**6, 10**9]
WEAK = [float(surest(Fraction(odds))) >= 99 for odds in ODDS]


def told(javascript: Javascript, language: str, odds: list[int], body: str = "return given.odds.map((o) => weakness(Math.log(o)));") -> Any:
    return javascript(ON_A_PAGE + body, {"language": language, "odds": odds})


@pytest.mark.parametrize("language", ["en", "de", "ar", "fr"])
def test_weak_protection_is_told_in_every_language_or_in_none(javascript: Javascript, language: str) -> None:
    warned = [text is not None for text in told(javascript, language, ODDS)]
    assert warned == WEAK
    assert len({*warned}) == 2


@pytest.mark.parametrize("language", ["en", "de", "ar", "fr"])
def test_the_warning_counts_people_of_a_hundred_in_the_digits_of_the_language(javascript: Javascript, language: str) -> None:
    for odds, text in zip(ODDS, told(javascript, language, ODDS), strict=True):
        if text is not None:
            right = surest(Fraction(odds)).replace(".", "," if language in ("de", "fr") else ".")
            assert f"could be right for up to {right} of 100 people" in text


@pytest.mark.parametrize("epsilon", [30, 700, 19_999.99])
def test_a_record_that_hides_nothing_is_told_to_hide_nothing(javascript: Javascript, epsilon: float) -> None:
    text = javascript(ON_A_PAGE + "return weakness(given.epsilon);", {"language": "de", "epsilon": epsilon})
    assert text.startswith(
        "This survey hides next to nothing: a guess about you, made with your record, could be right for all of 100 people."
    )


def test_a_comparison_of_the_written_number_is_noticed(broken_javascript: Javascript) -> None:
    """The control: German writes 99,996, which is no number."""
    body = ON_A_PAGE + "return given.odds.map((o) => weakness(Math.log(o)));"
    given = {"language": "de", "odds": ODDS}
    got = broken_javascript("consent.mjs", "if (value < WEAK) return null;", "if (!(surest(epsilon) >= WEAK)) return null;", body, given)
    assert [text is not None for text in got] != WEAK


def test_the_percentage_is_the_one_of_exact_arithmetic(javascript: Javascript) -> None:
    got = told(javascript, "en", ODDS, "return given.odds.map((o) => surest(Math.log(o)));")
    assert got == [surest(Fraction(odds)) for odds in ODDS]
