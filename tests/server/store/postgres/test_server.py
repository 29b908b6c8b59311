"""What a PostgreSQL server must be set to, who is let in, and what happens when it is lost for a moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner
from tests.kit.servers.tallies import count_of, recount_of, tally_of
from tests.server.store.conftest import Databases, SqliteFiles
from tests.server.store.postgresql import server

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.operate.cli import main
from deniable_server.store import open_store
from deniable_server.store.errors import UnavailableError
from deniable_server.store.postgres import schema, settings
from deniable_server.store.protocol import Store
from deniable_server.store.sql import writer

pytestmark = pytest.mark.slow
Make = Callable[..., Submission]
SECRET = "hunter2"


def set_in(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode())


@pytest.mark.parametrize(
    "setting", ["log_statement=all", "log_statement=mod", "log_min_duration_statement=0", "log_parameter_max_length_on_error=-1"]
)
def test_a_database_that_logs_what_comes_is_refused_by_the_name_of_the_setting(setting: str, databases: Databases) -> None:
    url, (name, value) = databases.new(), setting.split("=")
    set_in(url, f"ALTER DATABASE {url.partition('@/')[2].partition('?')[0]} SET {name} = '{value}'")
    with pytest.raises(UnavailableError, match=f"{name} must be .*, got") as error:
        open_store(url)
    assert "\n" not in str(error.value)


def test_what_would_lose_an_acknowledged_submission_is_told_with_everything_else_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    class Told:
        def execute(self, statement: str, values: Any = ()) -> Any:
            wrong = {"fsync": "off", "full_page_writes": "off", "track_commit_timestamp": "on", "server_version_num": "120003"}
            self.found = [wrong.get(values[0], {"log_statement": "none", "log_parameter_max_length_on_error": "0"}.get(values[0], "-1"))]
            return self

        def fetchone(self) -> list[str]:
            return self.found

    assert [told.split(" must")[0] for told in settings.problems(Told())] == [  # type: ignore[arg-type]
        *("fsync", "full_page_writes", "track_commit_timestamp", "the version")
    ]


def test_the_server_of_these_tests_has_no_problems(store: Store) -> None:
    with store.database.reading() as connection:
        assert settings.problems(connection) == []
        assert connection.execute("SHOW fsync").fetchone() == ("on",)


def test_another_key_is_refused_before_anything_is_written(databases: Databases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = databases.new()
    open_store(url).close()
    monkeypatch.setenv("DENIABLE_KEY_FILE", str(tmp_path / "other.key"))
    with pytest.raises(UnavailableError, match="cannot be decrypted"):
        open_store(url)


def test_tables_of_a_newer_version_are_refused(store: Store, url: str) -> None:
    set_in(url, f"UPDATE deniable SET version = {len(schema.STEPS) + 1}")
    with pytest.raises(UnavailableError, match="a newer server made them"):
        open_store(url)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ada:{SECRET}@127.0.0.1:1/study",
        f"postgresql://ada:{SECRET}@[::1/study",
        f"postgresql://ada@127.0.0.1:1/study?password={SECRET}",
        f"postgres://ada:{SECRET}@127.0.0.1:1/study?nonsense={SECRET}",
    ],
)
def test_no_message_has_the_password_of_a_url(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_KEY_FILE", str(tmp_path / "deniable.key"))
    (tmp_path / "deniable.key").write_text("k" * 43)
    with pytest.raises(UnavailableError, match="cannot be used") as error:
        open_store(url)
    told = CliRunner().invoke(main, ["list", "--db", url])
    assert (told.exit_code, len(told.output.splitlines())) == (1, 1)
    assert SECRET not in f"{error.value!r} {error.value.__cause__!r} {told.output} {told.exception!r}"


def test_a_survey_has_the_same_tallies_here_and_on_sqlite(store: Store, tmp_path: Path, survey: Survey, submissions: Make) -> None:
    other = open_store(SqliteFiles(tmp_path).new())
    other.surveys.publish(survey)
    sent = [submissions(1 + number % 70) for number in range(140)]
    for one in (store, other):
        for submission in sent:
            one.submissions.add("study", submission)
        for submission in sent[::9]:
            one.submissions.withdraw("study", submission.id)
        one.surveys.set_open("study", False)
    assert tally_of(store, "study").to_bytes() == tally_of(other, "study").to_bytes() == recount_of(store, "study").to_bytes()
    other.close()


def test_a_lookup_with_a_nul_finds_nothing(store: Store) -> None:
    assert store.accounts.password_hash("ada\0") is None
    assert store.accounts.users() == []


# A server that is lost for a moment.


def lose(store: Store, when: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ends the writer's own connection once, at this step of a commit."""
    database, lost = store.database, []
    original = getattr(database, when)

    def losing(connection: Any) -> None:
        if when == "begin":
            original(connection)
        if not lost:
            lost.append(when)
            server().run(f"SELECT pg_terminate_backend({connection.raw.info.backend_pid}, 5000)")
        if when == "commit":
            original(connection)

    monkeypatch.setattr(database, when, losing)
    return lost


def test_a_connection_that_is_lost_before_the_commit_costs_nobody_anything(
    store: Store, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = lose(store, "begin", monkeypatch)
    assert store.submissions.add("study", submissions()) is True
    assert lost == ["begin"]
    store.surveys.set_open("study", False)
    assert count_of(store, "study") == recount_of(store, "study").n == 1


def test_a_connection_that_is_lost_at_the_commit_is_said_so_and_a_repetition_is_counted_once(
    store: Store, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = submissions()
    lose(store, "commit", monkeypatch)
    with pytest.raises(UnavailableError, match="send the same again"):
        store.submissions.add("study", submission)
    store.submissions.add("study", submission)
    store.surveys.set_open("study", False)
    assert count_of(store, "study") == recount_of(store, "study").n == 1


def test_a_writer_that_never_tries_again_would_be_found_out(store: Store, submissions: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "ATTEMPTS", 1)
    lose(store, "begin", monkeypatch)
    with pytest.raises(UnavailableError):
        store.submissions.add("study", submissions())


def test_another_process_that_holds_the_lock_stops_no_reader_and_writers_hear_so_in_time(store: Store, url: str, submissions: Make) -> None:
    store.submissions.add("study", submissions(5))
    with psycopg.connect(url) as other:
        other.execute("SELECT pg_advisory_xact_lock(%s)", [schema.LOCK])
        assert tally_of(store, "study").n == recount_of(store, "study").n == 5
        with pytest.raises(UnavailableError, match="nothing was stored"):
            store.submissions.add("study", submissions())
    assert store.submissions.add("study", submissions()) is True
    store.surveys.set_open("study", False)
    assert count_of(store, "study") == recount_of(store, "study").n == 6


def test_processes_that_open_an_empty_database_together_make_its_tables_once(databases: Databases) -> None:
    url, opened = databases.new(), []
    threads = [threading.Thread(target=lambda: opened.append(open_store(url))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened) == 4
    for one in opened:
        one.close()
