"""The respondent's page in a browser that prefers another language, under the real policy."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from tests.kit.patience import patient

from deniable.survey import Survey
from deniable_server.web.languages import LANGUAGES

pytestmark = pytest.mark.browser
LOGS = {"goog:loggingPrefs": {"browser": "ALL"}}
names = (f"languages{i}" for i in itertools.count())


@pytest.fixture
def survey(site: Any) -> Survey:
    published: Survey = site.publish(id=next(names), questions=[{"id": "watched", "text": "Did you watch?", "type": "yes_no"}])
    return published


def said_by_modules(driver: Chrome, text: str) -> str:
    """What the page's modules say for an English text."""
    script = 'const done = arguments[1]; import("/browser/language.mjs").then(({ t }) => done(t(arguments[0])));'
    return str(driver.execute_async_script(script, text))


def complaints(driver: Chrome) -> list[str]:
    """What the browser says against the page, if anything."""
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


WEAK = {
    "en": "Answer only what others may know.",
    "de": "Antworten Sie nur, was andere wissen dürfen.",
    "ar": "يُرجى ألّا تتضمن الإجابة إلا ما يجوز أن يعرفه الآخرون.",
    "fr": "Ne répondez que ce que d’autres peuvent savoir.",
    "es": "Responda solo lo que otros puedan saber.",
}
UNPINNED = {
    "en": "Your link has no fingerprint",
    "de": "Ihr Link hat keinen Fingerabdruck",
    "ar": "لا يحمل رابطك بصمة رقمية",
    "fr": "Votre lien n’a pas d’empreinte",
    "es": "Su enlace no tiene huella",
}


@pytest.mark.parametrize("language", WEAK)
def test_weak_protection_and_a_link_that_pins_nothing_are_told_in_every_language(page: Any, site: Any, language: str) -> None:
    questions = [{"id": "watched", "text": "Did you watch?", "type": "yes_no"}]
    weak = site.publish(id=next(names), epsilon=10, accept_high_epsilon=True, questions=questions)
    strong = site.publish(id=next(names), epsilon="ln 3", questions=questions)
    for survey, link, told in (
        (weak, f"{site.url}/s/{weak.id}?lang={language}#digest={weak.digest}", (True, False)),
        (strong, f"{site.url}/s/{strong.id}?lang={language}", (False, True)),
    ):
        assert page.open(link) == "consent", survey.id
        assert (WEAK[language] in page.text(), UNPINNED[language] in page.text()) == told


def test_a_browser_gets_the_page_and_the_texts_of_its_modules_in_its_language(
    new_browser: Callable[..., Chrome], make_page: Any, site: Any, survey: Survey
) -> None:
    driver = new_browser(arguments=("--accept-lang=de-AT",), capabilities=LOGS)
    page = make_page(driver)
    assert page.open(site.link(survey)) == "consent"
    assert driver.find_element(By.TAG_NAME, "html").get_attribute("lang") == "de"
    block = driver.find_element(By.ID, "messages").get_attribute("textContent")
    assert block == str(LANGUAGES["de"].messages)
    for text, translation in json.loads(block)["messages"].items():
        if isinstance(translation, str):
            assert said_by_modules(driver, text) == translation
    assert said_by_modules(driver, "no such text") == "no such text"
    assert complaints(driver) == []


def test_a_block_that_were_code_would_be_refused(new_browser: Callable[..., Chrome], make_page: Any, proxy: Any, survey: Survey) -> None:
    driver = new_browser(capabilities=LOGS)
    proxy.alter[f"/s/{survey.id}"] = (b'<script type="application/json" id="messages">', b'<script id="messages">')
    make_page(driver).open(proxy.link(survey))
    assert any("Content Security Policy" in complaint for complaint in complaints(driver))


BEYOND = {  # languages without a catalog
    "sw": {
        "title": "Lugha",
        "questions": {"a": {"text": "Je, unakunywa pombe?"}, "b": {"text": "Mara ngapi?", "options": ["Mara nyingi", "Kamwe"]}},
    },
    "ur": {
        "title": "زبانیں",
        "questions": {"a": {"text": "HIV: کیا آپ شراب پیتے ہیں؟"}, "b": {"text": "کتنی بار؟", "options": ["اکثر", "کبھی نہیں"]}},
    },
    "rw": {"title": "Indimi", "questions": {"b": {"text": "Kangahe?", "options": ["Kenshi", "Nta na rimwe"]}}},
}
QUESTIONS = [
    {"id": "a", "text": "Do you drink?", "type": "yes_no"},
    {"id": "b", "text": "How often?", "type": "choice", "options": ["Often", "Never"]},
]
NAMES = "/browser/language_names.json"
LOADED = "return performance.getEntriesByType('resource').filter(({ name }) => name.endsWith(arguments[0])).length"
MARKS = """return [...document.querySelectorAll(arguments[0])]
    .map((e) => [e.closest("[lang]").lang, getComputedStyle(e).direction, e.textContent]);"""


