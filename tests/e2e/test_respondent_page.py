"""The respondent's page in real Chromium, against a real server."""

from __future__ import annotations

import base64
import itertools
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By
from tests.kit.pages.dice import code_for, coins, kept_of, record, words_for
from tests.kit.pages.traces import LEAKS, LOGS, on_disk, requests_of, traces
from tests.kit.pages.visits import HASTE
from tests.kit.patience import PATIENCE, patient

from deniable.survey import Survey
from deniable.wire.access_codes import read, submission_id
from deniable.wire.record import unpack
from deniable.wire.submission import Submission

pytestmark = pytest.mark.browser

CANARIES = [f"canary{colour}" for colour in ("amber", "bronze", "copper", "denim", "ebony", "fawn", "gold")]
QUESTIONS = [
    {"id": "watched", "text": "Did you watch?", "type": "yes_no"},
    {"id": "colour", "text": "Which one?", "type": "choice", "options": CANARIES},
]
names = (f"survey{i}" for i in itertools.count())


@pytest.fixture
def survey(site: Any) -> Survey:
    """Two questions, under an id of this test alone."""
    published: Survey = site.publish(id=next(names), questions=QUESTIONS)
    return published


# What leaves the device, and what stays on it.


def places(canary: str, found: dict[str, str]) -> set[str]:
    return {where for where, what in found.items() if canary in what}


@pytest.mark.parametrize("categories", [[0, 2], [1, 6]])
def test_only_the_documented_submission_leaves_and_nothing_of_the_answers_stays(
    new_browser: Callable[..., Chrome],
    injected: Callable[[Chrome, str], None],
    make_page: Any,
    site: Any,
    survey: Survey,
    tmp_path: Path,
    categories: list[int],
) -> None:
    driver = new_browser(capabilities=LOGS, profile=tmp_path / "profile")
    words = np.random.default_rng(5).integers(0, 2**32, 40).tolist()
    injected(driver, coins(survey, words))
    page = make_page(driver)
    assert page.answer(site.link(survey), *categories) == "thanks"
    requests = requests_of(driver)

    outgoing = [request for request in requests if request["method"] != "GET" or request.get("hasPostData")]
    expected = Submission(submission_id(code_for(survey)), survey.digest, 1, record(survey, categories, words))
    assert [request["postData"].encode() for request in outgoing] == [expected.to_json()]
    assert outgoing[0]["url"] == f"{site.url}/api/v1/surveys/{survey.id}/submissions"
    assert {"cookie", "referer"} & {name.lower() for name, value in outgoing[0]["headers"].items() if value} == set()

    others = [request["url"] for request in requests if request["method"] == "GET"]
    fixed = (f"{site.url}/s/{survey.id}", f"{site.url}/api/v1/surveys/{survey.id}", f"{site.url}/browser/", f"{site.url}/static/")
    assert [url for url in others if not url.startswith(fixed) or "?" in url] == []

    found = traces(driver, requests)
    assert {canary: places(canary, found) for canary in CANARIES if places(canary, found)} == {}
    assert kept_of(driver, survey) == {"epsilon": survey.epsilon}
    assert len(json.loads(found["localStorage"])) == 1
    empty = {"sessionStorage": {}, "indexedDB": {}, "cookies": [], "history": None, "name": "", "caches": [], "inputs": [], "console": []}
    assert {where: json.loads(found[where]) for where in empty} == empty
    driver.quit()
    assert on_disk(tmp_path / "profile", CANARIES) == []


def test_the_search_for_traces_finds_a_page_that_leaves_them(
    new_browser: Callable[..., Chrome],
    injected: Callable[[Chrome, str], None],
    make_page: Any,
    site: Any,
    survey: Survey,
    tmp_path: Path,
) -> None:
    driver = new_browser(capabilities=LOGS, profile=tmp_path / "profile")
    injected(driver, LEAKS)
    assert make_page(driver).answer(site.link(survey), 0, 2) == "thanks"
    patient(driver).until(lambda d: d.execute_script("return window.written") == 2)  # a database writes in its own time
    found = traces(driver, requests_of(driver))
    leaks = {"localStorage", "sessionStorage", "cookies", "name", "history", "url", "console", "requests", "indexedDB", "title"}
    assert places(CANARIES[2], found) == leaks
    driver.quit()
    assert on_disk(tmp_path / "profile", CANARIES[2:3]) == CANARIES[2:3]


