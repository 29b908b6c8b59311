"""Many respondents with answers that stand nowhere else, and a search for them in every place, whatever happens on the way.

`make long NAME=canaries` runs 200 sessions; the suite runs each way once in each layout.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from selenium.common.exceptions import WebDriverException
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from tests.kit.pages.traces import LEAKS, LOGS, count_in, requests_of, spellings, traces
from tests.kit.patience import patient, wait_for
from tests.kit.surveys import submission

from deniable.survey import Survey

pytestmark = pytest.mark.browser

SESSIONS = int(os.environ.get("DENIABLE_CANARY_SESSIONS", "8"))
LETTERS = "bcdfghjklmnpqrstvwxz"


def word(dice: Random) -> str:
    """A word that stands nowhere else."""
    return "kanary" + "".join(dice.choice(LETTERS) for _ in range(10))


def questions(dice: Random) -> list[dict[str, Any]]:
    """Every question type, optional ones, and branches; all options are canaries."""

    def options(count: int) -> list[str]:
        return [word(dice) for _ in range(count)]

    often, bins = options(3), [{"name": name, "from": start} for name, start in zip(options(3), (18, 40, 65), strict=True)]
    return [
        {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"},
        {"id": "often", "text": "How often?", "type": "choice", "options": often, "show_if": {"question": "smokes", "is": ["yes"]}},
        {"id": "mood", "text": "How do you feel?", "type": "scale", "options": options(5), "required": False},
        {"id": "town", "text": "Where do you live?", "type": "choice", "options": options(20)},
        {"id": "used", "text": "Which?", "type": "multi_choice", "options": options(3), "show_if": {"question": "often", "is": often[:2]}},
        {"id": "drinks", "text": "How many drinks?", "type": "number", "low": 0, "high": 50, "required": False},
        {"id": "age", "text": "How old?", "type": "number", "low": 18, "high": 99, "bins": bins},
    ]


class Respondent:
    """One person in one browser, who answers at random; `said` are the words of the answers given."""

    def __init__(self, driver: Chrome, dice: Random) -> None:
        self.driver, self.dice, self.said = driver, dice, set[str]()

    def find(self, selector: str) -> list[Any]:
        return [element for element in self.driver.find_elements(By.CSS_SELECTOR, selector) if element.is_displayed()]

    def press(self, action: str) -> None:
        self.driver.find_element(By.CSS_SELECTOR, f"main > section:not([hidden]) [data-action={action}]").click()

    def arrive(self, *steps: str) -> str:
        """Waits until one of these steps is shown; gives its name."""
        script = "return [...document.querySelectorAll('main > section')].find((s) => !s.hidden)?.id"
        return str(patient(self.driver).until(lambda d: (s := d.execute_script(script)) in steps and s))

    def open(self, link: str) -> None:
        self.driver.get("about:blank")
        self.driver.get(link)
        self.arrive("consent")

    def answer(self, question: Any) -> None:
        """Answers one question that is shown, or leaves it out where that is allowed."""
        if "may be skipped" in question.text and self.dice.random() < 0.3:
            return
        if fields := question.find_elements(By.CSS_SELECTOR, "input[type=text]"):
            typed = f"{self.dice.uniform(18, 50):.7f}"
            fields[0].clear()
            fields[0].send_keys(typed)
            self.said.add(typed)
            return
        chosen = self.dice.choice(question.find_elements(By.CSS_SELECTOR, "label.option, option:not([disabled])"))
        self.said.add(chosen.text)
        chosen.click()

    def answer_all(self) -> None:
        """From consent to the last look, in either layout."""
        self.press("agree")
        self.arrive("questions")
        answered: set[str] = set()
        for _ in range(30):
            for question in self.find("#questions .question"):
                if question.id not in answered and question.is_displayed():
                    answered.add(question.id)
                    self.answer(question)
            if any(question.id not in answered for question in self.find("#questions .question")):
                continue  # an answer has called for one more
            self.press("next")
            if not self.find("#questions"):
                break
        self.arrive("review")

    def send(self) -> None:
        self.press("send")
        self.arrive("thanks")


def network(driver: Chrome, *, offline: bool) -> None:
    driver.execute_cdp_cmd("Network.enable", {})
    conditions = {"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", conditions)


def plainly(person: Respondent, link: str) -> None:
    person.answer_all()
    person.send()


def leaving_and_coming_back(person: Respondent, link: str) -> None:
    person.answer_all()
    person.driver.get("about:blank")
    person.driver.back()
    person.arrive("consent")
    assert person.driver.execute_script("return document.querySelectorAll('input:checked').length") == 0
    person.answer_all()
    person.send()


def reloading(person: Respondent, link: str) -> None:
    person.answer_all()
    person.driver.refresh()
    person.arrive("consent")
    person.answer_all()
    person.send()
    person.driver.refresh()
    person.arrive("answered")


def offline_then_online(person: Respondent, link: str) -> None:
    person.answer_all()
    network(person.driver, offline=True)
    person.press("send")
    person.arrive("waiting")
    network(person.driver, offline=False)
    person.arrive("thanks")


def a_tab_that_crashes(person: Respondent, link: str) -> None:
    person.answer_all()
    driver, crashing = person.driver, person.driver.current_window_handle
    driver.switch_to.new_window("tab")
    other = driver.current_window_handle
    driver.switch_to.window(crashing)
    with contextlib.suppress(WebDriverException):
        driver.execute_cdp_cmd("Page.crash", {})
    driver.switch_to.window(other)
    person.open(link)
    person.answer_all()
    person.send()


WAYS: list[Callable[[Respondent, str], None]] = [plainly, leaving_and_coming_back, reloading, offline_then_online, a_tab_that_crashes]


@pytest.fixture(scope="module")
def dice() -> Random:
    seed = int(os.environ.get("DENIABLE_CANARY_SEED", time.time_ns() % 2**32))
    print(f"DENIABLE_CANARY_SEED={seed}")
    return Random(seed)


@pytest.fixture(scope="module")
def surveys(own_site: Any, dice: Random) -> list[Survey]:
    made = enumerate(("list", "steps"))
    return [own_site.publish(id=f"canaries{i}", epsilon="4", layout=layout, questions=questions(dice)) for i, layout in made]


def missed(found: dict[str, str], said: set[str]) -> dict[str, list[str]]:
    """Which of the words said stand where."""
    hits = {w: [where for where, text in found.items() if any(s in text.encode() for s in spellings(w))] for w in said}
    return {w: where for w, where in hits.items() if where}


def canaries(person: Respondent) -> set[str]:
    return {said for said in person.said if said.startswith("kanary") or "." in said}


def search(person: Respondent, survey: Survey) -> None:
    """Everything that the browser shows or keeps, and all that it sent: bodies of one length, whatever was answered, skipped or hidden."""
    requests = requests_of(person.driver)
    bodies = [request["postData"] for request in requests if request.get("hasPostData")]
    assert len({json.loads(body)["id"] for body in bodies}) <= 1
    assert {len(body) for body in bodies} <= {len(submission(survey).to_json())}
    found = traces(person.driver, requests)
    assert missed(found, canaries(person)) == {}
    assert json.loads(found["cookies"]) == json.loads(found["caches"]) == []


@pytest.fixture
def recorded(own_site: Any, surveys: list[Survey]) -> Iterator[None]:
    """One person's record comes to the server: one more row, and no option in its log or in any table but that of the definitions.

    A row that waits is encrypted, so the tables are searched after a release, too.
    """
    before, definitions = len(rows(own_site.server.db, "intake")), rows(own_site.server.db, "surveys", "compiled")
    yield
    assert rows(own_site.server.db, "surveys", "compiled") == definitions
    assert len(rows(own_site.server.db, "intake")) == before + 1
    with own_site.released(*surveys) as store:
        assert len(rows(store.database.path, "submissions")) == before + 1
        released = rows(store.database.path)
    assert [row for row in (*rows(own_site.server.db), *released) if "kanary" in row] == []
    assert "kanary" not in own_site.server.log.read_text(encoding="utf-8")


def rows(path: Path, *tables: str) -> list[str]:
    """All rows of these tables of a database, or of all but those of the definitions."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        others = [name for name in names if name not in ("surveys", "compiled")]
        return [repr(row) for table in tables or others for row in db.execute(f'SELECT * FROM "{table}"')]


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("session", range(SESSIONS - SESSIONS // 6))
def test_nothing_of_an_answer_is_found_anywhere(
    session: int,
    new_browser: Callable[..., Chrome],
    own_site: Any,
    surveys: list[Survey],
    dice: Random,
    tmp_path: Path,
) -> None:
    survey, way = surveys[session % 2], WAYS[session // 2 % len(WAYS)]
    person = Respondent(new_browser(capabilities=LOGS, profile=tmp_path / "profile"), dice)
    person.open(own_site.link(survey))
    way(person, own_site.link(survey))
    search(person, survey)
    person.driver.quit()
    assert {w: n for w, n in count_in(tmp_path / "profile", canaries(person)).items() if n} == {}


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("session", range(SESSIONS // 6))
def test_a_browser_that_is_killed_and_restores_its_session_restores_no_answer(
    session: int,
    new_browser: Callable[..., Chrome],
    own_site: Any,
    surveys: list[Survey],
    dice: Random,
    tmp_path: Path,
) -> None:
    survey = surveys[session % 2]
    driver = new_browser(capabilities=LOGS, profile=tmp_path / "profile")
    person = Respondent(driver, dice)
    person.open(own_site.link(survey))
    person.answer_all()
    sessions = tmp_path / "profile/Default/Sessions"
    wait_for(lambda: count_in(sessions, [f"/s/{survey.id}"])[f"/s/{survey.id}"] > 0, "the session on the disk")
    os.kill(driver.capabilities["goog:processID"], signal.SIGKILL)
    with contextlib.suppress(WebDriverException):
        driver.quit()
    assert {w: n for w, n in count_in(tmp_path / "profile", canaries(person)).items() if n} == {}
    again = new_browser(capabilities=LOGS, profile=tmp_path / "profile", arguments=("--restore-last-session",))
    for handle in again.window_handles:
        again.switch_to.window(handle)
        if survey.id in again.current_url:
            Respondent(again, dice).arrive("consent")  # it is open again, and whole
        assert missed({"page": again.page_source}, {w for w in canaries(person) if "." in w}) == {}
        assert again.execute_script("return document.querySelectorAll('input:checked').length") == 0
    person.driver = again
    person.open(own_site.link(survey))
    person.answer_all()
    person.send()
    search(person, survey)
    again.quit()
    assert {w: n for w, n in count_in(tmp_path / "profile", canaries(person)).items() if n} == {}


@pytest.mark.parametrize("layout", [0, 1])
def test_a_page_that_keeps_one_answer_is_found(
    layout: int, new_browser: Callable[..., Chrome], own_site: Any, surveys: list[Survey], dice: Random, tmp_path: Path
) -> None:
    """The control."""
    driver = new_browser(capabilities=LOGS, profile=tmp_path / "profile")
    driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": LEAKS})
    person = Respondent(driver, dice)
    person.open(own_site.link(surveys[layout]))
    person.answer_all()
    with pytest.raises(AssertionError):
        search(person, surveys[layout])
    driver.quit()
    assert any(count_in(tmp_path / "profile", canaries(person)).values())


@pytest.fixture(scope="module")
def own_site(make_site: Callable[[Path], Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A server of this file alone, whose disk and log are searched."""
    site = make_site(tmp_path_factory.mktemp("canaries"))
    yield site
    site.close()
