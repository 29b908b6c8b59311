"""The figures of the respondents' pages: alike in every language, and those of exact arithmetic; the least protected question's first."""

from __future__ import annotations

import itertools
import re
from decimal import Decimal
from typing import Any

import pytest
from selenium.webdriver import Chrome
from tests.kit.pages.visits import Visit, all_at_once

from deniable.privacy.claims import guesses
from deniable.privacy.posterior import least_protected, odds_of_sum, people, posterior_bound
from deniable.survey import Survey

pytestmark = pytest.mark.browser
names = (f"figures{i}" for i in itertools.count())
LANGUAGES = ("en", "de", "ar", "fr", "es")
GROUPS = {"en": ",", "de": ".", "ar": ",", "fr": "\u202f", "es": "."}
TEA = {"id": "tea", "text": "TEA", "type": "yes_no"}
HIV = {"id": "hiv", "text": "HIV", "type": "yes_no"}
MANY = {"id": "many", "text": "MANY", "type": "multi_choice", "options": ["A", "B", "C"]}
TOWN = {"id": "town", "text": "TOWN", "type": "choice", "options": ["a", "b", "c", "d", "e", "f", "g"]}
SURVEYS: dict[str, dict[str, Any]] = {
    "low": {"epsilon": 0.2, "questions": [TEA, TOWN]},
    "tea beside HIV": {"epsilon": None, "questions": [{**TEA, "epsilon": 0.2}, {**HIV, "epsilon": 5}]},
    "options": {"epsilon": None, "questions": [{**MANY, "epsilon": 3}, {**TEA, "epsilon": 2}]},
    "eight": {"epsilon": 8, "questions": [TEA]},
    "high": {"epsilon": 10, "accept_high_epsilon": True, "questions": [TEA]},
    "nothing hidden": {
        "epsilon": None,
        "accept_high_epsilon": True,
        "questions": [{**TEA, "epsilon": 10}, TOWN | {"epsilon": 9}, HIV | {"epsilon": 10}],
    },
}

STATE = """
const shown = (element) => !element.closest("[hidden]");
const state = {};
for (const element of document.querySelectorAll("#consent [data-slot]")) {
  if (element.querySelector("button, input, select")) continue;
  const texts = [...element.querySelectorAll("figcaption, td")];
  const cells = texts.length ? texts : [element];
  state[element.dataset.slot] = shown(element) ? cells.map((cell) => cell.textContent) : null;
}
state.dots = [...document.querySelectorAll("#consent figure")].map((figure) => figure.querySelectorAll("circle.counted").length);
return state;
"""


def figures(text: str, language: str) -> list[Decimal]:
    """The numbers in a text, each once, read as its language writes them, in order of size: each language has an order of its own."""
    group, point = GROUPS[language], "," if language in ("de", "fr", "es") else "."
    written = re.findall(r"\d+(?:[.,\u202f]\d+)*", text)
    return sorted({Decimal(number.replace(group, "").replace(point, ".")) for number in written})


def state_of(driver: Chrome, language: str) -> dict[str, Any]:
    """What the consent page shows and hides, as numbers."""
    found = dict(driver.execute_script(STATE))
    del found["title"], found["about"], found["digest"], found["length"]  # texts; counts that some languages say in words
    dots = found.pop("dots")
    numbers = {slot: shown and [figures(text, language) for text in shown] for slot, shown in found.items()}
    return {**numbers, "weakest": found["weakest"], "dots": dots}


def bound(odds: Any) -> list[Decimal]:
    return [posterior_bound(odds)]


def expected(survey: Survey) -> dict[str, Any]:
    """The same page from the Python side."""
    least = least_protected(survey.items)
    of, own, other = people(least.channel)
    d, k = least.channel.d, least.channel.k
    named = [] if d == 1 else [d, k]
    one = max(question.odds for question in survey.questions)
    said = [sorted({of, counted, of - counted, *named}) for counted in (own, other)]
    rows = [sorted({found[0], found[place]}) for found in (people(item.channel) for item in survey.items) for place in (1, 2)]
    right = guesses(survey)
    return {
        "odds": said,
        "everyQuestion": rows,
        "surest": [bound(survey.odds)],
        "surestOne": [bound(one)] if len(survey.questions) > 1 else None,
        "blind": [[Decimal(right.blind)]],
        "one": [[Decimal(right.one)]],
        "all": [[Decimal(right.record)]] if len(survey.questions) > 1 else None,
        "twice": [sorted({*bound(survey.odds), *bound(survey.odds**2)})],
        "dots": [own, other] if of == 100 else [0, 0],
    }


@pytest.fixture(autouse=True)
def _a_device_that_has_answered_nothing_yet(page: Any, site: Any) -> None:
    page.driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": site.url, "storageTypes": "local_storage"})


def publish(site: Any, **keys: Any) -> Survey:
    published: Survey = site.publish(id=next(names), **keys)
    return published


def open_in(page: Any, url: str, survey: Survey, language: str) -> dict[str, Any]:
    assert page.open(f"{url}/s/{survey.id}?lang={language}#digest={survey.digest}") == "consent"
    return state_of(page.driver, language)


@pytest.mark.parametrize("kind", SURVEYS)
def test_every_language_shows_and_hides_the_same_and_its_figures_are_those_of_exact_arithmetic(page: Any, site: Any, kind: str) -> None:
    survey = publish(site, **SURVEYS[kind])
    english, *others = (open_in(page, site.url, survey, language) for language in LANGUAGES)
    assert others == [english] * len(others)
    assert {slot: english[slot] for slot in expected(survey)} == expected(survey)