def test_two_respondents_whose_coins_fall_alike_send_the_same_bytes_whatever_they_answer(
    browser: Chrome, injected: Callable[[Chrome, str], None], page: Any, proxy: Any, survey: Survey
) -> None:
    dice = np.random.default_rng(3).integers(0, 2**32, 40).tolist()
    outcome = record(survey, [0, 1], dice)
    for categories in ([0, 1], [1, 5]):
        injected(browser, coins(survey, words_for(survey, categories, outcome)))
        assert page.answer(proxy.link(survey), *categories) == "thanks"
        browser.execute_script("localStorage.clear()")
    first, second = proxy.bodies
    assert first == second
    assert Submission.from_json(first).reports == outcome


def test_a_record_is_one_that_the_server_can_read_and_the_receipt_shows_it(page: Any, site: Any, survey: Survey) -> None:
    assert page.answer(site.link(survey), 0, 3) == "thanks"
    page.driver.find_element(By.CSS_SELECTOR, "#thanks summary").click()
    shown = json.loads(page.driver.find_element(By.CSS_SELECTOR, "#thanks pre").text)
    (stored,) = site.reports(survey)
    assert base64.urlsafe_b64decode(shown["reports"] + "==") == stored
    bits = unpack(survey, stored, 1)[0]
    entries = [entry.text for entry in page.driver.find_elements(By.CSS_SELECTOR, "#thanks .receipt dd")]
    assert entries[0].startswith(f"Your record says: {'Yes' if bits[0] else 'No'}. By chance alone, 25 of 100 people who answer otherwise")
    named = [option for option, bit in zip(CANARIES, [*bits[1:], bits[1:].sum() == 1], strict=True) if bit]
    assert entries[1].startswith(
        f"Your record names 2 of the 7 options: {', '.join(named)}. By chance alone, each of these is named in 24 of 100"
    )


# Replies that are lost, and devices that have answered.


def test_lost_replies_and_a_reload_lead_to_one_body_counted_once(
    browser: Chrome, injected: Callable[[Chrome, str], None], page: Any, proxy: Any, survey: Survey
) -> None:
    injected(browser, HASTE)
    proxy.lose = 8
    assert page.answer(proxy.link(survey), 1, 4) == "waiting"
    assert "could not be reached" in page.text()
    browser.refresh()
    assert page.step("loading") == "waiting"
    assert browser.find_elements(By.CSS_SELECTOR, ".question") == []
    page.press("retry")
    assert page.step("waiting") == "thanks"
    assert len(proxy.bodies) >= 9
    assert len(set(proxy.bodies)) == 1
    assert proxy.site.count(survey) == 1
    assert page.open(proxy.link(survey)) == "answered"


def test_without_the_envelope_on_the_device_a_second_body_would_be_sent(
    browser: Chrome, injected: Callable[[Chrome, str], None], page: Any, proxy: Any, survey: Survey
) -> None:
    """The control of the test above: what it counts does change when the page forgets."""
    injected(browser, HASTE)
    proxy.lose = 4
    assert page.answer(proxy.link(survey), 1, 4) == "waiting"
    browser.execute_script("localStorage.clear()")
    assert page.answer(proxy.link(survey), 1, 4) == "thanks"
    assert len(set(proxy.bodies)) == 2
    assert proxy.site.count(survey) == 2


WATCH = """
  const send = fetch;
  window.fetch = (url, options) => { if (options.method) window.seen = JSON.stringify(localStorage); return send(url, options); };
"""


