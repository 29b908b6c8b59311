"""A backup gives back what was acknowledged when it was made, to whoever has its key, and is put in nobody's place.

`make long NAME=backups` makes 50 under load; the suite makes some.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Event, Thread

import httpx
import pytest
from click.testing import CliRunner
from tests.kit.patience import PATIENCE, wait_for
from tests.kit.servers.process import ServerProcess
from tests.kit.surveys import submission

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.config import key_file
from deniable_server.operate import locked
from deniable_server.operate.cli import main
from deniable_server.operate.restore import restore
from deniable_server.store import open_store
from deniable_server.store.protocol import Store

BACKUPS = int(os.environ.get("DENIABLE_BACKUPS", "3"))
CLIENTS = 4
PASSWORD = "a password for backups"
Make = Callable[..., Submission]


def run(*words: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(main, [str(word) for word in words], env={"LOCK": PASSWORD, "OTHER": "another password"})
    assert "Traceback" not in result.output
    return result.exit_code, result.output if result.exit_code else result.stdout


@pytest.fixture
def clinic(store: Store) -> Survey:
    """A published survey: an organisation's records are counted ten at a time, and those of people wait for the release."""
    question = {"id": "q", "text": "?", "type": "yes_no"}
    source = {"deniable": 1, "id": "clinic", "title": "T", "about": "A.", "epsilon": "ln 3", "batch": 10, "questions": [question]}
    store.surveys.publish(Survey.from_dict(source))
    return store.surveys.published("clinic").survey


@pytest.fixture
def kept(store: Store, clinic: Survey) -> list[Submission]:
    """Thirty-three submissions to it: twenty of an organisation, of which ten are counted, and thirteen of people."""
    sent = [submission(clinic, mode="organisation") for _ in range(20)] + [submission(clinic) for _ in range(13)]
    for each in sent:
        store.submissions.add("clinic", each)
    return sent


def holds(db: Path, sent: Sequence[Submission]) -> list[bool]:
    """Which of the submissions a database has, counted or waiting."""
    with closing(open_store(db)) as store:
        store.surveys.set_open("clinic", False)  # counts all that waits
    with closing(sqlite3.connect(db)) as read:
        there = {id_ for (id_,) in read.execute("SELECT id FROM submissions")}
    return [each.id in there for each in sent]


@pytest.mark.slow
@pytest.mark.parametrize("words", [("--with-key",), ("--password-env", "LOCK")], ids=["plain", "locked"])
def test_a_backup_becomes_a_database_with_everything_in_it(
    tmp_path: Path, store: Store, kept: list[Submission], words: tuple[str, ...]
) -> None:
    copy, new = tmp_path / "copy.db", tmp_path / "elsewhere" / "new.db"
    new.parent.mkdir()
    plain = words == ("--with-key",)
    where = f"with the key in {key_file(copy)}" if plain else "locked, with the key in it"
    assert run("backup", copy, *words, "--db", tmp_path / "deniable.db") == (
        0,
        f"{copy} is a copy of {tmp_path / 'deniable.db'}, {where}.\n",
    )
    code, said = run("restore", "--yes", copy, "--db", new, *(() if plain else words))
    assert (code, said) == (0, f"{new} is restored from {copy}: 10 counted records.\n")
    assert sorted(path.name for path in new.parent.iterdir()) == ["new.db", "new.db.key"]
    assert {path.stat().st_mode & 0o777 for path in new.parent.iterdir()} == {0o600}
    assert holds(new, kept) == [True] * 33
    assert run("doctor", "--db", new)[0] == 0


@pytest.mark.slow
def test_a_locked_backup_shows_nothing_and_opens_for_its_password_only(tmp_path: Path, store: Store, kept: list[Submission]) -> None:
    copy, new = tmp_path / "copy.db", tmp_path / "new.db"
    assert run("backup", copy, "--password-env", "LOCK", "--db", tmp_path / "deniable.db")[0] == 0
    content = copy.read_bytes()
    shown = [b"SQLite", b"CREATE TABLE", b"clinic", store.surveys.published("clinic").survey.definition[:40], *(each.id for each in kept)]
    assert [each for each in [*shown, key_file(tmp_path / "deniable.db").read_bytes().strip()] if each in content] == []
    before = sorted(tmp_path.iterdir())
    for words in ((), ("--password-env", "OTHER")):
        code, said = run("restore", "--yes", copy, "--db", new, *words)
        assert (code, "password" in said) == (1, True)
    for broken in (
        content[:-1],
        content + b"x",
        content[:-5000],
        content[: len(locked.MAGIC) + 10],
        flipped(content, 400),
        flipped(content, -300),
    ):
        copy.write_bytes(broken)
        code, said = run("restore", "--yes", copy, "--db", new, "--password-env", "LOCK")
        assert (code, "and the file whole" in said) == (1, True)
    assert sorted(tmp_path.iterdir()) == before


