"""A researcher's whole work in one browser: write a survey, mend it, plan it, publish it, invite people, read, close it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from tests.kit.pages.visits import QUESTIONS, Visit
from tests.kit.patience import patient

from deniable.survey import Survey
from deniable.wire.link import Link

pytestmark = pytest.mark.browser

SURVEY = {
    "deniable": 1,
    "id": "journey",
    "title": "A whole journey",
    "about": "Who asks, and why.",
    "epsilon": 8,
    "batch": 1,
    "access": "invited",
    "groups": ["North", "South"],
    "questions": QUESTIONS,
}


@pytest.fixture
def ada(browser: Chrome, site: Any) -> Iterator[Chrome]:
    browser.get(f"{site.url}/login?next=/manage/new")
    browser.find_element(By.ID, "user").send_keys("ada")
    browser.find_element(By.ID, "password").send_keys("correct horse battery")
    browser.find_element(By.ID, "submit").click()
    arrives(browser, "New survey")
    yield browser
    browser.delete_all_cookies()


def arrives(driver: Chrome, title: str) -> None:
    patient(driver).until(lambda d: d.title == title)


def press(driver: Chrome, selector: str) -> None:
    driver.find_element(By.CSS_SELECTOR, selector).click()


def write(driver: Chrome, text: str) -> None:
    field = driver.find_element(By.ID, "source")
    field.clear()
    driver.execute_script("arguments[0].value = arguments[1]", field, text)


def test_from_an_idea_to_estimates_without_leaving_the_page(ada: Chrome, page: Any, site: Any) -> None:
    right = json.dumps(SURVEY, indent=1)

    press(ada, "[name=blank]")
    arrives(ada, "About marriage")
    press(ada, ".trail a[href$='/source']")
    arrives(ada, "About marriage: source")
    write(ada, right.replace('"scale"', '"scales"'))
    press(ada, "#save")
    arrives(ada, "Error: A whole journey: source")
    assert "did you mean scale?" in ada.find_element(By.CSS_SELECTOR, "[role=alert]").text

    write(ada, right)
    press(ada, "#save")
    arrives(ada, "A whole journey: source")
    press(ada, ".trail a[href$='/plan']")
    arrives(ada, "A whole journey: plan")
    assert "How precise a share will be" in ada.find_element(By.TAG_NAME, "main").text
    press(ada, ".trail a[href$='/source']")
    arrives(ada, "A whole journey: source")
    press(ada, "#publish")
    arrives(ada, "A whole journey: invite")

    ada.find_element(By.ID, "count").clear()
    ada.find_element(By.ID, "count").send_keys("3")
    press(ada, "#sheet")
    arrives(ada, "A whole journey: codes to print")
    codes = [code.text for code in ada.find_elements(By.CSS_SELECTOR, ".sheet code")]
    assert len(codes) == 3

    digest = Survey.from_dict(SURVEY).digest
    for code in codes:
        respondent = Visit(page, site)
        assert page.open(str(Link(site.url, "journey", digest, "South", code))) == "consent"
        respondent.agree()
        respondent.answer_all()
        assert page.send() == "thanks"
        ada.execute_script("localStorage.clear()")  # the next person has a device of their own

    ada.get(f"{site.url}/manage/surveys/journey")
    assert ada.find_element(By.CSS_SELECTOR, ".strip dd").text == "3"
    press(ada, ".trail a[href$='/invite']")
    arrives(ada, "A whole journey: invite")
    assert re.search(r"3 codes made, 3 spent", ada.find_element(By.TAG_NAME, "main").text)
    press(ada, ".trail a[href$='/settings']")
    arrives(ada, "A whole journey: settings")
    press(ada, "main details summary")
    press(ada, "main details button")
    patient(ada).until(lambda d: d.execute_script("return document.body?.textContent.includes('This survey is closed')"))
    assert page.open(str(Link(site.url, "journey", digest))) == "closed"
