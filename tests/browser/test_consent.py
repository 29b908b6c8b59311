"""How well a record is protected, as respondents are told: computed and compared as a number, and only then written in a language."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from babel.numbers import format_decimal, format_percent

from deniable.privacy.posterior import posterior_bound, right_for

pytestmark = pytest.mark.browser
Javascript = Callable[..., Any]

ON_A_PAGE = """
const block = document.createElement("script");
Object.assign(block, { type: "application/json", id: "messages", textContent: JSON.stringify({ language: given.language, messages: {} }) });
document.head.append(block);
const { protection } = await import("/consent.mjs");
const { percent } = await import("/language.mjs");
const bounds = given.odds.map((own) => posterior.posteriorBound({ own: BigInt(own), other: 1n }));
return bounds.map((bound) => [protection(bound), percent(bound)]);
"""
ODDS = [1, 2, 3, 4, 9, 10, 48, 50, 98, 99, 101, 729, 2980, 22026, 10**6, 10**9, 10**11, 10**12, 10**300]
BOUNDS = [posterior_bound(Fraction(odds)) for odds in ODDS]
LANGUAGES = ["en", "de", "ar", "fr", "fa", "hi"]


def given(language: str) -> dict[str, Any]:
    return {"language": language, "odds": [str(odds) for odds in ODDS]}


def level(bound: Any) -> str:
    return "strong" if bound <= 75 else "medium" if bound <= 90 else "weak"


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_level_is_the_same_in_every_language_and_weak_protection_is_to_be_thought_about(javascript: Javascript, language: str) -> None:
    told = [protection for protection, _ in javascript(ON_A_PAGE, given(language))]
    assert [one["level"] for one in told] == [level(bound) for bound in BOUNDS]
    assert [one["advice"] is not None for one in told] == [bound > 90 for bound in BOUNDS]
    assert {one["name"] for one in told} == {"Strong protection.", "Medium protection.", "Weak protection.", "Next to no protection."}


@pytest.mark.parametrize("language", LANGUAGES)
def test_people_are_counted_whole_in_the_digits_of_the_language(javascript: Javascript, language: str) -> None:
    for bound, (told, _) in zip(BOUNDS, javascript(ON_A_PAGE, given(language)), strict=True):
        counted = right_for(bound)
        assert (told["name"] == "Next to no protection.") == (counted == (100, 100))
        of, right, half = (plain(format_decimal(n, locale=language, numbering_system="latn")) for n in (*counted, counted[0] // 2))
        all_of_them = "Somebody who saw all that 100 people sent could guess right for all 100; without it, for 50."
        some = f"Somebody who saw all that {of} people sent could guess right for {right} at most; without it, for {half}."
        assert plain(told["guess"]) == plain(all_of_them if counted == (100, 100) else some)


def test_people_are_never_counted_in_the_flattering_direction() -> None:
    told = [right_for(bound) for bound in BOUNDS]
    assert all(Fraction(right, of) >= Fraction(odds, odds + 1) for (of, right), odds in zip(told, ODDS, strict=True))
    assert [right_for(posterior_bound(Fraction(odds))) for odds in (9, 243, 22026, 10**6)] == [
        (100, 90),
        (1000, 996),
        (10**5, 99996),
        (100, 100),
    ]


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
        ("if (sure <= MEDIUM)", "if (!(number(sure, { maximumFractionDigits: 9 }) > MEDIUM))"),
        ("if (sure <= MEDIUM)", "if (`${sure}` <= `${MEDIUM}`)"),
    ],
)
def test_a_comparison_of_the_written_number_is_noticed(broken_javascript: Javascript, right: str, wrong: str) -> None:
    """The control: German writes 99,996, which is no number; and as texts, 100 comes before 90."""
    got = broken_javascript("consent.mjs", right, wrong, ON_A_PAGE, given("de"))
    assert [told["level"] for told, _ in got] != [level(bound) for bound in BOUNDS]
