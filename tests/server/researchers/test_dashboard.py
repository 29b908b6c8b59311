"""The list of surveys and drafts: what is found, in which order, and what it costs."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.surveys import submission

from deniable.survey import Survey
from deniable_server.researchers import dashboard
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role
from deniable_server.store.sql import clock


@pytest.fixture(autouse=True)
def rough(monkeypatch: pytest.MonkeyPatch) -> None:
    """No figure is computed in full: what is found is the same."""
    monkeypatch.setattr(dashboard, "COMPUTED", 0)


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    return logged_in(app)


@pytest.fixture
def publish(store: Store, app: Flask, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Publishes a survey with this title, on a day, with so many records that are counted at once."""

    def make(title: str, n: int = 0, day: str = "2026-12-01", counted: str = "") -> None:
        source = {
            "deniable": 1,
            "id": title.lower().replace(" ", "-"),
            "title": title,
            "about": "A.",
            "epsilon": 2,
            "batch": 1,
            "accept_small_batches": True,
        }
        survey = Survey.from_dict({**source, "questions": [{"id": "q", "text": "?", "type": "yes_no"}]})
        with monkeypatch.context() as patched:
            patched.setattr(clock, "today", lambda: day)
            store.surveys.publish(survey, "ada")
            patched.setattr(clock, "today", lambda: counted or day)
            if n:
                store.submissions.add(survey.id, submission(survey, n))

    return make


def listed(client: FlaskClient, asked: str = "") -> list[str]:
    """The titles in the table, in order, without the study of all tests."""
    page = client.get(f"/manage{asked}")
    assert page.status_code == 200
    found = re.findall(r'role="rowheader"[^>]*><a href="[^"]+"><bdi>([^<]+)</bdi>', page.text)
    return [html.unescape(title) for title in found if title != "A study"]


def said(client: FlaskClient, asked: str = "") -> str:
    """What stands above the table."""
    found = re.findall(r'<p class="matches">(.+?)</p>', client.get(f"/manage{asked}").text, re.DOTALL)
    return html.unescape(" ".join(re.sub(r"<[^>]+>", "", found[0]).split()))


def test_a_survey_is_found_by_words_of_its_title_or_id_and_the_form_keeps_them(ada: FlaskClient, publish: Callable[..., None]) -> None:
    publish("Ward Nord")
    publish("Ward south")
    assert listed(ada, "?search=WARD") == ["Ward Nord", "Ward south"]
    assert listed(ada, "?search=%20nord++ward") == ["Ward Nord"], "all words, in any order and case"
    assert listed(ada, "?search=ward-south") == ["Ward south"], "its id"
    assert said(ada) == "3 of 3 surveys, newest activity first."
    assert said(ada, "?search=nord") == "1 of 3 surveys with nord in the title or id, newest activity first. Show all"
    page = ada.get("/manage?search=%22%3Cb%3E&state=open&sort=title").text
    assert 'name="search" value="&#34;&lt;b&gt;"' in page
    assert '<option value="open" selected>' in page
    assert '<option value="title" selected>' in page
    assert "0 of 3 surveys" in page
    assert 'href="/manage?sort=title">Show all</a>' in page


def test_the_list_is_narrowed_to_drafts_or_to_what_is_open_closed_or_archived(
    ada: FlaskClient, store: Store, publish: Callable[..., None]
) -> None:
    for title in ("Open", "Paused", "Closed", "Archived"):
        publish(title)
    store.surveys.pause("paused", True)
    for name in ("closed", "archived"):
        store.surveys.set_open(name, False)
    store.life.keep("archived", Settings(archived=True))
    store.drafts.begin("ada", "title: Draft")
    store.drafts.begin("eve", "title: Not hers")
    assert sorted(listed(ada)) == ["Closed", "Draft", "Open", "Paused"]
    found = {state: listed(ada, f"?state={state}") for state in dashboard.STATES}
    assert found == {"draft": ["Draft"], "open": ["Open", "Paused"], "closed": ["Closed"], "archived": ["Archived"]}
    assert said(ada) == "5 of 6 surveys, newest activity first. 1 archived"
    assert said(ada, "?state=draft") == "1 of 6 surveys, drafts only, newest activity first. Show all"
    assert said(ada, "?search=archived").startswith("0 of 6 surveys")
    assert 'href="/manage?search=archived&amp;state=archived">1 archived</a>' in ada.get("/manage?search=archived").text


def test_what_was_active_last_stands_first_by_the_day_that_watch_tells_and_no_finer(ada: FlaskClient, publish: Callable[..., None]) -> None:
    publish("cedar", 3, "2026-11-01", counted="2026-11-05")
    publish("beech", 3, "2026-11-01", counted="2026-11-05")
    publish("ash", day="2026-11-03")
    publish("elm", 2, "2026-11-02", counted="2026-11-09")
    assert listed(ada) == ["beech", "cedar", "ash", "elm"], "of one day by title; fewer than three records are of no day"
    page = ada.get("/manage").text
    assert page.count("counted 2026-11-05") == 2
    assert "2026-11-09" not in page
    assert "published 2026-11-03" in page
    assert "published 2026-11-02" in page


