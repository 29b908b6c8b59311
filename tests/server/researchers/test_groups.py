"""Public groups from the client to the pages: each group's reports are its own, and together they are all there are."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from statistics import NormalDist
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import httpx
import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.pages.tables import tables
from tests.kit.patience import PATIENCE
from tests.kit.servers.release import release_people
from tests.kit.servers.tallies import recount_of, tally_of

from deniable import SurveyClient, os_words
from deniable.device.randomize import randomize
from deniable.errors import RejectedError
from deniable.estimate import Results, analyse, compare, difference, estimate
from deniable.estimate.tables import shares as share_tables
from deniable.survey import Survey
from deniable.wire.link import Link
from deniable.wire.part import Mode, Part
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable_server.pages import figures
from deniable_server.pages.figures import Figure, Unit
from deniable_server.researchers import groups
from deniable_server.results.results import results_of
from deniable_server.store import open_store
from deniable_server.store.protocol import Store
from deniable_server.store.sql.submissions import SqlSubmissions

GROUPS = ("North & West", "Süd", "<b>East</b>")
CLINICS = Survey.from_dict(
    {
        "deniable": 1,
        "batch": 1,
        "accept_small_batches": True,
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
def send(client: FlaskClient, store: Store, key: dict[str, str]) -> Callable[..., None]:
    """`send(n, group, mode=…)`: n people of a group, all of whom smoke and do not drink. Their records are released at once."""
    store.surveys.publish(CLINICS)

    def post(n: int, group: str, **fields: Any) -> None:
        bits = [randomize(item.channel, np.full(n, i), os_words) for i, item in enumerate(CLINICS.items)]
        submission = Submission(os_words(4).tobytes(), CLINICS.digest, n, pack(CLINICS, bits), group, **fields)
        if submission.mode == "device":  # as if people had sent them one by one: what comes with a key is an organisation's
            store.submissions.add(CLINICS.id, submission)
        else:
            url, body = "/api/v1/surveys/clinics/submissions", submission.to_json()
            assert client.post(url, data=body, content_type="application/json", headers=key).status_code == 200
        release_people(store)

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
    return str(reply.get_json()["detail"])


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
    client_of = partial(SurveyClient, served.url, min_batch=1, min_group=1, auth=AUTH, key=served.key)
    with client_of(outbox=tmp_path / "outbox") as client, served.store() as store:
        receipts = [client.submit("clinics", {"smokes": True, "drinks": False}, group=group) for group in GROUPS]
        client.submit_many("clinics", rows, group_column="clinic", batch=20)
        release_people(store)
        found = {group: client.results("clinics", group=group) for group in GROUPS}
        assert {group: (part.n, part.group) for group, part in found.items()} == {group: (n, group) for group, n in sizes.items()}
        assert client.results("clinics").n == 69
        with pytest.raises(RejectedError, match="group must be one of the groups"):
            client.results("clinics", group="Nord")
        shown = page_of(served)
        assert [int(n) for n in re.findall(r"</a></th>\s*<td>(\d+)</td>", shown)] == list(sizes.values())
        assert_groups_add_up(served.db)
        client.withdraw("clinics", receipts[1].code)
        release_people(store)
        assert (client.results("clinics", group="Süd").n, client.results("clinics").n) == (24, 68)
    assert_groups_add_up(served.db)
    printed = json.loads(served.run("results", "clinics", "--group", "Süd", "--json"))
    assert (printed["n"], printed["group"]) == (24, "Süd")


def page_of(server: Any) -> str:
    with httpx.Client(base_url=server.url, timeout=PATIENCE) as browser:
        token = html.unescape(re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', browser.get("/login").text)[0])
        browser.post("/login", data={"user": AUTH[0], "password": AUTH[1], "csrf_token": token})
        return browser.get("/manage/surveys/clinics").text


def assert_groups_add_up(db: Path) -> None:
    store = open_store(db)
    whole, parts = tally_of(store, "clinics"), [tally_of(store, "clinics", group) for group in GROUPS]
    again = [recount_of(store, "clinics", group) for group in GROUPS]
    store.close()
    assert sum(part.n for part in parts) == whole.n
    assert sum(parts, Tally.empty(2)).to_bytes() == whole.to_bytes()
    assert [part.to_bytes() for part in parts] == [part.to_bytes() for part in again]


# One group's estimates.


def test_the_estimates_of_a_group_are_those_of_its_tally(send: Callable[..., None], client: FlaskClient, store: Store) -> None:
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
    assert "3 more records came from people who answered with real coins. They are not in these figures" in page
    assert "<dt>records</dt><dd>30</dd>" in page
    assert "<dt>records by coin toss</dt><dd>3</dd>" in ada.get("/manage/surveys/clinics?by_hand=1").text
    assert re.search(r"counted\s+separately and are in no other figure", ada.get("/manage/surveys/clinics?by_hand=1").text)
    assert "; 3 by coin toss" in ada.get("/manage").text


def test_what_an_organisation_randomized_is_estimated_with_the_rest_and_said_apart(
    send: Callable[..., None], client: FlaskClient, ada: FlaskClient
) -> None:
    send(30, "Süd")
    send(12, "Süd", mode="organisation")
    send(10, "Süd", mode="by_hand")
    found = results(client, "?group=Süd")
    assert (found["n"], found["n_organisation"], found["n_by_hand"]) == (42, 12, 10)
    assert (results(client, "?by_hand=1")["n"], results(client, "?by_hand=1")["n_organisation"]) == (10, 0)
    assert "12 of these records were randomized by an organisation" in ada.get("/manage/surveys/clinics").text
    assert "of these records came from" not in ada.get("/manage/surveys/clinics?by_hand=1").text
    assert "12 of them randomized by an organisation" in Results.from_dict(found).to_table()


def test_organisations_fill_a_batch_of_their_own_and_people_wait_for_the_release(store: Store) -> None:
    waiting = replace(CLINICS, id="waiting", batch=10)
    store.surveys.publish(waiting)

    def send(mode: Mode) -> None:
        bits = [randomize(item.channel, np.zeros(1, dtype=np.int64), os_words) for item in waiting.items]
        store.submissions.add("waiting", Submission(os_words(4).tobytes(), waiting.digest, 1, pack(waiting, bits), "Süd", mode))

    for _ in range(19):
        send("device")
        send("organisation")

    def shown() -> tuple[int, int, int]:
        """Returns the numbers of counted records, of those of organisations, and of waiting records in steps of ten."""
        of_group = results_of(store, "waiting", {"group": "Süd"})
        return of_group.n, of_group.n_organisation, of_group.waiting

    assert shown() == (0, 0, 10)
    send("organisation")
    assert shown() == (10, 10, 10)
    assert release_people(store) == [], "ten of nineteen stay behind, and nine are no batch"
    send("device")
    assert shown() == (10, 10, 20)
    assert release_people(store) == ["waiting"]
    assert shown() == (20, 10, 10)


def test_the_control_a_store_that_mixes_them_is_noticed(
    send: Callable[..., None], client: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(30, "Süd")
    send(1, "Süd", mode="by_hand")
    everything = [Part(group, mode) for group in store.surveys.published("clinics").survey.groups for mode in ("device", "by_hand")]
    tally = store.submissions.tally
    monkeypatch.setattr(store.submissions, "tally", lambda survey_id, parts: tally(survey_id, everything))
    assert results(client)["n"] != 30


# The researchers' pages.


def test_each_group_has_its_link_which_the_client_reads(send: Callable[..., None], ada: FlaskClient) -> None:
    invite = ada.get("/manage/surveys/clinics/invite").text
    send(30, "Süd")
    for page, labels in ((invite, GROUPS), (ada.get("/manage/surveys/clinics").text, (None, *GROUPS))):
        links = [Link.parse(html.unescape(link)) for link in re.findall(r'value="([^"]*/s/clinics#[^"]*)"', page)]
        assert [link.group for link in links] == list(labels)
        assert {link.digest for link in links} == {CLINICS.digest}
        assert len(set(re.findall(r'<input id="(link-[^"]*)"', page))) == len(labels)


def test_a_group_is_chosen_and_kept_in_the_downloads(send: Callable[..., None], ada: FlaskClient) -> None:
    send(30, "Süd")
    send(25, GROUPS[2])
    page = ada.get("/manage/surveys/clinics?group=<b>East</b>&target=respondents").text
    assert "<b>East</b>" not in page
    assert re.search(r'class="facts"><bdi>&lt;b&gt;East&lt;/b&gt;</bdi>', page)
    assert "<dt>records</dt><dd>25</dd>" in page
    assert '<option value="&lt;b&gt;East&lt;/b&gt;" dir="auto" selected>' in page
    reply = ada.get(html.unescape(re.findall(r'href="([^"]*results\.json[^"]*)"', page)[0]))
    assert (reply.get_json()["group"], reply.get_json()["rows"][0]["target"]) == ("<b>East</b>", "respondents")
    assert 'filename="clinics-results-group-3.json"' in reply.headers["Content-Disposition"]


def test_groups_as_clusters_are_chosen_on_the_page_and_kept_in_its_downloads(send: Callable[..., None], ada: FlaskClient) -> None:
    for n, group in zip((30, 60, 90), GROUPS, strict=True):
        send(n, group)
    alone, drawn = (ada.get(f"/manage/surveys/clinics{query}").text for query in ("", "?clusters=1"))
    assert (
        "Sample: people count as sampled one by one, whatever their group; with the groups as clusters, intervals would be wider." in alone
    )
    assert "Sample: 3 clusters (group), t with 1.57 degrees of freedom." in drawn
    assert "groups as clusters</summary>" in drawn
    reply = ada.get(html.unescape(re.findall(r'href="([^"]*results\.json[^"]*)"', drawn)[0])).get_json()
    assert reply["sample"] == "3 clusters (group), t with 1.57 degrees of freedom"
    for query in ("clusters=1&group=Süd", "clusters=1&target=respondents"):  # ticked before these were chosen
        page = ada.get(f"/manage/surveys/clinics?{query}")
        assert (page.status_code, "checked" in page.text) == (200, False)


@pytest.mark.parametrize("query", ["?clusters=2", "?clusters=1&group=Süd", "?clusters=1&target=respondents"])
def test_clusters_that_cannot_be_are_refused_to_programs(send: Callable[..., None], client: FlaskClient, query: str) -> None:
    send(30, "Süd")
    assert re.match("clusters must be|target must be|sample: ", error(client, query))


def test_a_group_nobody_is_in_is_chosen_like_any_other(send: Callable[..., None], ada: FlaskClient) -> None:
    send(30, "Süd")
    page = ada.get(f"/manage/surveys/clinics?group={quote(GROUPS[0])}").text
    assert "No records of this group are counted yet." in page
    assert 'name="group"' in page
    assert "<svg" not in page


def test_estimates_of_few_people_are_shown_with_the_number_that_is_needed(send: Callable[..., None], ada: FlaskClient) -> None:
    needed = figures.needed(CLINICS, 0.95)
    for n, more in ((1, 1), (19, 18), (needed - 1, needed - 20), (needed, 1)):
        send(more, "Süd")
        page = ada.get("/manage/surveys/clinics?group=Süd").text
        assert "Estimates: Do you smoke?" in tables(page)
        told = f"{figures.several(n, 'record')} so far. At this level of privacy, you need about {needed} for ± 10 points in every"
        assert (told in page) == ("so far" in page) == (n < needed)
    assert "answers are needed in a group" not in ada.get("/manage/surveys/clinics/groups").text, (
        "one has enough, and nobody is in the others"
    )
    send(1, GROUPS[0])
    page = " ".join(re.sub("</?bdi>", "", ada.get("/manage/surveys/clinics/groups").text).split())
    assert f"a group needs about {needed} records for ± 10 points in every question. {html.escape(GROUPS[0])} has 1." in page


def test_a_survey_without_groups_shows_none(ada: FlaskClient) -> None:
    page = ada.get("/manage/surveys/study").text
    assert "Groups" not in page
    assert 'name="group"' not in page
    assert ada.get("/manage/surveys/study/groups").status_code == 404


def test_a_stranger_does_not_see_the_comparison(client: FlaskClient, store: Store) -> None:
    store.surveys.publish(CLINICS)
    reply = client.get("/manage/surveys/clinics/groups")
    assert (reply.status_code, reply.headers["Location"]) == (302, "/login?next=/manage/surveys/clinics/groups")


def test_the_comparison_shows_the_differences_and_the_test_of_two_groups(send: Callable[..., None], ada: FlaskClient, store: Store) -> None:
    for group, n in zip(GROUPS, (400, 300, 200), strict=True):
        send(n, group)
    source = ada.get("/manage/surveys/clinics/groups?first=Süd&second=<b>East</b>&confidence=0.9").text
    page = html.unescape(source)
    found = compare(CLINICS, tally_of(store, "clinics", "Süd"), tally_of(store, "clinics", GROUPS[2]), "drinks", confidence=0.9)
    card = page.split('<section class="card question"')[2].split('<details class="tested">')[1]
    shown = re.findall(r"<strong>([+−][\d.]+)</strong><span>([+−][\d.]+) to ([+−][\d.]+)</span>", card)
    expected = [tuple(f"{100 * x:+.1f}".replace("-", "−") for x in (d.estimate, d.low, d.high)) for d in found.differences]
    assert shown == expected
    assert f"chi-squared {found.test.statistic:.2f}, 1 degree of freedom" in card
    assert "Its 90% interval is not corrected" in page
    shown_groups = tables(source)["Drink?, by group"]
    for group in GROUPS:
        own, said = analyse(CLINICS, tally_of(store, "clinics", group), confidence=0.9).results.rows[2], shown_groups[f"yes, {group}"]
        assert said["Estimate"].split(",")[0] == figures.percent(own.estimate)
        assert said["90% interval"] == figures.text(figures.of_share(own)).interval
        assert said["n"] == str(own.n)


def test_two_groups_are_compared_without_asking_and_an_empty_one_is_told(send: Callable[..., None], ada: FlaskClient) -> None:
    send(40, "Süd")
    page = ada.get("/manage/surveys/clinics/groups").text
    assert "<bdi>North &amp; West</bdi> has no records with this question yet" in page
    assert "There is nothing to compare" in page
    send(40, GROUPS[0])
    assert "<bdi>Süd</bdi> minus <bdi>North &amp; West</bdi>" in ada.get("/manage/surveys/clinics/groups").text


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


# Means, and questions with several options, among the groups.

MIXED = Survey.from_text("""
deniable: 1
batch: 1
accept_small_batches: true
id: mixed
title: Mixed
about: Who asks, and why.
epsilon: 8
groups: [North, South, Nobody]
questions:
  - {id: hours, text: Hours?, type: number, low: 0, high: 14, levels: 2, required: false}
  - {id: mood, text: Mood?, type: scale, options: [bad, so so, good]}
  - {id: used, text: Used?, type: multi_choice, options: [tea, coffee], required: false}
