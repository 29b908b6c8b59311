"""Exclusive options of a multiple choice, by pointer and by keyboard, and limits of a selection, in each of the three engines."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from selenium.webdriver import Keys
from selenium.webdriver.common.by import By
from tests.kit.pages.chromium import open_browser
from tests.kit.pages.engines import ENGINES

pytestmark = pytest.mark.browser
names = (f"exclusive{i}" for i in itertools.count())
OWN = {
    "id": "own",
    "text": "Which of these?",
    "type": "multi_choice",
    "options": ["Tea", "Coffee", "Neither", "I do not know"],
    "exclusive": ["I do not know"],
    "none": "Neither",
}
PAGES = {
    "id": "pages",
    "text": "And these?",
    "type": "multi_choice",
    "options": ["Rum", "Gin", "I do not know"],
    "exclusive": ["I do not know"],
    "required": False,
}
BEST = {
    "id": "best",
    "text": "Which do you like best?",
    "type": "multi_choice",
    "options": ["Tea", "Coffee", "Rum", "Gin", "I do not know"],
    "exclusive": ["I do not know"],
    "at_most": 2,
}
SOME = {**PAGES, "id": "some", "text": "Which of these?", "options": ["Rum", "Gin", "Ale"], "at_least": 1, "at_most": 2}
del SOME["exclusive"]
POINTER, KEYBOARD = "pointer", "keyboard"


@pytest.fixture(scope="module", params=ENGINES)
def driver(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    if request.param == "chromium":
        with open_browser() as driver:
            driver.set_window_size(500, 900)
            yield driver
    else:
        driver = ENGINES[request.param](tmp_path_factory.mktemp(request.param) / "profile")
        yield driver
        driver.quit()


class Boxes:
    """The boxes of one question, ticked as a person does it."""

    def __init__(self, question: Any, way: str) -> None:
        self.question, self.way = question, way

    def tick(self, *labels: str) -> None:
        for label in labels:
            [option] = [
                o
                for o in self.question.find_elements(By.CSS_SELECTOR, ".option")
                if " ".join(o.find_element(By.TAG_NAME, "span").text.split()) == label
            ]
            if self.way == POINTER:
                option.click()
            else:
                option.find_element(By.TAG_NAME, "input").send_keys(Keys.SPACE)

    @property
    def ticked(self) -> list[str]:
        options = self.question.find_elements(By.CSS_SELECTOR, ".option")
        return [
            " ".join(o.find_element(By.TAG_NAME, "span").text.split())
            for o in options
            if o.find_element(By.TAG_NAME, "input").is_selected()
        ]

    @property
    def status(self) -> str:
        return str(self.question.find_element(By.CSS_SELECTOR, "[role=status]").get_attribute("textContent"))


@pytest.mark.parametrize("way", [POINTER, KEYBOARD])
def test_an_exclusive_option_unticks_the_others_and_is_unticked_by_them(
    driver: Any, make_page: Callable[[Any], Any], site: Any, way: str
) -> None:
    survey = site.publish(id=next(names), questions=[OWN, PAGES], epsilon=4)
    page = make_page(driver)
    assert page.open(site.link(survey)) == "consent"
    page.press("agree")
    assert page.step("consent") == "questions"
    own, pages = (Boxes(question, way) for question in driver.find_elements(By.CSS_SELECTOR, ".question"))
    labels = [o.get_attribute("textContent").strip() for q in (own, pages) for o in q.question.find_elements(By.CSS_SELECTOR, ".option")]
    assert labels[:4] == ["Tea", "Coffee", "Neither", "I do not know only this one"]  # one option for none: the survey's own
    assert labels[4:] == ["Rum", "Gin", "I do not know only this one", "None of these", "Prefer not to say"]
    for tick, ticked, told in (
        (["Tea", "Coffee"], ["Tea", "Coffee"], False),
        (["I do not know"], ["I do not know"], True),
        (["Neither"], ["Neither"], True),
        (["Coffee"], ["Coffee"], True),
        (["Tea"], ["Tea", "Coffee"], False),
        (["Tea", "Coffee"], [], False),
    ):
        own.tick(*tick)
        assert (own.ticked, own.status) == (ticked, "Other ticks were removed." if told else "")
    page.press("next")
    problem = own.question.find_element(By.CSS_SELECTOR, ".problem")
    assert (problem.is_displayed(), problem.text) == (True, "Tick what applies, or “Neither”.")
    own.tick("Neither")
    for tick, ticked in (
        (["Rum", "None of these"], ["None of these"]),
        (["I do not know"], ["I do not know"]),
        (["Prefer not to say"], ["Prefer not to say"]),
        (["Gin"], ["Gin"]),
        (["I do not know"], ["I do not know"]),
    ):
        pages.tick(*tick)
        assert pages.ticked == ticked
    assert driver.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    assert driver.execute_script("return document.documentElement.scrollHeight <= innerHeight && scrollY === 0")  # the window stays still
    page.press("next")
    assert page.step("questions") == "review"
    answers = [answer.text for answer in driver.find_elements(By.CSS_SELECTOR, "#review [data-slot=answer]")]
    assert answers == ["Neither", "I do not know"]
    page.press("send")
    assert page.step("review") == "thanks"


def test_what_takes_the_ticks_off_is_in_the_name_of_its_box_and_gone_with_the_answers(
    driver: Any, make_page: Callable[[Any], Any], site: Any
) -> None:
    survey = site.publish(id=next(names), questions=[OWN], epsilon=4, layout="steps")
    page = make_page(driver)
    assert page.open(site.link(survey)) == "consent"
    page.press("agree")
    assert page.step("consent") == "questions"
    own = Boxes(driver.find_element(By.CSS_SELECTOR, ".question"), POINTER)
    heard = driver.execute_script("return [...document.querySelectorAll('.question label')].map((label) => label.textContent.trim())")
    assert heard == ["Tea", "Coffee", "Neither", "I do not know only this one"]
    own.tick("Tea", "I do not know")
    assert own.status
    page.press("next")
    assert page.step("questions") == "review"
    page.press("send")
    assert page.step("review") == "thanks"
    assert "Other ticks were removed." not in driver.execute_script("return document.body.textContent")


def described(question: Any) -> list[str]:
    """The visible texts that a screen reader reads with a question."""
    ids = (question.get_attribute("aria-describedby") or "").split()
    parts = [question.find_element(By.ID, name) for name in ids]
    assert all(part.is_displayed() for part in parts)
    return [part.text for part in parts]


@pytest.mark.parametrize("way", [POINTER, KEYBOARD])
def test_a_limit_is_read_with_the_question_and_is_a_listed_problem_once_it_is_broken(
    driver: Any, make_page: Callable[[Any], Any], site: Any, way: str
) -> None:
    survey = site.publish(id=next(names), questions=[BEST], epsilon=4)
    page = make_page(driver)
    assert page.open(site.link(survey)) == "consent"
    page.press("agree")
    assert page.step("consent") == "questions"
    best, summary = Boxes(driver.find_element(By.CSS_SELECTOR, ".question"), way), driver.find_element(By.CSS_SELECTOR, ".missing")
    assert (described(best.question), summary.is_displayed()) == (["Tick up to 2."], False)
    page.press("next")
    assert described(best.question) == ["Tick up to 2.", "Tick what applies, or “None of these”."]
    best.tick("Tea", "Coffee", "Rum")
    assert best.ticked == ["Tea", "Coffee", "Rum"]  # the person decides which one to remove
    page.press("next")
    assert described(best.question) == ["Tick up to 2.", "Tick up to 2."]
    assert best.question.get_attribute("aria-invalid") == "true"
    assert " ".join(summary.text.split()) == "1 question to complete Which do you like best?"
    best.tick("Coffee")
    assert (described(best.question), summary.is_displayed()) == (["Tick up to 2."], False)
    page.press("next")
    assert page.step("questions") == "review"
    assert driver.find_element(By.CSS_SELECTOR, "#review [data-slot=answer]").text == "Tea, Rum"
    page.press("previous")
    assert page.step("review") == "questions"
    best.tick("I do not know")
    page.press("next")
    assert page.step("questions") == "review"
    page.press("send")
    assert page.step("review") == "thanks"


def test_one_question_a_page_keeps_to_its_limits_and_may_still_be_skipped(driver: Any, make_page: Callable[[Any], Any], site: Any) -> None:
    survey = site.publish(id=next(names), questions=[SOME, {**SOME, "id": "more"}], epsilon=4, layout="steps")
    page = make_page(driver)
    assert page.open(site.link(survey)) == "consent"
    page.press("agree")
    assert page.step("consent") == "questions"
    some, more = (Boxes(question, POINTER) for question in driver.find_elements(By.CSS_SELECTOR, ".question"))
    labels = [option.text for option in some.question.find_elements(By.CSS_SELECTOR, ".option")]
    assert (labels, described(some.question)) == (["Rum", "Gin", "Ale", "Prefer not to say"], ["Tick 1 to 2."])  # none of them is no answer
    some.tick("Rum", "Gin", "Ale")
    page.press("next")
    assert described(some.question) == ["Tick 1 to 2.", "Tick 1 to 2."]
    some.tick("Gin")
    page.press("next")
    assert (some.question.is_displayed(), more.question.is_displayed()) == (False, True)
    more.tick("Prefer not to say")
    page.press("next")
    assert page.step("questions") == "review"
    page.press("send")
    assert page.step("review") == "thanks"


@pytest.mark.parametrize(
    ("language", "hint"),
    [
        ("de", "Kreuzen Sie höchstens 2 an."),
        ("fr", "Cochez-en 2 au plus."),
        ("es", "Marque 2 como máximo."),
        ("ar", "يُرجى تحديد 2 على الأكثر."),
    ],
)
def test_a_limit_is_in_the_language_of_the_page(driver: Any, make_page: Callable[[Any], Any], site: Any, language: str, hint: str) -> None:
    survey = site.publish(id=next(names), questions=[BEST], epsilon=4)
    page = make_page(driver)
    assert page.open(f"{site.url}/s/{survey.id}?lang={language}#digest={survey.digest}") == "consent"
    page.press("agree")
    assert page.step("consent") == "questions"
    assert described(driver.find_element(By.CSS_SELECTOR, ".question")) == [hint]
