"""The first screen of consent on a phone: who asks, what for, how well it is protected, both buttons; short, plain, in every language."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from tests.kit.pages.layout import style
from tests.kit.pages.reading import grade, syllables, words

from deniable.survey import Survey
from deniable_server.web.languages import LANGUAGES

pytestmark = pytest.mark.browser
PHONE = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
SPARE = 12  # pixels
QUESTIONS = [{"id": "smokes", "text": "Do you smoke?", "type": "yes_no"}, {"id": "drinks", "text": "Do you drink?", "type": "yes_no"}]
SURE = [{"id": f"q{n}", "text": "Do you smoke?", "type": "yes_no", "epsilon": 10} for n in range(3)]
TITLES = {
    "de": ("Gesundheit bei der Arbeit", "Der Betriebsrat fragt. Wir wollen wissen, was Ihnen am meisten hilft."),
    "ar": ("الصحة في العمل", "يسأل مجلس العاملين. نريد أن نعرف ما يساعدكم أكثر."),
    "fr": ("La santé au travail", "Le comité du personnel demande. Nous voulons savoir ce qui vous aiderait le plus."),
    "es": ("La salud en el trabajo", "Pregunta el comité de empresa. Queremos saber qué les ayudaría más."),
}
KEYS: dict[str, Any] = {
    "title": "Health at work",
    "about": "The works council asks. We want to know what would help you most.",
    "questions": QUESTIONS,
    "layout": "steps",
    "batch": None,
    "accept_small_batches": None,
    "translations": {tag: {"title": title, "about": about} for tag, (title, about) in TITLES.items()},
}
FIRST = """
const end = document.querySelector("#consent .buttons");
const before = (e) => e === end || e.compareDocumentPosition(end) & Node.DOCUMENT_POSITION_FOLLOWING;
const seen = [...document.querySelectorAll("#consent > *")].filter((e) => before(e) && e.checkVisibility());
return seen.map((e) => e.innerText.trim()).join("\\n");
"""
"""What is seen from the title to the buttons."""
BOTTOMS = "return [...document.querySelectorAll('#consent .buttons button')].map((e) => Math.ceil(e.getBoundingClientRect().bottom))"
names = (f"first{i}" for i in itertools.count())


@contextlib.contextmanager
def phone(driver: Chrome) -> Iterator[None]:
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    try:
        yield
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.fixture(scope="module")
def survey(site: Any) -> Survey:
    published: Survey = site.publish(id=next(names), **KEYS)
    return published


def open_in(page: Any, site: Any, survey: Survey, language: str = "en", more: str = "") -> None:
    assert page.open(f"{site.url}/s/{survey.id}?lang={language}#digest={survey.digest}{more}") == "consent"


def below(driver: Chrome) -> list[int]:
    """How far a button's lower edge is below the first screen, or nearer to its end than other fonts would bear, where it is."""
    most = PHONE["height"] - SPARE
    return [bottom - most for bottom in driver.execute_script(BOTTOMS) if bottom > most]


def test_who_why_how_protected_and_both_buttons_are_on_the_first_screen_in_every_language(page: Any, site: Any, survey: Survey) -> None:
    with phone(page.driver):
        for language in LANGUAGES:
            open_in(page, site, survey, language)
            assert below(page.driver) == [], language
            shown = page.driver.execute_script(FIRST)
            title, about = TITLES.get(language, (KEYS["title"], KEYS["about"]))
            assert [text for text in (title, about, "100", "75", "90") if text not in shown] == []
        with style(page.driver, "#consent .about { margin-bottom: 30rem }"):  # the control: a page that spreads
            assert below(page.driver) != []


def test_a_group_and_a_code_of_the_link_leave_both_buttons_on_the_first_screen_in_every_language(page: Any, site: Any) -> None:
    survey = site.publish(id=next(names), **KEYS, groups=["North", "South"], access="invited")
    with phone(page.driver):
        for language in LANGUAGES:
            open_in(page, site, survey, language, f"&group=North&code={site.invite(survey)}")
            assert below(page.driver) == [], language
            assert "North" in page.driver.execute_script(FIRST)
            assert page.driver.find_element(By.ID, "hint-code").is_displayed()
        with style(page.driver, "#consent .about { margin-bottom: 30rem }"):  # the control
            assert below(page.driver) != []


@pytest.mark.parametrize(
    ("more", "fields", "told"),
    [
        ("", ["group", "code"], "Where are you taking part? This is sent openly with your record. It is one of 2 groups."),
        ("&group=North", ["code"], "your group: North. It is one of 2 groups. If it is wrong, do not start."),
    ],
    ids=["group and code", "code"],
)
def test_a_group_to_choose_and_a_code_to_type_leave_both_buttons_on_the_first_screen_in_every_language(
    page: Any, site: Any, more: str, fields: list[str], told: str
) -> None:
    survey = site.publish(id=next(names), **KEYS, groups=["North", "South"], access="invited")
    with phone(page.driver):
        for language in LANGUAGES:
            open_in(page, site, survey, language, more)
            assert below(page.driver) == [], language
            typed = [field for field in page.driver.find_elements(By.CSS_SELECTOR, "#consent [data-field]") if field.is_displayed()]
            assert [field.get_attribute("data-field") for field in typed] == fields
            assert min(field.size["width"] for field in typed) > 320
            assert typed[-1].value_of_css_property("direction") == "ltr", "a code reads as it is printed, in Arabic too"
            assert page.driver.find_element(By.ID, "hint-code").is_displayed()
            assert language != "en" or told in " ".join(page.driver.execute_script(FIRST).split())
        with style(page.driver, ".entry label { margin: 1.25rem 0 } .odds { margin-bottom: 12rem !important }"):  # the control, in French
            assert below(page.driver) != []


