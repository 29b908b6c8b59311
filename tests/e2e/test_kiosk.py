"""A device that many people share: nothing of one person is left for the next, and every record is counted once."""

from __future__ import annotations

import contextlib
import itertools
import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from tests.kit.pages.engines import ENGINES
from tests.kit.pages.heap import in_memory
from tests.kit.pages.page import Page
from tests.kit.pages.profiles import unpacked
from tests.kit.pages.traces import spellings
from tests.kit.patience import patient, wait_for

from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.submission import Submission

pytestmark = pytest.mark.browser

TYPED = "41.8273645"  # a number that stands nowhere else
QUESTIONS = [
    {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"},
    {"id": "age", "text": "How old are you?", "type": "number", "low": 0, "high": 99},
]
SCRIPT = "/browser/kiosk.mjs"
WIPES = (b"stayOnPage();\nreplacePage(tag);", b"stayOnPage();\nif (!kiosk.copied) replacePage(tag);\nkiosk.copied = true;")
"""A kiosk that does not replace the page: the control."""
STORES = (b"answers.fill(undefined);", b'localStorage.setItem("draft", JSON.stringify(answers));\nanswers.fill(undefined);')
"""A kiosk that stores answers: the control."""
KEEPS = (b"answers.fill(undefined);", b"window.kept = [...answers, body, code];\nanswers.fill(undefined);")
"""A kiosk that keeps an answer in memory: the control."""
CLOCK = "let passed = 0; const now = Date.now; Date.now = () => now() + passed; window.pass = (ms) => { passed += ms; };"
MATCHED = "return RegExp.input + RegExp.lastMatch + RegExp.leftContext + RegExp.rightContext"
WHOLE = """return document.documentElement.outerHTML.replace(/(data-slot="waiting">)\\d+/g, "$1") + location.href + document.title
  + document.cookie + JSON.stringify([history.state, window.name, { ...sessionStorage }, String(getSelection())])
  + JSON.stringify([...document.querySelectorAll("input, select, textarea")].map((one) => [one.value, one.checked, one.selectedIndex]))"""
"""All that a person can find on the page, or a program on it."""
names = (f"kiosk{i}" for i in itertools.count())


class Kiosk(Page):
    """A shared device with a survey."""

    def __init__(self, driver: Any, proxy: Any, **keys: Any) -> None:
        super().__init__(driver)
        self.proxy = proxy
        self.survey: Survey = proxy.site.publish(id=next(names), **{"questions": QUESTIONS, "epsilon": 4, **keys})
        self.link = proxy.kiosk(self.survey)

    def alter(self, line: tuple[bytes, bytes]) -> None:
        """Serves another program than was released."""
        self.proxy.alter[SCRIPT] = line
        self.proxy.unsealed.add(f"/s/{self.survey.id}/kiosk")

    def open(self, link: str = "") -> str:
        return super().open(link or self.link)

    def fill_in(self, typed: str = TYPED, option: int = 0) -> None:
        """From consent to the last look at the answers."""
        self.press_until("agree", "consent")
        assert self.step("consent") == "questions"
        self.driver.find_elements(By.CSS_SELECTOR, "#questions label.option")[option].click()
        self.driver.find_element(By.CSS_SELECTOR, "#questions input[type=text]").send_keys(typed)
        self.press_until("next", "questions")
        assert self.step("questions") == "review"

    def take_part(self, typed: str = TYPED, option: int = 0) -> str:
        """One person, from consent to thanks; gives the withdrawal code."""
        self.fill_in(typed, option)
        self.press_until("send", "review")
        assert self.step("review") == "thanks"
        return str(self.driver.find_element(By.CSS_SELECTOR, "#thanks [data-slot=code]").text)

    def use(self, action: str) -> None:
        """Presses a button that is beside the steps."""
        self.driver.find_element(By.CSS_SELECTOR, f":is(main > .shared, footer) [data-action={action}]").click()

    def next_person(self, after: str = "thanks") -> None:
        self.press("begin")
        assert self.step(after) == "consent"

    def waiting(self) -> int:
        return int(self.driver.find_element(By.CSS_SELECTOR, "footer [data-slot=waiting]").text)

    def arrive(self) -> None:
        """Until everything is sent, as when the network is back."""
        self.driver.execute_script("dispatchEvent(new Event('online'))")
        patient(self.driver).until(lambda _: self.waiting() == 0)

    def whole(self) -> str:
        return str(self.driver.execute_script(WHOLE))

    def stored(self) -> dict[str, str]:
        return dict(self.driver.execute_script("return { ...localStorage }"))

    def counted(self) -> int:
        """How many records the server has, released or not."""
        with contextlib.closing(sqlite3.connect(self.proxy.site.server.db)) as db:
            tables = ("submissions", "intake")
            return sum(db.execute(f"SELECT count(*) FROM {table} WHERE survey = ?", [self.survey.id]).fetchone()[0] for table in tables)


@pytest.fixture
def kiosk(driver: Any, proxy: Any) -> Iterator[Callable[..., Kiosk]]:
    """`kiosk(**keys)` in each of the three engines."""
    yield lambda **keys: Kiosk(driver, proxy, **keys)
    proxy.down = False
    driver.get(f"{proxy.site.url}/static/base.css")


def two_people(device: Kiosk) -> tuple[str, str, set[str]]:
    """Two people answer, one after the other; gives the page before and after the first, and what the first had on it."""
    assert device.open() == "consent"
    device.press("agree")  # the first press adds the entry that stays in the history
    assert device.step("consent") == "questions"
    device.use("stop")
    assert device.step("questions") == "declined"
    device.next_person("declined")
    before = device.whole()
    code = device.take_part()
    secrets = {TYPED, code, json.loads(device.proxy.bodies[-1])["id"] if device.proxy.bodies else TYPED}
    device.press("begin")
    device.step("thanks")
    matched = device.driver.execute_script(MATCHED)  # what an engine remembers of the last text that was searched
    assert [secret for secret in secrets if secret in matched] == []
    return before, device.whole(), secrets


def test_the_next_person_finds_the_page_as_it_was_before_the_first(kiosk: Callable[..., Kiosk]) -> None:
    device = kiosk()
    before, after, secrets = two_people(device)
    assert after == before
    assert [secret for secret in secrets if secret in after] == []
    entries = device.driver.execute_script("return history.length")
    for _ in range(3):
        device.driver.back()
        assert device.step("loading") == "consent", "Back never leaves the page"
    patient(device.driver).until(lambda d: d.execute_script("return history.state") == "kiosk")
    assert device.whole() == before
    device.take_part("12", 1)
    device.next_person()
    device.arrive()
    assert device.whole() == before
    assert device.driver.execute_script("return history.length") == entries, "it does not say how many people there were"
    assert device.stored() == {}
    assert device.driver.get_cookies() == []
    device.driver.refresh()
    assert device.step("loading") == "consent"
    assert "loaded anew" not in device.text()
    assert len({json.loads(body)["id"] for body in device.proxy.bodies}) == 2
    assert device.counted() == 2


def test_a_kiosk_that_does_not_replace_the_page_is_noticed(kiosk: Callable[..., Kiosk]) -> None:
    """The control of the test above."""
    device = kiosk()
    device.alter(WIPES)
    before, after, secrets = two_people(device)
    assert after != before
    assert any(secret in after for secret in secrets)


def test_records_wait_while_the_device_is_offline_and_are_counted_once(kiosk: Callable[..., Kiosk]) -> None:
    device = kiosk()
    assert device.open() == "consent"
    device.proxy.down = True
    for person in range(5):
        assert device.waiting() == person
        device.take_part(str(person), person % 2)
        device.next_person()
    entries = device.stored()
    assert len(entries) == 5
    assert {len(key) for key in entries} == {len(f"deniable-kiosk:{device.survey.digest}:") + 32}
    assert len({len(text) for text in entries.values()}) == 1, "sizes say nothing"
    assert device.proxy.bodies == []
    device.proxy.down, device.proxy.lose = False, 3  # the first replies are lost: the same bytes are sent again
    device.arrive()
    assert {body.decode() for body in device.proxy.bodies} == set(entries.values())
    assert device.stored() == {}
    assert device.counted() == 5


@pytest.mark.parametrize("line", [None, KEEPS], ids=["as released", "control: it is kept"])
def test_a_program_finds_nothing_of_a_person_in_the_memory_of_the_page(new_browser: Callable[..., Chrome], proxy: Any, line: Any) -> None:
    device = Kiosk(new_browser(), proxy)
    if line:
        device.alter(line)
    assert device.open() == "consent"
    secrets = {TYPED, device.take_part()}
    device.arrive()
    secrets.add(json.loads(proxy.bodies[-1])["id"])
    device.next_person()
    assert in_memory(device.driver, secrets) == (secrets if line else set())


def on_disk(folder: Path, word: str) -> bool:
    """Whether a word is in a file of a browser's profile, in any spelling."""
    parts = [part for file in folder.rglob("*") if file.is_file() and not file.is_symlink() for part in unpacked(file)]
    return any(spelling in part for part in parts for spelling in spellings(word))


@pytest.fixture(params=ENGINES)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Any]]:
    """`opened()` opens a browser of each engine with the same profile, again and again."""
    made: list[Any] = []

    def make() -> Any:
        made.append(ENGINES[request.param](tmp_path / "profile"))
        return made[-1]

    yield make
    for driver in made:
        driver.kill()


