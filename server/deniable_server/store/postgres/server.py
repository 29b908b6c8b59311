"""Connection pool of a PostgreSQL database, and this process's writer to it.

Processes write one after the other: the process that holds an advisory lock writes its queued jobs and alone uses the intake. So
commits of two processes never overlap, and each sees everything that was committed before.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import errors
from psycopg_pool import ConnectionPool

from deniable_server.store.errors import FullError, StoreError, UnavailableError, busy
from deniable_server.store.postgres import schema, settings
from deniable_server.store.postgres.condition import code_of, in_words
from deniable_server.store.postgres.connection import PostgresConnection, StreamingConnection
from deniable_server.store.postgres.servers import ServerCount
from deniable_server.store.protocol import WAIT_SECONDS
from deniable_server.store.reserved import is_reserved
from deniable_server.store.sql import move_marks
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.encryption import Seal
from deniable_server.store.sql.release import Releaser
from deniable_server.store.sql.vacuum import VacuumScheduler
from deniable_server.store.sql.writer import BUSY_SECONDS, NoWriter, Writer

SMALL_BYTES = 8 << 20  # up to this size, tables are rewritten after arrivals: xmin and ctid show which came last
CONNECTIONS = 30  # of a server: one writes, one checks whether the database answers, one counts servers, a quarter scan, others read
FEWEST = 5
RESERVED = 4 / 7  # the share of the reading connections for respondents' threads
_PROOF = "proof of the key"
READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class PostgresServer:
    """The database at `url`. Its tables are created or migrated, and a missing key file is created.

    Args:
        url: The database's URL.
        name: Its name in messages.
        key: The path of the key file.
        connections: The most connections at a time.

    Raises:
        UnavailableError: The database cannot be reached or used, has settings that would break a promise, or has another key.
        MovedError: The database was moved, or a move to it is not finished.
        ValueError: There are fewer than FEWEST connections.
    """

    is_writing = True

    def __init__(self, url: str, name: str, key: Path, connections: int = CONNECTIONS) -> None:
        if connections < FEWEST:
            raise ValueError(f"database connections must be at least {FEWEST}, got {connections}")
        logging.getLogger("psycopg").setLevel(logging.CRITICAL)  # it repeats one warning; `trouble` is reported once
        self._url, self._name = url, name
        scans = connections // 4
        self._scans = threading.BoundedSemaphore(scans)
        self._committing = False
        self.seal = Seal.of(key)
        with usable(name):
            due = self._migrate()
            self.rewriting = VacuumScheduler(self.rewrite)
            self.releases = Releaser(self.seal, self._added, self.changed)
            self.writer = Writer(self, self.releases)
        self._pools = _pools(url, connections - 3 - scans)
        self.servers = ServerCount(url)
        if due:
            self.rewriting.due()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yields a pooled connection for reading one snapshot. Raises UnavailableError if the database fails."""
        try:
            with self._pools[is_reserved()].connection() as raw:
                raw.execute(READ)
                try:
                    yield PostgresConnection(raw)
                finally:
                    raw.execute("COMMIT")
        except psycopg.Error as error:
            raise explain(error) from error

    @contextmanager
    def scanning(self) -> Iterator[Connection]:
        """Yields a separate connection for long reads of one snapshot. Raises UnavailableError if the database fails."""
        if not self._scans.acquire(timeout=WAIT_SECONDS):
            raise busy()
        try:
            with closing(self.connect()) as connection:
                connection.execute(READ)
                yield StreamingConnection(connection.raw)
        except psycopg.Error as error:
            raise explain(error) from error
        finally:
            self._scans.release()

    def trouble(self) -> str | None:
        """Returns the failure of a new connection, in words with the SQLSTATE; None if it can read."""
        try:
            with psycopg.connect(self._url, autocommit=True, connect_timeout=int(WAIT_SECONDS)) as raw:
                mark = move_marks.find(PostgresConnection(raw))
        except psycopg.Error as error:
            return in_words(code_of(error))
        return move_marks.moved(self._name, mark.other) if mark else None

    def count_servers(self) -> int:
        """Returns the number of servers on the database. Raises UnavailableError."""
        try:
            return self.servers.count()
        except psycopg.Error as error:
            raise explain(error) from error

    def connect(self) -> PostgresConnection:
        """Opens a connection with the settings for writing. Raises psycopg.Error."""
        return connect(self._url)

    def changed(self, connection: Connection) -> None:
        """Schedules a rewrite of the tables, from within a transaction."""
        connection.execute("UPDATE deniable SET due = 1 WHERE due = 0")
        self.rewriting.due()

    def due(self) -> None:
        """Schedules a rewrite of the tables after one failed."""
        self.rewriting.due()

    def rewrite(self) -> None:
        """Rewrites every table in the order of its keys in one transaction, and removes the old rows.

        If a reader, such as a dump, still needs the old rows, the rewrite is repeated later.
        """
        if self.writer.run_alone(self._rewrite):
            self.rewriting.due()

    def close(self) -> None:
        """Commits the queued jobs and closes the connections."""
        self.rewriting.stop()
        self.servers.close()
        for pool in self._pools.values():
            pool.close()
        self.writer.close()

    # How its writer writes.

    @property
    def errors(self) -> type[Exception]:
        """The base class of psycopg's errors."""
        return psycopg.Error

    def begin(self, connection: Connection) -> None:
        """Begins a transaction with the advisory lock for writing."""
        self._committing = False
        connection.execute("BEGIN")
        connection.execute("SELECT pg_advisory_xact_lock(?::bigint)", [schema.LOCK])

    def commit(self, connection: Connection) -> None:
        """Commits the transaction."""
        self._committing = True
        connection.execute("COMMIT")
        self._committing = False

    def recovered(self, connection: Connection) -> Connection:
        """Returns the connection after a rollback; a new one if it is lost; the lost one, which will fail again, if there is no new one."""
        try:
            connection.execute("ROLLBACK")
            return connection
        except psycopg.Error:
            connection.close()
        try:
            return self.connect()
        except psycopg.Error:
            return connection

    def passes(self, error: Exception) -> bool:
        """Returns whether two transactions conflicted, or the connection was lost before the commit was sent."""
        if isinstance(error, (errors.SerializationFailure, errors.DeadlockDetected)):
            return True
        lost = isinstance(error, psycopg.OperationalError) and (error.sqlstate is None or error.sqlstate.startswith(("08", "57P")))
        return lost and not self._committing

    def tidy(self, connection: Connection) -> bool:
        """Returns True: the order of commits in PostgreSQL's own log cannot be removed from here."""
        return True

    def explain(self, error: Exception) -> StoreError:
        """Returns the error for the caller of a failed request; a connection lost during the commit may have stored it."""
        if self._committing:
            self._committing = False
            return UnavailableError(
                "the connection to the database was lost during the commit; it may have been stored: send the same again later"
            )
        return explain(error)

    def _rewrite(self, connection: Connection) -> bool:
        """Rewrites the tables. Returns whether a transaction still reads the old rows."""
        self.begin(connection)
        for table, order in schema.ORDERED.items():
            if table != "users":  # their sessions would end with them
                again = f"WITH gone AS (DELETE FROM {table} RETURNING *) INSERT INTO {table} SELECT * FROM gone ORDER BY {order}"  # noqa: S608
                connection.execute(again)
        (own,) = connection.execute("SELECT pg_current_xact_id()::xid::text").fetchone()
        self.commit(connection)
        query = "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND age(backend_xmin) >= age(?::text::xid)"
        (readers,) = connection.execute(query, [own]).fetchone()
        for table in schema.ORDERED:
            connection.execute(f"VACUUM FULL {table}")
        if not readers:
            connection.execute("UPDATE deniable SET due = 0")
            connection.execute("VACUUM FULL deniable")
        return bool(readers)

    def _added(self, connection: Connection) -> None:
        """Schedules a rewrite after rows were added, if the tables are so small that they would show which came last."""
        query = "SELECT pg_total_relation_size('submissions') + pg_total_relation_size('intake')"
        (size,) = connection.execute(query).fetchone()
        if size <= SMALL_BYTES:
            self.changed(connection)

    def _migrate(self) -> bool:
        """Brings the tables to the newest version; writes nothing if they have it. Returns whether a rewrite is due."""
        with closing(self.connect()) as connection:
            settings.require(connection)
            schema.migrate(connection)
            move_marks.require_open(connection, self._name, writing=self.is_writing)
            self._prove(connection)
            (due,) = connection.execute("SELECT due FROM deniable").fetchone()
        return bool(due)

    def _prove(self, connection: Connection) -> None:
        """Stores a text encrypted with the key, so that a process with another key is refused before it writes."""
        query = "SELECT proof FROM deniable"
        if connection.execute(query).fetchone() == (None,):
            connection.execute("UPDATE deniable SET proof = ? WHERE proof IS NULL", [self.seal.close(b"", _PROOF)])
        self.seal.open(connection.execute(query).fetchone()[0], _PROOF)


