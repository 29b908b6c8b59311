"""In small surveys too, no repeated look shows whose record is whose: to a thief of the file, to a poller, or in nightly copies.

Rank correlations are averaged over many databases, since those of a few records by themselves are far from zero by chance.
"""

from __future__ import annotations

import os
import random
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient
from scipy.stats import spearmanr
from tests.kit.servers.release import Days, release_people
from tests.kit.servers.tallies import tally_of

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.part import Mode
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable_server.results.results import results_of
from deniable_server.store import open_store
from deniable_server.store.errors import StoreError
from deniable_server.store.protocol import Store
from deniable_server.store.sql import intake, vacuum
from deniable_server.store.sqlite import file

QUESTIONS = [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(20)]
PEOPLE = int(os.environ.get("DENIABLE_PEOPLE", "200"))  # make long NAME=order: 1,000
LUCK = 4  # standard deviations


def survey_of(batch: int = 10, **keys: Any) -> Survey:
    source = {"deniable": 1, "id": "small", "title": "T", "about": "A.", "epsilon": 8, "batch": batch, "questions": QUESTIONS}
    return Survey.from_dict({**source, **({"accept_small_batches": True} if batch < 10 else {}), **keys})


def record_of(survey: Survey, invitation: bytes | None = None, mode: Mode = "device") -> Submission:
    bits = [randomize(q.channel, np.zeros(1, dtype=np.int64), os_words) for q in survey.questions]
    return Submission(os.urandom(16), survey.digest, 1, pack(survey, bits), invitation=invitation, mode=mode)


@contextmanager
def opened(path: Path, survey: Survey) -> Iterator[Store]:
    store = open_store(path)
    store.surveys.publish(survey)
    yield store
    store.close()


def settled(store: Store) -> None:
    """Waits until the file has been written anew and the log is empty."""
    with closing(sqlite3.connect(store.database.path)) as connection:
        while connection.execute("PRAGMA user_version").fetchone() != (0,) or store.database.rewriting._timer is not None:
            time.sleep(0.005)
    while store.database.path.with_name(store.database.path.name + "-wal").stat().st_size:
        time.sleep(0.005)


# A thief of the file, or of a backup.


def orders(path: Path, ids: Sequence[bytes]) -> dict[str, float]:
    """Rank correlations with arrival: of the first and the last place of each id in the file, and of the rows as they come."""
    content = b"".join(file.read_bytes() for file in (path, path.with_name(path.name + "-wal")) if file.exists())
    with closing(sqlite3.connect(path)) as connection:
        rows = {row[0]: place for place, row in enumerate(connection.execute("SELECT id FROM submissions"))}
    places = {"first": [content.find(i) for i in ids], "last": [content.rfind(i) for i in ids], "rows": [rows.get(i, -1) for i in ids]}
    seen = {name: [(arrival, place) for arrival, place in enumerate(found) if place >= 0] for name, found in places.items()}
    return {name: float(spearmanr(*zip(*pairs, strict=True)).statistic) for name, pairs in seen.items() if len(pairs) > 2}


def mean_orders(folder: Path, survey: Survey, n: int, databases: int, mode: Mode) -> dict[str, float]:
    """The mean over databases of n records each: of the file of a running server, of a backup, and of the file once it has stopped.

    Records of people are released once, after the last one came; bulk records in batches as they come.
    """
    found: list[dict[str, float]] = []
    for number in range(databases):
        path, copy = folder / f"{n}-{number}.db", folder / f"{n}-{number}-copy.db"
        with opened(path, survey) as store:
            ids = []
            for _ in range(n):
                submission = record_of(survey, mode=mode)
                store.submissions.add("small", submission)
                ids.append(submission.id)
            release_people(store)
            store.backup(copy)  # at any moment, also before the file is written anew
            settled(store)
            running = orders(path, ids)
            store.surveys.set_open("small", False)
        every = {"running": running, "backup": orders(copy, ids), "stopped": orders(path, ids)}
        found.append({f"{name}, {which}": value for name, one in every.items() for which, value in one.items()})
    return {name: float(np.mean([one[name] for one in found])) for name in found[0]}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["device", "organisation"])
@pytest.mark.parametrize(("n", "databases"), [(30, 18), (90, 6), (300, 2)])
def test_no_place_in_a_file_shows_when_a_record_came(
    tmp_path: Path, n: int, databases: int, mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vacuum, "PAUSE_SECONDS", 0.01)
    found = mean_orders(tmp_path, survey_of(), n, databases, mode)
    print(n, {name: round(value, 3) for name, value in found.items()})
    assert len(found) == 9
    assert max(map(abs, found.values())) <= 0.2


