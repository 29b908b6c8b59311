"""The outbox: what is in it survives, is owned by one, and is never an answer."""

from __future__ import annotations

import dataclasses
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from deniable.delivery import outbox as outbox_module
from deniable.delivery.outbox import Outbox, default_path
from deniable.errors import DeliveryError, RefusedError, RejectedRow
from deniable.wire.submission import Submission

URL = "https://example.org"
PERTURBED = Submission(b"0123456789abcdef", "d" * 64, 3, b"\x01\x02\x03")


@pytest.fixture
def box(outbox):
    box = Outbox(outbox)
    yield box
    box.close()


def other(outbox: Path) -> Outbox:
    """As another process has it: with an owner of its own."""
    return Outbox(outbox)


def test_what_is_added_is_there_byte_for_byte_after_closing(outbox):
    first = Outbox(outbox)
    first.add(URL, "s", PERTURBED)
    first.close()
    second = Outbox(outbox)
    assert second.urls() == [URL]
    assert second.claim("https://elsewhere.org") == []
    assert second.claim(URL) == [PERTURBED.id]
    assert second.load(PERTURBED.id) == ("s", PERTURBED)
    second.close()


def test_what_goes_openly_beside_the_records_is_kept_with_them(outbox):
    beside = [
        dataclasses.replace(PERTURBED, id=b"a" * 16, count=1, group="North & South", invitation=bytes(range(15))),
        dataclasses.replace(PERTURBED, id=b"b" * 16, mode="by_hand"),
    ]
    first = Outbox(outbox)
    first.add(URL, "s", *beside)
    first.close()
    second = Outbox(outbox)
    assert [second.load(submission.id) for submission in beside] == [("s", submission) for submission in beside]
    second.close()


VERSION_1 = """
CREATE TABLE job (
    number INTEGER PRIMARY KEY, url TEXT NOT NULL, survey TEXT NOT NULL, name TEXT NOT NULL,
    digest TEXT NOT NULL, mark TEXT NOT NULL, rows INTEGER NOT NULL DEFAULT 0, submissions INTEGER NOT NULL DEFAULT 0,
    owner TEXT, UNIQUE (url, survey, name)
);
CREATE TABLE submission (
    id BLOB PRIMARY KEY, url TEXT NOT NULL, survey TEXT NOT NULL, digest TEXT NOT NULL,
    count INTEGER NOT NULL, reports BLOB NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'refused')), reason TEXT NOT NULL DEFAULT '',
    job INTEGER REFERENCES job, owner TEXT
);
CREATE TABLE rejected (
    job INTEGER NOT NULL REFERENCES job, row INTEGER NOT NULL, question TEXT NOT NULL, reason TEXT NOT NULL
);
INSERT INTO job VALUES (1, 'https://example.org', 's', 'j', 'd', 'm', 7, 2, NULL);
INSERT INTO job VALUES (2, 'https://example.org', 's', 'file', 'd', '76 bytes, changed 5', 1, 1, NULL);
INSERT INTO rejected VALUES (1, 3, 'q', 'rule');
PRAGMA user_version = 1;
"""


def test_an_outbox_of_the_first_version_is_taken_over_with_all_that_is_in_it(outbox):
    with closing(sqlite3.connect(outbox)) as db:
        db.executescript(VERSION_1)
        values = [PERTURBED.id, URL, "s", PERTURBED.digest, PERTURBED.count, PERTURBED.reports, "waiting", "", 1, None]
        db.execute(f"INSERT INTO submission VALUES ({', '.join('?' * len(values))})", values)
        db.commit()
    for _ in range(2):
        box = Outbox(outbox)
        job = box.begin(URL, "s", "j", "d", "m")
        assert (job.rows, job.submissions, job.rejected) == (7, 2, (RejectedRow(3, "q", "rule"),))
        assert box.claim(URL, job) == [PERTURBED.id]
        assert box.load(PERTURBED.id) == ("s", PERTURBED)
        assert box._file._db.execute("PRAGMA user_version").fetchone() == (6,)
        assert box.begin(URL, "s", "file", "d", "changed 5").rows == 1
        box.close()
        assert b"76 bytes" not in outbox.read_bytes()  # as long as the answers in the file were


