"""The page's twin of gettext: the same plural forms, values as text, one way to write numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from babel import Locale

pytestmark = pytest.mark.browser
Javascript = Callable[..., Any]

ARABIC = {category: f"{category} {{count}}" for category in ("zero", "one", "two", "few", "many", "other")}
ON_A_PAGE = """
const block = document.createElement("script");
Object.assign(block, { type: "application/json", id: "messages", textContent: JSON.stringify(given.catalog) });
document.head.append(block);
const { language, number, t, tn } = await import("/language.mjs");
"""
WITHOUT_A_PAGE = """const { language, number, t, tn } = await import("/language.mjs");"""


def catalog(language: str, **messages: Any) -> dict[str, Any]:
    return {"catalog": {"language": language, "messages": messages}}


def test_without_a_catalog_all_is_english(javascript: Javascript) -> None:
    body = """return [language(), t("Send"), t("Question {n}", { n: 3 }), tn("{count} year", "{count} years", 1),
        tn("{count} year", "{count} years", 0), tn("{n} year", "{n} years", 2000, { n: "two" }), number(1234567.5)];"""
    english = ["en", "Send", "Question 3", "1 year", "0 years", "two years", "1,234,567.5"]
    assert javascript(WITHOUT_A_PAGE + body) == english
    assert javascript(ON_A_PAGE + body, catalog("en")) == english


def test_a_text_is_translated_and_one_without_a_translation_stays_english(javascript: Javascript) -> None:
    given = catalog("de", Send="Absenden", **{"{count} year": {"one": "{count} Jahr", "other": "{count} Jahre"}})
    body = """return [language(), t("Send"), t("Agree"), t("toString"), tn("{count} year", "", 1), tn("{count} year", "", 10000),
        tn("{count} day", "{count} days", 1), tn("{count} day", "{count} days", 2)];"""
    assert javascript(ON_A_PAGE + body, given) == ["de", "Absenden", "Agree", "toString", "1 Jahr", "10.000 Jahre", "1 day", "2 days"]


def arabic_forms() -> list[str]:
    return [f"{Locale('ar').plural_form(n)} {n:,}" for n in range(1200)]


COUNT = 'return Array.from({ length: 1200 }, (_, n) => tn("a", "b", n));'


def test_arabic_has_six_plural_forms_and_latin_digits(javascript: Javascript) -> None:
    got = javascript(ON_A_PAGE + COUNT, catalog("ar", a=ARABIC))
    assert got == arabic_forms()
    assert {form.split()[0] for form in got} == set(ARABIC)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('new Intl.PluralRules(forms === translation ? language() : "en")', 'new Intl.PluralRules("en")'),
        ('numberingSystem: "latn"', 'numberingSystem: "arab"'),
        ("forms[category] ?? forms.other", "forms.other"),
    ],
)
def test_another_plural_rule_or_other_digits_are_noticed(right: str, wrong: str, broken_javascript: Javascript) -> None:
    assert broken_javascript("language.mjs", right, wrong, ON_A_PAGE + COUNT, catalog("ar", a=ARABIC)) != arabic_forms()


def test_numbers_are_written_as_the_language_does_but_with_latin_digits(javascript: Javascript) -> None:
    body = 'return [number(10000), number(0.5), number(99.25, { maximumFractionDigits: 1 }), number(0.75, { style: "percent" })];'
    assert javascript(ON_A_PAGE + body, catalog("de")) == ["10.000", "0,5", "99,3", "75\u00a0%"]
    assert [text.strip("\u200e") for text in javascript(ON_A_PAGE + body, catalog("ar"))] == ["10,000", "0.5", "99.3", "75\u200e%"]


def test_a_value_is_inserted_as_it_is_and_once(javascript: Javascript) -> None:
    body = """return [t("{a} of {b}", { a: "{b}", b: "$&" }), t("{a} of {b}", { a: 1 }), t("{toString}"), t("{a}{a}", { a: "<b>" })];"""
    assert javascript(WITHOUT_A_PAGE + body) == ["{b} of $&", "1 of {b}", "{toString}", "<b><b>"]


def test_a_value_in_the_other_direction_does_not_turn_its_sentence_around(javascript: Javascript) -> None:
    body = 'return [t("to {a}", { a: "Did you?" }), t("to {a}", { a: "هل؟" }), t("to {a}", { a: "12 (3)" })];'
    assert javascript(ON_A_PAGE + body, catalog("ar", **{"to {a}": "إلى {a}"})) == ["إلى \u2068Did you?\u2069", "إلى هل؟", "إلى 12 (3)"]
    assert javascript(ON_A_PAGE + body, catalog("en")) == ["to Did you?", "to \u2068هل؟\u2069", "to 12 (3)"]


def test_the_links_to_other_languages_get_the_pages_fragment(javascript: Javascript) -> None:
    body = """document.body.innerHTML = '<nav class="languages"><a href="?lang=de">Deutsch</a></nav><a href="/elsewhere">other</a>';
        location.hash = "digest=00&code=1";
        (await import("/survey_language.mjs")).keepFragment(location.hash);
        return [...document.querySelectorAll("a")].map((link) => link.href.slice(location.origin.length));"""
    assert javascript(ON_A_PAGE + body, catalog("en")) == ["/?lang=de#digest=00&code=1", "/elsewhere"]


def test_the_example_of_the_documentation_says_what_it_shows(javascript: Javascript) -> None:
    page = (Path(__file__).parents[2] / "docs" / "guide" / "languages.md").read_text(encoding="utf-8")
    [example] = re.findall(r"```js\nimport [^\n]*\n(.*?)```", page, re.DOTALL)
    first, second = re.findall(r"^tn?\(.*\);$", example, re.MULTILINE)
    assert javascript(f"{WITHOUT_A_PAGE} return [{first[:-1]}, {second[:-1]}];") == ["Question 2 of 7", "2 questions"]


@pytest.mark.parametrize(
    ("language", "typed", "read"),
    [
        ("en", "33.5", "33.5"),
        ("en", "33,5", "33.5"),
        ("en", "5,000", "5000"),
        ("en", "5,000.25", "5000.25"),
        ("en", "1,234,567", "1234567"),
        ("en", "5.000", "5.000"),
        ("en", "0,500", "0.500"),
        ("en", "0,500.5", "0,500.5"),
        ("en", " 7 ", "7"),
        ("en", "\u22122.5", "-2.5"),
        ("en", "5 000", "5000"),
        ("en", "5'000", "5000"),
        ("en", "much", "much"),
        ("en", "5,00,000", "500000"),
        ("en", "-1,00,00,000.5", "-10000000.5"),
        ("en", "5,00,00", "5,00,00"),
        ("en", "\u200e-5", "-5"),
        ("ar", "\u061c-5\u200f", "-5"),
        ("en", "\u202a1,000\u202c", "1000"),
        ("en", "\uff11\uff10\uff10\uff10", "1000"),
        ("en", "\uff0d\uff15\uff0e\uff15", "-5.5"),
        ("en", "1 2", "1 2"),
        ("en", "", ""),
        ("de", "5.000", "5000"),
        ("de", "5.000,5", "5000.5"),
        ("de", "33,5", "33.5"),
        ("de", "0.500", "0.500"),
        ("de", "-0.125", "-0.125"),
        ("de", "33.5", "33.5"),
        ("de", "20.000.000", "20000000"),
        ("ar", "٣٥", "35"),
        ("ar", "٣٥٫٥", "35.5"),
        ("ar", "١٬٠٠٠", "1000"),
        ("ar", "۴۲", "42"),
    ],
)
def test_a_number_is_read_as_people_of_the_language_write_it(javascript: Javascript, language: str, typed: str, read: str) -> None:
    body = 'const { readNumber } = await import("/language.mjs"); return readNumber(given.typed);'
    assert javascript(ON_A_PAGE + body, {**catalog(language), "typed": typed}) == read


@pytest.mark.parametrize("language", ["en", "de", "ar", "fr", "pt-BR"])
def test_every_number_that_the_page_writes_is_read_back(javascript: Javascript, language: str) -> None:
    body = """const { readNumber } = await import("/language.mjs");
        return given.numbers.map((value) => Number(readNumber(number(value, { maximumFractionDigits: 20 }))));"""
    numbers = [0, 1, -1, 0.5, -2.25, 999, 1000, 12345, 1234567.125, -98765.4321, 1000000000]
    assert javascript(ON_A_PAGE + body, {**catalog(language), "numbers": numbers}) == numbers


def test_a_list_has_the_commas_of_its_language(javascript: Javascript) -> None:
    body = 'const { list } = await import("/language.mjs"); return list(["a", "b"]);'
    assert javascript(ON_A_PAGE + body, catalog("ar", **{", ": "، "})) == "a، b"
    assert javascript(ON_A_PAGE + body, catalog("en")) == "a, b"
