"""Somebody with a browser of any engine and a page of respondents before them, who uses each control as a person would."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from selenium.webdriver.common.by import By
from tests.kit.pages.controls import Controls
from tests.kit.pages.page import Page
from tests.kit.patience import patient, wait_for

STEP = "main > section:not([hidden])"
TAPPED = "label.option, option:not([disabled])"


def as_shown(text: str) -> str:
    """A pattern of a text with any answers in it."""
    return ".*".join(map(re.escape, re.split(r"\$\{[^}]*\}", text)))


class Person:
    """`which` of the answers somebody gives tells the question's options apart by their places, whatever language the page is in."""

    def __init__(self, driver: Any, questions: list[dict[str, Any]], answers: dict[str, Any], controls: Controls) -> None:
        self.driver, self.page, self.controls = driver, Page(driver), controls
        self.questions, self.answers = questions, answers

    def shown(self, selector: str) -> list[Any]:
        return [element for element in self.driver.find_elements(By.CSS_SELECTOR, selector) if element.is_displayed()]

    def use(self, element: Any) -> None:
        self.controls.note(self.driver, element)
        element.click()

    def press(self, action: str) -> None:
        """Uses the button of the step that is shown."""
        self.use(self.driver.find_element(By.CSS_SELECTOR, f"{STEP} [data-action={action}]"))

    def open(self, link: str, step: str = "consent") -> None:
        assert self.page.open(link) == step
        self.controls.look(self.driver)

    def goes(self, after: str, to: str) -> None:
        """Waits for the step that comes up after the one named, also where the page is loaded anew in between."""
        assert self.page.step(after) in ("loading", to)
        assert self.page.step("loading") == to
        self.controls.look(self.driver)

    def look_around(self) -> None:
        """Opens all that is folded away, and all pages that open beside this one; what can be scrolled is tapped."""
        for folded in self.shown(f"{STEP} details:not([open]) > summary"):
            self.use(folded)
        for region in self.shown(f"{STEP} [tabindex='0']:not(input, select, .option *)"):
            self.use(region)
        for link in self.shown(f"{STEP} a[target=_blank], footer a"):
            if not str(link.get_attribute("href")).startswith(("mailto:", "tel:")):
                self._follow(link)

    def _follow(self, link: Any) -> None:
        """Opens a page beside this one, and closes it; where windows of the tests open none, nothing happens."""
        own, before = self.driver.current_window_handle, set(self.driver.window_handles)
        self.use(link)
        if not self.driver.opens_beside:
            return
        wait_for(lambda: set(self.driver.window_handles) > before, "the page beside this one")
        for other in set(self.driver.window_handles) - before:
            self.driver.switch_to.window(other)
            self.driver.close()
        self.driver.switch_to.window(own)

    def choose_each_language(self) -> None:
        """All languages in turn, and back to the first that was shown."""
        place = "nav.languages [aria-current]"
        first = self.driver.find_element(By.CSS_SELECTOR, place).get_attribute("hreflang")
        others = [link.get_attribute("hreflang") for link in self.shown("nav.languages a")]
        for tag in (*others, first):
            self.use(self.driver.find_element(By.CSS_SELECTOR, f"nav.languages [hreflang={tag}]"))
            patient(self.driver).until(lambda d, tag=tag: d.find_elements(By.CSS_SELECTOR, f"{place}[hreflang={tag}]"))
            self.goes("loading", "consent")

    def practise(self) -> None:
        """The practice with the own answer, as people will do it: a few times, and for a hundred people."""
        side = self.answers["smokes"]
        for _ in range(3):
            self.press(f"toss-{side}")
        self.press(f"toss-many-{side}")

    def start(self, link: str) -> None:
        """From a link to the first question."""
        self.open(link)
        self.press("agree")
        self.goes("consent", "questions")

    def answer_all(self, look: Callable[[], None] = lambda: None) -> None:
        """From the first question to the last look, in either layout; `look` is called where there are answers on the page."""
        answered: set[str] = set()
        while self.shown("#questions"):
            for question in self.driver.find_elements(By.CSS_SELECTOR, "#questions .question"):
                text = question.find_element(By.CSS_SELECTOR, "[data-slot=text]").get_attribute("textContent")
                asked = next(q for q in self.questions if re.fullmatch(as_shown(q["text"]), text))
                if asked["id"] not in answered and question.is_displayed():
                    answered.add(asked["id"])
                    self._answer(question, asked)
            if len(answered) == len(self.answers):
                look()
            self.press("next")
        self.controls.look(self.driver)

    def change_nothing(self) -> None:
        """At the last look: back to the first answer, by its own button and by that of the page, and forward again."""
        for way_back in (f"{STEP} dd button", f"{STEP} [data-action=previous]"):
            self.use(self.shown(way_back)[0])
            self.goes("review", "questions")
            while self.shown("#questions"):
                self.press("next")
            self.goes("questions", "review")

    def leave_out(self) -> None:
        """At the first question: on without an answer, and to what is missing; one at a time, there is a way back as well."""
        self.press("next")
        for item in self.shown("#questions [data-slot=missing] button")[:1]:
            self.use(item)

    def _answer(self, element: Any, question: dict[str, Any]) -> None:
        given = self.answers[question["id"]]
        if question["type"] == "number":
            field = element.find_element(By.TAG_NAME, "input")
            self.use(field)
            if given is not None:
                field.send_keys(str(given))
            return
        options = element.find_elements(By.CSS_SELECTOR, TAPPED)
        places = list(self._places(question, given, [option.get_attribute("textContent").strip() for option in options]))
        for place in places:
            self._tap(element, options[place])
        chosen = element.find_elements(By.CSS_SELECTOR, "option:checked, input:checked")
        assert len(chosen) == len(places)

    def _tap(self, question: Any, option: Any) -> None:
        """Takes an option, as a finger does; WebKit's driver does not always scroll to it."""
        (control, *_) = question.find_elements(By.CSS_SELECTOR, "select") or option.find_elements(By.TAG_NAME, "input")
        self.controls.note(self.driver, control)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", option)
        option.click()

    @staticmethod
    def _places(question: dict[str, Any], given: Any, shown: list[str]) -> Iterator[int]:
        """The places of the options that say so; what comes after them is none of these, and rather not saying.

        Options in a drawn order are found by what they say; one that excludes the others says so behind its label.
        """
        labels = [*question.get("options", ["yes", "no"]), *(["Other"] if "other" in question else [])]
        labels[: len(labels)] = shown[: len(labels)] if "order" in question else labels
        if given is None:
            yield len(labels) + (question["type"] == "multi_choice")
        elif isinstance(given, list):
            yield from [next(place for place, label in enumerate(labels) if label.startswith(one)) for one in given] or [len(labels)]
        else:
            yield labels.index(given)

    def type_into(self, field: Any, text: str) -> None:
        self.use(field)
        field.clear()
        field.send_keys(text)
