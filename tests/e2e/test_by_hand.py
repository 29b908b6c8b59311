"""The form for two coins and the withdrawal page, in Chromium with JavaScript switched off, against a real server."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By
from tests.kit.patience import patient

from deniable.survey import Survey
from deniable.wire.tally import Tally

pytestmark = pytest.mark.browser

names = (f"coins{i}" for i in itertools.count())
QUESTIONS = [
    {"id": "cheated", "text": "Did you cheat?", "type": "yes_no"},
    {"id": "again", "text": "Would you again?", "type": "yes_no"},
]


@pytest.fixture
def survey(site: Any) -> Survey:
    published: Survey = site.publish(id=next(names), title="Cheating", questions=QUESTIONS, groups=["North", "South"])
    return published


class Form:
    """What a person without JavaScript does."""

    def __init__(self, driver: Chrome) -> None:
        self.driver = driver

    def open(self, address: str) -> None:
        self.driver.get("about:blank")
        self.driver.get(address)

    def mark(self, *marks: str) -> None:
        for number, mark in enumerate(marks, 1):
            self.driver.find_element(By.ID, f"mark-{number}-{0 if mark == 'yes' else 1}").click()

    def choose(self, group: str) -> None:
        next(o for o in self.driver.find_elements(By.CSS_SELECTOR, "#group option") if o.text == group).click()

    def send(self, leads_to: str) -> None:
        """Presses the button and waits for the page that it leads to, by the beginning of its title."""
        self.driver.find_element(By.CSS_SELECTOR, "form button").click()
        self.arrives(leads_to)

    def arrives(self, title: str) -> None:
        patient(self.driver).until(lambda driver: driver.title.startswith(title))

    def text(self) -> str:
        return self.driver.find_element(By.TAG_NAME, "main").text

    def code(self) -> str:
        return self.driver.find_element(By.CSS_SELECTOR, ".code code").text

    def gets_the_focus(self, selector: str) -> None:
        """Waits until the keyboard is there: a browser leads it to where a page wants it only once the page is drawn."""
        patient(self.driver).until(lambda driver: driver.execute_script("return document.activeElement.matches(arguments[0])", selector))


@pytest.fixture
def form(browser: Chrome) -> Iterator[Form]:
    """The shared browser, its scripts switched off until the test ends."""
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    yield Form(browser)
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def tally(site: Any, survey: Survey, **which: Any) -> Tally:
    whole: Tally = site.tally(survey, **which)
    return whole


def test_the_browser_of_these_tests_runs_no_scripts(form: Form, site: Any, survey: Survey) -> None:
    form.open(site.link(survey))
    assert "This survey needs JavaScript" in form.text()
    assert "Checking the survey" not in form.text()


def test_the_page_that_needs_javascript_leads_to_the_form_for_coins(form: Form, site: Any, survey: Survey) -> None:
    form.open(site.link(survey))
    form.driver.find_element(By.CSS_SELECTOR, "noscript a").click()
    form.arrives("Survey with two coins")
    assert form.driver.current_url.startswith(f"{site.url}/s/{survey.id}/by-hand")


def test_what_the_coins_say_is_counted_by_hand_and_nowhere_else(form: Form, site: Any, survey: Survey) -> None:
    address = f"{site.url}/s/{survey.id}/by-hand?group=South"
    form.open(address)
    form.mark("yes", "no")
    form.send("Thank you")
    assert tally(site, survey, by_hand=True).n == tally(site, survey, group="South", by_hand=True).n == 1
    assert tally(site, survey).n == 0
    assert [int(n) for n in tally(site, survey, by_hand=True).ones] == [1, 0]
    assert "Did you cheat?\nMarked: Yes." in form.text()
    assert "Would you again?\nMarked: No." in form.text()
    assert form.driver.current_url == address  # nothing of what was marked is in the address
    assert form.driver.get_cookies() == []


def test_an_empty_form_is_told_all_that_is_missing_and_leads_there_by_keyboard(form: Form, site: Any, survey: Survey) -> None:
    form.open(f"{site.url}/s/{survey.id}/by-hand")
    form.mark("no")
    form.send("Error")
    form.gets_the_focus(".missing")
    links = form.driver.find_elements(By.CSS_SELECTOR, ".missing a")
    assert [link.text for link in links] == ["Choose your group.", "Would you again?"]
    links[1].send_keys(Keys.ENTER)
    form.gets_the_focus("#mark-2-0")
    assert form.driver.find_element(By.ID, "mark-1-1").is_selected()
    form.mark("no", "yes")
    form.choose("North")
    form.send("Thank you")
    assert tally(site, survey, group="North", by_hand=True).n == 1


def test_a_reload_of_the_thanks_sends_the_same_form_and_is_counted_once(form: Form, site: Any, proxy: Any, survey: Survey) -> None:
    form.open(f"{proxy.url}/s/{survey.id}/by-hand?group=North")
    form.mark("yes", "yes")
    form.send("Thank you")
    code = form.code()
    form.driver.refresh()
    patient(form.driver).until(lambda _: len(proxy.bodies) == 2)
    form.arrives("Thank you")
    assert form.code() == code
    assert proxy.bodies[0] == proxy.bodies[1]
    assert tally(site, survey, by_hand=True).n == 1


def test_who_goes_back_finds_an_empty_form_and_no_trace_of_the_one_that_was_sent(form: Form, site: Any, proxy: Any, survey: Survey) -> None:
    form.open(f"{proxy.url}/s/{survey.id}/by-hand?group=North")
    form.mark("yes", "yes")
    form.send("Thank you")
    code = form.code()
    form.driver.back()
    form.arrives("Survey with two coins")
    assert form.driver.find_elements(By.CSS_SELECTOR, "input:checked") == []
    assert code not in form.driver.page_source
    assert len(proxy.bodies) == tally(site, survey, by_hand=True).n == 1


def test_a_record_is_erased_with_the_code_that_was_shown(form: Form, site: Any, survey: Survey) -> None:
    form.open(f"{site.url}/s/{survey.id}/by-hand?group=North")
    form.mark("yes", "yes")
    form.send("Thank you")
    code = form.code()
    form.open(form.driver.find_element(By.CSS_SELECTOR, ".withdrawal a").get_attribute("href") or "")
    form.driver.find_element(By.ID, "code").send_keys(code[:-1])
    form.send("Error")
    form.gets_the_focus(".missing")
    assert tally(site, survey, by_hand=True).n == 1
    form.driver.find_element(By.ID, "code").send_keys(code[-1])
    form.send("Erased")
    assert "If a record was kept under this code, it is erased now" in form.text()
    assert tally(site, survey, by_hand=True).n == 0
    assert form.driver.get_cookies() == []


@pytest.mark.parametrize("width", [320, 1280])
def test_the_pages_fit_their_screen_and_break_no_rule_of_their_policy(form: Form, site: Any, survey: Survey, width: int) -> None:
    driver = form.driver
    size = {"width": width, "height": 700, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.get_log("browser")

    def fits() -> None:
        assert driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]["width"] <= width

    try:
        form.open(f"{site.url}/s/{survey.id}/by-hand")
        fits()
        form.send("Error")
        fits()
        form.mark("yes", "no")
        form.choose("North")
        form.send("Thank you")
        fits()
        form.open(f"{site.url}/s/{survey.id}/withdraw")
        fits()
        form.send("Error")
        fits()
        assert [entry for entry in driver.get_log("browser") if "400" not in entry["message"]] == []
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("page", ["by-hand", "withdraw"])
def test_with_javascript_the_pages_work_as_well(browser: Chrome, site: Any, survey: Survey, page: str) -> None:
    form = Form(browser)
    form.open(f"{site.url}/s/{survey.id}/{page}")
    form.send("Error")
    form.gets_the_focus(".missing")