class ReadOnlyPostgresServer(PostgresServer):
    """The same database, opened for reading while another process writes it; without an intake.

    Only the migration of tables of an older version writes. Raises what `PostgresServer` raises, except for a database that was moved.
    """

    is_writing = False

    def __init__(self, url: str, name: str, key: Path) -> None:
        self._url, self._name = url, name
        self.seal = Seal.of(key)
        self.writer = NoWriter()
        with usable(name):
            self._migrate()
        self._scans = threading.BoundedSemaphore(1)
        self._pools = _pools(url, 2, apart=False)
        self.servers = ServerCount(url)

    def close(self) -> None:
        """Closes the connections."""
        self.servers.close()
        self._pools[False].close()


def connect(url: str) -> PostgresConnection:
    """Opens a connection with the settings for writing. Raises psycopg.Error."""
    raw = psycopg.connect(url, autocommit=True)
    raw.execute(f"SET lock_timeout = {int(1000 * BUSY_SECONDS)}")
    (durable,) = raw.execute("SHOW synchronous_commit").fetchone() or ("off",)
    if durable in ("off", "local"):
        raw.execute("SET synchronous_commit = on")
    return PostgresConnection(raw)


@contextmanager
def usable(name: str) -> Iterator[None]:
    """Raises UnavailableError for the errors of opening the database `name`."""
    try:
        yield
    except psycopg.ProgrammingError as error:
        if error.sqlstate is None:  # of the url itself, which libpq would quote
            raise UnavailableError(f"the database {name} cannot be used: PostgreSQL does not understand its URL") from None
        raise UnavailableError(f"the database {name} cannot be used: {_line(error)}") from None
    except psycopg.Error as error:
        raise UnavailableError(f"the database {name} cannot be used: {_line(error)} ({code_of(error)})") from None


