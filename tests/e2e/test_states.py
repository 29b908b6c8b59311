"""Two people answer differently, their coins fall so that the same record comes out, and nothing that a browser keeps tells who is who.

The profiles are compared as they are, whatever is in them: it is a trace of the answer, what all profiles of one answer have and
none of those of the other. What differs from run to run anyway is no trace: while there is anything, more people answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from tests.kit.pages import profiles
from tests.kit.pages.dice import alike, code_for, coins
from tests.kit.pages.engines import ENGINES
from tests.kit.pages.traces import count_in
from tests.kit.pages.visits import HASTE
from tests.kit.patience import wait_for

from deniable.survey import Survey
from deniable.wire import access_codes

pytestmark = pytest.mark.browser

TOWNS = [f"Town {number}" for number in range(1, 15)]
QUESTIONS: list[dict[str, Any]] = [
    {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"},
    {
        "id": "often",
        "text": "How often?",
        "type": "choice",
        "options": ["daily", "weekly"],
        "show_if": {"question": "smokes", "is": ["yes"]},
    },
    {"id": "town", "text": "Where do you live?", "type": "choice", "options": TOWNS},
    {"id": "used", "text": "Which have you used?", "type": "multi_choice", "options": ["tea", "coffee", "water"]},
    {"id": "mood", "text": "How do you feel?", "type": "scale", "options": ["badly", "so so", "well"], "required": False},
    {
        "id": "age",
        "text": "How old are you?",
        "type": "number",
        "low": 18,
        "high": 120,
        "bins": [{"name": "under 40", "from": 18}, {"name": "40 or more", "from": 40}],
    },
]
ANSWERS: list[dict[str, Any]] = [
    {"smokes": "yes", "often": "weekly", "town": "Town 3", "used": ["tea"], "mood": "badly", "age": 23},
    {"smokes": "no", "town": "Town 9", "used": ["coffee", "water"], "mood": None, "age": 61},
]
LONG = "DENIABLE_CANARY_SESSIONS" in os.environ
MOST = (
    10  # runs for each answer, before what still separates them counts as a trace: a second of a clock has two bits that come to the disk
)


def copied_if_still_there(source: str, target: str) -> None:
    """A running browser removes files between the listing of a folder and their copies."""
    with contextlib.suppress(FileNotFoundError):
        shutil.copy2(source, target)


@dataclass
class Person:
    """Somebody with a browser of one engine and an answer."""

    engine: str
    driver: Any
    page: Any
    answers: dict[str, Any]

    def answer_all(self, link: str, look: Callable[[], None] = lambda: None) -> None:
        """From the link to the last look at the answers, in either layout; `look` is called once, where there are answers on the page."""
        assert self.page.open(link) == "consent"
        self.page.press("agree")
        self.page.step("consent")
        answered: set[str] = set()
        looks = iter([look])
        while self.driver.find_element(By.ID, "questions").is_displayed():
            for question in self.driver.find_elements(By.CSS_SELECTOR, "#questions .question"):
                text = question.find_element(By.CSS_SELECTOR, "[data-slot=text]").get_attribute("textContent")
                if text not in answered and question.is_displayed():
                    answered.add(text)
                    self._answer(question, next(q for q in QUESTIONS if q["text"] == text))
            next(looks, lambda: None)()
            self.page.press("next")

    def _answer(self, element: Any, question: dict[str, Any]) -> None:
        given = self.answers[question["id"]]
        if question["type"] == "number":
            element.find_element(By.TAG_NAME, "input").send_keys(str(given))
            return
        wanted = [given.capitalize()] if question["type"] == "yes_no" else given if isinstance(given, list) else [given]
        for option in element.find_elements(By.CSS_SELECTOR, "label.option, option"):
            if option.text.strip() in wanted:
                option.click()
        if given is None:
            return
        chosen = element.find_elements(By.CSS_SELECTOR, "option:checked, input:checked")
        assert len(chosen) == len(wanted)


class Study:
    """One survey, and everybody who answers it with one engine, each in a copy of the same profile."""

    def __init__(self, engine: str, proxy: Any, make_page: Callable[[Any], Any], folder: Path, layout: str) -> None:
        self.engine, self.proxy, self.make_page, self.folder = engine, proxy, make_page, folder
        self.survey: Survey = proxy.site.publish(
            id=f"state-{engine}-{layout}-{folder.name[-3:]}", questions=QUESTIONS, layout=layout, epsilon=4
        )
        self.link = proxy.link(self.survey)
        self.words = alike(self.survey, ANSWERS)
        self.runs = 0
        self.opened: list[Any] = []
        blank = self.open(folder / "blank")
        blank.get(f"{proxy.url}/static/base.css")
        blank.quit()

    def open(self, profile: Path) -> Any:
        driver = ENGINES[self.engine](profile)
        self.opened.append(driver)
        return driver

    def person(self, which: int) -> tuple[Person, Path]:
        self.runs += 1
        profile = self.folder / f"run-{self.runs}"
        shutil.copytree(self.folder / "blank", profile, symlinks=True)
        self.proxy.insert(self.survey, HASTE + coins(self.survey, self.words[which]))
        driver = self.open(profile)
        return Person(self.engine, driver, self.make_page(driver), ANSWERS[which]), profile

    def again(self, person: Person, profile: Path) -> Person:
        """The same person, who opens the browser once more."""
        driver = self.open(profile)
        return Person(self.engine, driver, self.make_page(driver), person.answers)

    def seen(self, person: Person, profile: Path, *, last: bool = False) -> profiles.Profile:
        """What would be found on the disk if the power failed now; `last` has it fail."""
        person.driver.flushed(self.proxy.url)
        if last:
            person.driver.kill()
            return profiles.read(profile)
        copy = profile.with_name("copy")
        shutil.copytree(profile, copy, symlinks=True, copy_function=copied_if_still_there)
        found = profiles.read(copy)
        shutil.rmtree(copy)
        return found

    def traces(self, visit: Callable[[Study, Person, Path], dict[str, profiles.Profile]], most: int = MOST) -> dict[str, list[str]]:
        """What of the answer is found after each state of a visit; as many people as it takes to be sure."""
        seen: list[list[dict[str, profiles.Profile]]] = [[], []]
        found: dict[str, list[str]] = {}
        for which in (0, 1, 1, 0, *(0, 1) * (most - 2)):
            seen[which].append(visit(self, *self.person(which)))
            if len(seen[0]) == len(seen[1]) > 1:
                states = seen[0][0].keys()
                found = {s: t for s in states if (t := profiles.traces_of_the_answer([v[s] for v in seen[0]], [v[s] for v in seen[1]]))}
                if not found or len(seen[0]) == most:
                    break
        return found


def answering(study: Study, person: Person, profile: Path) -> dict[str, profiles.Profile]:
    """Somebody who has answered everything; WebKit writes what it keeps of a form when the page is left, the others at once."""
    states: dict[str, profiles.Profile] = {}
    person.answer_all(study.link, lambda: states.update(answering=study.seen(person, profile)))
    if study.engine == "webkit":
        person.driver.refresh()
        states["loaded anew"] = study.seen(person, profile, last=True)
    person.driver.kill()
    return states


def everything(study: Study, person: Person, profile: Path) -> dict[str, profiles.Profile]:
    """In the middle, loaded anew, power failure, restored session, left and come back, a record that waits, thanks, and forgetting."""
    states: dict[str, profiles.Profile] = {}
    person.answer_all(study.link, lambda: states.update(answering=study.seen(person, profile)))
    person.driver.refresh()
    states["loaded anew"] = study.seen(person, profile)
    person.answer_all(study.link)
    states["killed"] = study.seen(person, profile, last=True)
    person = study.again(person, profile)
    person.driver.get(study.link)
    states["restored"] = study.seen(person, profile)
    person.answer_all(study.link)
    person.driver.get(f"{study.proxy.url}/static/base.css")
    states["left"] = study.seen(person, profile)
    person.driver.back()
    person.answer_all(study.link)
    study.proxy.lose = 10_000
    person.page.press("send")
    assert person.page.step("review") == "waiting"
    states["waiting"] = study.seen(person, profile)
    study.proxy.lose = 0
    person.page.press("retry")
    assert person.page.step("waiting") == "thanks"
    states["sent"] = study.seen(person, profile)
    person.driver.find_element(By.CSS_SELECTOR, "#thanks > details:not(.receipt) summary").click()
    person.page.press("forget")
    assert person.page.step("thanks") == "forgotten"
    person.driver.quit()
    states["forgotten and closed"] = profiles.read(profile)
    return states


def on_a_plain_form(study: Study, person: Person, profile: Path) -> dict[str, profiles.Profile]:
    """Somebody who answers on a page without any care, and loads it anew."""
    person.driver.get(f"{study.proxy.url}/plain")
    place = 1 + ANSWERS.index(person.answers)
    person.driver.find_element(By.CSS_SELECTOR, f"label:nth-of-type({place}) input").click()
    person.driver.find_element(By.CSS_SELECTOR, f"option:nth-of-type({place + 1})").click()
    person.driver.find_element(By.CSS_SELECTOR, "input[type=text]").send_keys(str(person.answers["age"]))
    answered = study.seen(person, profile)
    person.driver.refresh()
    return {"answered": answered, "loaded anew": study.seen(person, profile, last=True)}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=ENGINES if LONG else ["webkit"])
def controlled(request: pytest.FixtureRequest) -> str:
    """The engines that the controls run in: all of them with `make canaries`."""
    return str(request.param)


@pytest.fixture
def study(proxy: Any, make_page: Any, tmp_path: Path) -> Iterator[Callable[[str, str], Study]]:
    """`study(engine, layout)`; browsers that a test leaves open are ended with it."""
    made: list[Study] = []

    def make(engine: str, layout: str) -> Study:
        made.append(Study(engine, proxy, make_page, tmp_path, layout))
        return made[-1]

    yield make
    for driver in (driver for each in made for driver in each.opened):
        driver.kill()


@pytest.mark.parametrize("layout", ["list", "steps"] if LONG else ["list"])
def test_a_browser_keeps_nothing_that_follows_the_answer(study: Callable[..., Study], engine: str, layout: str) -> None:
    made = study(engine, layout)
    found = made.traces(everything if LONG else answering)
    print(made.runs, "respondents,", engine, layout)
    assert found == {}


def test_a_record_that_waits_leaves_no_withdrawal_code_on_the_disk(study: Callable[..., Study], engine: str) -> None:
    made = study(engine, "list")
    person, profile = made.person(0)
    person.answer_all(made.link)
    made.proxy.lose = 10_000
    person.page.press("send")
    assert person.page.step("review") == "waiting"
    envelope = json.loads(made.proxy.bodies[0])
    wait_for(lambda: count_in(profile, [envelope["reports"]])[envelope["reports"]] > 0, "the record that waits, on the disk")
    shown = person.driver.find_element(By.CSS_SELECTOR, "#waiting [data-slot=code]").text
    assert access_codes.read(shown) == code_for(made.survey)
    person.driver.kill()
    assert count_in(profile, [shown]) == {shown: 0}


# Controls: the same search, where there is something to find.

PLAIN = """<!doctype html><title>Plain</title><form><p>Do you smoke?<label><input type="radio" name="smokes" value="yes">Yes</label>
<label><input type="radio" name="smokes" value="no">No</label>
<p><select name="town"><option>Choose one<option>Town 3<option>Town 9</select><p><input type="text" name="age"></form>"""


def without_the_mend(study: Study) -> None:
    """A page whose controls look changed, and may be remembered."""
    study.proxy.alter["/browser/respond.mjs"] = (b"input.defaultChecked = input.checked", b"continue")
    study.proxy.alter[f"/s/{study.survey.id}"] = (b'autocomplete="off"', b'autocomplete="on"')
    study.proxy.unsealed.add(f"/s/{study.survey.id}")


def with_a_telling_title(study: Study) -> None:
    """The page with a title that counts the questions answered."""
    study.proxy.alter["/browser/respond.mjs"] = (
        b"    const last =",
        b"    document.title = `${answered} of ${visible.length}`;\n    const last =",
    )
    study.proxy.unsealed.add(f"/s/{study.survey.id}")


def says(found: dict[str, list[str]], text: str) -> bool:
    """Whether what was found has a part of this text, in any width of its characters."""
    raws = [text.encode(code) for code in ("utf-8", "utf-16-le")]
    parts = [repr(raw[i : i + profiles.WIDTH]) for raw in raws for i in range(max(1, len(raw) - profiles.WIDTH + 1))]
    return any(part[2:-1] in trace for traces in found.values() for trace in traces for part in parts)


def test_the_search_finds_a_page_without_the_mend(study: Callable[..., Study], controlled: str) -> None:
    made = study(controlled, "list")
    without_the_mend(made)
    assert says(made.traces(answering, most=2), "formdata.xpath" if controlled == "firefox" else "Town 9")


def test_the_search_finds_a_title_that_tells(study: Callable[..., Study], controlled: str) -> None:
    made = study(controlled, "list")
    with_a_telling_title(made)
    assert says(made.traces(answering, most=2), "6 of 6")


def test_the_search_finds_the_answers_on_a_plain_form(study: Callable[..., Study], controlled: str) -> None:
    made = study(controlled, "list")
    made.proxy.pages["/plain"] = PLAIN
    assert says(made.traces(on_a_plain_form, most=2), "Town 9")
