"""Commands that only read never take the write lock: a server beside them, with hundreds of surveys, goes on accepting records."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.kit.patience import wait_for
from tests.kit.surveys import submission

from deniable.survey import Survey
from deniable_server.operate.cli import main
from deniable_server.operate.upkeep import keep_up
from deniable_server.store import open_store
from deniable_server.store.byte_cache import ByteCache
from deniable_server.store.sql import compiled
from deniable_server.store.sql.writer import Writer
from deniable_server.store.sqlite.file import SqliteFile

pytestmark = pytest.mark.slow

SURVEYS = 300
COMMANDS = ("list", "upkeep", "backup COPY", "results study", "export study --parquet OUT", "audit show", "audit verify")
LISTS = ("user list", "key list", "team list", "webhook list")
WRITES = ("BEGIN IMMEDIATE", "INSERT", "UPDATE", "DELETE", "CREATE", "PRAGMA WAL_CHECKPOINT", "PRAGMA USER_VERSION =")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of many surveys, one with records, of which a rewrite is due."""
    path = tmp_path_factory.mktemp("many") / "deniable.db"
    survey = Survey.from_text(SURVEY)
    with closing(open_store(path)) as store, ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda n: store.surveys.publish(replace(survey, id=f"many-{n}")), range(SURVEYS)))
        store.surveys.publish(survey)
        store.submissions.add("study", submission(survey, 100, mode="organisation"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 1")
    return path


SURVEY = "{deniable: 1, id: study, title: T, about: A., epsilon: ln 3, questions: [{id: q, text: '?', type: yes_no}]}"


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements of all connections."""
    every: list[str] = []
    connect = SqliteFile.connect

    def connecting(file: SqliteFile) -> sqlite3.Connection:
        connection = connect(file)
        connection.set_trace_callback(every.append)
        return connection

    monkeypatch.setattr(SqliteFile, "connect", connecting)
    return every


@pytest.fixture
def locked(path: Path) -> Iterator[None]:
    """Another process writes, for as long as the test runs."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE surveys SET is_open = 1 WHERE id = 'study'")
        yield
        connection.execute("ROLLBACK")


def run(command: str, path: Path, folder: Path) -> str:
    words = [str(folder / word.lower()) if word.isupper() else word for word in command.split()]
    done = CliRunner().invoke(main, [*words, "--db", str(path)])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("command", COMMANDS + LISTS)
def test_a_command_that_reads_begins_no_transaction_for_writing(command: str, path: Path, tmp_path: Path, statements: list[str]) -> None:
    run(command, path, tmp_path)
    assert statements
    assert [statement for statement in statements if statement.upper().startswith(WRITES)] == []
    assert [one for one in statements if one.upper().startswith("VACUUM")] == [
        one for one in statements if one.upper().startswith("VACUUM INTO")
    ]


@pytest.mark.usefixtures("locked")
@pytest.mark.parametrize("command", COMMANDS + LISTS)
def test_a_command_that_reads_needs_no_lock_which_another_process_holds(command: str, path: Path, tmp_path: Path) -> None:
    run(command, path, tmp_path)


def test_a_command_that_writes_is_seen_by_the_same_measure(path: Path, tmp_path: Path, statements: list[str]) -> None:
    run("pause many-7", path, tmp_path)
    assert any(statement.upper().startswith("BEGIN IMMEDIATE") for statement in statements)


def test_the_list_names_every_survey_and_parses_none(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(raw: bytes) -> Survey:
        raise AssertionError("a list must parse no definition")

    monkeypatch.setattr(compiled, "_parsed", ByteCache(0))
    monkeypatch.setattr(Survey, "from_definition", refuse)
    lines = run("list", path, tmp_path).splitlines()
    assert len(lines) == SURVEYS + 1
    assert "study\topen\t100 records\tT" in lines


def test_a_server_that_starts_removes_the_traces_that_a_killed_one_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    survey, path = Survey.from_text(SURVEY), tmp_path / "killed" / "deniable.db"
    with monkeypatch.context() as patched:
        patched.setattr(Writer, "_tidy", lambda writer: None)
        with closing(open_store(tmp_path / "deniable.db")) as store:
            store.surveys.publish(survey)
            store.submissions.add("study", submission(survey))
            path.parent.mkdir()
            for file in tmp_path.glob("deniable.db*"):
                shutil.copy(file, path.parent)
    log = path.with_name("deniable.db-wal")
    assert log.stat().st_size > 0
    with closing(open_store(path)) as store:
        keep_up(store, lambda *_: 200, lambda: datetime.now(UTC), lambda _: True)
        wait_for(lambda: log.stat().st_size == 0, "an empty log")
