"""What pages say of what has left the device is true, whatever it holds: every page that says so, in every state of the device."""

from __future__ import annotations

import io
import itertools
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from babel.messages.pofile import read_po
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from tests.kit.pages.engines import ENGINES
from tests.kit.pages.page import Page
from tests.kit.pages.visits import NO_REPLY
from tests.kit.patience import patient

from deniable.survey import Survey
from deniable_server import paths

RESPONDENTS = paths.TEMPLATES / "respondents"
QUESTIONS = [{"id": "smokes", "text": "Do you smoke?", "type": "yes_no"}]
names = (f"sent{i}" for i in itertools.count())

SENTENCES = {
    "unknown": "Nothing was sent now. Do not answer twice: two records tell more about you than one.",
    "fresh": "Nothing was sent now.",
    "code": "No answer was sent, only your invitation code. From now on it works only in this browser.",
    "kept": "A record of this device has been sent, or waits here. Do not answer elsewhere.",
}
TRUE = {"fresh": {"fresh", "unknown"}, "code": {"code"}, "waiting": {"kept", "unknown"}, "answered": {"kept", "unknown"}}
"""Which sentences are true of a device that holds nothing, has sent its code alone, holds a record that waits, or the mark of one."""
ELSEWHERE = ("in another browser", "on another device", "answer by hand")
"""Advice that makes a second record of a device that has made one."""


# ---- which pages say so --------------------------------------------------------------------------

DENIES = re.compile(
    r"\b(nothing|no (answer|record)s?)\b[^.:]*\b(was|were|is|has been|have been|are) (now )?(sent|kept|stored)", re.IGNORECASE
)
TRUE_EVERYWHERE = {
    "A harmless question: do you like chocolate? Each time you answer, coins are tossed as in the survey, and one more person is drawn. "
    "Nothing of this is kept or sent.",
    "That is fine. What you entered is erased, and no answer was sent.",  # of a shared device, when somebody stops before the end
    "Until you press “Send”, no answer is sent: close the page, and your answers are gone.",
}
"""Sentences of this kind that say how it is, and not what happened."""


def sections_that_say_what_was_sent() -> set[str]:
    """The ids of the steps of a page that include the sentences."""
    found = set()
    for file in RESPONDENTS.glob("*.html"):
        parts = re.split(r'<section id="(\w+)"', file.read_text(encoding="utf-8"))
        found |= {name for name, text in zip(parts[1::2], parts[2::2], strict=True) if "respondents/sent.html" in text}
    return found


def test_no_page_says_by_itself_that_nothing_was_sent() -> None:
    """All texts of respondents' pages and of their modules: what one adds comes from the sentences that the device's state chooses."""
    texts = read_po(io.BytesIO((paths.TRANSLATIONS / "deniable.pot").read_bytes()))
    denying = {m.id: {file for file, _ in m.locations} for m in texts if isinstance(m.id, str) and DENIES.search(m.id)}
    assert {SENTENCES["fresh"], SENTENCES["code"]} <= denying.keys()
    own = {f"templates/respondents/{file}" for file in ("sent.html",)}
    assert {text for text, files in denying.items() if files != own} == TRUE_EVERYWHERE


@pytest.mark.parametrize(
    "text", ["That is fine. Nothing was sent, and you can close this page.", "No record was kept.", "Nothing has been kept."]
)
def test_a_sentence_that_says_so_is_noticed(text: str) -> None:
    """The control of the test above."""
    assert DENIES.search(text)


def test_each_page_that_says_what_was_sent_is_looked_at() -> None:
    assert sections_that_say_what_was_sent() == {way.__name__ for way in WAYS}


# ---- how to get there ----------------------------------------------------------------------------

UNLOADED = "window.fetch = () => Promise.reject(new TypeError());"
FORGETFUL = "Storage.prototype.setItem = () => {};"
LACKING = "delete window.AbortController;"
TORN = "document.addEventListener('DOMContentLoaded', () => dispatchEvent(new ErrorEvent('error', { filename: '/browser/a.mjs' })));"
FAULTY = "History.prototype.replaceState = () => null.fault;"
FAULTY_AT_START = "History.prototype.pushState = () => null.fault;"
SAID = "return document.querySelector('main > section:not([hidden])').innerText"


class Device:
    """A browser that holds something of a survey, and the page that it opens."""

    def __init__(self, driver: Any, proxy: Any, state: str) -> None:
        self.page, self.driver, self.proxy, self.state = Page(driver), driver, proxy, state
        access = {"access": "invited"} if state == "code" else {}
        self.survey: Survey = proxy.site.publish(id=next(names), questions=QUESTIONS, epsilon="ln 3", **access)
        driver.get(f"{proxy.url}/static/base.css")
        driver.execute_script("localStorage.clear()")
        entry = {"waiting": {"envelope": "{}", "epsilon": 1.09}, "answered": {"epsilon": 1.09}}.get(state)
        if entry:
            driver.execute_script("localStorage[arguments[0]] = arguments[1]", f"deniable:{self.survey.digest}", json.dumps(entry))

    @property
    def link(self) -> str:
        code = f"&code={self.proxy.site.invite(self.survey)}" if self.state == "code" else ""
        return f"{self.proxy.link(self.survey)}{code}"

    def open(self, script: str = "", digest: str | None = None) -> str:
        self.proxy.insert(self.survey, script)
        link = self.link if digest is None else self.link.replace(self.survey.digest, digest)
        return str(self.page.open(link))

    def start(self, script: str = "") -> None:
        """To the first question, which sends the code."""
        assert self.open(script) == "consent"
        self.page.press("agree")
        assert self.page.step("consent") == "questions"

    def said(self) -> str:
        return " ".join(str(self.driver.execute_script(SAID)).split())


