"""People who press twice, go back, change their minds or what they typed: nothing is lost, nothing goes where they did not send it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from tests.kit.pages.dice import alike, coins
from tests.kit.pages.visits import HASTE
from tests.kit.patience import patient

pytestmark = pytest.mark.browser

SMOKES = {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"}
OFTEN = {"id": "often", "text": "How often?", "type": "choice", "options": ["daily", "weekly"]}
BRANCHED = [SMOKES, {**OFTEN, "show_if": {"question": "smokes", "is": ["yes"]}}]
ANSWERS: list[dict[str, Any]] = [{"smokes": "yes", "often": "daily"}, {"smokes": "no"}]
BINS = [{"name": "few", "from": 0}, {"name": "many", "from": 10}]
COUNTED = [
    {"id": "n", "text": "How many?", "type": "number", "low": 0, "high": 99, "bins": BINS},
    {**OFTEN, "show_if": {"question": "n", "is": ["many"]}},
]
SLOW_CHECKS = """const sent = fetch; window.checks = [];
window.fetch = (url, more) => {
  if (!String(url).endsWith("/tokens")) return sent(url, more);
  return new Promise((resolve) => window.checks.push(() => resolve(sent(url, more))));
};"""
DOWN = "window.fetch = () => Promise.resolve(new Response('', { status: 503 }));"
DOUBLE_CLICK = """for (const [index, at] of [...arguments].entries())
  document.querySelector(at).dispatchEvent(new MouseEvent("click", { detail: index + 1 }));"""
NO_STORAGE = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError'); } });"
LINES = "return document.documentElement.outerHTML.replaceAll('><', '>\\n<').split('\\n')"
secrets = itertools.count(1)  # of withdrawal codes, which are one server's own
names = (f"hasty{i}" for i in itertools.count())


def click(page: Any, option: str) -> None:
    """Picks an option among the questions that are shown."""
    shown = page.driver.find_elements(By.CSS_SELECTOR, "#questions label.option")
    next(label for label in shown if label.is_displayed() and label.text == option).click()


def begin(page: Any, link: str) -> None:
    assert page.open(link) == "consent"
    page.press("agree")
    assert page.step("consent") == "questions"


def walk(page: Any, link: str, answers: dict[str, Any], *, oneByOne: bool) -> None:
    """To the last look: follow-ups come up only where they are called for."""
    begin(page, link)
    for answer in answers.values():
        click(page, answer.capitalize() if answer in ("yes", "no") else answer)
        if oneByOne:
            page.press("next")
    if not oneByOne:
        page.press("next")
    assert page.step("questions") == "review"


def left(page: Any, proxy: Any, survey: Any, answers: dict[str, Any], *, words: list[int], secret: int, decline: bool) -> set[str]:
    """The lines of the whole page after Send, or after a refusal at the last moment; coins fall so that all records are one."""
    browser = page.driver
    browser.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": proxy.url, "storageTypes": "local_storage"})
    proxy.insert(survey, coins(survey, words, bytes([secret]) * 15))
    walk(page, proxy.link(survey), answers, oneByOne=survey.layout == "steps")
    if decline:
        while page.step("") != "consent":
            browser.back()
            patient(browser).until(lambda d: d.execute_script("return history.state") == "asking" or page.step("") == "consent")
        page.press("decline")
        assert page.step("consent") == "declined"
    else:
        page.press("send")
        assert page.step("review") == "thanks"
    return {line for line in browser.execute_script(LINES) if 'data-slot="code"' not in line and 'data-slot="envelope"' not in line}


def both(page: Any, proxy: Any, layout: str, *, decline: bool = False) -> list[set[str]]:
    survey = proxy.site.publish(id=next(names), questions=BRANCHED, **({"layout": layout} if layout else {}))
    proxy.unsealed.update({f"/s/{survey.id}"} if proxy.alter else ())
    words = alike(survey, ANSWERS)
    return [
        left(page, proxy, survey, answers, words=own, secret=next(secrets), decline=decline)
        for answers, own in zip(ANSWERS, words, strict=True)
    ]


@pytest.mark.parametrize("decline", [False, True], ids=["sent", "declined"])
@pytest.mark.parametrize("layout", ["", "steps"])
def test_a_page_that_was_answered_can_be_saved_whole_and_tells_no_follow_up_from_none(
    page: Any, proxy: Any, layout: str, decline: bool
) -> None:
    first, second = both(page, proxy, layout, decline=decline)
    assert first ^ second == set()
    assert first


@pytest.mark.parametrize("layout", ["", "steps"])
def test_a_page_that_keeps_its_progress_tells_it(page: Any, proxy: Any, layout: str) -> None:
    proxy.alter["/browser/respond.mjs"] = (b"if (childNodes.length)", b"if (false)")
    first, second = both(page, proxy, layout)
    assert any("progress" in line for line in first ^ second)


@pytest.mark.parametrize("layout", ["", "steps"])
def test_a_double_click_shows_the_next_thing_and_not_the_one_behind_it(page: Any, site: Any, layout: str) -> None:
    questions = [{**SMOKES, "id": f"q{i}", "required": False} for i in range(3)]
    survey = site.publish(id=next(names), questions=questions, **({"layout": layout} if layout else {}))
    begin(page, site.link(survey))
    for place in range(3 if layout else 1):
        if layout:
            assert f"Question {place + 1} of 3" in page.text()
        page.driver.execute_script(DOUBLE_CLICK, "#questions [data-action=next]", "main > section:not([hidden]) .send button")
    assert page.step("questions") == "review", "and not sent, wherever Send stands: on some screens it is under the pointer"
    assert site.count(survey) == 0


def test_start_pressed_twice_asks_for_the_code_once_and_takes_nobody_away_from_the_thanks(page: Any, site: Any) -> None:
    survey = site.publish(id=next(names), questions=[SMOKES], access="invited")
    assert page.open(f"{site.link(survey)}&code={site.invite(survey)}") == "consent"
    page.driver.execute_script(SLOW_CHECKS)
    page.press("agree")
    page.press("agree")
    patient(page.driver).until(lambda d: d.execute_script("return window.checks.length"))
    assert page.driver.execute_script("const n = window.checks.length; for (const go of window.checks) go(); return n") == 1
    assert page.step("consent") == "questions"


def test_who_says_no_while_the_code_is_looked_at_is_asked_nothing(page: Any, site: Any) -> None:
    survey = site.publish(id=next(names), questions=[SMOKES], access="invited")
    assert page.open(f"{site.link(survey)}&code={site.invite(survey)}") == "consent"
    page.driver.execute_script(SLOW_CHECKS)
    page.press("agree")
    page.press("decline")
    assert page.step("consent") == "declined"
    page.driver.execute_script("window.done = false; window.checks[0](); setTimeout(() => (window.done = true), 1000)")
    patient(page.driver).until(lambda d: d.execute_script("return window.done"))
    assert page.step("") == "declined"


def test_a_start_that_failed_takes_nothing_from_the_one_before(page: Any, site: Any) -> None:
    survey = site.publish(id=next(names), questions=[SMOKES], access="invited", groups=["North", "South"])
    assert page.open(f"{site.link(survey)}&group=North") == "consent"
    field = page.driver.find_element(By.CSS_SELECTOR, "#consent [data-field=code]")
    field.send_keys(site.invite(survey))
    page.press("agree")
    assert page.step("consent") == "questions"
    page.driver.back()
    assert page.step("questions") == "consent"
    field.send_keys("X")
    page.press("agree")
    patient(page.driver).until(lambda d: field.get_attribute("aria-invalid"))
    page.driver.forward()
    assert page.step("consent") == "questions"
    click(page, "Yes")
    assert page.send() == "thanks"
    assert "North" in page.text()


def test_after_a_record_that_could_not_be_kept_back_leaves_the_page(page: Any, site: Any) -> None:
    survey = site.publish(id=next(names), questions=[SMOKES])
    assert page.open(site.link(survey)) == "consent"
    page.choose(0)
    page.driver.execute_script("Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }")
    assert page.send() == "refused"
    for _ in range(2):
        page.driver.back()
    patient(page.driver).until(lambda d: not d.current_url.startswith(site.url))


def test_a_number_that_is_corrected_forgets_no_answer_on_the_way(page: Any, site: Any) -> None:
    survey = site.publish(id=next(names), questions=COUNTED)
    begin(page, site.link(survey))
    field = page.driver.find_element(By.CSS_SELECTOR, "#questions input[type=text]")
    field.send_keys("15")
    click(page, "weekly")
    field.send_keys(Keys.BACKSPACE, "6")
    page.press("next")
    assert page.step("questions") == "review"
    said = page.driver.find_element(By.CSS_SELECTOR, "#review dl").text
    assert "16" in said
    assert "weekly" in said
    page.press("previous")
    assert page.step("review") == "questions"
    field.send_keys(Keys.BACKSPACE, Keys.TAB)  # left at 1: nobody is asked how often, and what was said is forgotten
    field.send_keys("7")
    page.press("next")
    assert page.step("questions") == "review"
    assert "weekly" not in page.driver.find_element(By.CSS_SELECTOR, "#review dl").text


def test_a_number_of_a_small_range_is_asked_for_in_digits_that_are_taken(page: Any, site: Any) -> None:
    number = {"id": "n", "text": "Dose?", "type": "number", "low": 0.0002, "high": 0.0005, "levels": 4}
    survey = site.publish(id=next(names), questions=[number])
    begin(page, site.link(survey))
    assert page.driver.find_element(By.CSS_SELECTOR, "[data-slot=range]").text == "A number from 0.0002 to 0.0005"
    page.driver.find_element(By.CSS_SELECTOR, "#questions input").send_keys("0.0005")
    assert page.send() == "thanks"
    page.unfold()
    named = page.driver.find_element(By.CSS_SELECTOR, "#thanks .receipt dd").text
    assert "levels, to which numbers are rounded: 0.000" in named


def test_questions_with_windows_of_two_widths_are_not_said_to_be_protected_alike(page: Any, site: Any) -> None:
    number = {"type": "number", "low": 0, "high": 9, "levels": 10}
    windows = [{"id": "n", "text": "First?", **number, "window": 1, "weight": 2}, {"id": "m", "text": "Second?", **number, "window": 2}]
    survey = site.publish(id=next(names), questions=windows, epsilon="ln 8")
    assert len({item.channel.keep_threshold for item in survey.items}) == 1
    assert page.open(site.link(survey)) == "consent"
    page.unfold()
    assert page.driver.find_element(By.CSS_SELECTOR, "[data-slot=weakest]").is_displayed()


@pytest.mark.parametrize("closed", [False, True])
def test_a_record_that_another_window_has_removed_leaves_nothing_behind(page: Any, site: Any, browser: Chrome, closed: bool) -> None:
    survey = site.publish(id=next(names), questions=[SMOKES])
    assert page.open(site.link(survey)) == "consent"
    page.driver.execute_script(HASTE + "window.real = fetch;" + DOWN)
    page.choose(0)
    assert page.send() == "waiting"
    page.driver.execute_script("window.fetch = (...sent) => new Promise((go) => (window.go = () => go(window.real(...sent))));")
    page.press("retry")
    patient(page.driver).until(lambda d: d.execute_script("return !!window.go"))
    if closed:
        site.close_survey(survey)
    page.driver.execute_script("localStorage.clear(); window.go()")  # as the other window does
    assert page.step("waiting") == ("closed" if closed else "thanks")
    assert page.driver.execute_script("return localStorage.length") == 0


def test_who_keeps_nothing_is_told_to_stay_and_not_that_the_record_waits(
    page: Any, site: Any, injected: Callable[[Chrome, str], None]
) -> None:
    survey = site.publish(id=next(names), questions=[SMOKES])
    injected(page.driver, NO_STORAGE + HASTE)
    assert page.open(site.link(survey)) == "unkept"
    page.press("unkept")
    assert page.step("unkept") == "consent"
    page.choose(0)
    page.driver.execute_script(DOWN)
    assert page.send() == "waiting"
    assert "Stay here until the page thanks you. Do not answer twice" in page.text()
    assert "when you open this page again" not in page.text()
