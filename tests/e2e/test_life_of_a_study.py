"""A researcher presses *New wave* in the browser, is warned while she types, and reads the comparison of both waves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from tests.kit.pages import axe, layout
from tests.kit.pages.writer import Writer
from tests.kit.patience import patient
from tests.kit.servers.process import PASSWORD, USER
from tests.kit.surveys import submission

from deniable.survey import Survey

pytestmark = pytest.mark.browser

TEXT = """\
deniable: 1
id: nights
title: Nights at work
about: The works council asks.
epsilon: ln 9
batch: 1
accept_small_batches: true
questions:
  - {id: shifts, text: Did you work at night?, type: yes_no}
  - {id: pills, text: Did you take something to fall asleep?, type: yes_no}
"""


@pytest.fixture
def writer(browser: Chrome, site: Any) -> Iterator[Writer]:
    with site.server.store() as store:
        assert store.surveys.publish(Survey.from_text(TEXT), USER, source=TEXT)
        store.tags.set_survey("nights", ["works council", "2026"])
    browser.get(f"{site.url}/login?next=/manage/surveys/nights/questions")
    browser.find_element(By.ID, "user").send_keys(USER)
    browser.find_element(By.ID, "password").send_keys(PASSWORD)
    browser.find_element(By.ID, "submit").click()
    patient(browser).until(lambda driver: driver.title.startswith("Nights at work: questions"))
    yield Writer(browser, site.server)
    browser.delete_all_cookies()


def press(driver: Chrome, words: str) -> None:
    button = driver.find_element(By.XPATH, f"//main//button[normalize-space()='{words}']")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'}); arguments[0].click()", button)


def looks_right(driver: Chrome, path: str) -> None:
    for width in (360, 1280):
        with layout.screen(driver, width):
            unsure = [finding for finding in axe.findings(driver) if not axe.drawn(driver, finding)]
            assert (path, width, layout.faults(driver), unsure) == (path, width, [], [])


def test_a_new_wave_is_begun_warned_of_published_and_compared(writer: Writer, site: Any) -> None:
    driver = writer.driver
    press(driver, "New wave")
    writer.shows("#editor")
    path = driver.current_url.removeprefix(site.url)
    assert driver.find_element(By.CSS_SELECTOR, "[role=status].done").text == "This draft is a new wave."
    writer.told("wave", "This draft will be wave 2 of Nights at work. Keep the ids")
    writer.write("questions-1-id", "tablets")
    writer.told("wave", "Did you take something to fall asleep?: has another id, tablets.")
    driver.get(site.url + path)
    writer.told("wave", "has another id, tablets.")
    looks_right(driver, path)
    writer.write("questions-1-id", "pills")
    writer.told("wave", "Keep the ids")
    assert Survey.from_text(writer.draft(path).text).id == "nights-2"
    driver.get(f"{site.url}{path}/publish")
    looks_right(driver, "publish")
    press(driver, "Publish for good")
    patient(driver).until(lambda each: each.current_url.endswith("/manage/surveys/nights-2/invite"))
    with site.server.store() as store:
        surveys = [store.surveys.published(name).survey for name in ("nights", "nights-2")]
        for survey in surveys:
            store.submissions.add(survey.id, submission(survey, 40, mode="organisation"))
    for name in ("nights", "nights-2"):
        driver.get(f"{site.url}/manage/surveys/{name}/waves")
        text = driver.find_element(By.TAG_NAME, "main").text
        assert "Study: Nights at work" in text
        assert "The change is nights-2 minus nights" in driver.page_source.replace("<bdi>", "").replace("</bdi>", "")
        assert len(driver.find_elements(By.CSS_SELECTOR, "section.card.question")) == 2
    for address in ("/surveys/nights/waves", "/surveys/nights/waves?all=1", "", "?tag=2026", "/tags", "/surveys/nights/tags"):
        driver.get(f"{site.url}/manage{address}")
        looks_right(driver, address)
    driver.get(f"{site.url}/manage?search=nights")
    rows = [row.text for row in driver.find_elements(By.CSS_SELECTOR, "table.listed tbody tr")]
    assert [row.partition("\n")[0] for row in rows] == ["Study: Nights at work", "Nights at work", "Nights at work"]
    assert ["wave 2" in rows[1], "wave 1" in rows[2], "works council" in rows[2]] == [True, True, True]