@pytest.mark.parametrize(
    ("own", "accepted", "words", "reads"),
    [
        ("en", "sw", "en", "sw"),
        ("en", "ur-PK,fr", "fr", "ur"),
        ("en", "rw", "en", "rw"),
        ("sw", "sw,de", "de", "sw"),
        ("sw", "ar", "ar", "sw"),
    ],
)
def test_a_survey_in_a_language_without_a_catalog_is_read_in_it(
    new_browser: Callable[..., Chrome], make_page: Any, site: Any, own: str, accepted: str, words: str, reads: str
) -> None:
    texts = dict(BEYOND) if own == "en" else {tag: BEYOND[tag] for tag in ("ur", "rw")}
    questions = QUESTIONS if own == "en" else [{**q, **BEYOND[own]["questions"][str(q["id"])]} for q in QUESTIONS]  # type: ignore[index]
    title = "Languages" if own == "en" else BEYOND[own]["title"]
    survey = site.publish(id=next(names), title=title, language=own, questions=questions, translations=texts)
    driver = new_browser(arguments=(f"--accept-lang={accepted}",), capabilities=LOGS)
    page = make_page(driver)
    assert page.open(site.link(survey)) == "consent"
    assert driver.find_element(By.TAG_NAME, "html").get_attribute("lang") == words
    current = driver.find_element(By.CSS_SELECTOR, ".languages [aria-current]").get_attribute("hreflang")
    assert current == (words if (own, accepted) == ("sw", "ar") and reads in LANGUAGES else reads)
    page.press("agree")
    assert page.step("consent") == "questions"
    for question, (lang, direction, text) in zip(survey.questions, driver.execute_script(MARKS, ".question [data-slot=text]"), strict=True):
        assert (text, lang) == survey.question_in(reads, question)
        assert direction == ("rtl" if lang == "ur" else "ltr")
    options, tag = survey.options_in(reads, survey.questions[1])
    shown = driver.execute_script(MARKS, ".question .option span")
    assert [(lang, text) for lang, _, text in shown[2:]] == [(tag, option) for option in options]
    assert [lang for lang, _, _ in shown[:2]] == [words, words]  # Yes and No are the page's own words
    for group in driver.find_elements(By.CSS_SELECTOR, ".question"):
        group.find_element(By.CSS_SELECTOR, "input").click()
    page.press("next")
    assert page.step("questions") == "review"
    first, second = driver.execute_script(MARKS, "#review [data-slot=answer]")
    assert (first[0], second[0], second[2]) == (words, tag, options[0])
    assert complaints(driver) == []


def test_every_language_of_a_survey_is_one_link_away_and_what_it_leads_to_is_in_it(
    new_browser: Callable[..., Chrome], make_page: Any, site: Any
) -> None:
    survey = site.publish(id=next(names), title="Languages", questions=QUESTIONS, translations=BEYOND)
    driver = new_browser(arguments=("--accept-lang=en",))
    page = make_page(driver)
    assert page.open(site.link(survey)) == "consent"
    tongues = [*(language.name for language in LANGUAGES.values()), "Ikinyarwanda", "Kiswahili", "اردو"]
    patient(driver).until(lambda d: [link.text for link in d.find_elements(By.CSS_SELECTOR, ".languages a")] == tongues)
    driver.find_element(By.LINK_TEXT, "اردو").click()
    patient(driver).until(lambda d: "lang=ur" in d.current_url)
    assert page.step("loading") == "consent"
    assert driver.find_element(By.CSS_SELECTOR, "#consent h1").text == "زبانیں"
    assert urlsplit(driver.current_url).fragment == f"digest={survey.digest}"
    about = driver.execute_script("return [...document.querySelectorAll('main a[href*=definition]')].map((link) => link.search)")
    assert set(about) == {"?lang=ur"}


def test_languages_whose_names_do_not_come_are_offered_by_their_tags(browser: Chrome, page: Any, proxy: Any, site: Any) -> None:
    survey = site.publish(id=next(names), title="Languages", questions=QUESTIONS, translations=BEYOND)
    proxy.alter[NAMES] = (b"{", b"[")
    assert page.open(proxy.link(survey)) == "consent"
    patient(browser).until(lambda d: d.execute_script(LOADED, NAMES) == 1)
    offered = [link.text for link in browser.find_elements(By.CSS_SELECTOR, ".languages a")]
    assert offered[-3:] == ["rw", "sw", "ur"]
    assert browser.find_element(By.ID, "consent").is_displayed()


def test_a_survey_in_the_languages_of_the_pages_loads_no_names(browser: Chrome, page: Any, site: Any) -> None:
    survey = site.publish(id=next(names), title="Languages", questions=QUESTIONS, translations={"de": {"title": "Sprachen"}})
    assert page.open(site.link(survey)) == "consent"
    assert browser.execute_script(LOADED, NAMES) == 0


@pytest.mark.parametrize("query", ["lang=ur-p17", "lang=sw&id=17", "lang="])
def test_an_address_with_more_than_a_language_of_the_survey_is_still_noticed(page: Any, site: Any, query: str) -> None:
    survey = site.publish(id=next(names), questions=QUESTIONS, translations=BEYOND)
    assert page.open(f"{site.url}/s/{survey.id}?{query}#digest={survey.digest}") == "misled"


def test_another_language_is_one_link_away_and_keeps_what_the_link_pins(
    new_browser: Callable[..., Chrome], make_page: Any, site: Any, survey: Survey
) -> None:
    driver = new_browser(arguments=("--accept-lang=en",))
    page = make_page(driver)
    assert page.open(site.link(survey)) == "consent"
    driver.find_element(By.LINK_TEXT, "العربية").click()
    patient(driver).until(lambda d: "lang=ar" in d.current_url)
    assert page.step("loading") == "consent"
    html = driver.find_element(By.TAG_NAME, "html")
    assert (html.get_attribute("lang"), html.get_attribute("dir")) == ("ar", "rtl")
    address = urlsplit(driver.current_url)
    assert (address.query, address.fragment) == ("lang=ar&", f"digest={survey.digest}")
