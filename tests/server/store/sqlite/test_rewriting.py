"""What is withdrawn is gone from the file and from what lies beside it."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.kit.servers.release import release_people
from tests.kit.servers.tallies import tally_of
from tests.server.store.test_withdrawal import clinics

from deniable.device.entropy import os_words
from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.store import open_store
from deniable_server.store.errors import FullError, UnavailableError
from deniable_server.store.protocol import Store
from deniable_server.store.sql import counting, vacuum
from deniable_server.store.sqlite import file
from deniable_server.store.sqlite.file import SqliteFile

Make = Callable[..., Submission]
__all__ = ["clinics"]


def withdrawn_from(path: Path, submissions: Make, clinics: Survey) -> list[Submission]:
    """Makes a database at `path` of 400 submissions, each with reports like no other's; returns those that were withdrawn."""
    store = open_store(path)
    store.surveys.publish(clinics)
    sent = [submissions(count, to=clinics, group="North") for count in range(100, 500)]
    for submission in sent:
        store.submissions.add("clinics", submission)
    for submission in sent[::7]:
        store.submissions.withdraw("clinics", submission.id)
    store.close()
    assert traces(path, sent) >= len(sent) - len(sent[::7])
    return sent[::7]


def traces(path: Path, submissions: list[Submission]) -> int:
    """How many of them, or parts of them, can be found in the database and the files beside it."""
    content = b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))
    return sum(any(s.reports[at : at + 64] in content for at in range(0, len(s.reports) - 64, 64)) for s in submissions)


def is_due(path: Path) -> bool:
    connection = sqlite3.connect(path)
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    connection.close()
    return found != 0


@pytest.mark.slow
def test_no_byte_of_what_was_withdrawn_stays_once_the_file_is_rewritten(
    tmp_path: Path, submissions: Make, clinics: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "traces.db"
    withdrawn = withdrawn_from(path, submissions, clinics)
    assert is_due(path)
    monkeypatch.setattr(vacuum, "PAUSE_SECONDS", 0.01)
    store = open_store(path)  # a restart does not forget it
    while is_due(path):
        time.sleep(0.01)
    store.close()
    assert traces(path, withdrawn) == 0


def test_the_file_is_rewritten_once_for_many_withdrawals_and_not_for_codes_without_a_record(
    store: Store, clinics: Survey, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    monkeypatch.setattr(vacuum, "PAUSE_SECONDS", 3600)
    monkeypatch.setattr(file, "SMALL_BYTES", 0)  # else what arrives would do the same
    monkeypatch.setattr(store.database.rewriting, "_rewrite", lambda: calls.append(tally_of(store, "clinics").n))
    sent = [submissions(to=clinics, group="North", mode="organisation") for _ in range(20)]
    waiting = submissions(to=clinics, group="North")
    for submission in (*sent, waiting):
        store.submissions.add("clinics", submission)
    for id_ in (os_words(4).tobytes(), waiting.id):
        store.submissions.withdraw("clinics", id_)
    assert store.database.rewriting._timer is None
    timers = set()
    for submission in sent:
        store.submissions.withdraw("clinics", submission.id)
        timers.add(store.database.rewriting._timer)
    (timer,) = timers
    assert timer is not None
    timer.function()
    assert calls == [0]
    assert store.database.rewriting._timer is None


def test_a_long_rewriting_is_followed_by_a_long_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 107.0])
    monkeypatch.setattr(vacuum, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    own = vacuum.VacuumScheduler(lambda: None)
    own._run()
    own.due()
    assert own._timer is not None
    assert own._timer.interval == pytest.approx(7 / 0.02)
    own.stop()


def test_a_rewriting_that_failed_is_due_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vacuum, "PAUSE_SECONDS", 0.01)
    done, failures = threading.Event(), [FullError("no room"), UnavailableError("not now")]

    def rewrite() -> None:
        if failures:
            raise failures.pop()
        done.set()

    vacuum.VacuumScheduler(rewrite).due()
    assert done.wait(60)


def test_a_closed_store_rewrites_nothing_more(store: Store, clinics: Survey, submissions: Make) -> None:
    submission = submissions(to=clinics, group="North", mode="organisation")
    store.submissions.add("clinics", submission)
    store.submissions.withdraw("clinics", submission.id)
    timer = store.database.rewriting._timer
    assert timer is not None
    store.close()
    store.database.rewriting.due()
    timer.join()
    assert store.database.rewriting._timer is timer


@pytest.mark.slow
def test_a_database_that_only_unlinks_would_be_found_out(
    tmp_path: Path, submissions: Make, clinics: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(self: SqliteFile) -> sqlite3.Connection:
        connection = original(self)
        connection.execute("PRAGMA secure_delete = OFF")
        return connection

    original = SqliteFile.connect
    monkeypatch.setattr(SqliteFile, "connect", connect)
    assert traces(tmp_path / "traces.db", withdrawn_from(tmp_path / "traces.db", submissions, clinics)) > 0


def written_by_a_withdrawal(store: Store, submissions: Make, is_open: bool) -> int:
    """Returns the bytes that the writer writes to withdraw one of ten or twenty counted records of 2,048 bits."""
    questions = [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(2048)]
    wide = Survey.from_dict({"deniable": 1, "id": "wide", "title": "T", "about": "A.", "epsilon": 8, "questions": questions})
    store.surveys.publish(wide)
    sent = [submissions(to=wide) for _ in range(20)]
    for submission in sent:
        store.submissions.add("wide", submission)
    assert release_people(store) == ["wide"]
    store.surveys.set_open("wide", is_open)
    with store.database.reading() as connection:
        (id_,) = connection.execute("SELECT id FROM submissions").fetchone()
    written = Path(f"/proc/self/task/{store.database.writer._thread.native_id}/io")
    before = int(written.read_text().split()[3])
    store.submissions.withdraw("wide", id_)
    return int(written.read_text().split()[3]) - before


@pytest.mark.slow
@pytest.mark.parametrize("is_open", [True, False])
def test_a_withdrawal_of_a_wide_record_keeps_the_writer_for_a_few_pages_only(
    store: Store, submissions: Make, monkeypatch: pytest.MonkeyPatch, is_open: bool
) -> None:
    monkeypatch.setattr(vacuum, "PAUSE_SECONDS", 3600)
    assert 0 < written_by_a_withdrawal(store, submissions, is_open) < 64 * 4096


@pytest.mark.slow
def test_pairs_of_wide_records_that_are_kept_would_be_found_out(store: Store, submissions: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vacuum, "PAUSE_SECONDS", 3600)
    monkeypatch.setattr(counting.tallies, "WIDE", 4096)
    assert written_by_a_withdrawal(store, submissions, False) > 4096 * 4096
