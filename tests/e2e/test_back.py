"""The browser's Back: to the previous question, never out of a survey that is being answered, and it tells nothing."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from tests.e2e.test_respondent_steps import QUESTIONS, pick, review_of, shown, walk
from tests.kit.pages.page import address_of
from tests.kit.patience import patient

from deniable.survey import Survey

pytestmark = pytest.mark.browser
names = (f"back{i}" for i in itertools.count())


@pytest.fixture(params=["steps", "list"])
def survey(site: Any, request: pytest.FixtureRequest) -> Survey:
    published: Survey = site.publish(id=next(names), questions=QUESTIONS, layout=request.param)
    return published


@pytest.fixture
def steps(site: Any) -> Survey:
    published: Survey = site.publish(id=next(names), questions=QUESTIONS, layout="steps")
    return published


def above(driver: Any) -> bool:
    """Whether the browser is on the entry above the page's own."""
    history = driver.execute_cdp_cmd("Page.getNavigationHistory", {})
    return history["currentIndex"] == len(history["entries"]) - 1


def settled(page: Any) -> None:
    """Waits until the page has put the entry back that a Back took."""
    patient(page.driver).until(lambda d: above(d) and d.execute_script("return history.state") == "asking")


def back(page: Any, to: str) -> None:
    """Goes back as the browser's button does, to a step or to the question that begins so."""
    page.driver.back()
    if to in ("consent", "questions", "review"):
        patient(page.driver).until(lambda d: d.find_element(By.ID, to).is_displayed())
    else:
        patient(page.driver).until(lambda d: to in shown(page).text)
    if to != "consent":
        settled(page)


def test_back_goes_through_the_questions_to_consent_and_nothing_is_lost(page: Any, site: Any, steps: Survey) -> None:
    walk(page, site.link(steps))
    for question in ("How old are you?", "Which have you used?", "How often?", "Do you smoke?"):
        back(page, question)
    assert [box.is_selected() for box in shown(page).find_elements(By.TAG_NAME, "input")] == [True, False]
    back(page, "consent")
    page.driver.forward()
    assert page.step("consent") == "questions"
    for _ in range(4):
        page.press("next")
    assert page.step("questions") == "review"
    assert review_of(page) == ["Yes", "weekly", "No answer. The coins are tossed for it, too.", "44"]
    page.press("send")
    assert page.step("review") == "thanks"
    assert site.count(steps) == 1


def test_back_goes_from_the_last_look_to_a_list_of_questions_and_from_there_to_consent(page: Any, site: Any) -> None:
    survey = site.publish(id=next(names), questions=QUESTIONS[:1])
    page.open(site.link(survey))
    page.choose(1)
    page.press("next")
    assert page.step("questions") == "review"
    back(page, "questions")
    assert review_of(page) == []
    back(page, "consent")
    page.press("agree")
    assert page.step("consent") == "questions"
    assert len(page.driver.find_elements(By.CSS_SELECTOR, "#questions input:checked")) == 1
    assert page.send() == "thanks"


def test_one_more_back_leaves_and_the_answers_go(page: Any, site: Any, steps: Survey) -> None:
    walk(page, site.link(steps))
    for question in ("How old are you?", "Which have you used?", "How often?", "Do you smoke?"):
        back(page, question)
    back(page, "consent")
    page.driver.back()
    patient(page.driver).until(lambda d: d.current_url == "about:blank")
    page.driver.forward()
    page.step("loading")
    assert page.driver.execute_script("return document.querySelectorAll('#questions input:checked').length") == 0


def test_the_history_is_the_same_for_everybody_whatever_was_answered_and_however_often_somebody_went_back(
    page: Any, site: Any, survey: Survey
) -> None:
    def entries() -> list[str]:
        """The addresses of all entries since the page was opened, which begins at an empty page."""
        urls = [entry["url"] for entry in page.driver.execute_cdp_cmd("Page.getNavigationHistory", {})["entries"]]
        return urls[len(urls) - urls[::-1].index("about:blank") :]

    seen = []
    for first, times in ((0, 0), (1, 0), (0, 3)):
        page.open(site.link(survey))
        if survey.layout == "steps":
            walk(page, site.link(survey), first)
            for question in ("How old are you?", "Which have you used?", "How often?")[:times]:
                back(page, question)
        else:
            page.press("agree")
            page.step("consent")
            page.driver.find_elements(By.CSS_SELECTOR, "#questions label.option")[first].click()
            for _ in range(times):
                back(page, "consent")
                page.press("agree")
                page.step("consent")
        seen.append((entries(), page.driver.execute_script("return history.state")))
        page.driver.execute_script("localStorage.clear()")
    assert seen == [([address_of(site.link(survey))] * 2, "asking")] * 3


def test_a_reload_among_the_questions_begins_anew_with_no_more_entries(page: Any, site: Any, steps: Survey) -> None:
    page.open(site.link(steps))
    page.press("agree")
    page.step("consent")
    length = page.driver.execute_script("return history.length")
    pick(page, 0)
    page.driver.refresh()
    assert page.step("loading") == "consent"
    page.press("agree")
    page.step("consent")
    assert page.driver.execute_script("return history.length") == length
    assert page.driver.execute_script("return document.querySelectorAll('#questions input:checked').length") == 0
    pick(page, 1)
    page.press("next")
    back(page, "Do you smoke?")


def test_after_thanks_the_first_back_keeps_the_withdrawal_code_and_the_next_leaves(page: Any, site: Any, steps: Survey) -> None:
    walk(page, site.link(steps), 1)
    page.press("send")
    assert page.step("review") == "thanks"
    code = page.driver.find_element(By.CSS_SELECTOR, "#thanks [data-slot=code]").text
    page.driver.back()
    patient(page.driver).until(lambda d: not above(d))
    assert page.driver.find_element(By.CSS_SELECTOR, "#thanks [data-slot=code]").text == code != ""
    page.driver.back()
    patient(page.driver).until(lambda d: d.current_url == "about:blank")


def test_without_the_entry_back_would_leave_the_survey_and_lose_the_answers(page: Any, proxy: Any, steps: Survey) -> None:
    """The control of the tests above."""
    proxy.alter[f"/s/{steps.id}"] = (b"integrity", b"unheeded")
    proxy.alter["/browser/respond.mjs"] = (b'history.pushState(ANSWERING, "");', b"return;")
    walk(page, proxy.link(steps))
    page.driver.back()
    patient(page.driver).until(lambda d: d.current_url == "about:blank")
