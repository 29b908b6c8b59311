"""What a respondent is told of weak protection: computed as a number, compared as a number, and only then written in a language."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from babel.numbers import format_decimal, format_percent

from deniable.privacy.posterior import posterior_bound

pytestmark = pytest.mark.browser
Javascript = Callable[..., Any]

ON_A_PAGE = """
const block = document.createElement("script");
Object.assign(block, { type: "application/json", id: "messages", textContent: JSON.stringify({ language: given.language, messages: {} }) });
document.head.append(block);
const { weakness } = await import("/consent.mjs");
const { percent } = await import("/language.mjs");
return given.odds.map((own) => posterior.posteriorBound({ own: BigInt(own), other: 1n })).map((bound) => [weakness(bound), percent(bound)]);
"""
ODDS = [1, 2, 3, 9, 48, 50, 98, 99, 101, 729, 2980, 22026, 10**6, 10**9, 10**11, 10**12, 10**300]
BOUNDS = [posterior_bound(Fraction(odds)) for odds in ODDS]
LANGUAGES = ["en", "de", "ar", "fr", "fa", "hi"]


def given(language: str) -> dict[str, Any]:
    return {"language": language, "odds": [str(odds) for odds in ODDS]}


@pytest.mark.parametrize("language", LANGUAGES)
def test_weak_protection_is_told_in_every_language_or_in_none(javascript: Javascript, language: str) -> None:
    warned = [told is not None for told, _ in javascript(ON_A_PAGE, given(language))]
    assert warned == [bound >= 99 for bound in BOUNDS]
    assert {*warned} == {True, False}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_warning_counts_people_of_a_hundred_in_the_digits_of_the_language(javascript: Javascript, language: str) -> None:
    for bound, (told, _) in zip(BOUNDS, javascript(ON_A_PAGE, given(language)), strict=True):
        right = format_decimal(bound, locale=language, decimal_quantization=False, numbering_system="latn")
        if bound == 100:
            assert told.startswith("This survey hides next to nothing: ")
            assert "could be right for all of 100 people" in told
        elif told is not None:
            assert f"could be right for up to {right} of 100 people" in told


def plain(text: str) -> str:
    """A text without what only spaces it or turns it around."""
    return "".join(character for character in text if character not in " \u00a0\u202f\u200e\u200f\u061c")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_percentage_is_the_one_of_exact_arithmetic_as_the_language_writes_it(javascript: Javascript, language: str) -> None:
    got = [plain(written) for _, written in javascript(ON_A_PAGE, given(language))]
    assert got == [plain(format_percent(b / 100, locale=language, decimal_quantization=False, numbering_system="latn")) for b in BOUNDS]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("if (bound.percent < WEAK) return null;", "if (!(number(bound.percent, { maximumFractionDigits: 9 }) >= WEAK)) return null;"),
        ("if (bound.percent < WEAK) return null;", "if (!(Number.parseInt(percent(bound), 10) > WEAK)) return null;"),
    ],
)
def test_a_comparison_of_the_written_number_is_noticed(broken_javascript: Javascript, right: str, wrong: str) -> None:
    """The control: German writes 99,996, which is no number, and to some is 99."""
    got = broken_javascript("consent.mjs", right, wrong, ON_A_PAGE, given("de"))
    assert [told is not None for told, _ in got] != [bound >= 99 for bound in BOUNDS]
