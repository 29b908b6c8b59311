"""Several people with one device: each can answer once, and none learns how another did."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from selenium.webdriver import Keys
from selenium.webdriver.common.by import By

from deniable.survey import Survey

pytestmark = pytest.mark.browser

QUESTIONS = [
    {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"},
    {"id": "age", "text": "How old are you?", "type": "number", "low": -20, "high": 120000, "levels": 5},
]
names = (f"shared{i}" for i in itertools.count())


@pytest.fixture
def survey(site: Any) -> Survey:
    published: Survey = site.publish(id=next(names), questions=QUESTIONS[:1], epsilon="ln 3")
    return published


def kept(page: Any, survey: Survey) -> dict[str, Any]:
    return dict(json.loads(page.driver.execute_script("return localStorage[arguments[0]]", f"deniable:{survey.digest}")))


def test_a_second_person_is_asked_and_sends_a_record_of_their_own(page: Any, proxy: Any, survey: Survey) -> None:
    assert page.answer(proxy.link(survey), 0) == "thanks"
    first = kept(page, survey)
    assert page.open(proxy.link(survey)) == "answered"
    assert "Somebody answered here. Was it you?" in page.text()
    buttons = [button for button in page.driver.find_elements(By.CSS_SELECTOR, "#answered .buttons button") if button.is_displayed()]
    assert len({(b.size["width"], b.size["height"], b.get_attribute("class")) for b in buttons}) == 1, "equal buttons"
    page.press("other")
    assert page.step("answered") == "consent"
    page.press("decline")
    assert "Nothing was sent now." in page.text()
    assert "Do not answer elsewhere" not in page.text()
    page.press("back")
    assert page.step("declined") == "consent"
    page.choose(1)
    proxy.lose = 1
    assert page.send() == "thanks"
    ids = [json.loads(body)["id"] for body in proxy.bodies]
    assert len(set(ids)) == 2
    assert proxy.site.count(survey) == 2
    second = kept(page, survey)
    assert second.keys() == first.keys() == {"epsilon"}, "nothing of either answer"
    assert second["epsilon"] == pytest.approx(2 * first["epsilon"]), "all that the device has given away"
    assert page.open(proxy.link(survey)) == "answered"


def test_whoever_has_answered_is_not_asked_again(page: Any, proxy: Any, survey: Survey) -> None:
    assert page.answer(proxy.link(survey), 0) == "thanks"
    assert page.open(proxy.link(survey)) == "answered"
    page.press("mine")
    assert page.step("answered") == "mine"
    assert "Do not answer twice" in page.text()
    assert len(proxy.bodies) == 1


def test_a_closed_survey_offers_no_second_record(page: Any, proxy: Any, survey: Survey) -> None:
    assert page.answer(proxy.link(survey), 0) == "thanks"
    proxy.site.close_survey(survey)
    assert page.open(proxy.link(survey)) == "answered"
    assert "one of your own" not in page.text()
    assert not page.driver.find_element(By.CSS_SELECTOR, "#answered [data-action=other]").is_displayed()


def test_a_page_that_was_loaded_anew_among_the_questions_says_that_the_answers_are_gone(page: Any, proxy: Any, survey: Survey) -> None:
    assert page.open(proxy.link(survey)) == "consent"
    assert "loaded anew" not in page.text()
    page.choose(0)
    page.driver.refresh()
    assert page.step("loading") == "consent"
    assert "This page was loaded anew. Your answers were kept nowhere, so you begin again." in page.text()
    page.choose(0)
    assert page.send() == "thanks"
    page.driver.execute_script("localStorage.clear()")
    page.driver.refresh()
    assert page.step("loading") == "consent"
    assert "loaded anew" not in page.text(), "nothing was lost"


def test_a_pull_at_the_top_does_not_load_the_page_anew(page: Any, proxy: Any, survey: Survey) -> None:
    page.open(proxy.link(survey))
    page.press("agree")
    assert page.step("consent") == "questions"
    assert page.driver.find_element(By.TAG_NAME, "body").value_of_css_property("overscroll-behavior-y") == "contain"


def test_enter_goes_on_from_a_number_and_from_a_code(page: Any, proxy: Any) -> None:
    survey = proxy.site.publish(id=next(names), questions=QUESTIONS[::-1], epsilon="ln 9", layout="steps", access="invited")
    assert page.open(f"{proxy.url}/s/{survey.id}?lang=ar#digest={survey.digest}") == "consent"
    page.driver.find_element(By.CSS_SELECTOR, "#consent [data-field=code]").send_keys(proxy.site.invite(survey), Keys.ENTER)
    assert page.step("consent") == "questions"
    field = page.driver.find_element(By.CSS_SELECTOR, "#questions input[type=text]")
    assert (field.value_of_css_property("direction"), field.get_attribute("enterkeyhint")) == ("ltr", "next")
    field.send_keys("x", Keys.ENTER)
    assert page.driver.find_element(By.CSS_SELECTOR, "#questions [data-slot=problem]").is_displayed()
    field.clear()
    field.send_keys("-12", Keys.ENTER)
    assert page.driver.find_element(By.CSS_SELECTOR, "#questions label.option").is_displayed()


def test_a_refusal_by_something_on_the_way_is_told_in_the_readers_language(page: Any, proxy: Any, survey: Survey) -> None:
    assert page.open(f"{proxy.url}/s/{survey.id}?lang=de#digest={survey.digest}") == "consent"
    page.choose(0)
    page.driver.execute_script("window.fetch = () => Promise.resolve(new Response('<h1>Forbidden</h1>', { status: 403 }));")
    assert page.send() == "waiting"
    assert "Der Server oder etwas auf dem Weg dorthin hat ihn abgelehnt (Status 403)." in page.text()
    assert "status 403" not in page.text()