def test_the_first_screen_is_short_and_read_by_a_child_of_ten(page: Any, site: Any, survey: Survey) -> None:
    open_in(page, site, survey)
    shown = page.driver.execute_script(FIRST)
    assert 90 <= len(words(shown)) <= 125, shown
    told = "\n".join(line for line in shown.splitlines() if line.endswith("."))
    assert len(words(told)) > 65
    assert grade(told) <= 5
    hard = told.replace("tosses coins", "randomizes every individual answer stochastically before subsequent transmission")
    assert grade(hard) > 5  # the control


def test_syllables_are_counted_as_they_are_spoken() -> None:
    one = ["make", "makes", "asked", "coins", "guess", "change", "the", "see", "means", "whole", "time"]
    assert [syllables(word) for word in one] == [1] * len(one)
    more = {"table": 2, "boxes": 2, "wanted": 2, "people": 2, "agree": 2, "protection": 3, "recorded": 3, "100": 3}
    assert {word: syllables(word) for word in more} == more


@pytest.mark.parametrize(
    ("keys", "level", "promise"),
    [
        ({"epsilon": "ln 3", "questions": QUESTIONS[:1]}, "Strong protection.", "Nobody, not even those who ask, can see your answers."),
        ({"epsilon": "ln 9"}, "Medium protection.", "Nobody can be sure of your answers."),
        ({"epsilon": "ln 27"}, "Weak protection.", "Coins hide each answer, but all of them together only a little."),
        ({"epsilon": 3, "questions": QUESTIONS[:1]}, "Weak protection.", "Coins hide your answers, but only a little."),
        (
            {"epsilon": None, "questions": SURE, "accept_high_epsilon": True},
            "Next to no protection.",
            "Your answers are hardly hidden.",
        ),
    ],
)
def test_how_well_all_is_protected_stands_beside_the_button_and_never_behind_a_summary(
    page: Any, site: Any, keys: dict[str, Any], level: str, promise: str
) -> None:
    survey = site.publish(id=next(names), **{**KEYS, **keys})
    page.open(f"{site.url}/s/{survey.id}")  # and the link pins nothing
    shown = page.driver.execute_script(FIRST)
    assert promise in shown
    lines = shown.splitlines()
    box = lines.index(next(line for line in lines if line.startswith(level)))
    assert lines[box].endswith("people, a guess is right for at most:")
    assert lines[-2:] == ["Start", "No thanks"]
    advice = {
        "S": "So tell the truth: the coins hide it.",
        "M": "So tell the truth: the coins hide it.",
        "W": "Think about it before you start.",
    }
    assert advice.get(level[0], "Answer only what others may know.") in shown
    assert "Your link has no fingerprint" in lines[box - 1]


def test_start_and_no_thanks_are_equally_big_but_not_alike(page: Any, site: Any, survey: Survey) -> None:
    open_in(page, site, survey)
    start, decline = page.driver.find_elements(By.CSS_SELECTOR, "#consent .buttons button")
    assert (start.text, decline.text) == ("Start", "No thanks")
    assert start.size == decline.size
    assert start.value_of_css_property("background-color") != decline.value_of_css_property("background-color")


def test_a_long_text_of_the_survey_is_folded_after_its_first_paragraph_and_lost_nowhere(page: Any, site: Any) -> None:
    first, rest = "The works council asks.", "Second paragraph. " * 20
    survey = site.publish(id=next(names), **{**KEYS, "translations": None, "about": f"{first}\n\n{rest.strip()}"})
    open_in(page, site, survey)
    assert first in page.text()
    assert "Second paragraph." not in page.text()
    page.driver.find_element(By.XPATH, "//summary[. = 'Who asks, and why']").click()
    assert rest.strip() in page.text()


SHIFTS = """window.shift = 0;
new PerformanceObserver((seen) => { for (const e of seen.getEntries()) window.shift += e.value; })
  .observe({ type: "layout-shift", buffered: true });
const get = fetch, painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
window.fetch = (...given) => painted().then(() => get(...given));"""
"""Adds up all that moves, whether somebody has just pressed something or not, and lets the first state be seen before the next."""
SETTLED = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(window.shift)))"
JUMPING = """document.addEventListener("readystatechange", () => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("main { min-height: 0 !important }");
  document.adoptedStyleSheets.push(sheet);
}, { once: true });"""


def test_nothing_shifts_while_the_page_is_loaded_and_answered(
    page: Any, site: Any, survey: Survey, injected: Callable[[Chrome, str], None]
) -> None:
    """0.1 is what browsers' makers call good. The control: a page without the height of its first state."""
    injected(page.driver, SHIFTS)
    with phone(page.driver):
        open_in(page, site, survey)
        assert page.driver.execute_async_script(SETTLED) < 0.02
        page.press("agree")
        for _ in survey.questions:
            page.driver.find_element(By.CSS_SELECTOR, ".question:not([hidden]) label.option").click()
            page.press("next")
        assert page.driver.execute_async_script(SETTLED) < 0.02
        injected(page.driver, JUMPING)
        open_in(page, site, survey)
        assert page.driver.execute_async_script(SETTLED) > 0.02