""")
SHARES = {
    "North": {"hours": (0.3, 0.6, 0.1), "mood": (0.5, 0.3, 0.2), "used[tea]": (0.2, 0.7, 0.1), "used[coffee]": (0.5, 0.4, 0.1)},
    "South": {"hours": (0.7, 0.2, 0.1), "mood": (0.1, 0.3, 0.6), "used[tea]": (0.8, 0.1, 0.1), "used[coffee]": (0.5, 0.4, 0.1)},
}


@pytest.fixture
def mixed(store: Store, ada: FlaskClient) -> str:
    """The page of the groups of a survey with a number, a scale and a multiple choice; 1,000 people in each of two groups of three."""
    store.surveys.publish(MIXED)
    for group, truth in SHARES.items():
        counts = {name: np.round(1000 * np.array(shares)).astype(int) for name, shares in truth.items()}
        bits = [randomize(item.channel, np.repeat(np.arange(item.k), counts[item.id]), os_words) for item in MIXED.items]
        store.submissions.add("mixed", Submission(os_words(4).tobytes(), MIXED.digest, 1000, pack(MIXED, bits), group))
    return html.unescape(ada.get("/manage/surveys/mixed/groups").text)


def cell(figure: Figure | None) -> tuple[str, str]:
    """A figure and its interval as the page writes them."""
    text = figures.text(figure)
    return text.value, text.interval


def side_by_side(page: str, label: str) -> dict[str, list[tuple[str, str]]]:
    """By option, the figure and the interval of each group and of their difference."""
    part = page.split(f'aria-label="Two groups compared: {label}"')[1].split("</table>")[0]
    options = re.findall(r'<th scope="row"[^>]*><bdi>(.*?)</bdi></th>', part)
    cells = [re.findall(r"<strong>(.*?)</strong><span>(.*?)</span>", row) for row in part.split('scope="row"')[1:]]
    return dict(zip(options, cells, strict=True))


def test_the_means_of_groups_stand_first_with_their_difference_and_its_test(mixed: str, store: Store) -> None:
    for name, text, span in (("hours", "Hours?", 14), ("mood", "Mood?", 2)):
        north, south = (
            next(row for row in analyse(MIXED, tally_of(store, "mixed", group)).results.means if row.question == name) for group in SHARES
        )
        assert north.mean is not None
        assert south.mean is not None
        error = math.hypot(north.std_error or 0, south.std_error or 0)
        apart, half = south.mean - north.mean, NormalDist().inv_cdf(0.975) * error
        assert abs(apart) + 2 * half < span, "away from the ends the interval is the plain normal one"
        first, second, difference = side_by_side(mixed, f"mean of {text}")["Mean"]
        assert [first, second] == [cell(figures.of_mean(row)) for row in (north, south)]
        places = figures.decimals(apart - half, apart + half)
        assert difference == cell(Figure(apart, apart - half, apart + half, Unit.SCORE_DIFFERENCE))
        card = mixed.split(f'id="q-{name}"')[1].split("</section>")[0]
        assert "If the two means were equal" in card
        ends = (south.low, north.high) if apart > 0 else (south.high, north.low)
        reach = math.hypot(*(mean - (end or 0.0) for mean, end in zip((south.mean, north.mean), ends, strict=True)))
        assert reach == pytest.approx(half, rel=0.01)
        assert f"chi-squared {(NormalDist().inv_cdf(0.975) * apart / reach) ** 2:.2f}, 1 degree of freedom" in card
        assert card.index("mean of") < card.index(f'compared: {text}"'), "means before shares"
        assert f"ε = {figures.epsilon(next(one for one in MIXED.questions if one.id == name).epsilon)}<" in card
        by_group = tables(card)[f"Mean by group: {text}"]
        assert by_group["North"]["Estimate"] == cell(figures.of_mean(north))[0]
        assert by_group["North"]["Difference from North"] == "reference"
        assert by_group["South"]["Difference from North"].startswith(figures.rounded(apart, places, sign=True)[:3])
        assert by_group["Nobody"] == {"Estimate": "–", "95% interval": "–", "n": "0", "Difference from North": "–"}


def test_a_multiple_choice_is_compared_on_one_card_by_the_shares_that_chose_each_option(mixed: str, store: Store) -> None:
    found = side_by_side(mixed, "Used?")
    assert list(found) == ["tea", "coffee"]
    for option, cells in found.items():
        tallies = [tally_of(store, "mixed", group) for group in SHARES]
        expected = compare(MIXED, *tallies, f"used[{option}]").differences[0]
        assert cells[2] == cell(figures.of_difference(expected, Unit.POINTS))
    assert mixed.count('id="q-used') == 1
    assert list(tables(mixed)["Used?, by group"]) == [f"{option}, {group}" for option in found for group in MIXED.groups]


def test_the_levels_of_a_number_are_folded_away_below_its_mean_and_said_to_be_rounded(mixed: str) -> None:
    card = mixed.split('id="q-hours"')[1].split("</section>")[0]
    assert card.index("Mean by group") < card.index('<details class="levels">') < card.index("rounded at random to one of 2 levels")
    assert '<details class="levels">' not in mixed.split('id="q-mood"')[1].split("</section>")[0]


def test_every_level_has_its_differences_whatever_its_name(store: Store, ada: FlaskClient) -> None:
    number = {"id": "hours", "text": "Hours?", "type": "number", "low": -7, "high": 7, "levels": 4}
    head = {
        "deniable": 1,
        "batch": 1,
        "accept_small_batches": True,
        "id": "signs",
        "title": "Signs",
        "about": "A.",
        "epsilon": 8,
        "groups": ["North", "South"],
    }
    survey = Survey.from_dict({**head, "questions": [number]})
    store.surveys.publish(survey)
    for group in survey.groups:
        bits = [randomize(item.channel, np.arange(400) % item.k, os_words) for item in survey.items]
        store.submissions.add("signs", Submission(os_words(4).tobytes(), survey.digest, 400, pack(survey, bits), group))
    levels = tables(html.unescape(ada.get("/manage/surveys/signs/groups").text))["Hours?, by group"]
    differences = {name: cells["Difference from North"] for name, cells in levels.items() if name.endswith("South")}
    assert list(differences) == [f"{level}, South" for level in ("−7", "−2.3", "2.3", "7")]
    assert "–" not in differences.values()


def corrected(store: Store, survey: Survey, item: str, reference: str, comparisons: int) -> dict[str, str]:
    """How far each group's first option of an item is from that of the reference, as the page writes it, at 95% for all of them together.

    By hand: each share's limits at the smaller error probability, and the difference of the two.
    """
    strict = 1 - 0.05 / comparisons
    rows = {
        group: analyse(survey, tally_of(store, survey.id, group), confidence=strict).results[item].rows[0]
        for group in survey.groups
        if tally_of(store, survey.id, group).n
    }
    found = {group: difference(row, rows[reference]) for group, row in rows.items() if group != reference}
    return {g: " ".join(cell(figures.of_difference(d, Unit.POINTS))) for g, d in found.items()}


def test_all_groups_are_set_against_one_with_intervals_corrected_for_the_number_of_differences(many: Store, ada: FlaskClient) -> None:
    page = html.unescape(ada.get("/manage/surveys/many/groups?first=Class 2&second=Class 1").text)
    shown = {group: cells["Difference from Class 2"] for group, cells in tables(page)["Question 3?, by group"].items()}
    assert shown.pop("yes, Class 2") == "reference"
    expected = corrected(many, MANY, "q3", "Class 2", comparisons=8)
    assert shown == {f"yes, {group}": told for group, told in expected.items()}
    assert expected != corrected(many, MANY, "q3", "Class 2", comparisons=1), "the control: as if there were one difference alone"


def test_of_several_options_and_a_mean_all_differences_are_corrected_together(mixed: str, store: Store) -> None:
    shown = tables(mixed)["Mood?, by group"]["bad, South"]["Difference from North"]
    assert shown == corrected(store, MIXED, "mood", "North", comparisons=4)["South"], (
        "three options and the mean; nobody is in the third group"
    )
    assert (
        tables(mixed)["Used?, by group"]["tea, South"]["Difference from North"]
        == corrected(store, MIXED, "used[tea]", "North", comparisons=2)["South"]
    )


def test_a_sentence_names_the_groups_whose_corrected_interval_has_no_0(mixed: str, many: Store, ada: FlaskClient) -> None:
    said = re.findall(r'id="q-(\w+)".*?<p class="said">(.*?)</p>', mixed, re.DOTALL)
    assert [(name, re.sub(r"<[^>]+>", "", words)) for name, words in said] == [
        (name, "South differs significantly from North.") for name in ("hours", "mood", "used")
    ]
    page = html.unescape(ada.get("/manage/surveys/many/groups").text)
    for card in cards_of(page):
        apart = [group for group, strong in re.findall(r"<bdi>(Class \d)</bdi></th>(.*?)</tr>", card, re.DOTALL) if "<strong>" in strong]
        (words,) = re.findall(r'<p class="said">(.*?)</p>', card, re.DOTALL)
        assert re.findall(r"<bdi>(.*?)</bdi>", words) == [*apart, "Class 0"]
        assert ("No group differs significantly" in words) == (not apart)


def test_the_groups_page_says_once_that_many_pairs_find_differences_by_chance(mixed: str) -> None:
    assert mixed.count("of many pairs, one in twenty\n    will look different by chance.") == 1
    assert mixed.index("of many pairs") < mixed.index('class="estimates differences"')
    assert not re.search(r"\d\s%", mixed)


def test_with_nobody_in_one_of_two_groups_the_others_figures_stay(ada: FlaskClient, mixed: str) -> None:
    page = html.unescape(ada.get("/manage/surveys/mixed/groups?first=North&second=Nobody").text)
    assert page.count("There is nothing to compare") == len(MIXED.questions)
    assert 'class="estimates differences"' not in page
    assert tables(page)["Used?, by group"] == tables(mixed)["Used?, by group"]


# Many groups, many questions: a page has a part of the questions, and computes no others.

MANY = Survey.from_dict(
    {
        "deniable": 1,
        "batch": 1,
        "accept_small_batches": True,
        "id": "many",
        "title": "Many",
        "about": "Who asks, and why.",
        "epsilon": 8,
        "groups": [f"Class {i}" for i in range(9)],
        "questions": [{"id": f"q{i}", "text": f"Question {i}?", "type": "yes_no"} for i in range(12)],
    }
)


@pytest.fixture
def many(store: Store) -> Store:
    """Nine groups of a few hundred, and twelve questions."""
    store.surveys.publish(MANY)
    rng = np.random.default_rng(3)
    for number, group in enumerate(MANY.groups):
        bits = [randomize(item.channel, rng.integers(0, 2, 200 + number), os_words) for item in MANY.items]
        store.submissions.add("many", Submission(os_words(4).tobytes(), MANY.digest, 200 + number, pack(MANY, bits), group))
    return store


def pages_of(client: FlaskClient) -> list[str]:
    """All pages of the groups, reached by the links of the first one's contents and by "More questions"; each once."""
    first = html.unescape(client.get("/manage/surveys/many/groups").text)
    links = dict.fromkeys(link.split("#")[0] for link in re.findall(r'<li><a href="([^"]*)" dir="auto">', first))
    pages = [first if not link else html.unescape(client.get(link).text) for link in links]
    onward = [re.findall(r'<a class="button plain" href="([^"]*)">More questions', page) for page in pages]
    assert [one[0] if one else "" for one in onward] == [*[link for link in links if link], ""]
    return pages


