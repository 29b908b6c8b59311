"""A test run in a browser: the real page and device code, marked on every screen, and nothing of it stays on the device."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from selenium.webdriver.common.by import By
from tests.kit.patience import PATIENCE
from tests.kit.servers.process import PASSWORD, USER

pytestmark = pytest.mark.browser

DRAFT = """{deniable: 1, id: tried, title: Tried, about: A., epsilon: ln 9, questions: [{id: q, text: Do you?, type: yes_no}]}"""
STORED = "return [Object.keys(localStorage), Object.keys(sessionStorage)].map((keys) => keys.filter((key) => key.startsWith('deniable:')))"


def token(text: str) -> str:
    return re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', text)[0]


@pytest.fixture
def researcher(site: Any) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=site.url, timeout=PATIENCE, headers={"Origin": site.url}) as client:
        client.post("/login", data={"user": USER, "password": PASSWORD, "csrf_token": token(client.get("/login").text)})
        yield client


def test_a_test_is_answered_and_leaves_nothing_on_the_device(page: Any, site: Any, researcher: httpx.Client) -> None:
    with site.server.store() as store:
        path = f"/manage/drafts/{store.drafts.begin(USER, DRAFT).id}/test"
    csrf = {"csrf_token": token(researcher.get(path).text)}
    assert researcher.post(path, data=csrf).status_code == 302
    (link,) = re.findall(r'value="(http[^"]+/s/test-[^"]+)"', researcher.get(path).text)
    for _ in range(2):  # as often as it is wanted, each time in a window of its own
        assert page.open(link) == "consent"
        mark = page.driver.find_element(By.CSS_SELECTOR, ".trial")
        assert mark.is_displayed()
        assert page.answer(link, 0) == "thanks"
        mark = page.driver.find_element(By.CSS_SELECTOR, ".trial")
        assert mark.is_displayed()
        assert mark.text.startswith("Test: nothing here counts.")
        lasting, passing = page.driver.execute_script(STORED)
        assert lasting == []
        assert len(passing) == 1
        page.driver.execute_script("sessionStorage.clear()")
    assert re.findall(r'data-name="Records">([0-9]+)', researcher.get(path).text) == ["2"]
    survey = site.publish(id="tried-for-real", questions=[{"id": "q", "text": "Do you?", "type": "yes_no"}], epsilon="ln 9")
    assert page.answer(site.link(survey), 0) == "thanks"
    assert page.driver.find_elements(By.CSS_SELECTOR, ".trial") == []
    lasting, _ = page.driver.execute_script(STORED)
    assert lasting == [f"deniable:{survey.digest}"]  # the control: a real record is remembered
    page.driver.execute_script("localStorage.clear()")
    assert researcher.post(f"{path}/discard", data=csrf).status_code == 302
    assert httpx.get(link.partition("#")[0], timeout=60).status_code == 404


def test_a_page_without_the_mark_remembers_a_record_whatever_its_id(page: Any, site: Any, injected: Any, researcher: httpx.Client) -> None:
    """A server that gives a real survey a test's id, to let a device forget its records, must say "test" to the respondent."""
    with site.server.store() as store:
        path = f"/manage/drafts/{store.drafts.begin(USER, DRAFT).id}/test"
    csrf = {"csrf_token": token(researcher.get(path).text)}
    researcher.post(path, data=csrf)
    (link,) = re.findall(r'value="(http[^"]+/s/test-[^"]+)"', researcher.get(path).text)
    hide = "new MutationObserver(() => document.querySelector('.trial')?.remove()).observe(document, {childList: true, subtree: true})"
    injected(page.driver, hide)
    assert page.answer(link, 0) == "thanks"
    lasting, passing = page.driver.execute_script(STORED)
    assert (len(lasting), passing) == (1, [])
    page.driver.execute_script("localStorage.clear()")
    researcher.post(f"{path}/discard", data=csrf)