def test_an_upgrade_that_is_interrupted_changes_nothing(outbox, monkeypatch):
    with closing(sqlite3.connect(outbox)) as db:
        db.executescript(VERSION_1)
        before = list(db.iterdump())
    with monkeypatch.context() as patch:
        patch.setattr(outbox_module, "_STEPS", (outbox_module._TABLES, (*outbox_module._PUBLIC, "no statement")))
        with pytest.raises(DeliveryError, match="syntax error"):
            Outbox(outbox)
    with closing(sqlite3.connect(outbox)) as db:
        assert list(db.iterdump()) == before
        assert db.execute("PRAGMA user_version").fetchone() == (1,)
    Outbox(outbox).close()


def test_what_waits_of_a_job_can_travel_with_another_invitation(box):
    job = box.begin(URL, "s", "j", "d", "m")
    elsewhere = dataclasses.replace(PERTURBED, id=b"x" * 16)
    box.add(URL, "s", elsewhere)
    box.advance(URL, "s", job, 1, [PERTURBED], [])
    box.invite(job, b"i" * 15)
    assert box.load(PERTURBED.id)[1] == dataclasses.replace(PERTURBED, invitation=b"i" * 15)
    assert box.load(elsewhere.id)[1] == elsewhere


def test_what_is_removed_is_never_sent(box):
    box.add(URL, "s", PERTURBED)
    box.remove(PERTURBED.id)
    box.remove(b"never here")
    assert box.waiting(URL) == 0


def test_the_bytes_are_gone_once_acknowledged(box, outbox):
    box.add(URL, "s", PERTURBED)
    box.remove(PERTURBED.id)
    assert box.waiting(URL) == 0
    with closing(sqlite3.connect(outbox)) as db:
        assert db.execute("SELECT count(*) FROM submission").fetchone() == (0,)


def test_the_same_submission_cannot_be_added_twice(box):
    box.add(URL, "s", PERTURBED)
    with pytest.raises(DeliveryError, match="cannot be used: UNIQUE constraint"):
        box.add(URL, "s", PERTURBED)


def test_only_one_who_lives_may_send(box, outbox):
    box.add(URL, "s", PERTURBED)
    second = other(outbox)
    assert second.claim(URL) == []
    assert box.claim(URL) == []  # it is sending already
    box.release([PERTURBED.id])
    assert second.claim(URL) == [PERTURBED.id]
    assert box.claim(URL) == []
    second.close()
    assert box.claim(URL) == [PERTURBED.id]