def test_the_envelope_is_on_the_device_before_the_first_attempt(
    browser: Chrome, injected: Callable[[Chrome, str], None], page: Any, site: Any, survey: Survey
) -> None:
    injected(
        browser,
        "const f = fetch; window.fetch = (...a) => { if (a[1].method) window.seen = JSON.stringify(localStorage); return f(...a); };",
    )
    assert page.answer(site.link(survey), 1, 4) == "thanks"
    (stored,) = site.reports(survey)
    kept = json.loads(json.loads(browser.execute_script("return window.seen"))[f"deniable:{survey.digest}"])
    assert set(kept) == {"envelope", "epsilon"}, "and no code: what was kept can stay in a browser's files"
    sent = Submission.from_json(kept["envelope"].encode())
    assert sent.reports == stored
    assert sent.id == submission_id(read(browser.find_element(By.CSS_SELECTOR, "#thanks [data-slot=code]").text))


def test_a_second_tab_sends_what_the_first_one_drew(browser: Chrome, page: Any, proxy: Any, survey: Survey) -> None:
    assert page.open(proxy.link(survey)) == "consent"
    page.choose(1, 4)
    first = browser.current_window_handle
    browser.switch_to.new_window("tab")
    assert page.answer(proxy.link(survey), 0, 0) == "thanks"
    browser.close()
    browser.switch_to.window(first)
    assert page.send() == "answered"
    assert len(proxy.bodies) == 1


def test_a_survey_closed_meanwhile_says_so_and_keeps_the_record(page: Any, site: Any, survey: Survey) -> None:
    page.open(site.link(survey))
    page.choose(0, 0)
    site.close_survey(survey)
    assert page.send() == "uncounted"
    assert "Your answers were not counted\nThe survey was closed before your record arrived" in page.text()
    assert "is closed\n" not in page.text(), "and not in the server's own words, which are English in every language"
    assert site.reports(survey) == []


# What the page refuses.


def refusal(page: Any, link: str) -> str:
    assert page.open(link) == "refused"
    assert page.driver.find_elements(By.CSS_SELECTOR, ".question") == []
    assert "Do not answer. Ask whoever sent you the link." in page.text()
    page.unfold()
    text: str = page.text()
    return text


@pytest.mark.parametrize(
    "damage", [lambda digest: digest[:-1], lambda digest: digest + "0", lambda digest: "", lambda digest: "x" + digest[1:]]
)
def test_a_link_that_was_damaged_on_its_way_accuses_nobody(page: Any, site: Any, survey: Survey, damage: Callable[[str], str]) -> None:
    assert page.open(f"{site.url}/s/{survey.id}#digest={damage(survey.digest)}") == "refused"
    assert "Your link is not whole" in page.text()
    assert "copy all of it: 64 digits and letters come after “digest=”" in page.text()
    assert "Do not answer." not in page.text()
    assert "what this server says" not in page.text()


@pytest.mark.parametrize("damage", ["#digest={}.", "#digest={}%20", "#DIGEST={}", "%23digest={}", "/#digest={}", ")#digest={}"])
def test_a_link_whose_damage_can_be_mended_leads_to_its_survey_and_is_held_to_its_digest(
    page: Any, site: Any, survey: Survey, damage: str
) -> None:
    assert page.open(f"{site.url}/s/{survey.id}{damage.format(survey.digest.upper())}") == "consent"
    assert "Your link has no fingerprint" not in page.text()
    assert page.open(f"{site.url}/s/{survey.id}{damage.format('F' * 64)}") == "refused"
    assert "Do not answer." in page.text()


def test_a_doubled_slash_is_no_fault_of_the_page(page: Any, site: Any, survey: Survey) -> None:
    assert page.open(site.link(survey).replace("/s/", "//s/")) == "consent"


def test_a_page_in_the_place_of_the_definition_is_the_networks(page: Any, proxy: Any, survey: Survey) -> None:
    proxy.alter[f"/api/v1/surveys/{survey.id}"] = (survey.definition, b"\n<!DOCTYPE html><title>Log in</title>")
    assert page.open(proxy.link(survey)) == "refused"
    assert "The network answered in place of the server" in page.text()
    assert "Do not answer." not in page.text()