def test_the_odds_shown_are_those_of_the_least_protected_question_and_it_is_named(page: Any, site: Any) -> None:
    """Tea at 0.2 beside HIV at 5, in either order: 99 of 100, not 55."""
    keys = SURVEYS["tea beside HIV"]["questions"]
    for questions in (keys, keys[::-1]):
        state = open_in(page, site.url, publish(site, epsilon=None, questions=questions), "en")
        assert state["weakest"] == ["HIV"]
        assert state["dots"] == [99, 1]
        assert "They hide this least: HIV" in page.text()


def test_a_single_question_is_not_called_the_least_protected(page: Any, site: Any) -> None:
    assert open_in(page, site.url, publish(site, **SURVEYS["eight"]), "en")["weakest"] is None
    assert "hide this least" not in page.text()


def test_what_a_device_has_spent_is_told_alike_in_every_language(page: Any, site: Any) -> None:
    first = publish(site, epsilon="ln 3", questions=[TEA])
    page.answer(site.link(first), 0)
    second = publish(site, epsilon="ln 9", questions=[HIV])
    spent = [open_in(page, site.url, second, language)["spent"] for language in LANGUAGES]
    total = [posterior_bound(odds_of_sum(first.epsilon + second.epsilon))]
    assert total == [Decimal(97)]
    assert [[number for number in told[0] if number not in (1, 50)] for told in spent] == [total] * len(
        LANGUAGES
    )  # "1 survey" is a word in some languages


@pytest.mark.parametrize(
    ("right", "wrong", "kind"),
    [
        (b"(one.percent / 100) * of", b"(number(one.percent, { maximumFractionDigits: 9 }) / 100) * of", "high"),
        (b"const example = leastProtected(items);", b'const example = items.find(({ type }) => type === "yes_no");', "tea beside HIV"),
        (b"posteriorBound(twice(odds))", b"posteriorBound(odds)", "low"),
        (
            b"questions.map(({ items }) => items.map(({ channel }) => channel))",
            b"questions.flatMap(({ items }) => items.map(({ channel }) => [channel]))",
            "options",
        ),
    ],
)
def test_a_page_that_computes_with_what_it_has_written_or_shows_the_first_question_is_noticed(
    page: Any, site: Any, proxy: Any, right: bytes, wrong: bytes, kind: str
) -> None:
    """The controls."""
    survey = publish(site, **SURVEYS[kind])
    proxy.alter["/browser/respond.mjs"] = (right, wrong)
    proxy.unsealed.add(f"/s/{survey.id}")
    state = open_in(page, proxy.url, survey, "de")
    assert {slot: state[slot] for slot in expected(survey)} != expected(survey)


# Every state of the page, from consent to what the device tells afterwards.

SHOWN = """
const main = document.querySelector("main").cloneNode(true);
const chance = ["records", "envelope", "rolled", "counted", "sum", "digest", "code"].map((slot) => `[data-slot=${slot}]`);
for (const element of main.querySelectorAll(["[hidden]", "template", "script", "code", ...chance].join(","))) element.remove();
const texts = [...main.querySelectorAll("p, li, td, th, legend, figcaption, span, strong, dd, label, h1, h2")];
const slots = [...main.querySelectorAll("[data-slot]")].map((element) => element.dataset.slot);
return { slots, texts: texts.map((element) => element.textContent) };
"""
SAID_IN_WORDS = {Decimal(1), Decimal(2)}  # "one question", in some languages


class Visitor(Visit):
    """A visit to surveys of another epsilon."""

    epsilon: float

    def publish(self, **keys: Any) -> Survey:
        return super().publish(**{**keys, "epsilon": self.epsilon, "accept_high_epsilon": self.epsilon > 8 or None})


def states_in(page: Any, site: Any, language: str, epsilon: float) -> dict[str, Any]:
    """What is there to see in each state: the slots, and all the numbers."""
    visit = Visitor(page, site, language)
    visit.epsilon = epsilon
    return {state: shown_on(page, language) for state in all_at_once(visit)}


def shown_on(page: Any, language: str) -> tuple[list[str], list[Decimal]]:
    """The slots that are shown, in their order, and the numbers in all texts."""
    shown = page.driver.execute_script(SHOWN)
    numbers = {number for text in shown["texts"] for number in figures(text, language)}
    return shown["slots"], sorted(numbers - SAID_IN_WORDS)


@pytest.mark.parametrize(("epsilon", "told", "tags"), [(0.7, Decimal(67), ("en", "ar", "fr")), (10, Decimal("99.996"), ("en", "de", "es"))])
def test_every_state_of_the_page_shows_the_same_parts_and_numbers_in_every_language(
    page: Any, site: Any, epsilon: float, told: Decimal, tags: tuple[str, ...]
) -> None:
    english, *others = (states_in(page, site, language, epsilon) for language in tags)
    assert len(english) >= 12
    assert others == [english] * len(others)
    for state in ("consent", "answered"):
        assert told in english[state][1]


def test_a_page_whose_numbers_are_those_of_another_language_is_noticed(page: Any, site: Any, proxy: Any) -> None:
    """The control: a German page that writes 99.996."""
    survey = publish(site, **SURVEYS["high"])
    open_in(page, site.url, survey, "en")
    english = shown_on(page, "en")
    proxy.alter["/browser/respond.mjs"] = (b"new Intl.NumberFormat(language(),", b'new Intl.NumberFormat("en",')
    proxy.unsealed.add(f"/s/{survey.id}")
    open_in(page, proxy.url, survey, "de")
    slots, numbers = shown_on(page, "de")
    assert slots == english[0]
    assert numbers != english[1]