@pytest.mark.slow
def test_five_bulk_records_that_wait_are_nowhere_and_five_of_a_closed_survey_in_no_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vacuum, "PAUSE_SECONDS", 0.01)
    found = mean_orders(tmp_path, survey_of(), 5, 24, "organisation")
    print({name: round(value, 3) for name, value in found.items()})
    assert sorted(found) == ["stopped, first", "stopped, last", "stopped, rows"]  # no id can be found before that
    assert max(map(abs, found.values())) <= 0.4


def test_fewer_records_of_people_than_a_batch_are_nowhere_even_in_a_closed_survey(tmp_path: Path) -> None:
    assert mean_orders(tmp_path, survey_of(), 9, 1, "device") == {}


@pytest.mark.slow
def test_records_that_are_counted_one_by_one_in_a_file_that_is_left_alone_would_be_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "SMALL_BYTES", 0)
    found = mean_orders(tmp_path, survey_of(batch=1), 30, 2, "organisation")
    assert max(abs(value) for name, value in found.items() if name.startswith("running")) > 0.9


@pytest.mark.slow
def test_a_batch_in_a_file_that_is_left_alone_would_be_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "SMALL_BYTES", 0)
    found = mean_orders(tmp_path, survey_of(), 60, 2, "organisation")  # those who stay behind mix the order a little
    assert max(abs(value) for name, value in found.items() if name.startswith("running")) > 0.5


# A thief of the file and the key, before a release.


def waiting_orders(path: Path, people: int) -> dict[str, float]:
    """Rank correlations that a thief with the key finds: of rows and their places with the arrival, and of records with their codes."""
    survey = survey_of(access="invited")
    with opened(path, survey) as store:
        codes = [os.urandom(15) for _ in range(people)]
        hashes = [access_codes.invitation_hash("small", code) for code in codes]
        store.invitations.add("small", hashes)
        sent = [record_of(survey, code) for code in codes]
        for submission in sent:
            store.submissions.add("small", submission)
        settled(store)
        content, seal = path.read_bytes(), store.database.seal
        with closing(store.database.connect()) as connection:
            (waiting,) = intake.Intake(connection, seal).waiting(survey, bulk=False).values()
            rows = {bytes(tag): number for number, (tag,) in enumerate(connection.execute("SELECT tag FROM intake"))}
    assert {(id_, records.reports) for id_, records in waiting.arrived.items()} == {(one.id, one.reports) for one in sent}
    own = [intake.tag(seal, one.id) for one in sent]
    used = [intake.code_tag(seal, "small", hash_) for hash_ in hashes]
    places = {"rows": [rows[tag] for tag in own], "read": [list(waiting.arrived).index(one.id) for one in sent]}
    for name, tags in (("records", own), ("codes", used)):
        places |= {f"{name}, first": [content.find(tag) for tag in tags], f"{name}, last": [content.rfind(tag) for tag in tags]}
    assert all(min(found) >= 0 for found in places.values())
    pairs = {name: (range(people), found) for name, found in places.items()}
    pairs |= {f"link, {which}": (places[f"records, {which}"], places[f"codes, {which}"]) for which in ("first", "last")}
    return {name: float(spearmanr(*pair).statistic) for name, pair in pairs.items()}


def mean_waiting_orders(folder: Path, people: int, databases: int) -> dict[str, float]:
    found = [waiting_orders(folder / f"{people}-{number}.db", people) for number in range(databases)]
    return {name: float(np.mean([one[name] for one in found])) for name in found[0]}


@pytest.mark.slow
@pytest.mark.parametrize(("people", "databases"), [(39, 14), (200, 3)])
def test_with_the_key_a_thief_sees_which_records_wait_and_neither_their_order_nor_their_codes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, people: int, databases: int
) -> None:
    monkeypatch.setattr(vacuum, "PAUSE_SECONDS", 0.01)
    found = mean_waiting_orders(tmp_path, people, databases)
    print(people, {name: round(value, 3) for name, value in found.items()})
    assert max(map(abs, found.values())) <= 0.2


@pytest.mark.slow
def test_waiting_records_in_a_file_that_is_left_alone_would_be_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "SMALL_BYTES", 0)
    found = mean_waiting_orders(tmp_path, 39, 2)
    assert min(abs(found[name]) for name in ("records, first", "codes, first", "link, first")) > 0.9


# The nightly: copies that somebody compares, with the list of who got which code.


