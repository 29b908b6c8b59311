"""What any store must do; today there is one, on SQLite."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlite_utils import Database
from tests.server.tallies import count_of, recount_of, tally_of

from deniable.survey import Survey
from deniable.wire.record import unpack
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable_server.store.errors import ClosedError, ConflictError, FullError, UnavailableError, UnknownSurveyError
from deniable_server.store.sqlite import schema, tallies, writer
from deniable_server.store.sqlite.file import File
from deniable_server.store.sqlite.store import SqliteStore

Make = Callable[..., Submission]
SURVEY = """
deniable: 1
batch: 1
id: study
title: Another study
about: Who asks, and why.
epsilon: ln 3
questions: [{id: q, text: Which?, type: yes_no}]
"""


def same(one: Tally, other: Tally) -> bool:
    return one.n == other.n and bool((one.pairs == other.pairs).all())


def test_a_survey_is_published_once_and_never_changes(store: SqliteStore, survey: Survey) -> None:
    assert store.surveys.publish(survey) is False
    changed = Survey.from_dict({**survey.to_dict(), "title": "Another"})
    with pytest.raises(ConflictError, match="never changes"):
        store.surveys.publish(changed)
    assert store.surveys.published("study").survey == survey


def test_an_unknown_survey_is_an_error(store: SqliteStore, submissions: Make) -> None:
    for call in (
        lambda: store.surveys.published("nope"),
        lambda: store.submissions.add("nope", submissions()),
        lambda: tally_of(store, "nope"),
        lambda: store.surveys.set_open("nope", False),
    ):
        with pytest.raises(UnknownSurveyError):
            call()


def test_the_same_submission_again_is_counted_once(store: SqliteStore, submissions: Make) -> None:
    submission = submissions(3)
    assert store.submissions.add("study", submission) is True
    assert store.submissions.add("study", submission) is False
    assert tally_of(store, "study").n == 3


def test_the_same_id_with_other_bytes_is_a_conflict_and_changes_nothing(store: SqliteStore, submissions: Make) -> None:
    submission = submissions(200)
    store.submissions.add("study", submission)
    before = tally_of(store, "study")
    with pytest.raises(ConflictError):
        store.submissions.add("study", submissions(200, id_=submission.id))
    assert same(tally_of(store, "study"), before)


@pytest.mark.parametrize("change", [{"group": "North"}, {"group": None}, {"mode": "by_hand"}, {"mode": "organisation"}])
def test_the_same_id_with_another_group_or_made_by_hand_is_a_conflict(
    change: dict[str, Any], store: SqliteStore, submissions: Make
) -> None:
    submission = submissions(group="South")
    store.surveys.publish(Survey.from_text(SURVEY.replace("id: study", "id: another")))
    store.submissions.add("study", submission)
    with pytest.raises(ConflictError):
        store.submissions.add("study", replace(submission, **change))
    with pytest.raises(ConflictError):
        store.submissions.add("another", submission)
    assert tally_of(store, "study").n == tally_of(store, "study", "South").n == 1


def test_groups_and_what_was_made_by_hand_are_counted_apart(store: SqliteStore, submissions: Make) -> None:
    for count, group, mode in ((1, "North", "device"), (20, "South", "organisation"), (300, "North", "by_hand"), (4000, "South", "device")):
        store.submissions.add("study", submissions(count, group=group, mode=mode))
    expected = {
        (None, False): 4021,
        ("North", False): 1,
        ("South", False): 4020,
        (None, True): 300,
        ("North", True): 300,
        ("South", True): 0,
    }
    assert {part: tally_of(store, "study", *part).n for part in expected} == expected
    assert all(same(tally_of(store, "study", *part), recount_of(store, "study", *part)) for part in expected)
    assert same(tally_of(store, "study"), tally_of(store, "study", "North") + tally_of(store, "study", "South"))
    assert tally_of(store, "study", "nobody's").n == 0


def test_one_conflict_does_not_undo_the_others_of_its_commit(store: SqliteStore, submissions: Make) -> None:
    taken = submissions()
    store.submissions.add("study", taken)
    outcomes: list[object] = []

    def send(submission: Submission) -> None:
        try:
            outcomes.append(store.submissions.add("study", submission))
        except ConflictError as error:
            outcomes.append(error)

    batch = [submissions(2, id_=taken.id), *(submissions() for _ in range(20))]
    threads = [threading.Thread(target=send, args=[s]) for s in batch]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(outcome is True for outcome in outcomes) == 20
    assert tally_of(store, "study").n == 21


def test_a_closed_survey_takes_nothing_new_but_still_knows_what_it_has(store: SqliteStore, submissions: Make) -> None:
    kept = submissions()
    store.submissions.add("study", kept)
    store.surveys.set_open("study", False)
    with pytest.raises(ClosedError):
        store.submissions.add("study", submissions())
    assert store.submissions.add("study", kept) is False
    store.surveys.set_open("study", True)
    assert store.submissions.add("study", submissions()) is True


def test_the_tally_is_what_the_reports_say(store: SqliteStore, survey: Survey, submissions: Make) -> None:
    expected = Tally.empty(7)
    for count in (1, 10, 100, 1):
        submission = submissions(count)
        store.submissions.add("study", submission)
        expected += Tally.from_bits(unpack(survey, submission.reports, count))
        assert same(tally_of(store, "study"), expected)
    assert same(recount_of(store, "study"), expected)


def test_each_report_is_scanned_once_and_when_it_is_counted(store: SqliteStore, submissions: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    scanned: list[int] = []

    def counting(survey: Survey, reports: bytes, count: int) -> object:
        scanned.append(count)
        return unpack(survey, reports, count)

    monkeypatch.setattr(tallies, "unpack", counting)
    for count in (10, 10, 200, 10):
        store.submissions.add("study", submissions(count))
        assert tally_of(store, "study").n == count_of(store, "study") == sum(scanned)
    assert sum(scanned) == 230


def test_two_processes_that_write_together_count_everything_once(tmp_path: Path, store: SqliteStore, submissions: Make) -> None:
    other = SqliteStore(tmp_path / "deniable.db")
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda number: (store, other)[number % 2].submissions.add("study", submissions(2)), range(50)))
    assert tally_of(store, "study").n == tally_of(other, "study").n == 100
    assert same(tally_of(other, "study"), recount_of(store, "study"))
    other.close()


def test_a_wide_survey_has_the_same_tally_and_no_large_row(store: SqliteStore, submissions: Make) -> None:
    questions = [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(tallies.WIDE + 1)]
    wide = Survey.from_dict({"deniable": 1, "batch": 1, "id": "wide", "title": "T", "about": "A.", "epsilon": 8, "questions": questions})
    store.surveys.publish(wide)
    sent = [submissions(count, to=wide) for count in (1, 3, 100)]
    for submission in sent:
        store.submissions.add("wide", submission)
    store.submissions.withdraw("wide", sent[1].id)
    expected = sum((Tally.from_bits(unpack(wide, s.reports, s.count)) for s in sent[::2]), Tally.empty(len(questions)))
    assert same(tally_of(store, "wide"), expected)
    assert count_of(store, "wide") == 101
    connection = store.file.connect()
    assert connection.execute("SELECT sum(length(pairs)) FROM tallies WHERE survey = 'wide'").fetchone() == (0,)
    connection.close()


def test_what_was_kept_is_there_after_opening_the_file_again(tmp_path: Path, store: SqliteStore, submissions: Make) -> None:
    store.submissions.add("study", submissions(7))
    again = SqliteStore(tmp_path / "deniable.db")
    assert tally_of(again, "study").n == 7
    again.close()


def test_a_closed_store_refuses_instead_of_waiting(tmp_path: Path, submissions: Make, survey: Survey) -> None:
    store = SqliteStore(tmp_path / "other.db")
    store.surveys.publish(survey)
    store.close()
    with pytest.raises(UnavailableError):
        store.submissions.add("study", submissions())


def test_a_full_disk_is_said_so_keeps_nothing_and_ends_when_there_is_room(
    tmp_path: Path, survey: Survey, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[int] = []

    def connect(self: File) -> sqlite3.Connection:
        connection = original(self)
        if pages:
            connection.execute(f"PRAGMA max_page_count = {pages[0]}")
        return connection

    original = File.connect
    first = SqliteStore(tmp_path / "small.db")
    first.surveys.publish(survey)
    first.close()
    pages.append(40)
    monkeypatch.setattr(File, "connect", connect)
    store = SqliteStore(tmp_path / "small.db")
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
    store = SqliteStore(tmp_path / "small.db")
    assert store.submissions.add("study", submissions(10_000)) is True
    assert same(tally_of(store, "study"), recount_of(store, "study"))
    store.close()


def test_the_file_is_readable_by_its_owner_only(tmp_path: Path, store: SqliteStore) -> None:
    assert (tmp_path / "deniable.db").stat().st_mode & 0o077 == 0


def test_commits_are_durable_and_deleted_bytes_are_overwritten(store: SqliteStore) -> None:
    connection = store.file.connect()
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert connection.execute("PRAGMA secure_delete").fetchone() == (1,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_requests_that_wait_together_share_a_commit(store: SqliteStore, submissions: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    commits: list[int] = []
    commit = store.file.writer._commit

    def counting(connection: sqlite3.Connection, batch: list[object]) -> None:
        commits.append(len(batch))
        commit(connection, batch)  # type: ignore[arg-type]

    monkeypatch.setattr(store.file.writer, "_commit", counting)
    begun, hold = threading.Event(), threading.Event()
    blocked = threading.Thread(target=store.file.writer.run, args=[lambda connection: begun.set() or hold.wait()])
    blocked.start()
    begun.wait()  # else a request could share its commit
    threads = [threading.Thread(target=store.submissions.add, args=["study", submissions()]) for _ in range(30)]
    for thread in threads:
        thread.start()
    while store.file.writer._jobs.qsize() < 30:
        time.sleep(0.001)
    hold.set()
    for thread in [blocked, *threads]:
        thread.join()
    assert commits == [1, 30]


def test_an_empty_survey_has_an_empty_tally(store: SqliteStore) -> None:
    assert tally_of(store, "study").n == 0
    assert not np.any(tally_of(store, "study").pairs)


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
    store = SqliteStore(tmp_path / "first.db")
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
            stores = list(pool.map(lambda path: SqliteStore(path), [tmp_path / name] * 4))
        assert [tally_of(store, "study").n for store in stores] == [7] * 4
        for store in stores:
            store.close()


def test_a_database_that_cannot_be_brought_up_to_date_stays_as_it_was(tmp_path: Path, survey: Survey, submissions: Make) -> None:
    first_version(tmp_path / "first.db", survey, [submissions(3)], [submissions(4)])
    with closing(sqlite3.connect(tmp_path / "first.db")) as connection:
        connection.execute("CREATE TABLE withdrawn (mine)")
        before = list(connection.iterdump())
    with pytest.raises(UnavailableError, match="withdrawn"):
        SqliteStore(tmp_path / "first.db")
    with closing(sqlite3.connect(tmp_path / "first.db")) as connection:
        assert list(connection.iterdump()) == before
        connection.execute("DROP TABLE withdrawn")
    store = SqliteStore(tmp_path / "first.db")
    assert tally_of(store, "study").n == 7
    store.close()


def test_a_file_that_is_no_database_or_is_damaged_is_said_so(tmp_path: Path, survey: Survey, submissions: Make) -> None:
    path = tmp_path / "damaged.db"
    path.write_bytes(b"no database at all" * 1000)
    with pytest.raises(UnavailableError, match=r"damaged\.db cannot be used: file is not a database"):
        SqliteStore(path)
    path.unlink()
    store = SqliteStore(path)
    store.surveys.publish(survey)
    for _ in range(20):
        store.submissions.add("study", submissions(10_000))
    store.close()
    content = bytearray(path.read_bytes())
    content[3 * 4096 :] = os.urandom(len(content) - 3 * 4096)
    path.write_bytes(content)

    def use() -> None:
        with closing(SqliteStore(path)) as store:
            recount_of(store, "study")

    with pytest.raises(UnavailableError):
        use()


@pytest.mark.slow
def test_another_program_that_holds_the_file_stops_no_reader_and_writers_hear_so_in_time(
    tmp_path: Path, store: SqliteStore, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.submissions.add("study", submissions(5))
    with closing(sqlite3.connect(tmp_path / "deniable.db", isolation_level=None)) as program, ThreadPoolExecutor(20) as pool:
        program.execute("BEGIN IMMEDIATE")
        jobs = store.file.writer._jobs
        asked = jobs.unfinished_tasks + 18
        refused = [pool.submit(store.submissions.add, "study", submissions()) for _ in range(18)]
        while jobs.unfinished_tasks < asked:
            time.sleep(0.001)  # the first have the writer, and wait for the file; the others wait for the writer
        read = [pool.submit(read) for read in (store.surveys.all, lambda: tally_of(store, "study"), lambda: recount_of(store, "study"))]
        assert [bool(reading.result()) for reading in read] == [True] * 3
        assert not any(writing.done() for writing in refused)  # the readers were first, though they came last
        for writing in refused:
            with pytest.raises(UnavailableError, match="nothing was kept"):
                writing.result()
        program.execute("ROLLBACK")
    assert store.submissions.add("study", submissions()) is True
    assert count_of(store, "study") == recount_of(store, "study").n == 6


def test_what_was_taken_back_while_it_waited_is_not_done_later(
    store: SqliteStore, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "WAIT_SECONDS", 0.05)
    begun, hold = threading.Event(), threading.Event()
    blocked = threading.Thread(target=store.file.writer.run, args=[lambda connection: begun.set() or hold.wait()])
    blocked.start()
    begun.wait()
    with pytest.raises(UnavailableError, match="busy"):
        store.submissions.add("study", submissions())
    hold.set()
    blocked.join()
    store.access.invite("study", [])
    assert count_of(store, "study") == 0


def test_a_survey_that_closes_on_a_full_disk_is_closed_and_says_so(
    store: SqliteStore, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise FullError("no room")

    monkeypatch.setattr(store.file, "rewrite", full)
    store.surveys.set_open("study", False)
    assert store.surveys.published("study").is_open is False
    assert store.file.rewriting._timer is not None  # it is tried again


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


def test_a_search_for_an_id_reads_a_few_pages_however_large_the_submissions_are(store: SqliteStore) -> None:
    insert = "INSERT INTO submissions (key, id, survey, label, mode, count, reports) VALUES (abs(random()), ?, 'study', '', 0, 1, ?)"
    with closing(store.file.connect()) as connection:
        assert bytes_read(connection, insert) < 4 * 4096


def test_a_table_keyed_by_the_id_alone_would_be_found_out(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "control.db", isolation_level=None)) as connection:
        connection.execute(BY_ID_ALONE)
        insert = "INSERT INTO submissions (id, survey, label, by_hand, count, reports) VALUES (?, 'study', '', 0, 1, ?)"
        assert bytes_read(connection, insert) > 8 * 4096
