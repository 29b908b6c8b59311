"""Files of every version before this one are brought up to date without loss."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database
from tests.server.tallies import recount_of, tally_of

from deniable.survey import Survey
from deniable.wire.record import unpack
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable_server.store import open_store
from deniable_server.store.errors import UnavailableError
from deniable_server.store.sqlite import schema

Make = Callable[..., Submission]


def same(one: Tally, other: Tally) -> bool:
    return one.n == other.n and bool((one.pairs == other.pairs).all())


def first_version(path: Path, survey: Survey, tallied: list[Submission], untallied: list[Submission]) -> None:
    """A database as the first version left it: no group, one tally a survey, nothing withdrawn."""
    with closing(sqlite3.connect(path)) as connection, connection:
        schema.migrations.apply(Database(connection), stop_before="second")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("INSERT INTO surveys VALUES (?, ?, 1, '2026-01-01')", [survey.id, survey.definition])
        for submission in (*tallied, *untallied):
            values = [submission.id, survey.id, submission.count, submission.reports]
            connection.execute("INSERT INTO submissions VALUES (?, ?, ?, ?)", values)
        connection.executemany("INSERT INTO untallied VALUES (?, ?)", [(survey.id, s.id) for s in untallied])
        total = sum((Tally.from_bits(unpack(survey, s.reports, s.count)) for s in tallied), Tally.empty(7))
        connection.execute("INSERT INTO tallies VALUES (?, ?, ?)", [survey.id, total.n, total.to_bytes()])
        connection.execute("INSERT INTO users VALUES ('ada', 'hash')")


def test_a_database_of_the_first_version_is_brought_up_to_date_without_loss(tmp_path: Path, survey: Survey, submissions: Make) -> None:
    tallied, untallied = [submissions(50) for _ in range(20)], [submissions(5) for _ in range(20)]
    first_version(tmp_path / "first.db", survey, tallied, untallied)
    store = open_store(tmp_path / "first.db")
    assert store.surveys.published("study").survey == survey
    assert tally_of(store, "study").n == 1100
    assert same(tally_of(store, "study"), recount_of(store, "study"))
    assert store.accounts.password_hash("ada") == "hash"
    assert not any(store.submissions.add("study", submission) for submission in (*tallied, *untallied))
    for submission in (tallied[0], untallied[0]):
        store.submissions.withdraw("study", submission.id)
    assert store.submissions.add("study", submissions(group="North")) is True
    assert tally_of(store, "study").n == 1046
    assert same(tally_of(store, "study"), recount_of(store, "study"))
    store.close()


def test_processes_that_open_an_old_database_together_bring_it_up_to_date_once(tmp_path: Path, survey: Survey, submissions: Make) -> None:
    for name in map(str, range(10)):
        first_version(tmp_path / name, survey, [submissions(3)], [submissions(4)])
        with ThreadPoolExecutor(4) as pool:
            stores = list(pool.map(lambda path: open_store(path), [tmp_path / name] * 4))
        assert [tally_of(store, "study").n for store in stores] == [7] * 4
        for store in stores:
            store.close()


def test_a_database_that_cannot_be_brought_up_to_date_stays_as_it_was(tmp_path: Path, survey: Survey, submissions: Make) -> None:
    first_version(tmp_path / "first.db", survey, [submissions(3)], [submissions(4)])
    with closing(sqlite3.connect(tmp_path / "first.db")) as connection:
        connection.execute("CREATE TABLE withdrawn (mine)")
        before = list(connection.iterdump())
    with pytest.raises(UnavailableError, match="withdrawn"):
        open_store(tmp_path / "first.db")
    with closing(sqlite3.connect(tmp_path / "first.db")) as connection:
        assert list(connection.iterdump()) == before
        connection.execute("DROP TABLE withdrawn")
    store = open_store(tmp_path / "first.db")
    assert tally_of(store, "study").n == 7
    store.close()