def test_what_a_killed_process_owned_can_be_taken_over(outbox):
    code = """
import os, signal, sys
from deniable.delivery.outbox import Outbox
from deniable.wire.submission import Submission
box = Outbox(sys.argv[1])
job = box.begin("u", "s", "j", "d", "m")
box.advance("u", "s", job, 5, [Submission(b"0123456789abcdef", "d" * 64, 3, b"123")], [])
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", code, str(outbox)], check=False, timeout=60)
    assert len(list(outbox.parent.glob("*.lock"))) == 1
    box = Outbox(outbox)
    job = box.begin("u", "s", "j", "d", "m")
    assert (job.rows, job.submissions) == (5, 1)
    assert box.claim("u", job) == [b"0123456789abcdef"]
    box.close()
    assert list(outbox.parent.glob("*.lock")) == []


def test_a_job_has_one_worker_at_a_time(box, outbox):
    job = box.begin(URL, "s", "j", "d", "m")
    second = other(outbox)
    for busy in (box, second):
        with pytest.raises(DeliveryError, match="job j: another process is working on it; run the same command again once it has ended"):
            busy.begin(URL, "s", "j", "d", "m")
    box.end(job)
    second.begin(URL, "s", "j", "d", "m")
    second.close()


def test_a_job_moves_on_in_one_step_with_its_submission(box):
    job = box.begin(URL, "s", "j", "d", "m")
    box.add(URL, "s", PERTURBED)
    with pytest.raises(DeliveryError):  # the id is there already, so nothing of this happens
        box.advance(URL, "s", job, 3, [PERTURBED], [RejectedRow(1, "q", "rule")])
    box.end(job)
    again = box.begin(URL, "s", "j", "d", "m")
    assert (again.rows, again.submissions, again.rejected) == (0, 0, ())


def test_a_job_remembers_its_rows_and_those_it_left_out(box):
    job = box.begin(URL, "s", "j", "d", "m")
    box.advance(URL, "s", job, 4, [PERTURBED], [RejectedRow(2, "q", "rule")])
    box.advance(URL, "s", job, 1, [], [RejectedRow(5, "", "rule")])
    box.end(job)
    again = box.begin(URL, "s", "j", "d", "m")
    assert (again.rows, again.submissions) == (5, 1)
    assert again.rejected == (RejectedRow(2, "q", "rule"), RejectedRow(5, "", "rule"))


def test_a_job_that_has_begun_refuses_a_changed_file_or_definition(box):
    job = box.begin(URL, "s", "j", "old", "old")
    box.end(job)
    box.end(box.begin(URL, "s", "j", "new", "new"))  # nothing was randomized yet
    box.advance(URL, "s", box.begin(URL, "s", "j", "new", "new"), 4, [], [])
    box.end(job)
    with pytest.raises(RefusedError, match="job j: it began under the definition with digest new, and the survey now has old"):
        box.begin(URL, "s", "j", "old", "new")
    with pytest.raises(RefusedError, match="job j: the file has changed since its first 4 rows were randomized"):
        box.begin(URL, "s", "j", "new", "old")
    with pytest.raises(RefusedError, match="job j: it began with no group, and now has group North"):
        box.begin(URL, "s", "j", "new", "new", "group North")


def test_what_a_job_sends_is_known_from_its_first_rows_on(box):
    box.end(box.begin(URL, "s", "j", "d", "m", "sheet North"))
    job = box.begin(URL, "s", "j", "d", "m", "sheet South")  # nothing was randomized yet
    box.advance(URL, "s", job, 4, [], [])
    box.end(job)
    with pytest.raises(RefusedError, match="job j: it began with sheet South, and now has sheet North"):
        box.begin(URL, "s", "j", "d", "m", "sheet North")
    box.end(box.begin(URL, "s", "j", "d", "m", "sheet South"))
    with pytest.raises(RefusedError, match="sheet North"):
        box.begin(URL, "s", "j", "d", "m", "sheet North")


def test_what_the_server_refused_is_kept_with_the_reason(box):
    box.add(URL, "s", PERTURBED)
    box.mark_refused(PERTURBED.id, "closed")
    assert box.waiting(URL) == 0
    assert box.claim(URL) == []
    [kept] = box.refused_submissions(URL)
    assert (kept.id, kept.survey, kept.count, kept.reason) == (PERTURBED.id.hex(), "s", 3, "closed")
    assert box.claim(URL, refused=True) == [PERTURBED.id]


def test_only_its_owner_can_read_the_file(outbox):
    old = os.umask(0)
    try:
        box = Outbox(outbox.parent / "new folder" / "outbox")
        box.add(URL, "s", PERTURBED)
        folder = outbox.parent / "new folder"
        assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        box.close()
    finally:
        os.umask(old)


def test_an_outbox_in_memory_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    box = Outbox(":memory:")
    box.add(URL, "s", PERTURBED)
    assert box.claim(URL) == []
    box.close()
    assert list(tmp_path.iterdir()) == []


def test_it_is_written_through_to_the_disk(box):
    assert box._file._db.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    assert box._file._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_file_that_is_no_outbox_is_refused_and_left_as_it_is(outbox):
    outbox.write_bytes(b"my diary, " * 200)
    with pytest.raises(DeliveryError, match="cannot be used: file is not a database"):
        Outbox(outbox)
    assert outbox.read_bytes() == b"my diary, " * 200


def test_an_outbox_of_a_later_version_is_refused(outbox):
    with closing(sqlite3.connect(outbox)) as db:
        db.execute("PRAGMA user_version = 9")
    with pytest.raises(DeliveryError, match="its version must be at most 6, got 9"):
        Outbox(outbox)


def test_a_folder_in_place_of_the_file_is_a_clear_error(tmp_path):
    with pytest.raises(DeliveryError, match="cannot be used"):
        Outbox(tmp_path)


def test_the_default_is_in_the_users_data_folder(monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert default_path() == Path("/data/deniable/outbox.sqlite")
    monkeypatch.delenv("XDG_DATA_HOME")
    assert default_path() == Path.home() / ".local/share/deniable/outbox.sqlite"


def test_an_outbox_is_not_closed_under_a_thread_that_writes_to_it(outbox):
    """Whoever is interrupted while a submission travels closes the outbox that its sender is about to use."""
    box, inside, free = Outbox(outbox), threading.Event(), threading.Event()

    def write() -> None:
        with box._file.transaction():
            inside.set()
            free.wait()

    writer, closer = (threading.Thread(target=one, daemon=True) for one in (write, box._file.close))
    writer.start()
    inside.wait()
    closer.start()
    closer.join(0.2)
    assert closer.is_alive()
    free.set()
    writer.join()
    closer.join()
    with pytest.raises(DeliveryError, match="cannot be used"):
        box.urls()
    box._life.end()