def loading(device: Device) -> None:
    device.proxy.insert(device.survey, NO_REPLY)
    device.driver.get("about:blank")
    device.driver.get(device.link)
    device.driver.execute_script("for (const animation of document.getAnimations()) animation.finish()")


def unsupported(device: Device) -> None:
    assert device.open(LACKING) == "unsupported"


def broken(device: Device) -> None:
    assert device.open(TORN + NO_REPLY) == "broken"


def refused(device: Device) -> None:
    """Not loaded; where the code was sent, nothing can be kept any more."""
    if device.state == "code":
        device.start()
        device.driver.execute_script("Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };")
        device.driver.find_element(By.CSS_SELECTOR, "label.option").click()
        assert device.page.send() == "refused"
    else:
        assert device.open(UNLOADED) == "refused"


def unkept(device: Device) -> None:
    assert device.open(FORGETFUL) == "unkept"


def declined(device: Device) -> None:
    """After a look at the questions, where there is a code."""
    if device.state == "code":
        device.start()
        device.driver.back()
        assert device.page.step("questions") == "consent"
    else:
        assert device.open() == "consent"
    device.page.press("decline")
    assert device.page.step("consent") == "declined"


def fault(device: Device) -> None:
    if device.state == "code":
        assert device.open(FAULTY_AT_START) == "consent"
        device.page.press("agree")
        patient(device.driver).until(lambda d: d.find_element(By.ID, "fault").is_displayed())
    else:
        assert device.open(FAULTY) == "fault"


def closed(device: Device) -> None:
    """Without the definition, where a record would be sent or named with it."""
    device.proxy.site.close_survey(device.survey)
    assert device.open("" if device.state == "fresh" else UNLOADED) == "closed"


WAYS: dict[Callable[[Device], None], tuple[str, ...]] = {
    loading: ("fresh", "waiting", "answered"),
    unsupported: ("fresh", "waiting", "answered"),
    broken: ("fresh", "waiting", "answered"),
    refused: ("fresh", "code", "waiting", "answered"),
    unkept: ("fresh", "waiting", "answered"),
    declined: ("fresh", "code"),  # consent is shown to nobody whose record waits or has arrived
    fault: ("fresh", "code", "waiting", "answered"),
    closed: ("fresh", "waiting", "answered"),
}
KNOWN = {refused, declined, fault, closed, loading, unsupported, broken}
"""The pages whose scripts have asked the device."""
EVERYWHERE = [(refused, "fresh"), (refused, "waiting"), (refused, "answered"), (declined, "code"), (fault, "answered"), (closed, "waiting")]


@pytest.fixture(scope="module", params=["firefox", "webkit"])
def other(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    driver = ENGINES[request.param](tmp_path_factory.mktemp(request.param) / "profile")
    yield driver
    driver.quit()


def shown(said: str) -> list[str]:
    """The states whose sentences are shown: of one that begins as another does, the longer."""
    found = [state for state, sentence in SENTENCES.items() if sentence in said]
    return [state for state in found if state != "fresh" or "unknown" not in found]


def look(device: Device, way: Callable[[Device], None]) -> None:
    way(device)
    said = device.said()
    assert len(shown(said)) == 1, said
    (state,) = shown(said)
    assert state in TRUE[device.state], said
    if way in KNOWN:
        assert state != "unknown", said
    if state == "kept":
        assert [advice for advice in ELSEWHERE if advice in said] == []


def name_of(part: Any) -> str:
    return str(getattr(part, "__name__", part))


@pytest.mark.browser
@pytest.mark.parametrize(("way", "state"), [(way, state) for way, states in WAYS.items() for state in states], ids=name_of)
def test_a_page_says_only_what_is_true_of_this_device(browser: Chrome, proxy: Any, way: Callable[[Device], None], state: str) -> None:
    look(Device(browser, proxy, state), way)


@pytest.mark.browser
@pytest.mark.parametrize(("way", "state"), EVERYWHERE, ids=name_of)
def test_so_it_does_in_other_engines(other: Any, proxy: Any, way: Callable[[Device], None], state: str) -> None:
    look(Device(other, proxy, state), way)


@pytest.mark.browser
def test_a_fault_after_the_record_has_arrived_does_not_deny_it(browser: Chrome, proxy: Any) -> None:
    device = Device(browser, proxy, "fresh")
    device.start()
    device.driver.find_element(By.CSS_SELECTOR, "label.option").click()
    device.driver.execute_script("window.atob = () => null.fault;")  # the receipt needs it
    assert device.page.send() == "fault"
    assert len(proxy.bodies) == 1
    assert shown(device.said()) == ["kept"]
    assert "elsewhere" in device.said()


@pytest.mark.browser
@pytest.mark.parametrize("state", ["waiting", "answered"])
def test_where_the_link_names_another_digest_a_record_of_this_server_is_not_denied(browser: Chrome, proxy: Any, state: str) -> None:
    """It may be one of this survey."""
    device = Device(browser, proxy, state)
    assert device.open(digest="0" * 64) == "refused"
    assert shown(device.said()) == ["unknown"]


@pytest.mark.browser
def test_a_page_that_does_not_look_is_noticed(browser: Chrome, proxy: Any) -> None:
    """The control: one that takes each device for a fresh one."""
    device = Device(browser, proxy, "answered")
    proxy.alter["/browser/respond.mjs"] = (b'if (digest && holdsRecord(PREFIX + digest)) return "kept";', b'return "fresh";')
    proxy.unsealed.add(f"/s/{device.survey.id}")
    with pytest.raises(AssertionError, match="Nothing was sent now"):
        look(device, refused)