def test_no_record_is_lost_where_the_browser_is_killed_while_the_device_is_offline(opened: Any, proxy: Any) -> None:
    device = Kiosk(opened(), proxy)
    assert device.open() == "consent"
    proxy.down = True
    for person in range(5):
        device.take_part(f"{person}.{TYPED[3:]}")
        device.next_person()
    ids = {json.loads(text)["id"] for text in device.stored().values()}
    device.fill_in()  # a sixth person is in the middle
    profile = device.driver.profile
    wait_for(lambda: all(on_disk(profile, one) for one in ids), "the records on the disk")
    device.driver.kill()
    assert not on_disk(profile, TYPED[3:])
    proxy.down, proxy.lose = False, 2
    device.driver = opened()
    assert device.open() == "consent"
    device.arrive()
    assert {json.loads(body)["id"] for body in proxy.bodies} == ids
    assert device.counted() == 5
    device.driver.quit()


@pytest.mark.parametrize("line", [None, STORES], ids=["as released", "control: answers are stored"])
def test_nothing_that_a_person_entered_or_got_is_on_the_disk(opened: Any, proxy: Any, line: Any) -> None:
    device = Kiosk(opened(), proxy, access="invited")
    if line:
        device.alter(line)
    invitation = proxy.site.invite(device.survey)
    assert device.open() == "consent"
    device.driver.find_element(By.CSS_SELECTOR, "#consent [data-field=code]").send_keys(invitation)
    code = device.take_part()
    device.arrive()
    device.driver.flushed(proxy.url)
    device.next_person()
    device.driver.flushed(proxy.url)
    if line:
        wait_for(lambda: on_disk(device.driver.profile, TYPED), "the stored answer")
    profile = device.driver.profile
    device.driver.quit()
    assert [word for word in (TYPED, code, invitation) if on_disk(profile, word)] == ([TYPED] if line else [])
    assert device.counted() == 1