def test_another_digest_than_the_links_is_refused(page: Any, site: Any, survey: Survey) -> None:
    link = f"{site.url}/s/{survey.id}#digest={'0' * 64}"
    assert f"the survey's digest must be {'0' * 64}" in refusal(page, link)


def test_a_definition_with_weaker_coins_is_refused_even_without_a_digest(page: Any, proxy: Any, survey: Survey) -> None:
    threshold = str(survey.questions[0].keep_threshold).encode()
    proxy.alter[f"/api/v1/surveys/{survey.id}"] = (b'"keep_threshold":' + threshold, b'"keep_threshold":4294967295')
    assert "keep_threshold must be" in refusal(page, f"{proxy.url}/s/{survey.id}")
    assert "digest must be" in refusal(page, proxy.link(survey))


def test_the_definition_of_another_survey_is_refused(page: Any, proxy: Any, site: Any, survey: Survey) -> None:
    other = site.publish(id=next(names), questions=QUESTIONS)
    proxy.alter[f"/api/v1/surveys/{survey.id}"] = (survey.definition, other.definition)
    assert f"the survey must be {survey.id}" in refusal(page, f"{proxy.url}/s/{survey.id}")


@pytest.mark.parametrize(("name", "line"), [("respond.mjs", b"// form.mjs"), ("support.js", b'"use strict";')])
def test_a_page_whose_script_has_one_more_statement_does_not_run_and_says_so(
    page: Any, proxy: Any, survey: Survey, name: str, line: bytes
) -> None:
    proxy.alter[f"/browser/{name}"] = (line, b"0;" + line)
    script = name == "support.js"  # without it nobody would know what this browser lacks
    assert page.open(proxy.link(survey)) == ("refused" if script else "broken")
    assert ("a part of this page did not arrive as it was released" if script else "This page did not come whole") in page.text()
    assert "Nothing was sent now." in page.text()


def test_without_integrity_such_a_script_would_run(page: Any, proxy: Any, survey: Survey) -> None:
    """The control of the test above."""
    proxy.alter["/browser/respond.mjs"] = (b"// form.mjs", b"0;// form.mjs")
    proxy.alter[f"/s/{survey.id}"] = (b"integrity", b"unheeded")
    assert page.open(proxy.link(survey)) == "consent"


NO_GENERATOR = "delete Crypto.prototype.getRandomValues;"
NO_STORAGE = "Storage.prototype.setItem = () => { throw new DOMException('no', 'SecurityError'); };"
FORGETFUL = "Storage.prototype.setItem = () => {};"
FULL = "const set = Storage.prototype.setItem; Storage.prototype.setItem = function (key, text) { if (!text) set.call(this, key, text); };"


def test_a_browser_without_a_generator_is_told(
    browser: Chrome, injected: Callable[[Chrome, str], None], page: Any, site: Any, survey: Survey
) -> None:
    injected(browser, NO_GENERATOR)
    assert "must have a cryptographic random" in refusal(page, site.link(survey))


@pytest.mark.parametrize("lack", [NO_STORAGE, FORGETFUL])
def test_where_nothing_can_be_kept_a_record_is_sent_once_by_who_wants_it_so_and_nothing_is_kept(
    browser: Chrome, injected: Callable[[Chrome, str], None], page: Any, proxy: Any, survey: Survey, lack: str
) -> None:
    injected(browser, lack)
    assert page.open(proxy.link(survey)) == "unkept"
    assert "This browser keeps nothing for this page" in page.text()
    assert "Do not answer twice: two records tell more about you than one." in page.text()
    page.press("unkept")
    assert page.step("unkept") == "consent"
    page.choose(0, 1)
    proxy.lose = 2
    assert page.send() == "thanks"
    assert len(proxy.bodies) == 3
    assert len(set(proxy.bodies)) == 1
    assert browser.execute_script("return localStorage.length + sessionStorage.length") == 0


