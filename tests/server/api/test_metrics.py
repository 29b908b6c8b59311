"""`/metrics` tells how the server does, and never that somebody answered: the same bytes all day, whatever respondents do."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator
from itertools import groupby, pairwise
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.issuer import issued
from tests.kit.servers.release import release_people
from tests.kit.surveys import STUDY, submission

from deniable.delivery.tokens import draw
from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.submission import Submission
from deniable_server import Config, create_app
from deniable_server.access import api_keys
from deniable_server.api import metrics
from deniable_server.api.metrics import CONTENT_TYPE, OWN_ADDRESS, Metrics
from deniable_server.context import services_of
from deniable_server.identity.sso.outcomes import OUTCOMES, SsoOutcomes
from deniable_server.store.errors import UnavailableError
from deniable_server.store.protocol import Store

Make = Callable[..., Submission]
SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)')
LABEL = re.compile(r'(\w+)="((?:[^"\\\n]|\\["\\n])*)"')
BATCHED = Survey.from_text(STUDY.replace("id: study", "id: batched").replace("batch: 1", "batch: 5\ngroups: [Kanary, Robin]"))
INVITED = issued(Survey.from_text(STUDY.replace("id: study", "id: invited").replace("batch: 1", "access: invited")))
DAYS = ["2026-01-01", "2026-01-02", "2026-01-03"]


def read(text: str) -> dict[tuple[str, ...], float]:
    """Every value by the name of its family and its labels; what breaks the text format 0.0.4 breaks the test."""
    assert text.endswith("\n")
    found: dict[tuple[str, ...], float] = {}
    told: list[str] = []
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name = line.split()[2]
            assert name not in told  # one family, in one piece
            told.append(name)
        elif line.startswith("# TYPE "):
            assert line.split()[2:] == [told[-1], "gauge"]
        else:
            sample = SAMPLE.fullmatch(line)
            assert sample, line
            assert sample[1] == told[-1]
            key = (sample[1], *(value for _, value in LABEL.findall(sample[2] or "")))
            assert key not in found
            found[key] = float(sample[3])
            assert math.isfinite(found[key])
    return found


@pytest.fixture
def surveys(store: Store) -> Store:
    store.surveys.publish(BATCHED)
    store.surveys.publish(INVITED)
    return store


@pytest.fixture
def day() -> list[str]:
    """The day it is: the only one of this list."""
    return [DAYS[0]]


@pytest.fixture
def scraped(app: Flask, surveys: Store, day: list[str], tmp_path: Path) -> Iterator[Callable[[], str]]:
    """Asks the application for its metrics as the address of its own does."""
    services_of(app).add(Metrics(surveys, tmp_path / "deniable.db", today=lambda: day[0]))

    def scrape() -> str:
        reply = app.test_client().get("/metrics", environ_overrides={OWN_ADDRESS: True})
        assert (reply.status_code, reply.content_type) == (200, CONTENT_TYPE)
        return reply.text

    return scrape


def test_all_that_it_says_is_in_the_text_format_and_of_a_day(scraped: Callable[[], str], surveys: Store) -> None:
    code = os.urandom(15)
    surveys.invitations.add("invited", [access_codes.invitation_hash("invited", code), bytes(32)])
    surveys.submissions.add("batched", submission(BATCHED, 7, group="Kanary", mode="organisation"))
    surveys.submissions.add("batched", submission(BATCHED, 6, group="Robin", mode="organisation"))
    surveys.submissions.add("batched", submission(BATCHED, 5, group="Robin"))
    surveys.surveys.pause("invited", True)
    found = read(scraped())
    assert found.pop(("deniable_start_time_seconds",)) > 1.7e9
    sizes = [found.pop((f"deniable_{name}_bytes",)) for name in ("memory_peak", "database")]
    assert all(size > 0 and size % (1 << 20) == 0 for size in sizes)
    ((info, one),) = [(key, value) for key, value in found.items() if key[0] == "deniable_info"]
    assert (len(info), one) == (3, 1)
    del found[info]
    assert found == {
        ("deniable_database_up",): 1,
        ("deniable_day_seconds",): 1767225600,
        ("deniable_surveys", "open"): 2,
        ("deniable_surveys", "paused"): 1,
        ("deniable_surveys", "closed"): 0,
        ("deniable_records", "batched", "device"): 5,
        ("deniable_records", "batched", "organisation"): 13,
        ("deniable_invitation_codes", "invited"): 2,
    }


def test_the_page_for_whoever_runs_a_server_has_every_name(scraped: Callable[[], str]) -> None:
    page = (Path(__file__).parents[3] / "docs" / "guide" / "operations.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `(deniable_\w+)` \|", page, re.MULTILINE))
    optional = {"deniable_backup_time_seconds", "deniable_sso_logins"}
    assert named == {*re.findall(r"^# TYPE (\w+)", scraped(), re.MULTILINE), *optional}


def events(client: FlaskClient, store: Store) -> Iterator[str]:
    """All that respondents and strangers can make a server do, one after the other; the name of each once it has happened."""
    study, code = store.surveys.published("study").survey, os.urandom(15)
    store.invitations.add("invited", [access_codes.invitation_hash("invited", code)])
    yield "a code is made"
    invited = store.surveys.published("invited").survey
    drawn = draw(invited)
    token = drawn.finish(store.invitations.exchange("invited", access_codes.invitation_hash("invited", code), drawn.blinded))
    yield "a code is exchanged"
    secret = os.urandom(15)
    for name, each in (
        ("a record of a survey with the smallest batch", submission(study, id_=access_codes.submission_id(secret))),
        ("a record that waits", submission(BATCHED, group="Robin")),
        ("a record with a token", submission(invited, token=token)),
    ):
        survey_id = {study.digest: "study", BATCHED.digest: "batched", invited.digest: "invited"}[each.digest]
        reply = client.post(f"/api/v1/surveys/{survey_id}/submissions", data=each.to_json(), content_type="application/json")
        assert reply.status_code == 200
        yield name
    for _ in range(9):
        store.submissions.add("batched", submission(BATCHED, group="Robin"))
    yield "ten records that wait"
    assert "batched" in release_people(store)
    yield "a release"
    store.submissions.add("batched", submission(BATCHED, 10, group="Robin", mode="organisation"))
    yield "a whole batch"
    store.submissions.withdraw("study", access_codes.submission_id(secret))
    yield "a withdrawal"
    assert client.get("/s/study").status_code == 200
    yield "a visit"
    assert client.get("/api/v1/surveys/study/results", auth=("ada", "wrong")).status_code == 401
    yield "a wrong password"
    store.submissions.add("study", submission(study, 20_000))
    yield "twenty thousand records"
    store.surveys.set_open("study", False)
    yield "a close"


def moved_by(scraped: Callable[[], str], client: FlaskClient, store: Store) -> list[str]:
    """The events after which another text came than before."""
    texts = [("", scraped()), *((name, scraped()) for name in events(client, store))]
    return [name for (_, before), (name, after) in pairwise(texts) if before != after]


def test_nothing_that_anybody_does_in_a_day_changes_a_byte_of_it(
    scraped: Callable[[], str], client: FlaskClient, surveys: Store, day: list[str]
) -> None:
    first = scraped()
    assert moved_by(scraped, client, surveys) == []
    day[0] = DAYS[1]
    before, after = read(first), read(scraped())
    changed = {key for key in {*before, *after} if before.get(key) != after.get(key) and not key[0].endswith("_bytes")}
    assert {name for name, _ in groupby(sorted(changed), key=lambda key: key[0])} == {
        *("deniable_day_seconds", "deniable_surveys", "deniable_records", "deniable_invitation_codes")
    }
    assert after["deniable_records", "study", "device"] == 20_000


@pytest.mark.parametrize(
    ("broken", "told_by"),
    [
        (lambda self: (setattr(self, "n", getattr(self, "n", 0) + 1), self._cached[1] + f"# {self.n}\n")[1], "a visit"),
        (lambda self: "".join(family.text for family in self._families_of_day(DAYS[0])), "a whole batch"),
        (lambda self: "".join(family.text for family in self._families_of_day(DAYS[0])), "a release"),
    ],
    ids=["a counter of scrapes", "counts as they are now", "counts after a release"],
)
def test_a_text_that_moves_is_noticed(
    broken: Callable[[Metrics], str],
    told_by: str,
    scraped: Callable[[], str],
    client: FlaskClient,
    surveys: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Metrics, "_daily", broken)
    assert told_by in moved_by(scraped, client, surveys)


def test_records_that_wait_are_in_no_metric_on_any_day(scraped: Callable[[], str], surveys: Store, day: list[str]) -> None:
    scraped()
    for _ in range(25):
        surveys.submissions.add("batched", submission(BATCHED, group="Robin"))
    for day[0] in DAYS[1:]:
        assert ("deniable_records", "batched", "device") not in {key for key, n in read(scraped()).items() if n}
    assert release_people(surveys) == ["batched"]
    day[0] = "2026-01-04"
    assert read(scraped())["deniable_records", "batched", "device"] == 20


def test_logins_by_single_sign_on_are_counted_by_outcome_once_a_day(store: Store, day: list[str]) -> None:
    outcomes = SsoOutcomes()
    metrics = Metrics(store, today=lambda: day[0], sso=outcomes.counts)
    assert not any(key[0] == "deniable_sso_logins" for key in read(Metrics(store).text()))
    first = metrics.text()
    for outcome in ("success", "success", "refused"):
        outcomes.add(outcome)
        assert metrics.text() == first
    assert {key[1]: n for key, n in read(first).items() if key[0] == "deniable_sso_logins"} == dict.fromkeys(OUTCOMES, 0)
    day[0] = DAYS[1]
    logins = {key[1]: n for key, n in read(metrics.text()).items() if key[0] == "deniable_sso_logins"}
    assert logins == {"success": 2, "refused": 1, "cancelled": 0, "expired": 0, "failed": 0}


def test_it_names_nobody_and_no_group(scraped: Callable[[], str], surveys: Store) -> None:
    surveys.submissions.add("batched", submission(BATCHED, 7, group="Kanary"))
    api_keys.make(surveys, "kanary-key", ["metrics"])
    assert not re.search("kanary|robin|ada|smoke|A study", scraped(), re.IGNORECASE)


def test_a_database_that_fails_is_told_and_the_day_stays(
    scraped: Callable[[], str], surveys: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = scraped()

    def fail() -> None:
        raise UnavailableError("gone")

    monkeypatch.setattr(surveys.surveys, "count", fail)
    assert scraped() == before.replace("deniable_database_up 1", "deniable_database_up 0")


def test_it_is_there_on_request_only_and_for_a_key_of_its_own(app: Flask, store: Store, tmp_path: Path) -> None:
    def statuses(app: Flask) -> dict[str, int]:
        client = app.test_client()
        return {name: client.get("/metrics", headers=header).status_code for name, header in headers.items()}

    bearer = {scope: {"Authorization": f"Bearer {api_keys.make(store, scope, [scope])}"} for scope in api_keys.SCOPES}
    headers = {
        "nobody": {},
        "none": {"Authorization": "Bearer dk_no"},
        "X": {"Deniable-Own-Address": "1", "Deniable.Own_Address": "1"},
        **bearer,
    }
    assert statuses(app) == dict.fromkeys(headers, 404)
    asked = create_app(Config(tmp_path / "deniable.db", "x" * 40, metrics=True), store)
    assert statuses(asked) == {
        **dict.fromkeys(("nobody", "none", "X"), 401),
        **dict.fromkeys(("submit", "results", "reports"), 403),
        "metrics": 200,
    }
    for path in ("results", "tally", "reports"):
        assert app.test_client().get(f"/api/v1/surveys/study/{path}", headers=bearer["metrics"]).status_code == 403


def test_no_key_of_one_survey_is_for_the_server(store: Store) -> None:
    with pytest.raises(ValueError, match="scope must be submit or results or reports for a key of one survey"):
        api_keys.make(store, "k", ["results", "metrics"], "study")


def test_the_newest_backup_tells_when_it_was_made(store: Store, tmp_path: Path) -> None:
    def told(backups: Path | None) -> float | None:
        return read(Metrics(store, backups=backups).text()).get(("deniable_backup_time_seconds",))

    folder = tmp_path / "backups"
    folder.mkdir()
    assert (told(None), told(folder), told(tmp_path / "none.db")) == (None, None, None)
    for name, at in (("old.db", 1_700_000_000.7), ("new.db", 1_700_086_400.2)):
        (folder / name).write_bytes(b"")
        os.utime(folder / name, (at, at))
    assert (told(folder), told(folder / "old.db")) == (1_700_086_400, 1_700_000_000)


def test_values_and_labels_are_written_as_the_format_has_them() -> None:
    labels = {"survey": 'a"b\\c\nd'}
    text = metrics.MetricFamily("m", "M.", ((labels, 1e15), ({}, 0.0))).text
    assert text == '# HELP m M.\n# TYPE m gauge\nm{survey="a\\"b\\\\c\\nd"} 1000000000000000\nm 0\n'
    assert read(text)["m", 'a\\"b\\\\c\\nd'] == 1e15
