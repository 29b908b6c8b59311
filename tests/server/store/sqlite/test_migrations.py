"""Migrations of a SQLite file: all or nothing, once, without loss, and never backwards."""

from __future__ import annotations

import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from tests.kit.surveys import submission

from deniable.survey import Survey
from deniable_server.store import open_store
from deniable_server.store.errors import UnavailableError
from deniable_server.store.sqlite import schema
from deniable_server.store.sqlite.tools import Database, Migrations

STUDY = Survey.from_dict(
    {
        "deniable": 1,
        "id": "study",
        "title": "T",
        "about": "A.",
        "questions": [{"id": "q", "text": "Q?", "type": "yes_no", "epsilon": "ln 3"}],
    }
)


def dump(path: Path) -> list[str]:
    """Returns all of a file in SQL, without the times of its migrations."""
    with closing(sqlite3.connect(path)) as connection:
        (due,) = connection.execute("PRAGMA user_version").fetchone()
        return [str(due), *(re.sub(r"'20\d\d-[^']*'", "'a time'", line) for line in connection.iterdump())]


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A file of this version with a survey, 40 records and an account."""
    path = tmp_path / "old.db"
    with closing(open_store(path)) as store:
        store.surveys.publish(STUDY)
        store.submissions.add("study", submission(STUDY, 40, mode="organisation"))
        store.accounts.set_password("ada", "hash of ada")
    return path


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A later version with one more step; returns the names of the steps as they are applied."""
    applied: list[str] = []
    migrations = Migrations("deniable_server")
    migrations(name="0.1.0")(schema.first_release)

    @migrations(name="0.2.0")
    def add_column(db: Database) -> None:
        applied.append("0.2.0")
        db.execute("ALTER TABLE users ADD COLUMN nickname TEXT NOT NULL DEFAULT 'none'")

    monkeypatch.setattr(schema, "migrations", migrations)
    return applied


def test_a_new_file_of_the_tests_is_as_one_that_the_migrations_make(tmp_path: Path) -> None:
    """Theirs is a copy (`kit/servers/cheap.py`)."""
    open_store(tmp_path / "copied.db").close()
    with closing(sqlite3.connect(tmp_path / "made.db")) as connection:
        schema.migrate(connection)
    assert dump(tmp_path / "made.db") == dump(tmp_path / "copied.db")


def test_a_later_step_is_applied_once_and_keeps_what_there_is(filled: Path, next_version: list[str]) -> None:
    before = set(dump(filled))
    for _ in range(2):
        with closing(open_store(filled)) as store:
            (tally,) = store.submissions.counts("study").values()
            assert (tally, store.accounts.password_hash("ada")) == (40, "hash of ada")
    assert next_version == ["0.2.0"]
    lost = {line for line in before - set(dump(filled)) if "users" not in line}
    assert not lost, "only the table that the step changes has changed"


def test_processes_that_open_an_old_file_together_migrate_it_once(filled: Path, next_version: list[str]) -> None:
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(open_store, [filled] * 4))
    for store in stores:
        assert sum(store.submissions.counts("study").values()) == 40
        store.close()
    assert next_version == ["0.2.0"]


def test_a_step_that_fails_leaves_the_file_as_it_was(filled: Path, next_version: list[str]) -> None:
    with closing(sqlite3.connect(filled)) as connection:
        connection.execute("ALTER TABLE users ADD COLUMN nickname TEXT")
    before = dump(filled)
    with pytest.raises(UnavailableError, match="nickname"):
        open_store(filled)
    assert next_version == ["0.2.0"]
    assert dump(filled) == before


def test_a_file_of_a_newer_server_is_refused_and_stays_as_it_was(
    filled: Path, next_version: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_store(filled).close()
    monkeypatch.undo()
    before = dump(filled)
    with pytest.raises(UnavailableError, match=r"must be of version 0\.1\.0 at most, got 0\.2\.0: a newer server made them"):
        open_store(filled)
    assert dump(filled) == before