def test_what_a_browser_keeps_no_longer_when_it_is_to_be_sent_is_not_sent(
    browser: Chrome, injected: Callable[[Chrome, str], None], page: Any, proxy: Any, survey: Survey
) -> None:
    injected(browser, FULL)
    assert page.answer(proxy.link(survey), 0, 0) == "refused"
    assert "no longer lets the page keep your record" in page.text()
    assert proxy.bodies == []


def test_outside_https_and_localhost_the_page_refuses(
    new_browser: Callable[..., Chrome], make_page: Any, site: Any, survey: Survey
) -> None:
    page = make_page(new_browser(arguments=("--host-resolver-rules=MAP survey.test 127.0.0.1",)))
    assert "must be opened over HTTPS" in refusal(page, f"http://survey.test:{site.server.port}/s/{survey.id}")


def test_without_javascript_the_page_is_honest_and_has_no_questions(site: Any, survey: Survey) -> None:
    html = httpx.get(f"{site.url}/s/{survey.id}", timeout=PATIENCE).text
    noscript = html.split("<noscript>")[1].split("</noscript>")[0]
    assert "needs JavaScript" in noscript
    assert "by-hand" not in noscript  # its questions leave two coins behind: no link that leads to a refusal
    coins = site.publish(id=next(names), questions=QUESTIONS[:1], epsilon="ln 3")
    assert f'href="/s/{coins.id}/by-hand?lang=en"' in httpx.get(f"{site.url}/s/{coins.id}", timeout=PATIENCE).text
    assert html.split("</noscript>")[1].count("<section") == len(re.findall(r"<section [^>]* hidden>", html)) + 1, (
        "all but the first step are hidden"
    )
    assert html.count("<form") == html.count('method="dialog"') > 0, "a form that could be sent"
    assert "submit" not in html


# For everybody who answers.


def figures(page: Any) -> list[str]:
    """The numbers of people that a guess is right for."""
    return [number.text for number in page.driver.find_elements(By.CSS_SELECTOR, "#level dd") if number.is_displayed()]


def test_consent_states_the_odds_and_the_protection_of_the_whole_survey(page: Any, site: Any, survey: Survey) -> None:
    page.open(site.link(survey))
    text = page.text()
    assert "Of 100 who say Yes, 75 are recorded Yes, 25 No." in text
    assert "Of 100 who say No, 25 are recorded Yes, 75 No." in text
    assert "Medium protection. Of 100 people, a guess is right for at most:" in text
    assert figures(page) == ["50", "75", "90"]
    page.unfold()
    text = page.text()
    assert "at most this sure: 90%. From one answer alone: at most 75%." in text
    for figure, counted in zip(page.driver.find_elements(By.CSS_SELECTOR, "figure"), (75, 25), strict=True):
        assert len(figure.find_elements(By.CSS_SELECTOR, "circle")) == 100
        assert len(figure.find_elements(By.CSS_SELECTOR, "circle.counted")) == counted
    agree, decline = (page.driver.find_element(By.CSS_SELECTOR, f"[data-action={a}]").size for a in ("agree", "decline"))
    assert agree == decline


def test_consent_never_rounds_a_risk_away(page: Any, site: Any) -> None:
    survey = site.publish(id=next(names), epsilon="10", accept_high_epsilon=True, questions=QUESTIONS[:1])
    page.open(site.link(survey))
    assert "Of 100,000 who say Yes, 99,995 are recorded Yes, 5 No." in page.text()
    assert "Next to no protection. Of 100,000 people, a guess is right for at most:" in page.text()
    assert figures(page) == ["50,000", "99,996"]
    page.unfold()
    assert "at most this sure: 99.996%" in page.text()


def test_who_declines_sends_nothing_and_can_come_back(page: Any, proxy: Any, survey: Survey) -> None:
    page.open(proxy.link(survey))
    page.press("decline")
    assert page.step("consent") == "declined"
    page.press("back")
    assert page.step("declined") == "consent"
    assert proxy.bodies == []


