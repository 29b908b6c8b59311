"""What a respondent meets on the way: practice, entry, one question a page, a last look, and what can be done afterwards."""

from __future__ import annotations

import base64
import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By
from tests.kit.pages import axe, layout
from tests.kit.pages.visits import HASTE, Visit
from tests.kit.patience import PATIENCE, patient

from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.submission import Submission, exchange_of

pytestmark = pytest.mark.browser

QUESTIONS: list[dict[str, Any]] = [
    {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"},
    {
        "id": "often",
        "text": "How often?",
        "type": "choice",
        "options": ["daily", "weekly"],
        "show_if": {"question": "smokes", "is": ["yes"]},
    },
    {"id": "used", "text": "Which have you used?", "type": "multi_choice", "options": ["tea", "coffee"], "required": False},
    {
        "id": "age",
        "text": "How old are you?",
        "type": "number",
        "low": 18,
        "high": 120,
        "bins": [{"name": "under 40", "from": 18}, {"name": "40 or more", "from": 40}],
    },
]
names = (f"steps{i}" for i in itertools.count())


@pytest.fixture
def survey(site: Any) -> Survey:
    """Four questions, one a page, under an id of this test alone."""
    published: Survey = site.publish(id=next(names), questions=QUESTIONS, layout="steps")
    return published


@pytest.fixture
def short(site: Any) -> Survey:
    """One question."""
    published: Survey = site.publish(id=next(names), questions=QUESTIONS[:1])
    return published


def pick(page: Any, option: int) -> None:
    """Chooses an option of the one question that is shown."""
    shown(page).find_elements(By.CSS_SELECTOR, "label.option")[option].click()


def shown(page: Any) -> Any:
    (question,) = page.driver.find_elements(By.CSS_SELECTOR, "#questions .question:not([hidden])")
    return question


def review_of(page: Any) -> list[str]:
    return [entry.text for entry in page.driver.find_elements(By.CSS_SELECTOR, "#review [data-slot=answer]")]


def walk(page: Any, link: str, first: int = 0) -> None:
    """Answers every question, one by one, up to the last look."""
    assert page.open(link) == "consent"
    page.press("agree")
    page.step("consent")
    pick(page, first)
    page.press("next")
    if first == 0:
        pick(page, 1)
        page.press("next")
    page.press("next")
    shown(page).find_element(By.TAG_NAME, "input").send_keys("44")
    page.press("next")
    assert page.step("questions") == "review"


# One question a page.


def test_one_question_is_shown_at_a_time_and_says_which_it_is(page: Any, site: Any, survey: Survey) -> None:
    page.open(site.link(survey))
    page.press("agree")
    page.step("consent")
    assert shown(page).text.startswith("Step 1\nDo you smoke?")
    assert not page.driver.find_element(By.CSS_SELECTOR, "#questions [data-action=previous]").is_displayed()
    pick(page, 0)
    page.press("next")
    assert shown(page).text.startswith("Step 2 · may be skipped\nHow often?")
    assert shown(page).find_element(By.TAG_NAME, "h1").text == "How often?"  # the heading of its page, and the only one
    assert [h.text for h in page.driver.find_elements(By.TAG_NAME, "h1") if h.is_displayed()] == ["How often?"]
    assert page.focused(".question")
    page.press("previous")
    assert shown(page).find_elements(By.TAG_NAME, "input")[0].is_selected()


def test_a_question_left_out_is_announced_on_its_page(page: Any, site: Any, survey: Survey) -> None:
    page.open(site.link(survey))
    page.press("agree")
    page.step("consent")
    page.press("next")
    problem = shown(page).find_element(By.CSS_SELECTOR, ".problem")
    assert problem.text == "Choose an answer."
    assert shown(page).get_attribute("aria-describedby") == problem.get_attribute("id")
    assert shown(page).get_attribute("aria-invalid") == "true"
    assert page.focused("#questions input")


def test_the_last_look_shows_every_answer_once_and_each_can_be_changed(page: Any, site: Any, survey: Survey) -> None:
    walk(page, site.link(survey))
    assert review_of(page) == ["Yes", "weekly", "No answer. The coins are tossed for it, too.", "44"]
    page.driver.find_elements(By.CSS_SELECTOR, "#review dd button")[0].click()
    assert page.step("review") == "questions"
    assert review_of(page) == []
    assert page.focused("#questions .question:not([hidden]) input")
    pick(page, 1)
    page.press("next")
    assert "Which have you used?" in shown(page).text
    pick(page, 0)
    page.press("next")
    page.press("next")
    assert page.step("questions") == "review"
    assert review_of(page) == ["No", "tea", "44"]
    page.press("send")
    assert page.step("review") == "thanks"
    assert (
        page.driver.execute_script(
            "return document.querySelector('#review dl').textContent + [...document.querySelectorAll('#questions input')].length"
        )
        == "0"
    )
    assert site.count(survey) == 1


def test_the_length_of_the_history_does_not_tell_which_questions_were_shown(page: Any, site: Any, survey: Survey) -> None:
    lengths = []
    for first in (0, 1):
        page.open(site.link(survey))
        before = page.driver.execute_script("return history.length")
        walk(page, site.link(survey), first)
        lengths.append(page.driver.execute_script("return history.length") - before)
        page.driver.execute_script("localStorage.clear()")
    assert lengths[0] == lengths[1]


TITLES = """window.titles = [];
  addEventListener("DOMContentLoaded", () => {
    const note = () => { if (window.titles.at(-1) !== document.title) window.titles.push(document.title); };
    new MutationObserver(note).observe(document.querySelector("title"), { childList: true });
  });"""


@pytest.mark.parametrize("layout", ["list", "steps"])
def test_a_page_has_one_title_from_consent_to_the_end_since_browsers_keep_titles(
    layout: str, browser: Chrome, injected: Callable[[Chrome, str], None], page: Any, site: Any
) -> None:
    injected(browser, TITLES)
    for first in (0, 1):
        survey = site.publish(id=next(names), questions=QUESTIONS, layout=layout)
        if layout == "steps":
            walk(page, site.link(survey), first)
        else:
            page.open(site.link(survey))
            page.press("agree")
            page.step("consent")
            page.driver.find_elements(By.CSS_SELECTOR, "#questions label.option")[first].click()
            if first == 0:
                page.driver.find_elements(By.CSS_SELECTOR, "#questions .question:nth-child(2) label.option")[0].click()
            page.driver.find_element(By.CSS_SELECTOR, "#questions input[type=text]").send_keys("44")
            page.press("next")
        page.press("send")
        assert page.step("review") == "thanks"
        page.driver.find_element(By.CSS_SELECTOR, "#thanks > details:not(.receipt) summary").click()
        page.press("forget")
        assert page.step("thanks") == "forgotten"
        assert page.driver.execute_script("return window.titles") == ["A study"]


def test_the_keyboard_alone_walks_through_every_page(page: Any, site: Any, survey: Survey) -> None:
    def tab_to(selector: str) -> None:
        for _ in range(20):
            page.keys(Keys.TAB)
            if page.focused(selector):
                return
        raise AssertionError(f"{selector} is not within reach of Tab")

    page.open(site.link(survey))
    tab_to("[data-action=agree]")
    page.keys(Keys.ENTER)
    page.step("consent")
    tab_to("#questions input")
    page.keys(Keys.SPACE)  # yes
    tab_to("[data-action=next]")
    page.keys(Keys.ENTER)
    page.keys(Keys.TAB, Keys.SPACE, Keys.ARROW_DOWN)  # from the question, which has the focus, to its second option
    tab_to("[data-action=next]")
    page.keys(Keys.ENTER)
    page.keys(Keys.TAB, Keys.SPACE)
    tab_to("[data-action=next]")
    page.keys(Keys.ENTER)
    page.keys(Keys.TAB, "18")
    tab_to("[data-action=next]")
    page.keys(Keys.ENTER)
    assert page.step("questions") == "review"
    assert review_of(page) == ["Yes", "weekly", "tea", "18"]
    tab_to("[data-action=send]")
    page.keys(Keys.ENTER)
    assert page.step("review") == "thanks"


def test_answers_on_the_last_look_go_when_the_page_does(page: Any, site: Any, survey: Survey) -> None:
    walk(page, site.link(survey))
    page.driver.execute_script("dispatchEvent(new PageTransitionEvent('pagehide'))")
    assert review_of(page) == []


# Practice, contact, entry.


def dots(page: Any, side: str) -> tuple[int, int]:
    """How many people are drawn on a side's board, and how many of them as recorded Yes."""
    script = "return ['circle', '.counted'].map((of) => document.querySelectorAll(`[data-board=${arguments[0]}] ${of}`).length)"
    drawn, yes = page.driver.execute_script(script, side)
    return drawn, yes


def counted(page: Any, side: str) -> tuple[int, int]:
    """How many records of a side say Yes, of how many, in words."""
    told = page.driver.find_element(By.CSS_SELECTOR, f"[data-board={side}] [data-slot=counted]").text
    yes, all_of_them = re.findall(r"[\d,]+", told)[:2]
    return int(yes.replace(",", "")), int(all_of_them.replace(",", ""))


def test_practice_tosses_the_surveys_own_coins_draws_each_person_and_keeps_nothing(page: Any, proxy: Any, short: Survey) -> None:
    page.open(proxy.link(short))
    page.unfold()
    page.press("toss-yes")
    assert re.search(r"You said Yes, (and|but) the record says (Yes|No)\.", page.text())
    assert (dots(page, "yes")[0], dots(page, "no")) == (1, (0, 0))
    with layout.screen(page.driver, 1280, prefers_reduced_motion="reduce"):
        for _ in range(20):
            page.press("toss-many-yes")
        page.press("toss-many-no")  # without motion, all at once
        assert [counted(page, side)[1] for side in ("yes", "no")] == [2001, 100]
        assert (dots(page, "yes")[0], dots(page, "no")) == (1, (100, counted(page, "no")[0]))  # the last hundred, or what there is of it
    theta = float(short.questions[0].channel.theta)
    yes, no = counted(page, "yes")[0], counted(page, "no")[0]
    assert abs(yes - 2001 * theta) < 5.5 * (2001 * theta * (1 - theta)) ** 0.5
    assert f"In the long run: {100 * theta:.0f} of 100." in page.text()
    reckoned = (yes + no - 2101 * (1 - theta)) / (2 * theta - 1)
    assert f"Of all 2,101 people, 2,001 said Yes. From the records alone one reckons: {reckoned:,.0f}." in page.text()
    page.press("toss-no")
    assert "You said No," in page.text()
    assert page.driver.execute_script("return localStorage.length") == 0
    assert proxy.bodies == []


def test_a_sum_that_cannot_be_is_not_clipped_but_explained(page: Any, site: Any, short: Survey) -> None:
    page.open(site.link(short))
    page.unfold()
    page.driver.execute_script("crypto.getRandomValues = (words) => words.fill(0)")  # each coin leaves the answer as it is
    with layout.screen(page.driver, 1280, prefers_reduced_motion="reduce"):
        page.press("toss-many-no")
        assert re.search(r"From the records alone one reckons: -\d+\. That cannot be: for so few people", page.text())
        page.press("toss-many-yes")
        assert "From the records alone one reckons: 100." in page.text()
        assert "That cannot be" not in page.text(), "the control"


def test_a_hundred_people_are_seen_to_come_one_after_another(page: Any, site: Any, short: Survey) -> None:
    page.open(site.link(short))
    page.unfold()
    watch = """window.seen = []; const board = document.querySelector("[data-board=no] svg");
      new MutationObserver(() => seen.push(board.childElementCount)).observe(board, { childList: true });"""
    page.driver.execute_script(watch)
    page.press("toss-many-no")
    patient(page.driver).until(lambda _: dots(page, "no")[0] == 100)
    seen = page.driver.execute_script("return seen")
    assert seen == sorted(set(seen))
    assert len(seen) > 10
    assert dots(page, "no")[1] == counted(page, "no")[0]


def test_consent_names_whom_to_ask_and_who_approved(page: Any, site: Any, short: Survey) -> None:
    page.open(site.link(short))
    page.unfold()
    assert "Contact" not in page.text()
    assert "Whom you can ask" not in page.text()
    survey = site.publish(id=next(names), questions=QUESTIONS[:1], contact="Ada, ada@example.org", ethics="Board, no. 7")
    page.open(site.link(survey))
    page.unfold()
    assert page.driver.find_element(By.LINK_TEXT, "ada@example.org").get_attribute("href") == "mailto:ada@example.org"
    assert "Contact\nAda, ada@example.org\nEthics approval\nBoard, no. 7" in page.text()


def test_a_group_and_an_invitation_come_from_the_link_or_are_asked_for(page: Any, proxy: Any, site: Any) -> None:
    survey = site.publish(id=next(names), questions=QUESTIONS[:1], groups=["North", "Süd & West"], access="invited")
    page.open(proxy.link(survey))
    page.press("agree")
    patient(page.driver).until(lambda d: d.find_element(By.ID, "problem-group").is_displayed())
    assert page.driver.find_element(By.ID, "problem-code").is_displayed()
    assert page.focused("[data-field=group]")
    code = site.invite(survey)
    page.open(f"{proxy.link(survey)}&group=S%C3%BCd%20%26%20West&code={code.lower()}")
    assert not page.driver.find_element(By.CSS_SELECTOR, "[data-field=group]").is_displayed()
    page.choose(1)
    assert page.send() == "thanks"
    assert [exchange_of(body)[0] for body in proxy.checks] == [access_codes.read(code)]
    sent = Submission.from_json(proxy.bodies[0])
    assert (sent.group, sent.invitation, sent.token is not None) == ("Süd & West", None, True)
    assert site.tally(survey, group="Süd & West").n == 1
    assert site.tally(survey, group="North").n == 0


def test_a_spent_invitation_is_replaced_beside_the_same_record(page: Any, proxy: Any, site: Any) -> None:
    survey = site.publish(id=next(names), questions=QUESTIONS[:1], access="invited")
    spent, fresh = site.invite(survey), site.invite(survey)
    assert page.open(f"{proxy.link(survey)}&code={spent}") == "consent"
    proxy.exchanges = False  # no connection at *Start*
    page.choose(0)
    site.spend(survey, spent)  # between consent and Send, by somebody else
    proxy.exchanges = True
    assert page.send() == "waiting"
    assert "the invitation code has been used" in page.text()
    field = page.driver.find_element(By.CSS_SELECTOR, "#waiting [data-field=code]")
    field.send_keys(fresh[:-1])
    page.press("retry")
    patient(page.driver).until(lambda d: d.find_element(By.ID, "problem-other-code").is_displayed())
    field.send_keys(fresh[-1])
    page.press("retry")
    assert page.step("waiting") == "thanks"
    (sent,) = map(Submission.from_json, proxy.bodies)
    assert sent.token
    assert [exchange_of(body)[0] for body in proxy.checks] == [access_codes.read(code) for code in (spent, fresh)]
    assert site.count(survey) == 2


SPENT = {"en": "This code has been used", "de": "Dieser Code wurde schon", "ar": "استُخدم هذا الرمز"}
UNANSWERED = """const sent = fetch;
window.fetch = (url, more) =>
  String(url).endsWith("/tokens") && !window.connected ? Promise.reject(new TypeError("gone")) : sent(url, more);"""


@pytest.mark.parametrize(("language", "told"), SPENT.items())
def test_a_spent_invitation_is_told_before_the_first_question(page: Any, site: Any, language: str, told: str) -> None:
    survey = site.publish(id=next(names), questions=QUESTIONS[:1], access="invited")
    spent, fresh = site.invite(survey), site.invite(survey)
    site.spend(survey, spent)
    assert page.open(site.link(survey).replace("#", f"?lang={language}#") + f"&code={spent}") == "consent"
    page.press("agree")
    problem = page.driver.find_element(By.ID, "used-code")
    patient(page.driver).until(lambda _: problem.is_displayed())
    assert problem.text.startswith(told)
    field = page.driver.find_element(By.CSS_SELECTOR, "#consent [data-field=code]")
    assert (field.get_attribute("aria-invalid"), field.get_attribute("aria-describedby")) == ("true", "hint-code used-code")
    assert page.focused("#consent [data-field=code]")
    assert not page.driver.find_element(By.ID, "problem-code").is_displayed()
    field.clear()
    field.send_keys(fresh)
    page.choose(0)
    assert page.send() == "thanks"
    assert site.count(survey) == 2


def test_where_no_code_can_be_exchanged_the_questions_come_all_the_same(page: Any, site: Any) -> None:
    survey = site.publish(id=next(names), questions=QUESTIONS[:1], access="invited")
    assert page.open(f"{site.link(survey)}&code={site.invite(survey)}") == "consent"
    page.driver.execute_script(UNANSWERED)
    page.choose(0)
    page.driver.execute_script("window.connected = true")
    assert page.send() == "thanks"


# A record that waits.


def test_fifty_lost_replies_with_the_tab_closed_between_lead_to_one_body_counted_once(
    browser: Chrome, page: Any, proxy: Any, short: Survey
) -> None:
    proxy.lose = 50
    keep = browser.current_window_handle
    browser.switch_to.new_window("tab")
    browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": HASTE})
    page.answer(proxy.link(short), 0)
    for _ in range(12):  # four attempts each
        browser.close()
        browser.switch_to.window(keep)
        browser.switch_to.new_window("tab")
        browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": HASTE})
        page.open(proxy.link(short))
    patient(browser).until(lambda d: d.find_element(By.ID, "thanks").is_displayed())
    assert len(proxy.bodies) == 51
    assert len(set(proxy.bodies)) == 1
    assert proxy.site.count(short) == 1
    browser.close()
    browser.switch_to.window(keep)


def test_a_record_made_offline_goes_out_by_itself_when_the_connection_is_back(page: Any, site: Any, short: Survey) -> None:
    def network(offline: bool) -> None:
        conditions = {"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        page.driver.execute_cdp_cmd("Network.enable", {})
        page.driver.execute_cdp_cmd("Network.emulateNetworkConditions", conditions)

    page.open(site.link(short))
    page.choose(0)
    network(offline=True)
    try:
        page.press("next")
        page.press("send")
        patient(page.driver).until(lambda d: d.find_element(By.ID, "waiting").is_displayed())
        assert "This device is offline." in page.text()
        assert "goes out by itself" in page.text()
    finally:
        network(offline=False)
    patient(page.driver).until(lambda d: d.find_element(By.ID, "thanks").is_displayed())
    assert site.count(short) == 1


def test_a_record_that_waits_outlives_the_browser(
    new_browser: Callable[..., Chrome], injected: Callable[[Chrome, str], None], make_page: Any, proxy: Any, short: Survey, tmp_path: Path
) -> None:
    driver = new_browser(profile=tmp_path / "profile")
    injected(driver, HASTE)
    proxy.lose = 4
    assert make_page(driver).answer(proxy.link(short), 0) == "waiting"
    kept = json.loads(driver.execute_script("return localStorage.getItem(arguments[0])", f"deniable:{short.digest}"))
    code = driver.find_element(By.CSS_SELECTOR, "#waiting [data-slot=code]").text
    assert access_codes.submission_id(access_codes.read(code)) == Submission.from_json(kept["envelope"].encode()).id
    driver.quit()
    again = new_browser(profile=tmp_path / "profile")
    assert make_page(again).open(proxy.link(short)) == "thanks"
    assert "Only the page that made the record had it" in again.find_element(By.ID, "thanks").text
    assert not again.find_element(By.CSS_SELECTOR, "#thanks .withdrawal").is_displayed()
    assert proxy.bodies == [kept["envelope"].encode()] * 5
    assert proxy.site.count(short) == 1


# Afterwards.


def test_the_withdrawal_code_that_is_shown_erases_the_record(page: Any, site: Any, short: Survey) -> None:
    assert page.answer(site.link(short), 0) == "thanks"
    code = access_codes.read(page.driver.find_element(By.CSS_SELECTOR, "#thanks [data-slot=code]").text)
    assert site.count(short) == 1
    assert (
        page.driver.find_element(By.CSS_SELECTOR, "#thanks .withdrawal a").get_attribute("href")
        == f"{site.url}/s/{short.id}/withdraw?lang=en"
    )
    body = json.dumps({"code": base64.urlsafe_b64encode(code).decode()})
    reply = httpx.post(
        f"{site.url}/api/v1/surveys/{short.id}/withdrawals", content=body, headers={"Content-Type": "application/json"}, timeout=PATIENCE
    )
    assert reply.status_code == 200
    assert site.count(short) == 0
    assert site.reports(short) == []


def test_a_device_adds_up_what_it_has_given_away_and_forgets_it_on_demand(page: Any, site: Any) -> None:
    first, second = (site.publish(id=next(names), epsilon="ln 3", questions=QUESTIONS[:1]) for _ in range(2))
    page.open(site.link(first))
    page.driver.execute_script("localStorage.clear()")
    assert page.answer(site.link(first), 0) == "thanks"
    page.open(site.link(second))
    assert (
        "This device has answered 1 other survey here. Both records together can make a 50:50 guess about you at most 90% sure."
        in page.text()
    )
    page.choose(0)
    assert page.send() == "thanks"
    page.driver.find_element(By.CSS_SELECTOR, "#thanks > details:not(.receipt) summary").click()
    assert "This device has answered 2 surveys here. All their records together" in page.text()
    assert "at most 90% sure (epsilon 2.2)." in page.text()
    page.press("forget")
    assert page.step("thanks") == "forgotten"
    assert page.driver.execute_script("return localStorage.length") == 0
    assert page.open(site.link(first)) == "consent"


# Languages.


def test_a_surveys_own_texts_are_shown_in_the_readers_language_and_what_is_missing_says_its_own(page: Any, site: Any) -> None:
    survey = site.publish(
        id=next(names),
        questions=[QUESTIONS[0], {"id": "colour", "text": "Which colour?", "type": "choice", "options": ["red", "green"]}],
        translations={"de": {"title": "Eine Studie", "questions": {"colour": {"text": "Welche Farbe?", "options": ["rot", "grün"]}}}},
    )
    assert page.open(f"{site.url}/s/{survey.id}?lang=de#digest={survey.digest}") == "consent"
    heading = page.driver.find_element(By.CSS_SELECTOR, "#consent h1")
    assert (heading.text, heading.get_attribute("lang")) == ("Eine Studie", "de")
    assert page.driver.find_element(By.CSS_SELECTOR, "#consent .about").get_attribute("lang") == "en"
    page.choose(0, 1)
    labels = [label.text for label in page.driver.find_elements(By.CSS_SELECTOR, "#questions .option")]
    assert labels[2:] == ["rot", "grün"]
    page.press("next")
    assert page.step("questions") == "review"
    assert review_of(page)[1] == "grün"
    page.press("send")
    assert page.step("review") == "thanks"
    assert site.count(survey) == 1


# Help, sections, and questions that depend on several answers.

HEALTH = {"title": "Your health", "note": "About the last twelve months.\nTake your time."}
AROUND: list[dict[str, Any]] = [
    {"id": "smokes", "text": "Do you smoke?", "type": "yes_no", "help": "Pipes, too.", "section": HEALTH},
    {"id": "age", "text": "How old are you?", "type": "number", "low": 18, "high": 120, "help": "In years.", "bins": QUESTIONS[3]["bins"]},
    {
        "id": "why",
        "text": "Why not?",
        "type": "choice",
        "options": ["cost", "health"],
        "show_if": {"all": [{"question": "smokes", "is": ["no"]}, {"question": "age", "at_least": 40}]},
        "section": {"title": "Your reasons"},
    },
    {"id": "where", "text": "Where?", "type": "choice", "options": [f"Town {n}" for n in range(14)], "help": "The nearest."},
]
GERMAN = {"smokes": {"help": "Auch Pfeifen.", "section": {"title": "Ihre Gesundheit"}}}


def seen(page: Any) -> list[str]:
    """The headings and the texts of questions that are shown, in order."""
    found = page.driver.find_elements(
        By.CSS_SELECTOR, "#questions .section h2, #questions .section p, #questions .question [data-slot=text]"
    )
    return [one.text for one in found if one.is_displayed()]


def described(page: Any, question: int) -> str:
    """What a screen reader says of a control beside its name."""
    (control,) = page.driver.find_elements(By.CSS_SELECTOR, f"#questions [aria-describedby~=help-{question}]")
    return " ".join(page.driver.find_element(By.ID, name).text for name in control.get_attribute("aria-describedby").split())


def test_a_section_stands_before_its_first_question_that_is_shown(page: Any, site: Any) -> None:
    survey = site.publish(id=next(names), questions=AROUND, translations={"de": {"questions": GERMAN}})
    assert page.open(site.link(survey)) == "consent"
    page.press("agree")
    page.step("consent")
    health = ["Your health", HEALTH["note"], "Do you smoke?", "How old are you?"]
    assert seen(page) == [*health, "Your reasons", "Where?"]
    smokes = page.driver.find_elements(By.CSS_SELECTOR, "#questions .question")[0].find_elements(By.CSS_SELECTOR, "label.option")
    smokes[1].click()
    assert seen(page) == [*health, "Your reasons", "Where?"]
    field = page.driver.find_element(By.CSS_SELECTOR, "#questions input[type=text]")
    field.send_keys("44")
    assert seen(page) == [*health, "Your reasons", "Why not?", "Where?"]
    smokes[0].click()
    assert seen(page) == [*health, "Your reasons", "Where?"]
    assert (described(page, 0), described(page, 1), described(page, 3)) == (
        "Pipes, too.",
        "In years. A number from 18 to 120",
        "The nearest.",
    )
    assert axe.findings(page.driver) == []
    for width, scheme in ((320, "light"), (360, "dark"), (1280, "dark")):
        with layout.screen(page.driver, width, scheme):
            assert (layout.faults(page.driver), axe.findings(page.driver)) == ([], [])
    assert page.open(f"{site.link(survey).partition('#')[0]}?lang=de") == "consent"
    page.press("agree")
    page.step("consent")
    assert seen(page)[:2] == ["Ihre Gesundheit", HEALTH["note"]]
    assert described(page, 0) == "Auch Pfeifen."


def test_one_question_a_page_begins_its_section_and_the_heading_is_read_first(page: Any, site: Any) -> None:
    survey = site.publish(id=next(names), questions=AROUND, layout="steps")
    assert page.open(site.link(survey)) == "consent"
    page.press("agree")
    page.step("consent")
    assert seen(page) == ["Your health", HEALTH["note"], "Do you smoke?"]
    assert page.focused("#questions .section h2")
    pick(page, 0)
    page.press("next")
    assert seen(page) == ["How old are you?"]
    assert page.focused(".question")
    shown(page).find_element(By.TAG_NAME, "input").send_keys("44")
    page.press("next")
    assert seen(page) == ["Your reasons", "Where?"]  # the question with which the section begins is not shown
    page.press("previous")
    page.press("previous")
    pick(page, 1)
    page.press("next")
    page.press("next")
    assert seen(page) == ["Your reasons", "Why not?"]
    assert page.focused("#questions .section h2")
    pick(page, 0)
    page.press("next")
    assert seen(page) == ["Where?"]


def test_a_sample_has_the_headings_of_what_is_asked(page: Any, site: Any) -> None:
    """Each device draws one of two blocks; the section of the second begins with a question that is never drawn alone."""
    first = {"id": "a", "text": "A?", "type": "yes_no", "section": {"title": "One"}}
    survey = site.publish(id=next(names), questions=[first, {"id": "b", "text": "B?", "type": "yes_no"}], ask=1)
    assert page.open(site.link(survey)) == "consent"
    page.press("agree")
    page.step("consent")
    assert seen(page) in (["One", "A?"], ["One", "B?"])


# The code, to be kept by whoever wants to.

TAKEN = """window.taken = {};
navigator.clipboard.writeText = (text) => { taken.copied = text; return Promise.resolve(); };
URL.createObjectURL = (file) => { file.text().then((text) => { taken.saved = text; }); return "data:,"; };
HTMLAnchorElement.prototype.click = function () { taken.name = this.download; };"""
NO_CLIPBOARD = "navigator.clipboard.writeText = () => Promise.reject(new Error()); document.execCommand = () => false;"


def test_the_code_is_copied_and_saved_when_that_is_asked_for_and_not_before(page: Any, site: Any, short: Survey) -> None:
    with Visit(page, site).beforehand(TAKEN):
        assert page.answer(site.link(short), 0) == "thanks"
    code = page.driver.find_element(By.CSS_SELECTOR, "#thanks [data-slot=code]").text
    assert page.driver.execute_script("return taken") == {}
    page.press("copy")
    patient(page.driver).until(lambda _: "Copied." in page.text())
    page.press("save")
    patient(page.driver).until(lambda d: d.execute_script("return taken.saved"))
    taken = page.driver.execute_script("return taken")
    assert taken["copied"] == code
    assert taken["name"] == f"{short.id}.txt"
    assert taken["saved"] == f"Withdrawal code\n{code}\n{site.url}/s/{short.id}/withdraw?lang=en\n"
    assert code not in page.driver.execute_script("return JSON.stringify([{...localStorage}, {...sessionStorage}])")


def test_where_nothing_can_be_copied_the_code_is_selected_and_a_tap_selects_all_of_it(page: Any, site: Any, short: Survey) -> None:
    with Visit(page, site).beforehand(NO_CLIPBOARD):
        assert page.answer(site.link(short), 0) == "thanks"
    page.press("copy")
    patient(page.driver).until(lambda _: "It is selected now." in page.text())
    code = page.driver.find_element(By.CSS_SELECTOR, "#thanks [data-slot=code]")
    assert page.driver.execute_script("return getSelection().toString()").strip() == code.text
    assert code.value_of_css_property("user-select") == "all"
    style_sheet = httpx.get(f"{site.url}/static/respond.css", timeout=PATIENCE).text
    assert "-webkit-user-select: all" in style_sheet  # Safari knows no other


# Where a number may be below zero, a phone has to have a minus.


def test_a_field_for_numbers_below_zero_has_keys_with_a_minus(page: Any, site: Any) -> None:
    ends = {"warm": (0, 40), "any": (-40, 40)}
    questions = [{"id": name, "text": name, "type": "number", "low": low, "high": high, "levels": 5} for name, (low, high) in ends.items()]
    survey = site.publish(id=next(names), questions=questions)
    page.open(site.link(survey))
    page.press("agree")
    page.step("consent")
    fields = page.driver.find_elements(By.CSS_SELECTOR, "#questions input")
    assert [field.get_attribute("inputmode") for field in fields] == ["decimal", "text"]
    fields[0].send_keys("7")
    fields[1].send_keys("-12")
    page.press("next")
    assert page.step("questions") == "review"
    assert review_of(page) == ["7", "-12"]
