"""One device, one record: two windows, two clicks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from selenium.webdriver import Chrome
from tests.kit.pages.dice import coins, record
from tests.kit.patience import patient

from deniable.survey import Survey

pytestmark = pytest.mark.browser

QUESTIONS = [{"id": f"q{i}", "text": "Yes?", "type": "yes_no"} for i in range(8)]
NO_LOCKS = "LockManager.prototype.request = async (name, action) => action({});"
AT = """const [wanted, ms] = arguments;
  setTimeout(() => document.querySelector("#review [data-action=send]").click(), wanted + ms - Date.now());"""
names = (f"windows{i}" for i in itertools.count())


@pytest.fixture
def survey(site: Any) -> Survey:
    published: Survey = site.publish(id=next(names), questions=QUESTIONS)
    return published


@pytest.fixture
def windows(browser: Chrome) -> Iterator[tuple[str, str]]:
    """Two windows of one browser."""
    first = browser.current_window_handle
    browser.switch_to.new_window("window")
    second = browser.current_window_handle
    yield first, second
    browser.switch_to.window(second)
    browser.close()
    browser.switch_to.window(first)
    browser.execute_script("localStorage.clear()")


def last_looks(page: Any, windows: tuple[str, str], link: str, before: str = "") -> None:
    """Answers every question in both windows, yes in one and no in the other, up to Send."""
    for option, window in enumerate(windows):
        page.driver.switch_to.window(window)
        if before:
            page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": before})
        assert page.open(link) == "consent"
        page.choose(*[option] * len(QUESTIONS))
        page.press("next")
        assert page.step("questions") == "review"


def send_both(page: Any, windows: tuple[str, str], apart: int) -> set[str]:
    """Presses Send in both windows, so many milliseconds apart; gives where they end."""
    soon = page.driver.execute_script("return Date.now() + 500")
    for place, window in enumerate(windows):
        page.driver.switch_to.window(window)
        page.driver.execute_script(AT, soon, place * apart)
    ends = set()
    for window in windows:
        page.driver.switch_to.window(window)
        patient(page.driver).until(lambda d: page.step("review") in ("thanks", "answered"))
        ends.add(page.step("review"))
    return ends


@pytest.mark.parametrize("apart", [0, 20, 50])
def test_two_windows_that_press_send_at_once_send_one_record(page: Any, proxy: Any, survey: Survey, windows: Any, apart: int) -> None:
    last_looks(page, windows, proxy.link(survey))
    assert "thanks" in send_both(page, windows, apart)
    assert len(set(proxy.bodies)) == 1
    assert proxy.site.count(survey) == 1


def test_without_the_lock_they_send_two(new_browser: Callable[..., Chrome], make_page: Any, proxy: Any, site: Any) -> None:
    """The control of the test above. It is a race, so it may take a few surveys until both win."""
    for _ in range(10):
        driver = new_browser()
        page, survey = make_page(driver), site.publish(id=next(names), questions=QUESTIONS)
        first = driver.current_window_handle
        driver.switch_to.new_window("window")
        windows = (first, driver.current_window_handle)
        last_looks(page, windows, proxy.link(survey), NO_LOCKS)
        send_both(page, windows, 0)
        driver.quit()
        if proxy.site.count(survey) == 2:
            return
    raise AssertionError("two windows without a lock always sent one record")


def test_two_clicks_at_once_send_one_record_once(page: Any, proxy: Any, survey: Survey) -> None:
    page.open(proxy.link(survey))
    page.choose(*[0] * len(QUESTIONS))
    page.press("next")
    assert page.step("questions") == "review"
    page.driver.execute_script("const b = document.querySelector('#review [data-action=send]'); b.click(); b.click(); b.click();")
    assert page.step("review") == "thanks"
    assert len(proxy.bodies) == 1


def test_a_window_that_stands_at_send_while_another_has_long_sent_sends_nothing(
    page: Any, proxy: Any, survey: Survey, windows: Any
) -> None:
    last_looks(page, windows, proxy.link(survey))
    page.press("send")
    assert page.step("review") == "thanks"
    page.driver.switch_to.window(windows[0])
    page.press("send")
    assert page.step("review") == "answered"
    assert len(proxy.bodies) == 1


def test_a_browser_that_lets_no_window_wait_for_another_is_told_before_the_first_question(
    browser: Chrome, injected: Callable[[Chrome, str], None], page: Any, site: Any, survey: Survey
) -> None:
    injected(browser, "LockManager.prototype.request = () => Promise.reject(new DOMException('no', 'SecurityError'));")
    assert page.open(site.link(survey)) == "unkept"
    assert "stay on this page until it thanks you" in page.text()


# What decided the noise.

WATCHED = """window.buffers = []; const fill = Crypto.prototype.getRandomValues;
  Crypto.prototype.getRandomValues = function (array) {
    if (array instanceof Uint32Array) window.buffers.push(array);
    return fill.call(this, array);
  };"""


def consumed(survey: Survey, words: list[int]) -> int:
    """How many words a record takes, coins and choices."""
    for count in range(len(words)):
        try:
            record(survey, [0] * len(survey.items), words[:count])
        except StopIteration:
            continue
        return count
    raise AssertionError("the words do not suffice")


@pytest.mark.parametrize("forgets", [True, False], ids=["as released", "control: words are kept"])
def test_no_word_that_decided_the_noise_is_left_after_send(
    browser: Chrome, injected: Callable[[Chrome, str], None], page: Any, proxy: Any, survey: Survey, forgets: bool
) -> None:
    words = np.random.default_rng(2).integers(1, 2**32, 60).tolist()
    injected(browser, coins(survey, words) + WATCHED)
    if not forgets:
        proxy.alter[f"/s/{survey.id}"] = (b"integrity", b"unheeded")
        proxy.alter["/browser/respond.mjs"] = (b"words[used] = 0;", b"")
    assert page.answer(proxy.link(survey), *[0] * len(QUESTIONS)) == "thanks"
    taken = consumed(survey, words)
    probe, *drawn = browser.execute_script("return window.buffers.map((buffer) => [...buffer])")
    assert probe[taken:] == drawn[0][taken:]  # one word is drawn before the first question, to see that there are any
    assert (drawn[0][:taken] == [0] * taken) == forgets
    assert len(drawn) == 1
