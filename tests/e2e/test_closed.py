"""The page of a closed survey: whom to ask, how to withdraw, and what becomes of a record that still waits on the device."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from tests.kit.pages.visits import HASTE, Visit
from tests.kit.patience import PATIENCE, patient

from deniable.survey import Survey
from deniable.wire.access_codes import read, submission_id
from deniable.wire.submission import Submission

pytestmark = pytest.mark.browser

names = (f"closed{i}" for i in itertools.count())


@pytest.fixture
def survey(site: Any) -> Survey:
    questions = [{"id": "smokes", "text": "Do you smoke?", "type": "yes_no"}]
    published: Survey = site.publish(id=next(names), questions=questions, contact="Ada, ada@example.org")
    return published


def test_it_names_the_survey_whom_to_ask_and_how_to_withdraw(page: Any, site: Any, survey: Survey) -> None:
    site.close_survey(survey)
    assert page.open(site.link(survey)) == "closed"
    patient(page.driver).until(lambda d: "A study" in page.text())
    for words in ("This survey is closed", "A study", "Contact\nAda, ada@example.org", "The page where a record is withdrawn"):
        assert words in page.text()
    links = [link.get_attribute("href") for link in page.driver.find_elements(By.CSS_SELECTOR, "#closed a")]
    assert links == ["mailto:ada@example.org", *(f"{site.url}/s/{survey.id}/{path}?lang=en" for path in ("withdraw", "definition"))]
    assert 'Ada, <a dir="ltr" href="mailto:ada@example.org">ada@example.org</a>' in httpx.get(links[2], timeout=PATIENCE).text


def test_without_its_script_it_says_so_too(site: Any, survey: Survey) -> None:
    site.close_survey(survey)
    shown = httpx.get(f"{site.url}/s/{survey.id}", timeout=PATIENCE).text.split('<section id="sending"')[0]
    assert "This survey is closed" in shown
    assert 'id="consent"' not in shown
    assert 'id="loading"' not in shown


def after(page: Any, link: str) -> str:
    """The step that takes the place of the page as it came."""
    page.driver.get("about:blank")
    page.driver.get(link)
    return str(page.step("closed"))


def kept(page: Any, survey: Survey) -> Any:
    return json.loads(page.driver.execute_script("return localStorage.getItem(arguments[0])", f"deniable:{survey.digest}") or "null")


def test_a_record_that_waits_is_shown_there_and_can_be_removed(
    browser: Chrome, injected: Callable[[Chrome, str], None], page: Any, site: Any, survey: Survey
) -> None:
    page.open(site.link(survey))
    page.choose(0)
    site.close_survey(survey)
    assert page.send() == "uncounted"
    assert after(page, site.link(survey)) == "uncounted"
    assert "Your answers were not counted" in page.text()
    page.driver.find_element(By.CSS_SELECTOR, "#uncounted .receipt summary").click()
    assert page.driver.find_element(By.CSS_SELECTOR, "#uncounted pre").text == kept(page, survey)["envelope"]
    assert not page.driver.find_element(By.CSS_SELECTOR, "#uncounted [data-action=retry]").is_displayed()
    page.press("forget")
    assert page.step("uncounted") == "forgotten"
    assert kept(page, survey) is None
    assert page.open(site.link(survey)) == "closed"


def test_a_record_that_was_not_counted_goes_out_later_only_when_its_owner_says_so(page: Any, proxy: Any, survey: Survey) -> None:
    page.open(proxy.link(survey))
    page.choose(0)
    proxy.site.close_survey(survey)
    assert page.send() == "uncounted"
    assert "this page asks you first" in page.text()
    assert "only with this code can it be erased later" in page.text()
    code = page.driver.find_element(By.CSS_SELECTOR, "#uncounted [data-slot=code]").text
    assert not page.driver.find_element(By.CLASS_NAME, "languages").is_displayed(), "they would lose the code"
    with proxy.site.server.store() as store:
        store.surveys.set_open(survey.id, True)
    assert page.open(proxy.link(survey)) == "uncounted"
    assert len(proxy.bodies) == 1
    assert "The survey is open again." in page.text()
    assert "only with this code" not in page.text()
    assert "Only the page that made the record had it" in page.text()
    page.press("retry")
    assert page.step("uncounted") == "thanks"
    first, second = map(Submission.from_json, proxy.bodies)
    assert first == second
    assert submission_id(read(code)) == first.id
    page.driver.execute_script("localStorage.clear()")


def test_a_record_that_was_withdrawn_before_the_device_knew_of_its_arrival_is_said_to_be_so(
    browser: Chrome, injected: Callable[[Chrome, str], None], page: Any, proxy: Any, survey: Survey
) -> None:
    injected(browser, HASTE)
    proxy.lose = 4
    assert page.answer(proxy.link(survey), 0) == "waiting"
    Visit(page, proxy.site).withdraw(survey)
    page.press("retry")
    assert page.step("waiting") == "withdrawn"
    assert "not confirmed yet" not in page.text()
    assert "envelope" not in kept(page, survey)
    assert page.open(proxy.link(survey)) == "answered"
    page.driver.execute_script("localStorage.clear()")


def test_a_record_whose_confirmation_was_lost_is_found_to_have_arrived(
    browser: Chrome, injected: Callable[[Chrome, str], None], page: Any, proxy: Any, survey: Survey
) -> None:
    injected(browser, HASTE)
    proxy.lose = 4
    assert page.answer(proxy.link(survey), 0) == "waiting"
    code = page.driver.find_element(By.CSS_SELECTOR, "#waiting [data-slot=code]").text
    assert code not in json.dumps(kept(page, survey))
    proxy.site.close_survey(survey)
    assert after(page, proxy.link(survey)) == "thanks"
    assert "Only the page that made the record had it" in page.text()
    assert not page.driver.find_element(By.CSS_SELECTOR, "#thanks .withdrawal").is_displayed()
    assert len(set(proxy.bodies)) == 1
    assert submission_id(read(code)) == Submission.from_json(proxy.bodies[0]).id, "the code that was shown is that of the record"
    assert after(page, proxy.link(survey)) == "answered"
    assert proxy.site.count(survey) == 1


def test_a_closed_page_whose_script_does_not_run_still_says_that_the_survey_is_closed(page: Any, proxy: Any, survey: Survey) -> None:
    proxy.site.close_survey(survey)
    proxy.alter["/browser/respond.mjs"] = (b"// form.mjs", b"//  form.mjs")
    assert page.open(proxy.link(survey)) == "closed"
    assert "This survey is closed" in page.text()
    assert "Contact" not in page.text()