def nightly(folder: Path, days: Days, release: str, batch: int = 10) -> dict[str, int]:
    """Returns how many of PEOPLE people are matched with their record, by the way of matching.

    None to three of them answer every other day, and a release is due on each day between.
    """
    survey, chance = survey_of(batch, access="invited", release=release), random.Random(7)
    right = dict.fromkeys(("at random", "by row and hash", "by place and place"), 0)
    people = {access_codes.invitation_hash("small", code): code for code in (os.urandom(15) for _ in range(PEOPLE))}
    truth: dict[bytes, bytes] = {}  # whose record it is
    with opened(folder / "small.db", survey) as store:
        store.invitations.add("small", list(people))
        coming, known, spent, day = list(people), set(), set(), -1
        chance.shuffle(coming)
        while coming or len(known) < PEOPLE:
            days.set(day := day + 2)
            for _ in range(min(chance.randrange(4), len(coming))):
                person = coming.pop()
                submission = record_of(survey, people[person])
                store.submissions.add("small", submission)
                truth[submission.id] = person
            store.submissions.release_due(days.end(day + 1))
            copy = folder / "night.db"
            store.backup(copy)
            with closing(sqlite3.connect(copy)) as connection:
                ids = [row[0] for row in connection.execute("SELECT id FROM submissions") if row[0] not in known]
                hashes = [row[0] for row in connection.execute("SELECT hash FROM invitations WHERE spent") if row[0] not in spent]
            content = copy.read_bytes()
            copy.unlink()
            assert not any(id_ in content for id_ in set(truth) - known - set(ids))
            known |= set(ids)
            spent |= set(hashes)
            assert len(ids) == len(hashes)
            assert release == "daily" or len(ids) in (0, PEOPLE)
            pairings = {
                "at random": zip(ids, chance.sample(hashes, len(hashes)), strict=True),
                "by row and hash": zip(ids, sorted(hashes), strict=True),
                "by place and place": zip(sorted(ids, key=content.find), sorted(hashes, key=content.find), strict=True),
            }
            for way, pairs in pairings.items():
                right[way] += sum(truth[id_] == person for id_, person in pairs)
            if not coming:
                store.surveys.set_open("small", False)
    return right


def test_nightly_copies_until_the_close_link_people_to_records_no_better_than_a_guess_among_all(tmp_path: Path, days: Days) -> None:
    right = nightly(tmp_path, days, "close")
    print(right)
    assert max(right.values()) <= 1 + LUCK  # one right of all


@pytest.mark.slow
def test_nightly_copies_of_daily_releases_link_people_to_records_no_better_than_a_guess_among_ten(tmp_path: Path, days: Days) -> None:
    right = nightly(tmp_path, days, "daily")
    print(right)
    expected = PEOPLE / 10  # one right of each ten
    assert max(right.values()) <= expected + LUCK * expected**0.5


@pytest.mark.slow
def test_nightly_copies_of_a_batch_of_one_would_be_found_out(tmp_path: Path, days: Days) -> None:
    right = nightly(tmp_path, days, "daily", 1)
    print(right)
    assert min(right.values()) > 3 * PEOPLE / 10


# The poller: somebody with a login who asks for results after each arrival, and sees who has just answered.


def polled(folder: Path, days: Days, mode: Mode, batch: int) -> tuple[int, int]:
    """Returns how many of PEOPLE records are alone in what is polled, and how many are matched by a guess among those that came together.

    One person answers every other day, and a release is due on the days between. Records of an organisation come in batches.
    """
    survey, chance = survey_of(batch), random.Random(7)
    alone, right = 0, 0
    with opened(folder / "small.db", survey) as store:
        before, arrived = tally_of(store, "small"), []
        for day in range(1, 2 * PEOPLE, 2):
            days.set(day)
            submission = record_of(survey, mode=mode)
            store.submissions.add("small", submission)
            arrived.append(submission)
            if mode == "device":
                assert tally_of(store, "small").to_bytes() == before.to_bytes()
                store.submissions.release_due(days.end(day + 1))
            after = tally_of(store, "small")
            if after.n == before.n:
                assert after.to_bytes() == before.to_bytes()
                continue
            row = np.packbits((after - before).ones.astype(np.bool_)).tobytes()
            alone += any(row == one.reports for one in arrived) if after.n - before.n == 1 else 0
            rows = [one.id for one in arrived]
            right += sum(one == other for one, other in zip(rows, chance.sample(rows, len(rows)), strict=True))
            before, arrived = after, []
    return alone, right


MODES = pytest.mark.parametrize("mode", ["device", "organisation"])


