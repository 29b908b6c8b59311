"""The page Settings proposes the browser's time zone until a time is set."""

from __future__ import annotations

from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select
from tests.kit.patience import patient
from tests.kit.servers.process import PASSWORD, USER

from deniable.survey import Survey
from deniable_server.store.life import Settings

pytestmark = pytest.mark.browser

SURVEY = {"deniable": 1, "title": "T", "about": "A.", "questions": [{"id": "q", "text": "?", "type": "yes_no", "epsilon": 2}]}


@pytest.mark.parametrize(
    ("own", "settings", "proposed"),
    [
        ("Asia/Tokyo", Settings(), "Asia/Tokyo"),
        ("Asia/Tokyo", Settings(opens_at="2999-01-11T08:00Z"), "UTC"),
        ("Asia/Tokyo", Settings(zone="Europe/Berlin"), "Europe/Berlin"),
    ],
)
def test_the_browsers_time_zone_is_proposed(browser: Chrome, site: Any, own: str, settings: Settings, proposed: str) -> None:
    browser.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": own})
    survey_id = f"zone-of-{proposed.replace('/', '-').lower()}"
    with site.server.store() as store:
        store.surveys.publish(Survey.from_dict({**SURVEY, "id": survey_id}), owner=USER)
        store.life.keep(survey_id, settings)
    try:
        browser.get(f"{site.url}/login?next=/manage/surveys/{survey_id}/settings")
        for field, text in (("user", USER), ("password", PASSWORD)):
            browser.find_element(By.ID, field).send_keys(text)
        browser.find_element(By.ID, "submit").click()
        patient(browser).until(lambda d: d.find_elements(By.ID, "zone"))
        patient(browser).until(lambda d: Select(d.find_element(By.ID, "zone")).first_selected_option.text == proposed)
    finally:
        browser.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": ""})
        browser.delete_all_cookies()
