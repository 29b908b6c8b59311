"""SQLite's file: its disk, its pages, its locks, and others that use it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.kit.patience import PATIENCE, wait_for
from tests.kit.servers.tallies import count_of, recount_of, tally_of

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable_server.store import open_store
from deniable_server.store.errors import FullError, UnavailableError
from deniable_server.store.protocol import Store
from deniable_server.store.sqlite.file import SqliteFile
from deniable_server.store.sqlite.store import LEAST_FREE

Make = Callable[..., Submission]


def same(one: Tally, other: Tally) -> bool:
    return one.n == other.n and bool((one.pairs == other.pairs).all())


def test_a_full_disk_is_said_so_keeps_nothing_and_ends_when_there_is_room(
    tmp_path: Path, survey: Survey, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[int] = []

    def connect(self: SqliteFile) -> sqlite3.Connection:
        connection = original(self)
        if pages:
            connection.execute(f"PRAGMA max_page_count = {pages[0]}")
        return connection

    original = SqliteFile.connect
    first = open_store(tmp_path / "small.db")
    first.surveys.publish(survey)
    first.close()
    pages.append((tmp_path / "small.db").stat().st_size // 4096 + 12)
    monkeypatch.setattr(SqliteFile, "connect", connect)
    store = open_store(tmp_path / "small.db")
    accepted = 0
    refusals: list[FullError] = []
    while not refusals:
        try:
            store.submissions.add("study", submissions(10_000))
            accepted += 10_000
        except FullError as error:
            refusals.append(error)
    assert "disk is full" in str(refusals[0])
    assert tally_of(store, "study").n == accepted > 0
    store.close()
    pages[0] = 4000
    store = open_store(tmp_path / "small.db")
    assert store.submissions.add("study", submissions(10_000)) is True
    assert same(tally_of(store, "study"), recount_of(store, "study"))
    store.close()


def test_a_disk_without_room_is_trouble_before_anybody_is_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for free, trouble in ((LEAST_FREE, None), (LEAST_FREE - 1, "the disk of the database is full: less than 4 MiB is free")):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: SimpleNamespace(free=free))
        assert store.trouble() == trouble


def test_the_file_is_readable_by_its_owner_only(tmp_path: Path, store: Store) -> None:
    assert (tmp_path / "deniable.db").stat().st_mode & 0o077 == 0


def test_commits_are_durable_and_deleted_bytes_are_overwritten(store: Store) -> None:
    connection = store.database.connect()
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert connection.execute("PRAGMA secure_delete").fetchone() == (1,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_a_file_that_is_no_database_or_is_damaged_is_said_so(tmp_path: Path, survey: Survey, submissions: Make) -> None:
    path = tmp_path / "damaged.db"
    path.write_bytes(b"no database at all" * 1000)
    with pytest.raises(UnavailableError, match=r"damaged\.db cannot be used: file is not a database"):
        open_store(path)
    path.unlink()
    store = open_store(path)
    store.surveys.publish(survey)
    for _ in range(20):
        store.submissions.add("study", submissions(10_000))
    store.close()
    content = bytearray(path.read_bytes())
    content[3 * 4096 :] = os.urandom(len(content) - 3 * 4096)
    path.write_bytes(content)

    def use() -> None:
        with closing(open_store(path)) as store:
            recount_of(store, "study")

    with pytest.raises(UnavailableError):
        use()


@pytest.mark.slow
def test_another_program_that_holds_the_file_stops_no_reader_and_writers_hear_so_in_time(
    tmp_path: Path, store: Store, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.submissions.add("study", submissions(5))
    with closing(sqlite3.connect(tmp_path / "deniable.db", isolation_level=None)) as program, ThreadPoolExecutor(20) as pool:
        program.execute("BEGIN IMMEDIATE")
        jobs = store.database.writer._jobs
        asked = jobs.unfinished_tasks + 18
        refused = [pool.submit(store.submissions.add, "study", submissions()) for _ in range(18)]
        while jobs.unfinished_tasks < asked:
            time.sleep(0.001)  # the first have the writer, and wait for the file; the others wait for the writer
        read = [pool.submit(read) for read in (store.surveys.all, lambda: tally_of(store, "study"), lambda: recount_of(store, "study"))]
        assert [bool(reading.result()) for reading in read] == [True] * 3
        assert not any(writing.done() for writing in refused)  # the readers were first, though they came last
        for writing in refused:
            with pytest.raises(UnavailableError, match="nothing was stored"):
                writing.result()
        program.execute("ROLLBACK")
    assert store.submissions.add("study", submissions()) is True
    store.surveys.set_open("study", False)
    assert count_of(store, "study") == recount_of(store, "study").n == 6


def test_who_reads_the_file_for_long_holds_up_nobody_who_writes(
    tmp_path: Path, survey: Survey, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log cannot be cut while somebody reads; the writer does not wait for that, however long it would wait for another writer."""
    tried, tidy = threading.Semaphore(0), SqliteFile.tidy

    def trying(self: SqliteFile, connection: sqlite3.Connection) -> bool:
        tried.release()
        return tidy(self, connection)

    monkeypatch.setattr(SqliteFile, "tidy", trying)
    monkeypatch.setattr("deniable_server.store.sqlite.file.BUSY_SECONDS", 2 * PATIENCE)
    store = open_store(tmp_path / "read.db")
    store.surveys.publish(survey)
    with store.database.scanning() as reading:  # type: ignore[attr-defined]
        reading.execute("SELECT count(*) FROM surveys").fetchall()
        for _ in range(3):
            store.submissions.add("study", submissions())
            assert tried.acquire(timeout=PATIENCE)  # the writer was idle, and looks whether it can cut its log
    wait_for(lambda: (tmp_path / "read.db-wal").stat().st_size == 0, "the log, cut once nobody reads any more")
    store.close()