def test_a_page_that_nobody_touches_asks_and_then_erases(kiosk: Callable[..., Kiosk]) -> None:
    device = kiosk()
    device.proxy.inserted[f"/s/{device.survey.id}/kiosk"] = CLOCK
    assert device.open() == "consent"
    device.driver.execute_script("pass(3_600_000)")
    device.fill_in()
    device.driver.execute_script("pass(170_000)")
    assert device.driver.execute_async_script("setTimeout(arguments[0], 1500, document.getElementById('review').hidden)") is False
    device.driver.execute_script("pass(15_000)")
    assert device.step("review") == "idle"
    assert TYPED not in device.text()
    device.press("go-on")
    assert device.step("idle") == "review"
    assert TYPED in device.text()
    device.driver.execute_script("pass(185_000)")
    assert device.step("review") == "idle"
    device.driver.execute_script("pass(61_000)")
    assert device.step("idle") == "consent"
    assert TYPED not in device.whole()
    device.press("agree")
    assert device.step("consent") == "questions"
    device.driver.execute_script("pass(1_000_000)")  # it was asleep
    assert device.step("questions") == "consent"
    assert device.stored() == {}


def test_a_language_is_chosen_without_a_network_and_for_one_person_only(kiosk: Callable[..., Kiosk]) -> None:
    device = kiosk(
        translations={"sw": {"title": "Utafiti", "questions": {"smokes": {"text": "Unavuta sigara?"}, "age": {"text": "Umri?"}}}}
    )
    assert device.open(device.link.replace("#", "?lang=de#")) == "consent"
    device.proxy.down = True
    assert "Sie teilen" in device.text()
    chosen = {"ar": "rtl", "sw": "ltr", "fr": "ltr"}
    for tag, direction in chosen.items():
        device.driver.find_element(By.CSS_SELECTOR, f".languages [hreflang={tag}]").click()
        patient(device.driver).until(lambda d, tag=tag: d.find_elements(By.CSS_SELECTOR, f".languages [hreflang={tag}][aria-current]"))
        assert device.driver.execute_script("return document.documentElement.dir") == direction
    device.press("decline")
    assert device.step("consent") == "declined"
    assert "Sie haben nicht teilgenommen" in device.text()
    device.next_person("declined")
    assert device.driver.execute_script("return document.documentElement.lang") == "de"
    assert device.driver.title == "A study"


