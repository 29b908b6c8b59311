"""The settings page: a pause, the close at a day or a count, the archive, the end of the records; and no estimates below a number."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.patience import PATIENCE
from tests.kit.servers.process import PASSWORD, ServerProcess

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.operate import upkeep
from deniable_server.operate.cli import main
from deniable_server.researchers import settings as pages
from deniable_server.results import progress
from deniable_server.store import open_store
from deniable_server.store.errors import UnavailableError
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Store

Make = Callable[..., Submission]
PAGE = "/manage/surveys/cycle/settings"
GIVEN = {"points": "10", "expected": "", "least": "1", "close_on": "", "close_at": "", "delete_on": ""}
TODAY = "2026-12-12"


@pytest.fixture
def survey(store: Store) -> Survey:
    question = {"id": "q", "text": "?", "type": "yes_no", "epsilon": "ln 3"}
    keys = {"deniable": 1, "id": "cycle", "title": "A cycle", "about": "A.", "groups": ["North", "South"], "questions": [question]}
    made = Survey.from_dict(keys)
    store.surveys.publish(made)
    return made


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_store(tmp_path / "deniable.db")
    yield store
    store.close()


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient], monkeypatch: pytest.MonkeyPatch) -> FlaskClient:
    app.config["WTF_CSRF_ENABLED"] = False
    for module in (pages, progress):
        monkeypatch.setattr(module, "today", lambda: TODAY)
    return logged_in(app)


def text_of(reply: Any) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", reply.text.split("<main")[1])).split())


# Goals.


def test_what_is_entered_is_kept_shown_again_and_taken_back(ada: FlaskClient, store: Store, survey: Survey) -> None:
    entered = {
        **GIVEN,
        "points": "2.5",
        "expected": "800",
        "least": "50",
        "close_on": "2026-12-24",
        "close_at": "400",
        "delete_on": "2027-03-01",
    }
    assert ada.post(PAGE, data=entered).headers["Location"] == PAGE
    assert store.life.settings("cycle") == Settings(0.025, 800, 50, "2026-12-24", 400, delete_on="2027-03-01")
    page = ada.get(PAGE).text
    for name, value in entered.items():
        assert re.search(rf'name="{name}"[^>]*value="{value}"', page), name
    ada.post(PAGE, data=GIVEN)
    assert store.life.settings("cycle") == Settings()


@pytest.mark.parametrize(
    ("entered", "field", "told"),
    [
        ({"points": "0"}, "points", "Enter points from 0.1 to 50."),
        ({"points": "many"}, "points", "Enter points from 0.1 to 50."),
        ({"least": "0"}, "least", "Enter a whole number, 1 or more."),
        ({"expected": "1.5"}, "expected", "Enter a whole number, 1 or more."),
        ({"close_at": "-4"}, "close_at", "Enter a whole number, 1 or more."),
        ({"close_on": "24.12.2026"}, "close_on", "Not a valid date value."),
        ({"close_on": "2026-12-11"}, "close_on", "Enter a day that is not over yet."),
        ({"delete_on": "2026-12-11"}, "delete_on", "Enter a day that is not over yet."),
        ({"close_on": "2026-12-24", "delete_on": "2026-12-24"}, "delete_on", "Enter a day after the last day for answers."),
    ],
)
def test_what_makes_no_sense_is_told_beside_its_field_and_nothing_is_changed(
    ada: FlaskClient, store: Store, survey: Survey, entered: dict[str, str], field: str, told: str
) -> None:
    reply = ada.post(PAGE, data={**GIVEN, "expected": "7", **entered})
    assert reply.status_code == 422
    assert re.search(rf'id="{field}-problem">{re.escape(told)}<', reply.text)
    assert reply.text.count('-problem">') == 1
    assert store.life.settings("cycle") == Settings()
    for name, value in entered.items():
        assert f'value="{value}"' in reply.text, f"{name}: what was written is lost"


def test_all_mistakes_are_told_at_once(ada: FlaskClient, survey: Survey) -> None:
    page = ada.post(PAGE, data={**GIVEN, "points": "0", "close_on": "2026-12-11"}).text
    assert all(f'id="{field}-problem">' in page for field in ("points", "close_on"))


def test_a_day_that_is_over_now_does_not_hinder_other_changes(ada: FlaskClient, store: Store, survey: Survey) -> None:
    store.life.keep("cycle", Settings(close_on="2026-12-01"))
    assert ada.post(PAGE, data={**GIVEN, "close_on": "2026-12-01", "least": "9"}).status_code == 302
    assert store.life.settings("cycle").least == 9


# A pause.


def test_while_it_is_paused_people_are_asked_to_come_back_and_devices_keep_their_records(
    ada: FlaskClient, client: FlaskClient, store: Store, survey: Survey, submissions: Make
) -> None:
    record = submissions(to=survey, group="North")
    ada.post("/manage/surveys/cycle/pause")
    assert store.surveys.published("cycle").paused
    shown = client.get("/s/cycle")
    assert (shown.status_code, "come back later" in shown.text, 'id="consent"' in shown.text) == (200, True, False)
    assert "kommen Sie später wieder" in client.get("/s/cycle?lang=de").text
    sent = client.post("/api/v1/surveys/cycle/submissions", data=record.to_json(), content_type="application/json")
    assert (sent.status_code, sent.get_json()["rule"]) == (503, "paused"), "a status after which devices and the SDK try again"
    by_hand = client.get("/s/cycle/by-hand")
    assert (by_hand.status_code, "come back later" in by_hand.text) == (503, True)
    assert "paused" in text_of(ada.get("/manage"))
    ada.post("/manage/surveys/cycle/pause", data={"end": "1"})
    assert 'id="consent"' in client.get("/s/cycle").text
    assert client.post("/api/v1/surveys/cycle/submissions", data=record.to_json(), content_type="application/json").status_code == 200


def test_a_form_for_two_coins_that_arrives_in_a_pause_is_given_back(client: FlaskClient, store: Store, survey: Survey) -> None:
    page = client.get("/s/cycle/by-hand").text
    secret = re.findall(r'name="secret"[^>]*value="([^"]+)"', page)[0]
    store.surveys.pause("cycle", True)
    given = client.post("/s/cycle/by-hand", data={"secret": secret, "mark-1": "yes", "group": "North"})
    assert (given.status_code, secret in given.text, "a little later" in given.text) == (503, True, True)
    store.surveys.pause("cycle", False)
    assert client.post("/s/cycle/by-hand", data={"secret": secret, "mark-1": "yes", "group": "North"}).status_code == 200


@pytest.mark.slow
def test_whoever_pauses_and_looks_at_every_page_after_each_answer_sees_nothing(
    ada: FlaskClient, store: Store, survey: Survey, submissions: Make
) -> None:
    addresses = ["/manage", *(f"/manage/surveys/cycle{tab}" for tab in ("", "/watch", "/settings", "/invite", "/groups", "/results.json"))]
    seen = set()
    for _ in range(9):
        store.submissions.add("cycle", submissions(to=survey, group="North"))
        ada.post("/manage/surveys/cycle/pause", follow_redirects=True)
        seen.add(tuple(re.sub(r'name="(csrf_token|once)" value="[^"]*"', "", ada.get(address).text) for address in addresses))
        ada.post("/manage/surveys/cycle/pause", data={"end": "1"}, follow_redirects=True)
    assert len(seen) == 1


# The archive, and the end of the records.


def test_only_a_closed_survey_is_archived_and_it_can_be_taken_out(ada: FlaskClient, store: Store, survey: Survey) -> None:
    ada.post("/manage/surveys/cycle/archive")
    assert not store.life.settings("cycle").archived
    store.surveys.set_open("cycle", False)
    assert "A cycle" in ada.get("/manage?state=closed").text
    ada.post("/manage/surveys/cycle/archive")
    page = ada.get("/manage").text
    assert "A cycle" not in page
    assert 'href="/manage?state=archived">1 archived</a>' in page
    assert "A cycle" in ada.get("/manage?state=archived").text
    ada.post("/manage/surveys/cycle/archive", data={"end": "1"})
    assert "A cycle" in ada.get("/manage").text
    assert "state=archived" not in ada.get("/manage").text


def test_records_are_deleted_once_somebody_has_written_the_id(ada: FlaskClient, store: Store, survey: Survey, submissions: Make) -> None:
    store.submissions.add("cycle", submissions(30, to=survey, group="North"))
    for written in ("", "another"):
        reply = ada.post("/manage/surveys/cycle/delete", data={"survey": written})
        assert (reply.status_code, 'id="survey-problem"' in reply.text) == (422, True)
        assert sum(store.submissions.counts("cycle").values()) == 30
    assert ada.post("/manage/surveys/cycle/delete", data={"survey": " cycle "}).status_code == 302
    assert store.submissions.counts("cycle") == {}
    assert f"were deleted on {TODAY}" in text_of(ada.get(PAGE))
    assert "Its records were deleted on 12 December." in text_of(ada.get("/manage"))
    assert "were deleted on" in text_of(ada.get("/manage/surveys/cycle"))
    assert "Send the link" not in text_of(ada.get("/manage/surveys/cycle"))
    assert ada.get("/manage/surveys/cycle/questions").status_code == 200
    assert "closed" in ada.get("/s/cycle").text


# What the server does by itself, by a clock that is given.


def test_the_last_day_is_for_answers_to_its_end_and_records_go_on_their_day(store: Store, survey: Survey, submissions: Make) -> None:
    store.submissions.add("cycle", submissions(12, to=survey, group="North"))
    store.life.keep("cycle", Settings(close_on="2026-12-24", delete_on="2027-01-31"))
    assert upkeep.upkeep(store, "2026-12-24") == []
    assert store.surveys.published("cycle").is_open
    assert upkeep.upkeep(store, "2026-12-25") == ["cycle is closed: its last day is over"]
    assert not store.surveys.published("cycle").is_open
    assert upkeep.upkeep(store, "2027-01-30") == []
    assert sum(store.submissions.counts("cycle").values()) == 12
    assert upkeep.upkeep(store, "2027-02-02") == ["cycle: its records are deleted, as its settings say"]  # late: it was off on the day
    assert store.life.settings("cycle").deleted_on == "2027-02-02"
    assert store.submissions.counts("cycle") == {}
    assert upkeep.upkeep(store, "2027-02-03") == []


class Clock:
    """Time passes only while somebody waits. After `days` it is over."""

    def __init__(self, start: str, days: int) -> None:
        self.time = datetime.fromisoformat(start).replace(tzinfo=UTC)
        self.end, self.waits = self.time + timedelta(days=days), 0

    def wait(self, seconds: float) -> bool:
        assert 0 < seconds <= upkeep.LOOK
        self.time += timedelta(seconds=seconds)
        self.waits += 1
        return self.time >= self.end


def test_it_is_done_at_the_start_and_in_the_first_second_of_each_day(monkeypatch: pytest.MonkeyPatch, store: Store) -> None:
    clock, done = Clock("2026-12-30 21:59:30", 3), []
    monkeypatch.setattr(upkeep, "upkeep", lambda store, today: done.append((today, clock.time.isoformat(" ")[:19])) or [])
    upkeep.keep_up(store, lambda *_: 200, lambda: clock.time, clock.wait)
    midnights = [(day, f"{day} 00:00:00") for day in ("2026-12-31", "2027-01-01", "2027-01-02")]
    assert done == [("2026-12-30", "2026-12-30 21:59:30"), *midnights]


def test_what_could_not_be_done_is_tried_again_the_same_day_and_logged_once(
    monkeypatch: pytest.MonkeyPatch, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    clock, tried = Clock("2026-12-30 12:00:00", 1), []

    def fails(store: Store, today: str) -> list[str]:
        tried.append(clock.time)
        if len(tried) < 3:
            raise UnavailableError("busy")
        return []

    monkeypatch.setattr(upkeep, "upkeep", fails)
    upkeep.keep_up(store, lambda *_: 200, lambda: clock.time, clock.wait)
    assert [(one - tried[0]).total_seconds() for one in tried[:3]] == [0, upkeep.AGAIN, 2 * upkeep.AGAIN]
    assert len(tried) == 4, "and once on the next day"
    assert [record.getMessage() for record in caplog.records] == ["today's scheduled tasks failed, and are tried again: busy"]


@pytest.mark.slow
def test_a_server_that_starts_does_what_was_due_while_it_was_off(make_server: Callable[[], ServerProcess], submissions: Make) -> None:
    server = make_server()
    question = {"id": "q", "text": "?", "type": "yes_no"}
    survey = Survey.from_dict(
        {
            "deniable": 1,
            "id": "due",
            "title": "T",
            "about": "A.",
            "epsilon": 2,
            "batch": 1,
            "accept_small_batches": True,
            "questions": [question],
        }
    )
    with server.store() as store:
        store.surveys.publish(survey)
        store.submissions.add("due", submissions(5, to=survey))
        store.life.keep("due", Settings(delete_on="2026-01-01"))
    server.start()
    while httpx.get(f"{server.url}/api/v1/surveys/due/results", auth=("ada", PASSWORD), timeout=PATIENCE).json()["n"]:
        pass  # it begins beside the first requests
    server.stop()
    with server.store() as store:
        assert store.life.settings("due").deleted_on
        assert store.submissions.counts("due") == {}


# Below a number, no estimates by any door.


def doors(ada: FlaskClient, app: Flask, tmp_path: Path, query: str = "") -> dict[str, tuple[bool, str]]:
    """Of each door: whether figures came out, and what was said."""
    auth, found = ("ada", PASSWORD), {}
    for name in ("", "/results.csv", "/results.json"):
        reply = ada.get(f"/manage/surveys/cycle{name}{query}")
        found[f"page{name}"] = (reply.status_code == 200 and "estimates are shown from" not in reply.text.lower(), reply.text)
    for name in ("results", "tally", "reports"):
        with app.test_client().get(f"/api/v1/surveys/cycle/{name}{query}", auth=auth) as reply:
            found[f"api {name}"] = (reply.status_code == 200, reply.text if reply.status_code != 200 else "")
    if not query:
        with app.test_client().get("/api/v1/surveys/cycle/bundle", auth=auth) as reply:
            found["api bundle"] = (reply.status_code == 200, reply.text if reply.status_code != 200 else "")
        with ada.get("/manage/surveys/cycle/data/rows.csv") as reply:
            found["page data"] = (reply.status_code == 200, reply.text)
    reply = ada.get(f"/manage/surveys/cycle/chart/q.svg{query}")
    found["chart"] = (reply.status_code == 200, reply.text)
    group = [f"--group={query.partition('=')[2]}"] if query else []
    done = CliRunner().invoke(main, ["results", "cycle", "--db", str(tmp_path / "deniable.db"), *group])
    found["command"] = (done.exit_code == 0, done.output)
    return found


@pytest.mark.slow
def test_below_the_number_that_is_set_no_door_shows_an_estimate(
    ada: FlaskClient, app: Flask, store: Store, survey: Survey, submissions: Make, tmp_path: Path
) -> None:
    for group, n in (("North", 40), ("South", 20)):
        store.submissions.add("cycle", submissions(n, to=survey, group=group))
    assert all(shown for shown, _ in doors(ada, app, tmp_path).values())
    store.life.keep("cycle", Settings(least=61))
    for name, (shown, said) in doors(ada, app, tmp_path).items():
        assert not shown, name
        assert "from 61 records on" in said, name
        assert "60 are counted" in said, name
    store.life.keep("cycle", Settings(least=40))
    assert all(shown for shown, _ in doors(ada, app, tmp_path).values())
    assert not any(shown for shown, _ in doors(ada, app, tmp_path, "?group=North").values())  # all less North are those of South
    assert not any(shown for shown, _ in doors(ada, app, tmp_path, "?group=South").values())
    assert "is hidden because its figures would reveal a smaller group" in text_of(ada.get("/manage/surveys/cycle/groups"))
    store.life.keep("cycle", Settings(least=20))
    assert all(shown for shown, _ in doors(ada, app, tmp_path, "?group=South").values())


def test_groups_with_too_few_are_not_among_those_that_are_compared(ada: FlaskClient, store: Store, submissions: Make) -> None:
    question = {"id": "q", "text": "?", "type": "yes_no", "epsilon": 2}
    keys = {"deniable": 1, "id": "many", "title": "T", "about": "A.", "groups": ["Few", "North", "Less", "South"], "questions": [question]}
    survey = Survey.from_dict(keys)
    store.surveys.publish(survey)
    for group, n in (("Few", 15), ("North", 60), ("Less", 40), ("South", 50)):
        store.submissions.add("many", submissions(n, to=survey, group=group))
    store.life.keep("many", Settings(least=50))
    page = ada.get("/manage/surveys/many/groups").text
    figures = page.split('aria-labelledby="q-q"')[1]
    assert ("North" in figures, "South" in figures, "Few" in figures, "Less" in figures) == (True, True, False, False)
    assert "2 groups of 4 are hidden: Few , Less ." in text_of(ada.get("/manage/surveys/many/groups"))
    assert "from 50 records on" in text_of(ada.get("/manage/surveys/many/groups?first=Few&second=North"))


# The same by command.


def run(tmp_path: Path, *words: str, **options: Any) -> str:
    done = CliRunner().invoke(main, [words[0], "--db", str(tmp_path / "deniable.db"), *words[1:]], **options)
    return f"{done.exit_code} {done.output}"


def test_settings_pause_archive_and_deletion_by_command(tmp_path: Path, store: Store, survey: Survey, submissions: Make) -> None:
    store.submissions.add("cycle", submissions(30, to=survey, group="North"))
    shown = run(
        tmp_path, "settings", "cycle", "--points", "5", "--expected", "800", "--close-on", "2027-01-31", "--delete-on", "2027-12-31"
    )
    assert shown.startswith("0 points\t5\nexpected\t800\nleast\t1\nclose_on\t2027-01-31\n")
    assert store.life.settings("cycle") == Settings(0.05, 800, close_on="2027-01-31", delete_on="2027-12-31")
    assert "expected\tnone" in run(tmp_path, "settings", "cycle", "--expected", "none")
    assert "close_on must be a day" in run(tmp_path, "settings", "cycle", "--close-on", "soon")
    assert run(tmp_path, "pause", "cycle") == "0 cycle is paused.\n"
    assert "cycle\tpaused\t30 records" in run(tmp_path, "list")
    assert run(tmp_path, "archive", "cycle").startswith("1 Error: survey cycle is open")
    assert run(tmp_path, "pause", "cycle", "--resume") == "0 cycle is open.\n"
    run(tmp_path, "close", "cycle")
    assert run(tmp_path, "archive", "cycle") == "0 cycle is archived.\n"
    assert store.life.settings("cycle").archived
    assert run(tmp_path, "delete-records", "cycle", input="n\n").startswith("1 Delete all records of cycle?")
    assert sum(store.submissions.counts("cycle").values()) == 30
    assert "are deleted. Backups keep them" in run(tmp_path, "delete-records", "cycle", "--yes")
    assert store.submissions.counts("cycle") == {}
    assert "cannot be opened: its records were deleted on" in run(tmp_path, "close", "cycle", "--reopen")
    assert run(tmp_path, "upkeep") == "0 "


def test_the_command_does_what_is_due(tmp_path: Path, store: Store, survey: Survey) -> None:
    store.life.keep("cycle", replace(Settings(), close_on="2026-01-01"))
    assert run(tmp_path, "upkeep") == "0 cycle is closed: its last day is over\n"
