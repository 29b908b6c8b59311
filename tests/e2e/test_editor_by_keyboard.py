"""Somebody who uses no mouse logs in, writes a survey of two languages with a branch, and publishes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.keys import Keys
from tests.kit.pages.layout import style
from tests.kit.patience import patient
from tests.kit.servers.process import PASSWORD, USER

from deniable.survey import Survey

pytestmark = pytest.mark.browser

HERE = """
const e = document.activeElement, { outlineStyle, outlineWidth } = getComputedStyle(e);
const { top, bottom } = e.getBoundingClientRect();
const bar = document.querySelector(".editor-bar");
const below = bar && !bar.contains(e) && e.closest("#editor") ? bar.getBoundingClientRect().bottom : 0;
const words = e.getAttribute("aria-label") || e.value || (e.querySelector("h2") ?? e).textContent.trim().split("\\n")[0];
const name = ["BODY", "MAIN"].includes(e.tagName) ? "" : e.id || words;
return [name, outlineStyle === "solid" && outlineWidth === "3px", bottom > below && top < innerHeight];
"""
FAR = 200
"""More stops than any of these pages has: who has not arrived by then never will."""


class Keyboard:
    """What is pressed, and what has the focus then: its id, else its value, else the first line of its name."""

    def __init__(self, driver: Chrome) -> None:
        self.driver = driver

    def press(self, *keys: str) -> None:
        ActionChains(self.driver).send_keys(*keys).perform()

    def write(self, text: str) -> None:
        """Over what stands in the field."""
        ActionChains(self.driver).key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL).send_keys(text).perform()

    @property
    def here(self) -> str:
        """What has the focus. Raises AssertionError where that cannot be seen."""
        name, outlined, in_sight = self.driver.execute_script(HERE)
        assert not name or (outlined and in_sight), f"{name}: outlined {outlined}, in sight {in_sight}"
        return str(name)

    def go(self, wanted: str, *, back: bool = False) -> list[str]:
        """By Tab, or back by Shift and Tab; gives the stops on the way."""
        passed = [self.here]
        while passed[-1] != wanted:
            assert len(passed) < FAR, f"{wanted} is not among {passed}"
            keys = ActionChains(self.driver)
            (keys.key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT) if back else keys.send_keys(Keys.TAB)).perform()
            passed.append(self.here)
        return passed

    def arrives(self, wanted: str) -> None:
        """Waits until the server's answer is in the page and the focus is where it is to be."""
        patient(self.driver).until(lambda d: not d.execute_script("return document.getElementById('editor').inert") and self.here == wanted)

    def hears(self, words: str) -> None:
        """Waits until it is said to who cannot see the page."""
        said = "return [...document.querySelectorAll('[role=status], [role=alert]')].map((e) => e.textContent).join(' ')"
        patient(self.driver).until(lambda d: words in d.execute_script(said))


@pytest.fixture
def keyboard(browser: Chrome, site: Any) -> Iterator[Keyboard]:
    """In the editor of an empty survey, after a login that no mouse was needed for."""
    keyboard = Keyboard(browser)
    browser.get(f"{site.url}/login?next=/manage/new")
    patient(browser).until(lambda d: d.execute_script(HERE)[:2] == ["user", True])  # given the focus, and drawn with it
    keyboard.go("user")
    keyboard.press(USER, Keys.TAB, PASSWORD, Keys.ENTER)
    patient(browser).until(lambda d: d.title == "New survey")
    assert "Help" in keyboard.go("1")
    keyboard.go("Skip to the content", back=True)
    keyboard.press(Keys.ENTER)
    assert "Help" not in keyboard.go("1")  # Start an empty survey
    keyboard.press(Keys.ENTER)
    patient(browser).until(lambda d: d.execute_script("return document.getElementById('editor') !== null"))
    yield keyboard
    browser.delete_all_cookies()


def test_a_survey_is_written_and_published_without_a_mouse(keyboard: Keyboard, site: Any) -> None:
    driver = keyboard.driver
    keyboard.arrives("title")
    keyboard.press("Keys", Keys.TAB)
    keyboard.arrives("about")
    keyboard.press("Who asks, and why")
    for number, text in enumerate(("Have you ever had an affair?", "Do you have children?")):
        keyboard.go("add")
        keyboard.press(Keys.ENTER)
        keyboard.arrives(f"questions-{number}-text")
        keyboard.press(text)
    keyboard.go("add")
    keyboard.hears("Saved. 2 questions, ")

    keyboard.press(Keys.ENTER)
    keyboard.arrives("questions-2-text")
    keyboard.hears("before you publish")
    keyboard.go("publish", back=True)
    keyboard.press(Keys.ENTER)
    keyboard.arrives("publish")  # who cannot publish yet stays
    keyboard.go("questions-2-text")
    keyboard.press("How often?")
    keyboard.go("questions-2-type")
    keyboard.press(Keys.ARROW_DOWN)  # from Yes or no to one of several options
    patient(driver).until(lambda d: d.execute_script("return document.getElementById('questions-2-options').checkVisibility()"))
    keyboard.arrives("questions-2-type")
    keyboard.go("questions-2-options")
    keyboard.press("once", Keys.ENTER, "more often")
    keyboard.go("Set condition and privacy")
    keyboard.press(Keys.SPACE)
    keyboard.go("questions-2-conditions-0-question")
    keyboard.press(Keys.ARROW_DOWN)
    keyboard.arrives("questions-2-conditions-0-question")
    keyboard.go("questions-2-conditions-0-answers")
    keyboard.press("yes")
    keyboard.go("up-2", back=True)
    keyboard.press(Keys.SPACE)
    keyboard.arrives("up-1")
    keyboard.hears("“How often?” is now question 2 of 3. Saved. 3 questions, ")
    keyboard.go("undo", back=True)
    keyboard.press(Keys.ENTER)
    keyboard.arrives("undo")
    keyboard.hears("Undone. Saved. 3 questions, ")
    keyboard.go("redo")
    keyboard.press(Keys.ENTER)
    keyboard.arrives("redo")
    keyboard.hears("Redone.")

    keyboard.go("Languages")
    keyboard.press(Keys.ENTER)
    keyboard.go("new_language")
    keyboard.press("de", Keys.TAB, Keys.ENTER)
    keyboard.arrives("languages-0-title")
    keyboard.press("Mit Tasten")
    keyboard.go("Title and texts", back=True)
    keyboard.go("publish", back=True)
    keyboard.press(Keys.ENTER)
    patient(driver).until(lambda d: d.title == "Keys: publish")
    keyboard.go("Publish for good")
    keyboard.press(Keys.ENTER)
    patient(driver).until(lambda d: d.title == "Keys: invite")

    with site.server.store() as store:
        kept: Survey = store.surveys.published("keys").survey
    assert [question.id for question in kept.questions] == ["q1", "q3", "q2"]
    assert tuple(kept.questions[1].options) == ("once", "more often")
    assert kept.questions[1].show_if is not None
    assert kept.translations["de"]["title"] == "Mit Tasten"


def test_a_page_that_loses_the_focus_or_hides_it_is_noticed(keyboard: Keyboard) -> None:
    keyboard.go("add")
    with style(keyboard.driver, ":focus-visible { outline: none }"), pytest.raises(AssertionError, match="add: outlined False"):
        keyboard.go("publish")
    keyboard.driver.execute_script("HTMLElement.prototype.focus = () => {}")
    keyboard.press(Keys.ENTER)
    keyboard.hears("before you publish")
    patient(keyboard.driver).until(lambda d: d.find_elements("id", "questions-0"))
    assert keyboard.here == ""
