"""What a survey says at its end and once it is closed, the way back to a panel, and what a panel puts into the address."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from selenium.webdriver.common.by import By
from tests.kit.pages.page import address_of
from tests.kit.patience import PATIENCE, patient

from deniable.survey import Survey

pytestmark = pytest.mark.browser

names = (f"ending{i}" for i in itertools.count())
BACK = "https://app.prolific.com/submissions/complete?cc=C1AB2"
CANARY = "5f8canary9e1"
ENDING = {
    "thanks": "Thanks for your time.\nType this code: C1AB2\nIf this stirred something up: +1 555 0100",
    "closed": "We have heard enough people.",
    "return_link": BACK,
    "translations": {"de": {"thanks": "Danke.", "closed": "Wir haben genug gehört."}},
    "questions": [{"id": "smokes", "text": "Do you smoke?", "type": "yes_no"}],
    "epsilon": "ln 3",
}
LINK = {
    "href": BACK,
    "rel": "noopener noreferrer",
    "target": "_blank",
    "referrerPolicy": "no-referrer",
    "textContent": "Go back to app.prolific.com",
}


@pytest.fixture
def survey(site: Any) -> Survey:
    published: Survey = site.publish(id=next(names), **ENDING)
    return published


@pytest.fixture(autouse=True)
def forgetful(page: Any) -> Iterator[None]:
    yield
    page.driver.execute_script("localStorage.clear()")


def ending(page: Any, step: str) -> tuple[str, dict[str, str]]:
    """The text of the survey's own, and the link, as they are shown in a step."""
    shown = page.driver.find_element(By.CSS_SELECTOR, f"#{step} [data-slot=ending]")
    link = page.driver.find_element(By.CSS_SELECTOR, f"#{step} [data-slot=return]")
    assert shown.is_displayed()
    assert link.is_displayed()
    return shown.text, {name: link.get_attribute(name) for name in LINK}


def everything(site: Any) -> bytes:
    """All that the server has written: its database with what belongs to it, and its log."""
    files = [*site.server.db.parent.iterdir(), site.server.log]
    return b"".join(file.read_bytes() for file in files if file.is_file())


def test_the_end_says_what_the_survey_says_and_links_back_for_everybody_alike(page: Any, site: Any, survey: Survey) -> None:
    assert page.answer(site.link(survey), 0) == "thanks"
    assert ending(page, "thanks") == (ENDING["thanks"], LINK)
    assert page.driver.find_element(By.LINK_TEXT, "+1 555 0100").get_attribute("href") == "tel:+15550100"
    assert page.open(f"{site.url}/s/{survey.id}?lang=de#digest={survey.digest}") == "answered"  # who has lost the page is not lost
    page.press("mine")
    assert page.step("answered") == "mine"
    assert ending(page, "mine") == ("Danke.", {**LINK, "textContent": "Zurück zu app.prolific.com"})
    assert len(page.driver.window_handles) == 1  # nobody is sent anywhere


def test_a_survey_without_an_ending_shows_none(page: Any, site: Any) -> None:
    plain = site.publish(id=next(names), questions=ENDING["questions"], epsilon="ln 3")
    assert page.answer(site.link(plain), 0) == "thanks"
    shown = page.driver.find_elements(By.CSS_SELECTOR, "#thanks [data-slot=ending], #thanks [data-slot=return]")
    assert [element.is_displayed() for element in shown] == [False, False]


def test_the_page_of_a_closed_survey_says_it_in_the_readers_language(page: Any, site: Any, survey: Survey) -> None:
    site.close_survey(survey)
    assert page.open(f"{site.url}/s/{survey.id}?lang=de#digest={survey.digest}") == "closed"
    patient(page.driver).until(lambda d: "A study" in page.text())  # checked, and filled in
    assert page.driver.find_element(By.CSS_SELECTOR, "[data-slot=closing]").text == "Wir haben genug gehört."
    served = httpx.get(f"{site.url}/s/{survey.id}", timeout=PATIENCE).text.split('<section id="sending"')[0]
    assert ENDING["closed"] in served  # for whoever has no JavaScript


def test_what_a_panel_puts_behind_the_hash_reaches_nobody(page: Any, proxy: Any, survey: Survey) -> None:
    assert page.answer(f"{proxy.link(survey)}&PROLIFIC_PID={CANARY}", 0) == "thanks"
    assert page.driver.current_url == address_of(proxy.link(survey))
    kept = "return JSON.stringify([{...localStorage}, {...sessionStorage}, history.state, document.documentElement.outerHTML])"
    assert CANARY not in page.driver.execute_script(kept)
    assert len(proxy.bodies) == 1
    assert [head for head in proxy.heads if CANARY in head] == []
    assert CANARY.encode() not in b"".join(proxy.bodies) + everything(proxy.site)


@pytest.mark.parametrize("query", [f"PROLIFIC_PID={CANARY}", f"lang={CANARY}", f"lang=en&ref={CANARY}"])
def test_what_it_puts_behind_the_question_mark_is_told_left_out_and_not_kept(page: Any, proxy: Any, survey: Survey, query: str) -> None:
    address, _, fragment = proxy.link(survey).partition("#")
    assert page.open(f"{address}?{query}#{fragment}") == "misled"
    assert "carries extra data" in page.text()
    shown = [head for head in proxy.heads if CANARY in head]
    assert shown  # the control: such a look finds what a server is shown
    assert not any("/api/" in head for head in shown)
    before = len(proxy.heads)
    page.press("without")
    patient(page.driver).until(lambda d: d.current_url == f"{address}?lang=en&#{fragment}")
    assert page.step("loading") == "consent"
    page.choose(0)
    assert page.send() == "thanks"
    assert [head for head in proxy.heads[before:] if CANARY in head] == []
    assert CANARY.encode() not in b"".join(proxy.bodies) + everything(proxy.site)


def test_the_form_for_coins_is_sent_to_an_address_of_its_own_and_ends_alike(page: Any, proxy: Any, survey: Survey) -> None:
    page.driver.get(f"{proxy.url}/s/{survey.id}/by-hand?PROLIFIC_PID={CANARY}")
    page.driver.find_element(By.ID, "mark-1-0").click()
    before = len(proxy.heads)
    page.driver.find_element(By.CSS_SELECTOR, "form button").click()
    patient(page.driver).until(lambda d: d.find_elements(By.CSS_SELECTOR, ".code"))
    assert ENDING["thanks"] in page.text()
    link = page.driver.find_element(By.CSS_SELECTOR, f"a[href='{BACK}']")
    assert {name: link.get_attribute(name) for name in LINK} == LINK
    assert [head for head in proxy.heads[before:] if CANARY in head] == []


MARKS = ["fbclid=IwAR0abc", "utm_source=newsletter&utm_medium=mail", "gclid=1&lang=de-AT", "lang=pt"]


@pytest.mark.parametrize("query", MARKS)
def test_marks_of_networks_and_languages_raise_no_alarm_and_leave_the_address_at_once(
    page: Any, proxy: Any, survey: Survey, query: str
) -> None:
    address, _, fragment = proxy.link(survey).partition("#")
    assert page.open(f"{address}?{query}#{fragment}") == "consent"
    kept = "?lang=de-AT&" if "de-AT" in query else "?lang=pt&" if "pt" in query else "?"
    assert page.driver.current_url == f"{address}{kept}#{fragment}"
    page.unfold()
    named = [part.partition("=")[0] for part in query.split("&") if "lang" not in part]
    mark = page.driver.find_element(By.CSS_SELECTOR, "#consent .marks")
    assert mark.is_displayed() == bool(named)
    assert all(name in mark.text for name in named)
