"""What somebody does in the editor of surveys, in a browser of any engine."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select
from tests.kit.patience import patient, wait_for

from deniable.errors import SurveyError
from deniable.survey import Survey
from deniable.survey.translation import TEXTS

_UNFOLD = """
let fold = document.getElementById(arguments[0]).closest("details");
for (; fold; fold = fold.parentElement.closest("details")) fold.open = true;
"""


class Writer:
    """One researcher who is logged in. Every step ends when the page shows what it led to, but those of `put`."""

    def __init__(self, driver: Any, server: Any) -> None:
        self.driver, self.server = driver, server

    def begin(self) -> None:
        """From the page of a new survey to the fields of an empty one."""
        self.driver.find_element(By.NAME, "blank").click()
        self.shows("#editor")

    def open(self, text: str) -> str:
        """Opens a draft with this text; gives its address."""
        with self.server.store() as store:
            path = f"/manage/drafts/{store.drafts.begin('ada', text).id}"
        self.driver.get(self.server.url + path)
        self.shows("#editor")
        return path

    def shows(self, selector: str) -> Any:
        return patient(self.driver).until(lambda d: next(iter(d.find_elements(By.CSS_SELECTOR, selector)), None))

    def press(self, do: str) -> None:
        """Presses a button, and waits for the form that it leads to: all that was typed before is kept then."""
        with _Renewed(self.driver):
            button = self.driver.find_element(By.CSS_SELECTOR, f'button[value="{do}"]:not([hidden])')
            self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'}); arguments[0].click()", button)

    def put(self, field: str, text: str) -> None:
        """Types into a field and goes on, as people do who do not wait for the server.

        Chooses where there is a list; ticks a box, or for an empty text unticks it.
        """
        element = self.unfolded(field)
        if element.get_attribute("type") == "checkbox":
            if element.is_selected() != bool(text):
                element.click()
        elif element.get_attribute("value") != text:
            with _Renewed(self.driver, element.get_attribute("data-whole") is not None):
                if element.tag_name == "select":
                    Select(element).select_by_value(text)
                else:
                    self.type(element, text)

    def write(self, field: str, text: str) -> None:
        """Types into a field and leaves it; it is kept when the server has answered."""
        revision = self.revision()
        element = self.unfolded(field)
        if element.get_attribute("value") == text:
            return
        self.type(element, text)
        self.kept(revision)

    def type(self, element: Any, text: str) -> None:
        """As a person does, who marks what stands there and writes over it."""
        element.send_keys(Keys.CONTROL, "a")
        element.send_keys(text.replace("\n", Keys.ENTER))
        self.driver.execute_script("arguments[0].blur()", element)

    def unfolded(self, field: str) -> Any:
        self.driver.execute_script(_UNFOLD, field)
        element = self.driver.find_element(By.ID, field)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        return element

    def revision(self) -> str:
        return str(self.driver.execute_script("return document.getElementById('revision').value"))

    def kept(self, before: str) -> None:
        patient(self.driver).until(lambda d: self.revision() != before)

    def told(self, place: str, text: str) -> None:
        """Waits until this is said there. One look: what is said is put in place of what was said while somebody looks."""
        read = "return document.getElementById(arguments[0])?.innerText.trim()"
        patient(self.driver).until(lambda d: (said := d.execute_script(read, place)) == text or (text and text in (said or "")))

    def draft(self, path: str) -> Any:
        with self.server.store() as store:
            return store.drafts.draft(path.rpartition("/")[2])

    def keeps(self, wanted: Survey) -> None:
        """Waits until the draft that is open is kept, and is this survey."""
        path = urlsplit(self.driver.current_url).path

        def written() -> bool:
            with contextlib.suppress(SurveyError):
                return Survey.from_text(self.draft(path).text).digest == wanted.digest
            return False

        try:
            wait_for(written, "the draft is what was typed")
        except AssertionError as error:
            told = self.driver.execute_script("return document.getElementById('problems').innerText")
            raise AssertionError(f"{error}; the page says {told!r}, kept is:\n{self.draft(path).text}") from None

    def order(self) -> list[str]:
        """The names of the questions, as they stand."""
        return [str(field.get_attribute("value")) for field in self.driver.find_elements(By.CSS_SELECTOR, ".asked [id$='-id']")]

    def write_survey(self, wanted: Mapping[str, Any]) -> None:
        """Writes a survey, as `document.parse` reads its file, into an empty draft."""
        for key in (*TEXTS, "id", "epsilon", "ask", "batch", "access", "layout", "groups", "return_link"):
            if key in wanted:
                self.put(key, _written(wanted[key]))
        for tag in wanted.get("translations", {}):
            self.unfolded("new_language").send_keys(tag)
            self.press("language")
        for place, question in enumerate(wanted["questions"]):
            self.press("add")
            self.write_question(f"questions-{place}", question)
        for number, texts in enumerate(wanted.get("translations", {}).values()):
            self._translate(number, wanted, texts)

    def write_question(self, place: str, question: Mapping[str, Any]) -> None:
        for key in ("type", "id", "text", "help", "options", "scores", "low", "high", "levels", "bins", "weight", "epsilon"):
            if key in question:
                self.put(f"{place}-{key}", _written(question[key]))
        for key, value in question.get("show_if", {}).items():
            self.put(f"{place}-conditions-0-{'question' if key == 'question' else 'answers'}", _written(value))
        self.put(f"{place}-optional", "on" if question.get("required") == "false" else "")

    def _translate(self, number: int, wanted: Mapping[str, Any], texts: Mapping[str, Any]) -> None:
        for key in TEXTS:
            if key in texts:
                self.put(f"languages-{number}-{key}", texts[key])
        for place, question in enumerate(wanted["questions"]):
            for key, value in texts["questions"].get(question["id"], {}).items():
                self.put(f"questions-{place}-words-{number}-{key}", _written(value))


def _written(value: Any) -> str:
    """A value of a survey file as it is typed into a field."""
    if isinstance(value, list):
        return "\n".join(f"{one['from']}: {one['name']}" if isinstance(one, Mapping) else str(one) for one in value)
    return str(value)


class _Renewed:
    """Waits, at its end, until the whole form is another one, where it is to be."""

    def __init__(self, driver: Any, awaited: bool = True) -> None:
        self.driver, self.awaited = driver, awaited

    def __enter__(self) -> None:
        self.driver.execute_script("document.getElementById('editor').dataset.seen = ''")

    def __exit__(self, kind: object, *_: object) -> None:
        if self.awaited and kind is None:  # one look: an element that is found and then asked about may be gone in between
            patient(self.driver).until(lambda d: d.execute_script("return document.querySelector('#editor:not([data-seen])') !== null"))
