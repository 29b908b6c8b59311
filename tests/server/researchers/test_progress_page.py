"""The Watch page, and the same by API, SDK and command line: how far a survey is, and nothing of anybody who came alone."""

from __future__ import annotations

import html
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.servers.process import ServerProcess
from tests.kit.servers.release import release_people

from deniable import SurveyClient
from deniable.cli import main
from deniable.plan.progress import Progress
from deniable.plan.survey import people_needed
from deniable.simulate import simulate
from deniable.survey import Survey
from deniable.wire.access_codes import invitation_hash
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable_server.access import api_keys
from deniable_server.results import progress
from deniable_server.results.progress import checked_progress, warnings
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Published, Store
from deniable_server.store.sql import arrivals, clock

SURVEY = Survey.from_text("""
deniable: 1
id: watched
title: Watched
about: Who asks, and why.
epsilon: 6
groups: [North, South]
questions:
  - {id: smokes, text: Do you smoke?, type: yes_no}
  - {id: party, text: Which party?, type: choice, options: [Red, Green, Blue]}
""")
TRUTH = {"smokes": [0.3, 0.7], "party": [0.5, 0.3, 0.2]}


@pytest.fixture
def today(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Sets the day for whoever asks."""

    def set_day(day: str) -> None:
        monkeypatch.setattr(clock, "today", lambda: day)
        monkeypatch.setattr(progress, "today", lambda: day)

    return set_day


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    return logged_in(app)


def send(store: Store, survey: Survey, n: int, group: str | None = None, mode: str = "device") -> None:
    reports = simulate(survey, {item.id: TRUTH.get(item.id, [0.5, 0.5]) for item in survey.items}, n=n).reports
    store.submissions.add(survey.id, Submission(os.urandom(16), survey.digest, n, reports, group, mode))


def main_of(client: FlaskClient, path: str = "/manage/surveys/watched/watch") -> str:
    """What stands in the page, as text."""
    page = client.get(path)
    assert page.status_code == 200
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.text.split("</header>")[1])).split())


def test_the_page_says_how_precise_it_is_and_when_it_will_be_as_precise_as_was_wanted(
    store: Store, ada: FlaskClient, today: Callable[[str], None]
) -> None:
    store.surveys.publish(SURVEY)
    store.life.keep("watched", Settings(half_width=0.05, expected=2000))
    assert "No records have arrived yet; 5 points either way take" in main_of(ada)
    for day in range(1, 6):
        today(f"2026-12-{day:02}")
        send(store, SURVEY, 20, "North")
        send(store, SURVEY, 10, "South", "organisation")
    page, needed = main_of(ada), people_needed(SURVEY, 0.05)
    assert checked_progress(store, "watched").words in page
    assert re.search(rf"points now; ±5 at {needed:,} people, at this rate on \d+ December\.", page)
    assert "150 records arrived" in page
    assert "Randomized by an organisation 50" in page
    assert "North 100 shown South 50 shown" in page
    assert "30.0 a day in the last 14 days" in page
    assert "2026-12-05 30 2026-12-04 30" in page


def test_codes_and_records_made_by_hand_are_listed_separately_and_as_tens_until_the_close(store: Store, ada: FlaskClient) -> None:
    survey = Survey.from_dict(
        {
            **BASE,
            "id": "watched",
            "access": "invited",
            "batch": 2,
            "accept_small_batches": True,
            "epsilon": "ln 3",
            "questions": [{"id": "q", "text": "?", "type": "yes_no"}],
        }
    )
    store.surveys.publish(survey)
    codes = [os.urandom(15) for _ in range(30)]
    store.invitations.add("watched", [invitation_hash("watched", code) for code in codes])
    bit = pack(survey, [np.array([[True, False]])])
    for mode, some in (("device", codes[:15]), ("by_hand", codes[15:27])):
        for code in some:
            store.submissions.add("watched", Submission(os.urandom(16), survey.digest, 1, bit, mode=mode, invitation=code))
    page = main_of(ada)
    assert "10 records arrived" in page
    assert "0 of them are shown in the results. 10 wait for their release; this number is rounded down to tens." in page
    assert "Randomized with real coins 10, in no other figure" in page
    assert "Codes made 30; used ones are counted at the close" in page
    store.surveys.set_open("watched", False)
    page = main_of(ada)
    assert "15 records arrived" in page
    assert "wait for their release" not in page
    assert "Randomized with real coins 12, in no other figure" in page
    assert "Codes used 27 of 30" in page


BASE = {"deniable": 1, "title": "Watched", "about": "Who asks, and why."}


def test_the_page_and_the_reply_change_with_every_tenth_record_only_and_show_no_group_before_the_release(
    store: Store, ada: FlaskClient, today: Callable[[str], None], submissions: Callable[..., Submission]
) -> None:
    store.surveys.publish(SURVEY)
    today("2026-12-01")
    send(store, SURVEY, 15, "North")
    seen = []
    for _ in range(31):
        seen.append((main_of(ada), checked_progress(store, "watched").to_json(), main_of(ada, "/manage")))
        store.submissions.add("watched", submissions(to=SURVEY, group="South"))
    assert [number for number in range(1, 31) if seen[number] != seen[number - 1]] == [10, 20, 30]
    assert [re.findall(r"\w+ \d+ shown", page) for page, _, _ in seen] == [["North 15 shown"]] * 31
    assert release_people(store) == ["watched"]
    page = main_of(ada)
    assert "North 15 shown South 21 shown" in page
    assert "46 records arrived" in page
    assert "36 of them are shown in the results. 10 wait for their release" in page


def test_a_page_that_counted_what_waits_would_be_noticed(
    store: Store, ada: FlaskClient, submissions: Callable[..., Submission], monkeypatch: pytest.MonkeyPatch
) -> None:
    store.surveys.publish(SURVEY)
    found = []
    monkeypatch.setattr(arrivals, "rounded", lambda n: n)
    for _ in range(5):
        found.append(checked_progress(store, "watched").to_json())
        store.submissions.add("watched", submissions(to=SURVEY, group="South"))
    assert len(set(found)) == 5


def test_an_alarm_of_the_method_is_told_in_plain_words(store: Store, ada: FlaskClient) -> None:
    store.surveys.publish(SURVEY)
    send(store, SURVEY, 400, "North")
    assert checked_progress(store, "watched").alarms == ()
    bits = [np.tile([True, *[False] * (item.k - 1)], (20_000, 1)) for item in SURVEY.items]
    store.submissions.add("watched", Submission(os.urandom(16), SURVEY.digest, 20_000, pack(SURVEY, bits), "South"))
    found = checked_progress(store, "watched").alarms
    assert found
    assert all("some records are made up, or a client is faulty" in alarm.lower().replace("reports", "records") for alarm in found)
    assert all(alarm in main_of(ada) for alarm in found)
    assert found[0] in main_of(ada, "/manage")


@pytest.mark.slow
def test_honest_records_raise_no_alarm() -> None:
    raised = sum(bool(progress.alarms(SURVEY, simulate(SURVEY, TRUTH, n=200).tally)) for _ in range(100))
    assert raised <= 6


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (Settings(delete_on="2026-12-24"), "Its records will be deleted on 24 December."),
        (Settings(delete_on="2027-03-01"), None),
        (Settings(close_on="2026-12-20"), "It closes at the end of 20 December."),
        (Settings(half_width=0.01, expected=100), "The 100 people you expect give"),
        (Settings(deleted_on="2026-12-01"), "Its records were deleted on 1 December."),
        (Settings(), None),
    ],
)
def test_what_may_have_to_be_done_is_told(store: Store, settings: Settings, told: str | None, today: Callable[[str], None]) -> None:
    store.surveys.publish(SURVEY)
    today("2026-12-12")
    published = store.surveys.published("watched")
    found = warnings(published, settings, progress.progress_of(store, published, settings))
    assert [one[: len(told or "")] for one in found] == ([told] if told else [])


def test_a_pause_spent_codes_and_days_without_anybody_are_told(store: Store, today: Callable[[str], None]) -> None:
    store.surveys.publish(SURVEY)
    today("2026-12-01")
    send(store, SURVEY, 30, "North")
    today("2026-12-20")
    published = store.surveys.published("watched")
    found = progress.progress_of(store, published, Settings())
    assert warnings(published, Settings(), found) == ["No records arrived since 1 December."]
    assert warnings(published, Settings(), replace(found, codes_made=30, codes_spent=30))[0] == "All codes are used."
    paused = Published(published.survey, True, published.published_on, is_paused=True)
    assert warnings(paused, Settings(), found) == ["It is paused: nobody can answer."]


# The other doors.


@pytest.fixture
def running(tmp_path: Path) -> Iterator[ServerProcess]:
    server = ServerProcess(tmp_path)
    with server.store() as store:
        store.surveys.publish(SURVEY)
        store.life.keep("watched", Settings(half_width=0.04, expected=900))
        send(store, SURVEY, 300, "North")
    server.start()
    yield server
    server.stop()
    server.close()


@pytest.mark.slow
def test_the_same_is_told_by_library_api_sdk_and_command(running: ServerProcess) -> None:
    with running.store() as store:
        own = checked_progress(store, "watched")
        key = api_keys.make(store, "watcher", ["results"])
    with SurveyClient(running.url, key=key, outbox=":memory:") as client:
        assert client.progress("watched") == own
    done = CliRunner().invoke(main, ["watch", f"{running.url}/s/watched", "--key-env", "A_KEY", "--json"], env={"A_KEY": key})
    assert Progress.from_dict(json.loads(done.output)) == own
    table = CliRunner().invoke(main, ["watch", f"{running.url}/s/watched", "--key-env", "A_KEY"], env={"A_KEY": key}).output
    assert own.words in table
    refused = CliRunner().invoke(main, ["watch", f"{running.url}/s/watched", "--key-env", "A_KEY"], env={"A_KEY": "dk_" + "x" * 43})
    assert (refused.exit_code, "401" in refused.output) == (1, True)


@pytest.mark.slow
def test_a_list_of_many_surveys_that_were_never_looked_at_takes_seconds_and_not_minutes(ada: FlaskClient, store: Store) -> None:
    """What there is no time for is rough, and says so; looking again computes more of it."""
    question = {"id": "q", "text": "?", "type": "choice", "options": ["a", "b", "c", "d", "e"]}
    for number in range(40):
        source = {"deniable": 1, "id": f"many{number}", "title": "T", "about": "A.", "epsilon": 1 + number / 50, "questions": [question]}
        store.surveys.publish(Survey.from_dict(source))
    before = time.thread_time()
    first = ada.get("/manage").text.count("; approximate")
    assert time.thread_time() - before < 20  # of CPU: all forty would take over forty seconds
    assert 0 < first < 40
    assert ada.get("/manage").text.count("; approximate") < first


def test_a_survey_whose_first_person_was_asked_a_part_hides_no_list(ada: FlaskClient, store: Store) -> None:
    questions = [{"id": f"q{number}", "text": "?", "type": "yes_no"} for number in range(3)]
    source = {
        "deniable": 1,
        "id": "part",
        "title": "T",
        "about": "A.",
        "epsilon": 2,
        "ask": 1,
        "batch": 1,
        "accept_small_batches": True,
        "questions": questions,
    }
    survey = Survey.from_dict(source)
    store.surveys.publish(survey)
    for _ in range(3):
        send(store, survey, 1)
        for address in ("/manage", "/manage/surveys/part/watch", "/manage/surveys/part/settings", "/manage/surveys/part/data"):
            assert ada.get(address).status_code == 200, address


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 8])
def test_a_survey_of_any_epsilon_hides_no_list(ada: FlaskClient, store: Store, epsilon: float) -> None:
    questions = [{"id": "q", "text": "?", "type": "yes_no"}]
    survey = Survey.from_dict(
        {
            "deniable": 1,
            "id": "any",
            "title": "T",
            "about": "A.",
            "epsilon": epsilon,
            "batch": 1,
            "accept_small_batches": True,
            "questions": questions,
        }
    )
    store.surveys.publish(survey)
    for n in (0, 1):
        if n:
            send(store, survey, n)
        assert (ada.get("/manage").status_code, ada.get("/manage/surveys/any/watch").status_code) == (200, 200)