def test_missing_answers_are_announced_listed_and_focused(page: Any, proxy: Any, survey: Survey) -> None:
    page.open(proxy.link(survey))
    page.choose(0, -1)
    page.press("next")
    assert page.focused("[data-slot=missing]")
    assert f"1 question to complete\n{QUESTIONS[1]['text']}" in page.text()
    page.driver.find_element(By.CSS_SELECTOR, ".missing button").click()
    assert page.focused(".question:nth-child(2) input")
    assert page.driver.find_element(By.CSS_SELECTOR, ".question:nth-child(2)").get_attribute("aria-invalid") == "true"
    page.keys(Keys.SPACE)
    assert page.driver.find_element(By.CSS_SELECTOR, ".question:nth-child(2)").get_attribute("aria-invalid") is None
    assert proxy.bodies == []


def test_the_keyboard_alone_suffices(page: Any, proxy: Any, survey: Survey) -> None:
    def tab_to(selector: str) -> None:
        for _ in range(15):
            page.keys(Keys.TAB)
            if page.focused(selector):
                return
        raise AssertionError(f"{selector} is not within reach of Tab")

    page.open(proxy.link(survey))
    tab_to("[data-action=agree]")
    page.keys(Keys.ENTER)
    assert page.step("consent") == "questions"
    tab_to(".question:nth-child(1) input")
    page.keys(Keys.SPACE)
    page.keys(Keys.TAB)
    assert page.focused(".question:nth-child(2) label:nth-of-type(1) input")
    page.keys(Keys.ARROW_UP)  # round to the last one, then back to the first and on to the second
    page.keys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    checked = page.driver.execute_script("return [...document.querySelectorAll('#questions input')].map((i) => i.checked)")
    assert checked == [True, False, False, True, False, False, False, False, False]
    tab_to("[data-action=next]")
    page.keys(Keys.SPACE)
    assert page.step("questions") == "review"
    tab_to("[data-action=send]")
    page.keys(Keys.SPACE)
    assert page.step("review") == "thanks"
    assert len(proxy.bodies) == 1


def test_a_long_list_is_a_select_and_answers_alike(
    browser: Chrome, injected: Callable[[Chrome, str], None], page: Any, proxy: Any, site: Any
) -> None:
    options = [f"Option {i}" for i in range(1, 31)]
    survey = site.publish(id=next(names), questions=[{"id": "long", "text": "Which?", "type": "choice", "options": options}])
    words = np.random.default_rng(8).integers(0, 2**32, 60).tolist()
    injected(browser, coins(survey, words))
    page.open(proxy.link(survey))
    page.choose(-1)
    page.press("next")
    assert page.focused("[data-slot=missing]")
    page.driver.find_element(By.CSS_SELECTOR, ".missing button").click()
    assert page.focused("select")
    page.driver.find_elements(By.CSS_SELECTOR, "option:not([disabled])")[17].click()
    assert page.send() == "thanks"
    assert Submission.from_json(proxy.bodies[0]).reports == record(survey, [17], words)


def test_no_control_has_a_name_and_answers_go_when_the_page_does(page: Any, site: Any, survey: Survey) -> None:
    page.open(site.link(survey))
    page.choose(0, 3)
    assert page.driver.execute_script("return document.querySelectorAll('[name]:not(meta), form:not([autocomplete=off])').length") == 0
    in_a_form = page.driver.execute_script("return [...document.querySelectorAll('input, select')].map((control) => control.form !== null)")
    assert len(in_a_form) > 7
    assert all(in_a_form)
    assert page.driver.execute_script("return document.querySelectorAll('input:checked').length") == 2
    page.driver.execute_script("dispatchEvent(new PageTransitionEvent('pagehide'))")
    assert page.driver.execute_script("return document.querySelectorAll('input:checked').length") == 0


