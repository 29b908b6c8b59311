"""A group that has all its records: its link says so before the first question, and no other group is turned away."""

from __future__ import annotations

from typing import Any

import pytest
from selenium.webdriver.common.by import By
from tests.kit.pages import axe
from tests.kit.surveys import submission

from deniable.survey import Survey

pytestmark = pytest.mark.browser


def fill_group(site: Any, survey: Survey, group: str) -> None:
    with site.server.store() as store:
        store.life.set_quotas(survey.id, {group: 10})
        for _ in range(10):
            store.submissions.add(survey.id, submission(survey, group=group))


def groups_of(page: Any) -> list[tuple[str, bool]]:
    """The groups on the first page, and whether a person can choose each."""
    options = page.driver.find_elements(By.CSS_SELECTOR, "#consent [data-field=group] option")
    return [(option.text, option.is_enabled()) for option in options[1:]]


def test_a_full_groups_link_asks_nothing_and_the_choice_leaves_the_group_out(page: Any, site: Any) -> None:
    question = {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"}
    survey = site.publish(id="full", batch=10, groups=["North", "South"], questions=[question])
    fill_group(site, survey, "North")
    assert page.open(f"{site.link(survey)}&group=North") == "full"
    assert "This group has enough answers" in page.text()
    assert axe.findings(page.driver) == []
    assert page.open(f"{site.link(survey)}&group=South") == "consent"
    assert page.open(site.link(survey)) == "consent"
    assert groups_of(page) == [("North", False), ("South", True)]


def test_a_kiosk_does_the_same_and_learns_of_full_groups_by_the_clock(page: Any, site: Any) -> None:
    question = {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"}
    survey = site.publish(id="full-kiosk", batch=10, groups=["North", "South"], questions=[question])
    link = f"{site.url}/s/{survey.id}/kiosk#digest={survey.digest}"
    assert page.open(link) == "consent"
    assert groups_of(page) == [("North", True), ("South", True)]
    fill_group(site, survey, "North")
    page.press("decline")
    assert page.step("consent") == "declined"
    page.press("begin")
    assert page.step("declined") == "consent"
    assert groups_of(page) == [("North", True), ("South", True)]  # a new person causes no request
    assert page.open(link) == "consent"
    assert groups_of(page) == [("North", False), ("South", True)]
    assert page.open(f"{link}&group=North") == "full"
    assert "This group has enough answers" in page.text()
    assert axe.findings(page.driver) == []
    assert page.open(f"{link}&group=South") == "consent"