def _pools(url: str, most: int, *, apart: bool = True) -> dict[bool, ConnectionPool[psycopg.Connection[Any]]]:
    """Returns the pools of respondents' threads (True) and of all others (False); the same pool if there are too few connections."""
    reserved = int(most * RESERVED) if apart else 0
    if not reserved:
        return dict.fromkeys((True, False), _pool(url, most))
    return {True: _pool(url, reserved), False: _pool(url, most - reserved)}


def _pool(url: str, most: int) -> ConnectionPool[psycopg.Connection[Any]]:
    """Returns a pool of up to `most` connections; one stays open."""
    return ConnectionPool(
        url,
        min_size=1,
        max_size=most,
        open=True,
        timeout=WAIT_SECONDS,
        kwargs={"autocommit": True},
        check=ConnectionPool.check_connection,
    )


def explain(error: Exception) -> StoreError:
    """Returns the error for the caller of a request that failed with this database error."""
    if isinstance(error, errors.DiskFull):
        return FullError("the server's disk is full; nothing was stored, send the same again later")
    return UnavailableError("the server's database cannot be used now; nothing was stored, send the same again later")


def _line(error: psycopg.Error) -> str:
    """Returns the first line of PostgreSQL's message, which names host and user, and never a password."""
    return (str(error).splitlines() or [type(error).__name__])[0]