def test_the_list_is_sorted_by_attention_records_or_title_and_says_which(
    ada: FlaskClient, store: Store, publish: Callable[..., None]
) -> None:
    for name, n in (("beech", 3), ("Ash", 1), ("cedar", 2)):
        publish(name, n)
    store.surveys.pause("cedar", True)
    assert listed(ada, "?sort=attention")[0] == "cedar"
    assert listed(ada, "?sort=answers") == ["beech", "cedar", "Ash"]
    assert listed(ada, "?sort=title") == ["Ash", "beech", "cedar"]
    assert said(ada, "?sort=answers") == "4 of 4 surveys, most records first."


def test_a_choice_that_is_none_is_refused_with_the_rule(ada: FlaskClient) -> None:
    for asked, told in (
        ("sort=size", "Sort must be activity, attention, answers, title"),
        ("state=secret", "State must be draft, open, closed, archived"),
        ("page=0", "Page must be a whole number from 1"),
        ("page=2", "Page must be a whole number from 1 to 1"),
        ("page=%D9%A1", "Page must be a whole number from 1"),
        ("page=99999999999999999999", "Page must be a whole number from 1"),
    ):
        reply = ada.get(f"/manage?{asked}")
        assert (reply.status_code, told in reply.text) == (400, True), asked


def test_a_long_list_has_pages_which_keep_the_choice_and_only_what_is_shown_is_computed(
    ada: FlaskClient, publish: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[str] = []
    real = dashboard.progress_of
    monkeypatch.setattr(dashboard, "PAGE", 2)
    monkeypatch.setattr(dashboard, "progress_of", lambda *given, **how: (computed.append(given[1].survey.id), real(*given, **how))[1])
    for title in ("w1", "w2", "w3", "w4", "w5"):
        publish(title)
    computed.clear()
    pages = [listed(ada, f"?search=w&sort=title&page={page}") for page in (1, 2, 3)]
    assert pages == [["w1", "w2"], ["w3", "w4"], ["w5"]]
    assert computed == ["w1", "w2", "w3", "w4", "w5"]
    page = ada.get("/manage?search=w&sort=title&page=2").text
    assert "Page 2 of 3" in page
    assert '<a href="/manage?search=w&amp;sort=title" rel="prev">' in page
    assert '<a href="/manage?search=w&amp;sort=title&amp;page=3" rel="next">' in page


def test_a_view_computes_so_many_surveys_and_the_next_view_computes_others(
    ada: FlaskClient, publish: Callable[..., None], monkeypatch: pytest.MonkeyPatch, store: Store
) -> None:
    rough: list[bool] = []
    real = dashboard.progress_of
    monkeypatch.setattr(dashboard, "COMPUTED", 2)
    monkeypatch.setattr(dashboard, "progress_of", lambda *given, **how: (rough.append(how["rough"]), real(*given, **how))[1])
    for title in ("w1", "w2", "w3", "w4", "w5"):
        publish(title, n=3)
    shown = []
    for _ in range(4):
        rough.clear()
        page = ada.get("/manage?search=w&sort=title").text
        shown.append((rough.count(False), "Approximate figures" in page))
    assert shown == [(2, True), (4, True), (5, False), (5, False)]
    store.submissions.add("w2", submission(store.surveys.published("w2").survey, 3))  # counted at once: another state
    monkeypatch.setattr(dashboard, "COMPUTED", 0)
    rough.clear()
    ada.get("/manage?search=w&sort=title")
    assert rough == [False, True, False, False, False]


def test_surveys_in_which_one_has_no_role_are_neither_found_nor_counted(
    app: Flask, store: Store, logged_in: Callable[..., FlaskClient], publish: Callable[..., None]
) -> None:
    eve = logged_in(app, "eve")
    for title in ("Hers", "Also hers", "Another"):
        publish(title)
    assert "Write a survey" in eve.get("/manage?search=hers").text
    store.roles.grant("hers", "eve", Role.VIEWER)
    store.roles.grant("also-hers", "eve", Role.VIEWER)
    assert listed(eve, "?search=a") == ["Also hers"]
    assert said(eve, "?search=another").startswith("0 of 2 surveys")


@pytest.mark.parametrize(("role", "expected"), [(Role.VIEWER, ["Watch", "Settings"]), (Role.EDITOR, ["Invite", "Watch", "Settings"])])
def test_the_list_leads_nobody_to_a_page_that_is_not_for_them(
    app: Flask, store: Store, logged_in: Callable[..., FlaskClient], publish: Callable[..., None], role: Role, expected: list[str]
) -> None:
    eve = logged_in(app, "eve")
    publish("Hers")
    store.roles.grant("hers", "eve", role)
    links = re.findall(r'<a href="(/manage/surveys/hers/[^"]*)" class="unprinted">([^<]+)</a>', eve.get("/manage").text)
    assert [name for _, name in links] == expected
    assert {eve.get(address).status_code for address, _ in links} == {200}