@MODES
def test_a_poller_reads_off_no_record_and_guesses_among_ten(tmp_path: Path, days: Days, mode: Mode) -> None:
    alone, right = polled(tmp_path, days, mode, 10)
    expected = PEOPLE / 10
    print(alone, right)
    assert alone == 0
    assert right <= expected + LUCK * expected**0.5


@MODES
def test_a_poller_of_a_batch_of_one_would_be_found_out(tmp_path: Path, days: Days, mode: Mode) -> None:
    assert polled(tmp_path, days, mode, 1) == (PEOPLE, PEOPLE)


@pytest.mark.slow
@pytest.mark.parametrize("release", ["close", "daily"])
def test_nothing_that_a_researcher_can_ask_for_changes_before_ten_have_come(
    client: FlaskClient, store: Store, submissions: Callable[..., Submission], release: str
) -> None:
    survey = survey_of(5, access="invited", release=release, groups=["North", "South"])
    store.surveys.publish(survey)
    people = [os.urandom(15) for _ in range(30)]
    store.invitations.add("small", [access_codes.invitation_hash("small", code) for code in people])
    client.post("/login", data={"user": "ada", "password": "correct horse battery", "csrf_token": token_of(client.get("/login").text)})
    asked_with = replace(submissions(to=survey, invitation=os.urandom(15), group="North"), id=os.urandom(16))
    store.submissions.withdraw("small", asked_with.id)  # an id that no submission can have: whoever asks with it spends nothing
    asked = [
        "results",
        "progress",
        "tally",
        "tally?group=South",
        "reports",
        "reports?group=South",
        "reports?form=arrow",
        "reports?form=parquet",
    ]
    for _ in range(2):
        client.get("/manage")  # what takes long to load is loaded: the list is rough where computing takes too long
    seen = []
    for number, code in enumerate(people):
        store.submissions.add("small", submissions(to=survey, invitation=code, group=("North", "South")[number >= 15]))
        pages = ["/manage", "/manage/surveys/small", "/manage/surveys/small?group=South", "/manage/surveys/small/results.json"]
        pages += [f"/manage/surveys/small/{tab}" for tab in ("questions", "plan", "invite", "settings", "groups", "watch", "crosstab")]
        texts = [client.get(page).text for page in pages]
        texts += [client.get(f"/api/v1/surveys/small/{page}", auth=("ada", "correct horse battery")).data.hex() for page in asked]
        seen.append(
            [without_tokens(text) for text in texts]
            + [str(store.invitations.count("small")), results_of(store, "small", {}).to_json()]
            + [
                f"{store.invitations.has('small', access_codes.invitation_hash('small', one))} {answer(store, asked_with, one)}"
                for one in people
            ]
        )
    changes = [number + 1 for number in range(1, len(seen)) if seen[number] != seen[number - 1]]
    assert changes == [10, 20, 30]


@MODES
def test_a_record_that_is_withdrawn_changes_nothing_that_can_be_asked_for_before_a_batch_of_changes_has_come(
    client: FlaskClient, store: Store, mode: Mode
) -> None:
    """Otherwise the reports would show, to those who ask for them again and again, which record was withdrawn."""
    survey = survey_of()
    store.surveys.publish(survey)
    for _ in range(20):
        store.submissions.add("small", record_of(survey, mode=mode))
    release_people(store)
    with store.database.reading() as connection:
        (id_, reports) = connection.execute("SELECT id, reports FROM submissions").fetchone()

    def replies() -> list[bytes]:
        return [client.get(f"/api/v1/surveys/small/{what}", auth=("ada", "correct horse battery")).data for what in ("tally", "reports")]

    before = replies()
    store.submissions.withdraw("small", id_)
    assert replies() == before
    assert reports in before[1]
    for _ in range(10):
        assert replies()[1] == before[1]
        store.submissions.add("small", record_of(survey, mode=mode))
    if mode == "device":
        assert replies()[1] == before[1]
        release_people(store)
    assert len(replies()[1]) == 19 * survey.record.bytes


def answer(store: Store, submission: Submission, code: bytes) -> str:
    """What somebody is told who has the list of codes and sends one of them with an id that cannot be used."""
    with pytest.raises(StoreError) as refused:
        store.submissions.add("small", replace(submission, invitation=code))
    return repr(refused.value)


def token_of(page: str) -> str:
    return page.split('name="csrf_token"')[1].split('value="')[1].split('"')[0]


def without_tokens(page: str) -> str:
    page = re.sub(r'name="once" value="[^"]*"', "", page)
    return page.replace(token_of(page), "") if "csrf_token" in page else page
