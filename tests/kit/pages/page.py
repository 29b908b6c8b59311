"""The respondent's page in a browser, and what a respondent does there."""

from __future__ import annotations

import contextlib

from selenium.common.exceptions import ElementClickInterceptedException, ElementNotInteractableException, NoSuchElementException
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from tests.kit.patience import patient


def address_of(link: str) -> str:
    """What the page that a link opens has for its address: it puts a sign there that no link has."""
    place, _, fragment = link.partition("#")
    return f"{place}{'&' if '?' in place else '?'}#{fragment}"


class Page:
    def __init__(self, driver: Chrome) -> None:
        self.driver = driver

    def open(self, link: str) -> str:
        """Opens a link afresh; gives the step that it leads to."""
        self.driver.get("about:blank")
        self.driver.get(link)
        return self.step("loading")

    def step(self, after: str) -> str:
        """The step that comes up after the one named."""
        script = "return [...document.querySelectorAll('main > section')].find((s) => !s.hidden)?.id"
        found = patient(self.driver).until(lambda d: (s := d.execute_script(script)) not in (after, "sending") and s)
        return str(found)

    def text(self) -> str:
        return self.driver.find_element(By.TAG_NAME, "main").text

    def unfold(self) -> None:
        """Opens all that is folded away."""
        self.driver.execute_script("for (const folded of document.querySelectorAll('main details')) folded.open = true")

    def choose(self, *options: int) -> None:
        """Agrees, and picks an option of each question, by number; -1 leaves one out."""
        self.press("agree")
        assert self.step("consent") == "questions"
        for question, option in zip(self.driver.find_elements(By.CSS_SELECTOR, ".question"), options, strict=True):
            if option >= 0:
                question.find_elements(By.CSS_SELECTOR, "label.option, option:not([disabled])")[option].click()

    def press(self, action: str) -> None:
        """Presses the button of the step that is shown."""
        self.driver.find_element(By.CSS_SELECTOR, f"main > section:not([hidden]) [data-action={action}]").click()

    def press_until(self, action: str, step: str) -> None:
        """Presses until a step is left: at a driver's speed a press is the second one of a double click."""

        def left(driver: Chrome) -> bool:
            missed = (ElementNotInteractableException, NoSuchElementException, ElementClickInterceptedException)
            with contextlib.suppress(*missed):  # it has just been left, or has moved
                self.press(action)
            return not driver.find_element(By.ID, step).is_displayed()

        patient(self.driver).until(left)

    def send(self) -> str:
        """Looks at the answers once more, and sends them."""
        self.press("next")
        assert self.step("questions") == "review"
        self.press("send")
        return self.step("review")

    def answer(self, link: str, *options: int) -> str:
        """From the link to the end; gives the last step."""
        assert self.open(link) == "consent"
        self.choose(*options)
        return self.send()

    def keys(self, *keys: str) -> None:
        ActionChains(self.driver).send_keys(*keys).perform()

    def focused(self, selector: str) -> bool:
        return bool(self.driver.execute_script("return document.activeElement.matches(arguments[0])", selector))