def searched(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How many shares are estimated, and how many tallies read, for the first page."""
    shares, tallies = [], []
    proportion, tally = share_tables.proportion, SqlSubmissions.tally
    monkeypatch.setattr(share_tables, "proportion", lambda *given: shares.append(given) or proportion(*given))
    monkeypatch.setattr(SqlSubmissions, "tally", lambda *given: tallies.append(given) or tally(*given))
    assert client.get("/manage/surveys/many/groups").status_code == 200
    return len(shares), len(tallies)


def test_all_questions_are_shown_on_one_page_where_their_figures_are_few(many: Store, ada: FlaskClient) -> None:
    (page,) = pages_of(ada)
    assert re.findall(r'<h2 id="q-(\w+)"', page) == [question.id for question in MANY.questions]
    assert "This page shows" not in page


def test_many_figures_are_divided_into_pages_that_together_show_what_one_would(
    many: Store, ada: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    (whole,) = pages_of(ada)
    monkeypatch.setattr(groups, "FIGURES", 50)
    pages = pages_of(ada)
    assert len(pages) == 3, "nine groups by twelve yes/no questions are 108 figures, five questions a page"
    assert [card for page in pages for card in cards_of(page)] == cards_of(whole)
    assert "This page shows 5 of 12 questions" in pages[0]


def cards_of(page: str) -> list[str]:
    """Each question's section, to the last digit."""
    return re.findall(r'<section class="card question".*?</section>', page, re.DOTALL)


def test_a_question_is_on_its_page_with_the_choice_that_was_made(many: Store, ada: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "FIGURES", 50)
    page = html.unescape(ada.get("/manage/surveys/many/groups?first=Class 3&second=Class 8&confidence=0.8&question=q11").text)
    assert re.findall(r'<h2 id="q-(\w+)"', page) == ["q10", "q11"]
    assert '<input type="hidden" name="question" value="q10">' in page
    (link,) = {link.split("#")[0] for link in re.findall(r'<li><a href="([^"]*)" dir="auto">Question 7', page)}
    other = html.unescape(ada.get(link).text)
    assert "<bdi>Class 8</bdi> minus <bdi>Class 3</bdi>" in other
    assert "80% interval" in other
    reply = ada.get("/manage/surveys/many/groups?question=nothing")
    assert (reply.status_code, "Question must be the id of one of the survey" in reply.text) == (400, True)


def test_a_page_computes_its_own_figures_only_and_reads_each_tally_once(
    many: Store, ada: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "FIGURES", 50)
    assert searched(ada, monkeypatch) == (5 * 9 * 2 * 2, 9), "at the confidence that was asked for, and at that of all differences together"


def test_a_page_that_computes_all_questions_would_be_noticed(many: Store, ada: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "FIGURES", 50)
    monkeypatch.setattr(groups, "share_rows", lambda survey, tally, items, interval: estimate(survey, tally).rows)
    shown = {question.id for question in MANY.questions[:5]}
    monkeypatch.setattr(groups, "groupby", lambda rows, key: ((name, of) for name, of in groupby(rows, key) if name in shown))
    assert searched(ada, monkeypatch)[0] > 5 * 9 * 2 * 2


def test_the_chart_of_a_question_among_the_groups_is_a_picture_by_itself_with_every_figure(
    mixed: str, store: Store, ada: FlaskClient
) -> None:
    for question in MIXED.questions:
        reply = ada.get(f"/manage/surveys/mixed/groups/{question.id}.svg?first=South&confidence=0.9")
        assert (reply.status_code, reply.mimetype) == (200, "image/svg+xml")
        words = " ".join(ElementTree.fromstring(reply.data).itertext()).replace("−", "-")
        for group in SHARES:
            found = analyse(MIXED, tally_of(store, "mixed", group), confidence=0.9).results[question.id]
            rows = [] if question.rounds else [row for row in found.rows if row.option == "yes" or not question.labels]
            rows = rows[:1] if question.k == 2 and not question.labels else rows
            shares = [[100 * (value or 0.0) for value in (row.estimate, row.low, row.high)] for row in rows]
            figured = [f"{one:.1f}% ({low:.1f}% to {high:.1f}%)" for one, low, high in shares]
            figured += [f"{mean.mean:,.4g} ({mean.low:,.4g} to {mean.high:,.4g})" for mean in found.means]
            assert figured
            assert [figure for figure in figured if figure not in words] == []
            assert group in words
        assert f"/groups/{question.id}.svg?" in mixed
    assert ada.get("/manage/surveys/mixed/groups/nothing.svg").status_code == 404


def test_the_differences_of_a_question_are_a_file_with_the_corrected_limits_of_the_page(mixed: str, store: Store, ada: FlaskClient) -> None:
    lines = list(csv.DictReader(io.StringIO(ada.get("/manage/surveys/mixed/groups/used.csv?first=North").text)))
    assert [(line["group"], line["option"]) for line in lines if line["estimate"]] == [("South", "tea"), ("South", "coffee")]
    one = lines[0]
    told = cell(Figure(*(float(one[name]) for name in ("estimate", "low", "high")), Unit.POINTS))
    assert " ".join(told) == corrected(store, MIXED, "used[tea]", "North", comparisons=2)["South"]