def test_questions_and_answers_are_for_no_service_that_translates(page: Any, site: Any, survey: Survey) -> None:
    given_away = """return [...document.querySelectorAll(arguments[0])].filter((e) => e.translate).map((e) => e.tagName)"""
    page.open(site.link(survey))
    assert page.driver.execute_script(given_away, "#consent p") != [], "what the survey is about may be translated"
    page.choose(0, 3)
    assert page.driver.execute_script(given_away, "#questions, #questions *") == []
    page.press("next")
    assert page.step("questions") == "review"
    assert page.driver.execute_script(given_away, "#review, #review *") == []
    for step in ("questions", "review"):
        assert "notranslate" in page.driver.find_element(By.ID, step).get_attribute("class"), "for services that look for this word"


def test_texts_of_a_survey_are_text(page: Any, site: Any) -> None:
    evil = "<img src=x onerror=alert(1)>"
    questions = [{"id": "q", "text": evil, "type": "choice", "options": [evil, "</label><script>alert(1)</script>"]}]
    survey = site.publish(id=next(names), title=evil, about=evil, questions=questions)
    page.open(site.link(survey))
    assert page.text().count(evil) == 2
    page.press("agree")
    assert page.text().count(evil) == 3
    assert [image.get_attribute("src") for image in page.driver.find_elements(By.CSS_SELECTOR, "main img")] == [None]  # of no logo


@pytest.fixture(params=[320, 360])
def narrow(request: pytest.FixtureRequest, browser: Chrome) -> Iterator[int]:
    size = {"width": request.param, "height": 640, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    yield request.param
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_phone_needs_no_sideways_scrolling_and_targets_are_large(page: Any, site: Any, narrow: int) -> None:
    long = "Donaudampfschifffahrtsgesellschaftskapitaensmuetzenband" * 2
    questions = [
        {"id": "a", "text": long, "type": "choice", "options": [long, "b"]},
        {"id": "b", "text": long, "type": "choice", "options": [long, *map(str, range(20))]},
    ]
    survey = site.publish(id=next(names), title=long, about=long, questions=questions)

    def fits() -> None:
        assert page.driver.execute_script("return Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)") <= narrow
        script = """return [...document.querySelectorAll("button, summary, label.option, select")].filter((e) => e.checkVisibility())
            .map((e) => e.getBoundingClientRect()).filter((r) => r.width < 24 || r.height < 24).length"""
        assert page.driver.execute_script(script) == 0

    page.open(site.link(survey))
    page.driver.execute_script("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    fits()
    page.choose(-1, 2)
    page.press("next")
    fits()
    page.driver.find_element(By.CSS_SELECTOR, "label.option").click()
    assert page.send() == "thanks"
    page.driver.find_element(By.CSS_SELECTOR, "#thanks summary").click()
    fits()


# What the server sends to respondents.


def test_every_reply_to_a_respondent_is_closed_and_leaves_nothing(site: Any, survey: Survey) -> None:
    paths = [
        f"/s/{survey.id}",
        f"/api/v1/surveys/{survey.id}",
        "/browser/form.mjs",
        "/browser/respond.mjs",
        "/static/base.css",
        "/s/no-such-survey",
        "/browser/none.mjs",
    ]
    for path in paths:
        headers = httpx.get(site.url + path, timeout=PATIENCE).headers
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == policy["form-action"] == "'none'", path
        assert policy["script-src"] == "'self'", path
        assert "unsafe" not in headers["content-security-policy"], path
        assert headers["cache-control"] == "no-store", path
        assert headers["referrer-policy"] == "no-referrer", path
        assert {"set-cookie", "etag", "last-modified"} & set(headers) == set(), path


def test_a_whole_visit_transfers_less_than_100_kb(site: Any, survey: Survey) -> None:
    html = httpx.get(f"{site.url}/s/{survey.id}", timeout=PATIENCE).text
    paths = {part.split('"')[0] for part in html.replace("src=", "href=").split('href="')[1:]} - {"data:,"}
    assert "/browser/respond.mjs" in paths
    sizes = {
        path: httpx.get(site.url + path, timeout=PATIENCE).num_bytes_downloaded
        for path in [*paths, f"/s/{survey.id}", f"/api/v1/surveys/{survey.id}"]
    }
    assert sum(sizes.values()) < 100_000, sizes