def test_the_group_of_the_link_is_that_of_everybody_and_the_code_of_nobody_else(kiosk: Callable[..., Kiosk]) -> None:
    device = kiosk(groups=["North", "South"], access="invited")
    codes = [device.proxy.site.invite(device.survey) for _ in range(2)]
    assert device.open(f"{device.link}&group=South&code={codes[0]}") == "consent"
    assert codes[0] not in device.driver.current_url
    device.driver.refresh()
    assert device.step("loading") == "consent"
    for code in codes:
        field = device.driver.find_element(By.CSS_SELECTOR, "#consent [data-field=code]")
        assert field.get_attribute("value") == ""
        field.send_keys(code)
        device.proxy.down = True
        device.press("agree")
        patient(device.driver).until(lambda d: d.find_element(By.ID, "offline-code").is_displayed())
        device.proxy.down = False
        device.take_part()
        device.next_person()
    device.driver.find_element(By.CSS_SELECTOR, "#consent [data-field=code]").send_keys(codes[0])
    device.press("agree")
    patient(device.driver).until(lambda d: d.find_element(By.ID, "used-code").is_displayed())
    device.press("decline")
    device.step("consent")
    device.next_person("declined")
    device.arrive()
    assert {Submission.from_json(body).group for body in device.proxy.bodies} == {"South"}
    assert device.counted() == 2
    assert not any(code in device.whole() for code in codes)


def test_records_that_were_withdrawn_or_came_too_late_are_not_sent_for_ever(kiosk: Callable[..., Kiosk]) -> None:
    device = kiosk()
    assert device.open() == "consent"
    device.proxy.down = True
    code = device.take_part()
    device.next_person()
    with device.proxy.site.server.store() as store:
        store.submissions.withdraw(device.survey.id, access_codes.submission_id(access_codes.read(code)))
    device.proxy.down = False
    device.arrive()
    assert device.stored() == {}
    device.proxy.down = True
    device.take_part()
    device.next_person()
    device.proxy.site.close_survey(device.survey)
    device.proxy.down = False
    device.arrive()
    assert len(device.stored()) == 1, "kept, in case the survey is opened again"
    device.use("staff")
    assert device.step("consent") == "staff"
    assert "did not take" in device.text()
    device.press("remove")
    assert device.stored() == {}
    device.press("begin")
    assert device.step("staff") == "closed"
    assert device.counted() == 0


def test_staff_sees_a_number_alone_and_leaves_only_where_the_server_is_reached(kiosk: Callable[..., Kiosk]) -> None:
    device = kiosk()
    assert device.open() == "consent"
    device.proxy.down = True
    device.take_part()
    device.next_person()
    device.use("staff")
    assert device.step("consent") == "staff"
    (body,) = device.stored().values()
    assert json.loads(body)["id"] not in device.whole()
    assert "Records waiting on this device: 1" in device.text()
    device.press("leave")
    patient(device.driver).until(lambda _: "cannot be reached" in device.text())
    device.proxy.down = False
    device.press("leave")
    patient(device.driver).until(lambda d: "/kiosk?" not in d.current_url)
    assert device.step("loading") == "consent"
    assert device.counted() or device.stored(), "leaving removes no record, though one may have been sent by then"
    assert device.open() == "consent"
    device.arrive()
    assert device.counted() == 1


def test_a_survey_that_is_closed_or_a_browser_that_stores_nothing_asks_nobody(kiosk: Callable[..., Kiosk]) -> None:
    device = kiosk()
    device.proxy.inserted[f"/s/{device.survey.id}/kiosk"] = "Storage.prototype.setItem = () => {};"
    assert device.open() == "refused"
    assert "no longer lets the page keep your record" in device.text()
    device.proxy.inserted.clear()
    device.proxy.site.close_survey(device.survey)
    assert device.open() == "closed"
