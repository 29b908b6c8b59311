"""A server whose PostgreSQL stops, refuses connections and comes back says each of it once, by its code and with the minute."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import psycopg
import pytest
from click.testing import CliRunner
from tests.kit.patience import PATIENCE, wait_for
from tests.kit.servers.process import PROGRAM, ServerProcess, reserved
from tests.server.store.postgresql import PostgresServer

from deniable_server.operate import database_watch
from deniable_server.operate.cli import main
from deniable_server.store import open_store
from deniable_server.store.errors import BusyError
from deniable_server.store.postgres.condition import code_of, in_words
from deniable_server.store.protocol import Store
from deniable_server.web.rate_limiter import ServerShare

CONNECTIONS, LIMIT = 5, 8
DOWN, REFUSES, AGAIN = "the database does not answer (08006)", "the database refuses more connections (53300)", "the database answers again"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('connection failed: FATAL:  too many connections for role "few"', "53300"),
        ("connection failed: FATAL:  sorry, too many clients already", "53300"),
        ("FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute", "53300"),
        ("FATAL:  the database system is starting up", "57P03"),
        ('FATAL:  password authentication failed for user "few"', "28000"),
        ('FATAL:  database "nothere" does not exist', "3D000"),
        ("FATAL:  Verbindung abgelehnt", "08004"),
        ("connection failed: No such file or directory", "08006"),
    ],
)
def test_what_libpq_says_of_a_connection_that_was_not_made_has_a_code(text: str, code: str) -> None:
    assert code_of(psycopg.OperationalError(text)) == code
    assert in_words(code).endswith(f" ({code})")


def test_errors_with_a_code_keep_it() -> None:
    assert code_of(psycopg.errors.DiskFull("")) == "53100"
    assert code_of(psycopg.errors.AdminShutdown("")) == "57P03"


def test_each_change_of_state_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    states = iter([None, DOWN, DOWN, DOWN, REFUSES, REFUSES, None, None])

    class Told:
        def trouble(self) -> str | None:
            return next(states)

        def count_servers(self) -> int:
            return 1

    left = iter([False] * 8 + [True])
    database_watch.watch(Told(), ServerShare(), lambda seconds: next(left))  # type: ignore[arg-type]
    assert [record.getMessage() for record in caplog.records] == [DOWN, REFUSES, AGAIN]


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    """A server of its own, since it is stopped here, with a role that may have few connections."""
    made = PostgresServer()
    made.run(f"CREATE ROLE few LOGIN CONNECTION LIMIT {LIMIT}")
    yield made
    made.end()


@pytest.fixture
def url(postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("DENIABLE_KEY_FILE", str(tmp_path / "deniable.key"))
    postgres.run("DROP DATABASE IF EXISTS study WITH (FORCE)")
    postgres.run("CREATE DATABASE study OWNER few")
    return postgres.url("study").replace("deniable@", "few@")


class Web(ServerProcess):
    """A server of that database."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.db, self.log, self.command = folder, url, folder / "server.log", [PROGRAM]  # type: ignore[assignment]
        self._holder = reserved()
        self.port = self._holder.getsockname()[1]
        self.url, self.process = f"http://127.0.0.1:{self.port}", None

    def events(self) -> list[str]:
        """What it has logged of its database, without the minutes, which each line has."""
        lines = [line for line in self.log.read_text().splitlines() if "Serving on" not in line]
        assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\dZ WARNING the database ", line) for line in lines), lines
        return [line.split(" WARNING ")[1] for line in lines]


def run(url: str, *words: str) -> tuple[int, list[str]]:
    done = CliRunner().invoke(main, [*words, "--db", url], env={"PASSWORD": "correct horse battery"})
    return done.exit_code, done.output.splitlines()


def saturate(url: str, stack: ExitStack) -> None:
    """Takes all connections that the role may still have."""
    for _ in range(LIMIT + 1):
        try:
            stack.enter_context(psycopg.connect(url, autocommit=True))
        except psycopg.OperationalError:
            return
    raise AssertionError("the role has no limit")


@pytest.mark.slow
def test_a_server_says_what_its_database_does_and_commands_work_beside_it_or_say_why_not(
    postgres: PostgresServer, url: str, tmp_path: Path
) -> None:
    assert run(url, "init", "--user", "ada", "--password-env", "PASSWORD")[0] == 0
    web = Web(tmp_path, url)
    try:
        web.start("--database-connections", str(CONNECTIONS))
        assert run(url, "user", "list") == (0, ["ada\toperator"])
        with ExitStack() as stack:
            saturate(url, stack)
            code, lines = run(url, "user", "list")
            assert (code, len(lines), "(53300)" in lines[0]) == (1, 1, True), lines
            assert httpx.get(f"{web.url}/readyz", timeout=PATIENCE).status_code == 200  # it has its own
            wait_for(lambda: web.events() == [REFUSES], REFUSES)
        wait_for(lambda: web.events() == [REFUSES, AGAIN], AGAIN)
        postgres.stop()
        wait_for(lambda: web.events() == [REFUSES, AGAIN, DOWN], DOWN)
        code, lines = run(url, "user", "list")
        assert (code, len(lines), "(08006)" in lines[0]) == (1, 1, True), lines
        reply = httpx.get(f"{web.url}/readyz", timeout=PATIENCE)
        assert (reply.status_code, reply.headers["Content-Type"]) == (503, "application/problem+json")
        postgres.start()
        wait_for(lambda: web.events() == [REFUSES, AGAIN, DOWN, AGAIN], AGAIN)
        assert run(url, "user", "list") == (0, ["ada\toperator"])
        wait_for(lambda: httpx.get(f"{web.url}/readyz", timeout=PATIENCE).status_code == 200, "ready again")
    finally:
        web.close()


def in_use(url: str, of: PostgresServer) -> int:
    with psycopg.connect(of.url("postgres")) as connection:
        row = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE usename = 'few'").fetchone()
    return row[0] if row else 0


@pytest.mark.slow
def test_no_more_connections_are_made_than_are_allowed(postgres: PostgresServer, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store: Store = open_store(url, CONNECTIONS)
    database = store.database  # type: ignore[attr-defined]
    try:
        with database.scanning(), database.reading():
            assert store.trouble() is None
            assert in_use(url, postgres) <= CONNECTIONS - 1  # one is left for `trouble`
            monkeypatch.setattr("deniable_server.store.postgres.server.WAIT_SECONDS", 0.01)
            with pytest.raises(BusyError), database.scanning():
                pass
        with database.scanning():
            pass
    finally:
        store.close()
    with pytest.raises(ValueError, match="must be at least 5, got 4"):
        open_store(url, CONNECTIONS - 1)