def flipped(content: bytes, place: int) -> bytes:
    changed = bytearray(content)
    changed[place] ^= 1
    return bytes(changed)


def test_what_is_there_stays_and_what_is_wrong_is_not_restored(tmp_path: Path, store: Store, kept: list[Submission]) -> None:
    copy, new, key = tmp_path / "copy.db", tmp_path / "new.db", tmp_path / "other.key"
    run("backup", copy, "--db", tmp_path / "deniable.db")
    assert f"the server's key is not in {key_file(copy)}: name its file with --key FILE" in run("restore", "--yes", copy, "--db", new)[1]
    key.write_text("k" * 43)
    assert "key file" in run("restore", "--yes", copy, "--db", new, "--key", key)[1]
    with pytest.raises(FileExistsError, match=r"deniable\.db.*move it away first"):
        restore(copy, key_file(tmp_path / "deniable.db"), None, tmp_path / "deniable.db")
    assert not new.exists()
    assert not key_file(new).exists()
    with closing(sqlite3.connect(copy)) as db:
        rows = db.execute("SELECT key, reports FROM submissions").fetchall()
    for reports in {reports for _, reports in rows}:  # each record that there can be, one without a bit too
        spoiled = tmp_path / "spoiled.db"
        shutil.copy(copy, spoiled)
        with closing(sqlite3.connect(spoiled)) as db, db:
            db.execute("DELETE FROM submissions WHERE key = ?", [next(key for key, kept in rows if kept == reports)])
        code, said = run("restore", "--yes", spoiled, "--db", new, "--key", key_file(tmp_path / "deniable.db"))
        assert code == 1
        assert said == f"Error: the backup {spoiled} cannot be restored: it must be whole: its records of clinic and their counts differ\n"
        assert not new.exists()


class Load:
    """Clients that send without a pause, each one after the other; what was acknowledged to each, in order."""

    def __init__(self, server: ServerProcess, survey: Survey) -> None:
        self._url, self._survey, self._enough = f"{server.url}/api/v1/surveys/{survey.id}/submissions", survey, Event()
        self.sent: list[list[Submission]] = [[] for _ in range(CLIENTS)]
        self.acknowledged = [0] * CLIENTS
        self._threads = [Thread(target=self._send, args=(number,)) for number in range(CLIENTS)]

    def _send(self, number: int) -> None:
        with httpx.Client(timeout=PATIENCE) as client:
            while not self._enough.is_set():
                made = submission(self._survey, 1)
                self.sent[number].append(made)
                reply = client.post(self._url, content=made.to_json(), headers={"Content-Type": "application/json"})
                assert reply.status_code == 200, reply.text
                self.acknowledged[number] += 1

    def has_acknowledged(self, number: int) -> bool:
        return sum(self.acknowledged) > number

    def __enter__(self) -> Load:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._enough.set()
        for thread in self._threads:
            thread.join()


def lost_or_made_up(load: Load, restored: list[tuple[Path, list[int]]]) -> list[str]:
    """What is wrong with databases that were restored, each with what was acknowledged to each client before its backup began."""
    wrong = []
    for place, (db, before) in enumerate(restored):
        for number, sent in enumerate(load.sent):
            there = holds(db, sent)
            count = there.index(False) if False in there else len(there)
            if count < before[number]:
                wrong.append(f"backup {place}, client {number}: {count} restored of {before[number]} acknowledged")
            if any(there[count:]):
                wrong.append(f"backup {place}, client {number}: no prefix")
    return wrong


def made_under_load(server: ServerProcess, survey: Survey, backup: Callable[[Path], object]) -> list[str]:
    server.publish(survey)
    server.start()
    with Load(server, survey) as load:
        restored = []
        for place in range(BACKUPS):
            wait_for(partial(load.has_acknowledged, 100 * (place + 1)), "a hundred more submissions")
            before, copy, new = load.acknowledged.copy(), server.folder / f"copy{place}.db", server.folder / f"new{place}.db"
            backup(copy)
            restore(copy, server.db.with_name(f"{server.db.name}.key"), None, new)
            restored.append((new, before))
    assert sum(load.acknowledged) > 100 * BACKUPS
    assert all(sum(before) > 0 for _, before in restored[1:])
    return lost_or_made_up(load, restored)


@pytest.mark.slow
def test_backups_that_are_made_under_load_hold_what_was_acknowledged_in_its_order(
    make_server: Callable[..., ServerProcess], clinic: Survey
) -> None:
    server = make_server()
    assert made_under_load(server, clinic, lambda copy: server.run("backup", str(copy))) == []


@pytest.mark.slow
def test_plain_copies_of_the_file_would_not(make_server: Callable[..., ServerProcess], clinic: Survey) -> None:
    """The control: what is in the write-ahead log is not in the file."""
    server = make_server()
    try:
        wrong = made_under_load(server, clinic, lambda copy: shutil.copy(server.db, copy))
    except Exception as error:  # a file that was copied while it changed can be damaged in any way
        wrong = [str(error)]
    assert wrong