def test_a_survey_that_closes_on_a_full_disk_is_closed_and_says_so(
    store: Store, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise FullError("no room")

    monkeypatch.setattr(store.database, "rewrite", full)
    store.surveys.set_open("study", False)
    assert store.surveys.published("study").is_open is False
    assert store.database.rewriting._timer is not None  # it is tried again


BY_ID_ALONE = """CREATE TABLE submissions (id BLOB PRIMARY KEY, survey TEXT, label TEXT, by_hand INTEGER, count INTEGER, reports BLOB)
WITHOUT ROWID"""


def read_by_this_thread() -> int:
    return int(Path("/proc/thread-self/io").read_text().split()[1])


def bytes_read(connection: sqlite3.Connection, insert: str) -> float:
    """What looking for an unknown id reads from a file of a thousand small submissions and five large ones, with next to no cache."""
    connection.execute("BEGIN")
    connection.executemany(insert, [(os.urandom(16), bytes(size)) for size in [3000] * 1000 + [2_500_000] * 5])
    connection.execute("COMMIT")
    connection.execute("PRAGMA cache_size = 0")
    before, searches = read_by_this_thread(), 100
    for _ in range(searches):
        assert connection.execute("SELECT count, reports FROM submissions WHERE id = ?", [os.urandom(16)]).fetchone() is None
    return (read_by_this_thread() - before) / searches


def test_a_search_for_an_id_reads_a_few_pages_however_large_the_submissions_are(store: Store) -> None:
    insert = "INSERT INTO submissions (key, id, survey, label, mode, count, reports) VALUES (abs(random()), ?, 'study', '', 0, 1, ?)"
    with closing(store.database.connect()) as connection:
        assert bytes_read(connection, insert) < 4 * 4096


def test_a_table_keyed_by_the_id_alone_would_be_found_out(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "control.db", isolation_level=None)) as connection:
        connection.execute(BY_ID_ALONE)
        insert = "INSERT INTO submissions (id, survey, label, by_hand, count, reports) VALUES (?, 'study', '', 0, 1, ?)"
        assert bytes_read(connection, insert) > 8 * 4096
