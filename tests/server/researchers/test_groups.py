"""Public groups from the client to the pages: each group's reports are its own, and together they are all there are."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.server.tallies import recount_of, tally_of

from deniable import SurveyClient, os_words
from deniable.device.randomize import randomize
from deniable.errors import RejectedError
from deniable.estimate import Results, analyse, compare
from deniable.survey import Survey
from deniable.wire.link import Link
from deniable.wire.part import Part
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable_server.store.sqlite.store import SqliteStore

GROUPS = ("North & West", "Süd", "<b>East</b>")
CLINICS = Survey.from_dict(
    {
        "deniable": 1,
        "batch": 1,
        "id": "clinics",
        "title": "Clinics",
        "about": "Who asks, and why.",
        "epsilon": "ln 9",
        "groups": list(GROUPS),
        "questions": [{"id": "smokes", "text": "Do you smoke?", "type": "yes_no"}, {"id": "drinks", "text": "Drink?", "type": "yes_no"}],
    }
)
AUTH = ("ada", "correct horse battery")


@pytest.fixture
def send(client: FlaskClient, store: SqliteStore, key: dict[str, str]) -> Callable[..., None]:
    """`send(n, group, mode=…)`: n people of a group, all of whom smoke and do not drink."""
    store.surveys.publish(CLINICS)

    def post(n: int, group: str, **fields: Any) -> None:
        bits = [randomize(item.channel, np.full(n, i), os_words) for i, item in enumerate(CLINICS.items)]
        body = Submission(os_words(4).tobytes(), CLINICS.digest, n, pack(CLINICS, bits), group, **fields).to_json()
        assert (
            client.post("/api/v1/surveys/clinics/submissions", data=body, content_type="application/json", headers=key).status_code == 200
        )

    return post


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    """Of a researcher who is logged in."""
    return logged_in(app)


def results(client: FlaskClient, query: str = "") -> Any:
    return client.get(f"/api/v1/surveys/clinics/results{query}", auth=AUTH).get_json()


def error(client: FlaskClient, query: str, survey: str = "clinics") -> str:
    reply = client.get(f"/api/v1/surveys/{survey}/results{query}", auth=AUTH)
    assert reply.status_code == 400
    return str(reply.get_json()["error"]["message"])


# From the client to the pages, over HTTP.


@pytest.fixture
def served(make_server: Callable[[], Any]) -> Iterator[Any]:
    server = make_server()
    server.publish(CLINICS)
    server.start()
    yield server
    server.stop()


def test_what_the_client_sends_for_three_groups_is_counted_in_each_and_nothing_twice(served: Any, tmp_path: Path) -> None:
    sizes = dict(zip(GROUPS, (41, 25, 3), strict=True))
    rows = [{"smokes": "yes", "drinks": "no", "clinic": group} for group, n in sizes.items() for _ in range(n - 1)]
    with SurveyClient(served.url, outbox=tmp_path / "outbox", auth=AUTH, key=served.key) as client:
        receipts = [client.submit("clinics", {"smokes": True, "drinks": False}, group=group) for group in GROUPS]
        client.submit_many("clinics", rows, group_column="clinic", batch=20)
        found = {group: client.results("clinics", group=group) for group in GROUPS}
        assert {group: (part.n, part.group) for group, part in found.items()} == {group: (n, group) for group, n in sizes.items()}
        assert client.results("clinics").n == 69
        with pytest.raises(RejectedError, match="group must be one of the groups"):
            client.results("clinics", group="Nord")
        shown = page_of(served)
        assert [int(n) for n in re.findall(r"</a></th>\s*<td>(\d+)</td>", shown)] == list(sizes.values())
        assert_groups_add_up(served.db)
        client.withdraw("clinics", receipts[1].code)
        assert (client.results("clinics", group="Süd").n, client.results("clinics").n) == (24, 68)
    assert_groups_add_up(served.db)
    printed = json.loads(served.run("results", "clinics", "--group", "Süd", "--json"))
    assert (printed["n"], printed["group"]) == (24, "Süd")


def page_of(server: Any) -> str:
    with httpx.Client(base_url=server.url) as browser:
        token = html.unescape(re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', browser.get("/login").text)[0])
        browser.post("/login", data={"user": AUTH[0], "password": AUTH[1], "csrf_token": token})
        return browser.get("/manage/surveys/clinics").text


def assert_groups_add_up(db: Path) -> None:
    store = SqliteStore(db)
    whole, parts = tally_of(store, "clinics"), [tally_of(store, "clinics", group) for group in GROUPS]
    again = [recount_of(store, "clinics", group) for group in GROUPS]
    store.close()
    assert sum(part.n for part in parts) == whole.n
    assert sum(parts, Tally.empty(2)).to_bytes() == whole.to_bytes()
    assert [part.to_bytes() for part in parts] == [part.to_bytes() for part in again]


# One group's estimates.


def test_the_estimates_of_a_group_are_those_of_its_tally(send: Callable[..., None], client: FlaskClient, store: SqliteStore) -> None:
    for group, n in zip(GROUPS, (50, 30, 20), strict=True):
        send(n, group)
    for group in GROUPS:
        own = analyse(CLINICS, tally_of(store, "clinics", group)).results
        found = results(client, f"?group={quote(group)}")
        assert (found["n"], found["rows"]) == (own.n, own.to_dict()["rows"])
        assert Results.from_dict(found).group == group
    assert results(client, "?group=")["group"] is None


def test_a_wrong_part_is_told_by_its_rule(send: Callable[..., None], client: FlaskClient) -> None:
    assert error(client, "?group=North") == "group must be one of the groups of survey clinics: North & West, Süd, <b>East</b>"
    assert error(client, "?group=North", "study") == "group must be left out: survey study has no groups"
    assert error(client, "?by_hand=yes") == "by_hand must be 1, or left out"
    assert error(client, "?by_hand=1", "study") == "by_hand must be left out: two coins cannot answer survey study"


# Made by hand.


def test_what_was_made_by_hand_is_in_no_other_figure_and_is_shown_apart(
    send: Callable[..., None], client: FlaskClient, ada: FlaskClient
) -> None:
    send(30, "Süd")
    assert "tossed two coins" not in ada.get("/manage/surveys/clinics").text
    for _ in range(2):
        send(1, "Süd", mode="by_hand")
    send(1, GROUPS[0], mode="by_hand")
    counts = {query: (results(client, query)["n"], results(client, query)["n_by_hand"]) for query in ("", "?group=Süd", "?by_hand=1")}
    assert counts == {"": (30, 3), "?group=Süd": (30, 2), "?by_hand=1": (3, 0)}
    assert results(client, "?by_hand=1&group=Süd")["n"] == 2
    page = ada.get("/manage/surveys/clinics").text
    assert "3 more responses came from people who tossed two coins themselves; they are not in these figures" in page
    assert ">30 responses<" in page
    assert "3 responses made by hand" in ada.get("/manage/surveys/clinics?by_hand=1").text
    assert re.search(r"counted\s+apart and are in no other figure", ada.get("/manage/surveys/clinics?by_hand=1").text)
    assert "3 more by hand" in ada.get("/manage").text


def test_the_control_a_store_that_mixes_them_is_noticed(
    send: Callable[..., None], client: FlaskClient, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(30, "Süd")
    send(1, "Süd", mode="by_hand")
    everything = [Part(group, mode) for group in store.surveys.published("clinics").survey.groups for mode in ("device", "by_hand")]
    tally = store.submissions.tally
    monkeypatch.setattr(store.submissions, "tally", lambda survey_id, parts: tally(survey_id, everything))
    assert results(client)["n"] != 30


# The researchers' pages.


def test_each_group_has_its_link_which_the_client_reads(send: Callable[..., None], ada: FlaskClient) -> None:
    page = ada.get("/manage/surveys/clinics").text
    links = [Link.parse(html.unescape(link)) for link in re.findall(r'value="([^"]*/s/clinics#[^"]*)"', page)]
    assert [link.group for link in links] == [None, *GROUPS]
    assert {link.digest for link in links} == {CLINICS.digest}
    assert len(set(re.findall(r'<input id="(link-[^"]*)"', page))) == 4


def test_a_group_is_chosen_and_kept_in_the_downloads(send: Callable[..., None], ada: FlaskClient) -> None:
    send(30, "Süd")
    send(25, GROUPS[2])
    page = ada.get("/manage/surveys/clinics?group=<b>East</b>&target=respondents").text
    assert "<b>East</b>" not in page
    assert re.search(r"25 responses of <bdi>&lt;b&gt;East&lt;/b&gt;</bdi>", page)
    assert '<option value="&lt;b&gt;East&lt;/b&gt;" dir="auto" selected>' in page
    reply = ada.get(html.unescape(re.findall(r'href="([^"]*results\.json[^"]*)"', page)[0]))
    assert (reply.get_json()["group"], reply.get_json()["rows"][0]["target"]) == ("<b>East</b>", "respondents")
    assert 'filename="clinics-results-group-3.json"' in reply.headers["Content-Disposition"]


def test_a_group_nobody_is_in_is_chosen_like_any_other(send: Callable[..., None], ada: FlaskClient) -> None:
    send(30, "Süd")
    page = ada.get(f"/manage/surveys/clinics?group={quote(GROUPS[0])}").text
    assert "No responses of this group are counted yet." in page
    assert 'name="group"' in page
    assert "<svg" not in page


@pytest.mark.parametrize(("n", "told"), [(1, "Only 1 person answered"), (19, "Only 19 people answered"), (20, None)])
def test_estimates_of_few_people_are_shown_with_a_warning(send: Callable[..., None], ada: FlaskClient, n: int, told: str | None) -> None:
    send(n, "Süd")
    page = ada.get("/manage/surveys/clinics?group=Süd").text
    assert '<table class="estimates">' in page
    assert ("Only " in page) == (told is not None)
    assert (told or "20 responses") in page


def test_a_survey_without_groups_shows_none(ada: FlaskClient) -> None:
    page = ada.get("/manage/surveys/study").text
    assert "Groups" not in page
    assert 'name="group"' not in page
    assert ada.get("/manage/surveys/study/groups").status_code == 404


def test_a_stranger_does_not_see_the_comparison(client: FlaskClient, store: SqliteStore) -> None:
    store.surveys.publish(CLINICS)
    reply = client.get("/manage/surveys/clinics/groups")
    assert (reply.status_code, reply.headers["Location"]) == (302, "/login?next=/manage/surveys/clinics/groups")


def test_the_comparison_shows_the_differences_and_the_test_of_two_groups(
    send: Callable[..., None], ada: FlaskClient, store: SqliteStore
) -> None:
    for group, n in zip(GROUPS, (400, 300, 200), strict=True):
        send(n, group)
    page = html.unescape(ada.get("/manage/surveys/clinics/groups?first=Süd&second=<b>East</b>&confidence=0.9").text)
    found = compare(CLINICS, tally_of(store, "clinics", "Süd"), tally_of(store, "clinics", GROUPS[2]), "drinks", confidence=0.9)
    card = page.split("<section")[2]
    shown = re.findall(r"<strong>([+−][\d.]+)</strong><span>([+−][\d.]+) to ([+−][\d.]+)</span>", card)
    expected = [tuple(f"{100 * x:+.1f}".replace("-", "−") for x in (d.estimate, d.low, d.high)) for d in found.differences]
    assert shown == expected
    assert f"chi-squared {found.test.statistic:.2f}, 1 degree of freedom" in card
    assert "below each figure is its 90 % interval" in card
    for group in GROUPS:
        own = analyse(CLINICS, tally_of(store, "clinics", group), confidence=0.9).results.rows[2]
        assert f"{group}: {100 * (own.estimate or 0):.1f} %, 90 % interval".replace("-", "−") in card


def test_two_groups_are_compared_without_asking_and_an_empty_one_is_told(send: Callable[..., None], ada: FlaskClient) -> None:
    send(40, "Süd")
    page = ada.get("/manage/surveys/clinics/groups").text
    assert "<bdi>North &amp; West</bdi> has no responses to this question yet" in page
    assert "There is nothing to compare" in page
    send(40, GROUPS[0])
    assert "<bdi>Süd</bdi> less <bdi>North &amp; West</bdi>" in ada.get("/manage/surveys/clinics/groups").text


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("first=Nord", "First must be one of the groups"),
        ("second=", "Second must be one of the groups"),
        ("first=Süd&second=Süd", "Second must be another group than first"),
        ("confidence=2", "Confidence must be"),
    ],
)
def test_a_wrong_choice_of_groups_is_told(send: Callable[..., None], ada: FlaskClient, query: str, told: str) -> None:
    reply = ada.get(f"/manage/surveys/clinics/groups?{query}")
    assert reply.status_code == 400
    assert told in reply.text
