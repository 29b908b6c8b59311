"""A database on a PostgreSQL server, and this process's one writer to it.

Processes write one after the other, each whatever came to it together: whoever holds an advisory lock is alone with what waits. Two
commits of two processes therefore never meet, and each sees all that was committed before.
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
from deniable_server.store.protocol import WAIT_SECONDS
from deniable_server.store.reserved import is_reserved
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.intake import Intake, reseal
from deniable_server.store.sql.sealing import Seal
from deniable_server.store.sql.vacuum import VacuumScheduler
from deniable_server.store.sql.writer import BUSY_SECONDS, NoWriter, Writer

SMALL_BYTES = 8 << 20  # submissions up to here are written anew after each batch: xmin and ctid show which came last
CONNECTIONS = 30  # of a server: one writes, one looks whether the database answers, a quarter scan, the others read for a moment
FEWEST = 4
RESERVED = 4 / 7  # of those that read, for respondents' threads
_PROOF = "proof of the key"
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class PostgresServer:
    """The database at `url`, called `name` in messages; its tables are made or migrated, and the key at `key` is made if it is not there.

    connections: to the database at a time, at most. Raises UnavailableError where it cannot be reached or used, is set so that a promise
    would be broken, or has another key; ValueError below FEWEST connections.
    """

    def __init__(self, url: str, name: str, key: Path, connections: int = CONNECTIONS) -> None:
        if connections < FEWEST:
            raise ValueError(f"database connections must be at least {FEWEST}, got {connections}")
        logging.getLogger("psycopg").setLevel(logging.CRITICAL)  # it repeats one warning; `trouble` is reported once
        self._url, self._name = url, name
        scans = connections // FEWEST
        self._scans = threading.BoundedSemaphore(scans)
        self._committing = False
        self.seal = Seal.of(key)
        try:
            with closing(self.connect()) as connection:
                settings.require(connection)
                schema.migrate(connection)
                self._prove(connection)
                (due,) = connection.execute("SELECT due FROM deniable").fetchone()
            self.rewriting = VacuumScheduler(self.rewrite)
            self.intake = Intake(self.seal, self._released, self.changed, _version)
            self.writer = Writer(self, self.intake)
        except psycopg.ProgrammingError as error:
            if error.sqlstate is None:  # of the url itself, which libpq would quote
                raise UnavailableError(f"the database {name} cannot be used: its url is none that PostgreSQL understands") from None
            raise UnavailableError(f"the database {name} cannot be used: {_line(error)}") from None
        except psycopg.Error as error:
            raise UnavailableError(f"the database {name} cannot be used: {_line(error)} ({code_of(error)})") from None
        self._pools = _pools(url, connections - 2 - scans)
        try:
            self.writer.run(self.intake.prepare_all)
        except BaseException:
            self.close()
            raise
        if due:
            self.rewriting.due()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection of the pool, for reading one state of the database. Raises UnavailableError where the database fails."""
        try:
            with self._pools[is_reserved()].connection() as raw:
                raw.execute(_READ)
                try:
                    yield PostgresConnection(raw)
                finally:
                    raw.execute("COMMIT")
        except psycopg.Error as error:
            raise explain(error) from error

    @contextmanager
    def scanning(self) -> Iterator[Connection]:
        """A connection of its own, since whoever scans may take a while; it reads one state. Raises UnavailableError likewise."""
        if not self._scans.acquire(timeout=WAIT_SECONDS):
            raise busy()
        try:
            with closing(self.connect()) as connection:
                connection.execute(_READ)
                yield StreamingConnection(connection.raw)
        except psycopg.Error as error:
            raise explain(error) from error
        finally:
            self._scans.release()

    def trouble(self) -> str | None:
        """What a new connection meets, in words with the SQLSTATE; None where it can read."""
        try:
            with psycopg.connect(self._url, autocommit=True, connect_timeout=int(WAIT_SECONDS)) as raw:
                raw.execute("SELECT 1")
        except psycopg.Error as error:
            return in_words(code_of(error))
        return None

    def connect(self) -> PostgresConnection:
        """A new connection, set as those that write must be. Raises psycopg.Error."""
        raw = psycopg.connect(self._url, autocommit=True)
        raw.execute(f"SET lock_timeout = {int(1000 * BUSY_SECONDS)}")
        (durable,) = raw.execute("SHOW synchronous_commit").fetchone() or ("off",)
        if durable in ("off", "local"):
            raw.execute("SET synchronous_commit = on")
        return PostgresConnection(raw)

    def changed(self, connection: Connection) -> None:
        """Inside of a transaction: the tables are to be written anew soon."""
        connection.execute("UPDATE deniable SET due = 1")
        self.rewriting.due()

    def due(self) -> None:
        """They are to be written anew soon, since that failed."""
        self.rewriting.due()

    def rewrite(self) -> None:
        """Writes every table anew, in the order of its keys and by one transaction, and removes what was there before.

        Where a reader, a dump say, still needs what was there before, that is done again later.
        """
        if self.writer.run_alone(self._rewrite):
            self.rewriting.due()

    def close(self) -> None:
        """Writes what waits and lets go of the database."""
        self.rewriting.stop()
        for pool in self._pools.values():
            pool.close()
        self.writer.close()

    # How its writer writes.

    @property
    def errors(self) -> type[Exception]:
        return psycopg.Error

    def begin(self, connection: Connection) -> None:
        self._committing = False
        connection.execute("BEGIN")
        connection.execute("SELECT pg_advisory_xact_lock(?::bigint)", [schema.LOCK])

    def commit(self, connection: Connection) -> None:
        self._committing = True
        connection.execute("COMMIT")
        self._committing = False

    def recovered(self, connection: Connection) -> Connection:
        """The same connection after a rollback; if it is lost, another one; if there is none, the lost one, which will fail again."""
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
        """Where two transactions hindered each other; or where the connection was lost before it was told to commit."""
        if isinstance(error, (errors.SerializationFailure, errors.DeadlockDetected)):
            return True
        lost = isinstance(error, psycopg.OperationalError) and (error.sqlstate is None or error.sqlstate.startswith(("08", "57P")))
        return lost and not self._committing

    def tidy(self, connection: Connection) -> bool:
        """There is nothing to do: the order of commits in PostgreSQL's own log is not ours to remove."""
        return True

    def explain(self, error: Exception) -> StoreError:
        if self._committing:
            self._committing = False
            return UnavailableError("the server's database was lost while it wrote; it may have been kept: send the same again later")
        return explain(error)

    def _rewrite(self, connection: Connection) -> bool:
        """Whether somebody still reads what was there before."""
        self.begin(connection)
        reseal(connection, self.seal)
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

    def _released(self, connection: Connection) -> None:
        """A batch stands in the tables: small ones are written anew, so that nothing of them shows which came last."""
        (size,) = connection.execute("SELECT pg_total_relation_size('submissions')").fetchone()
        if size <= SMALL_BYTES:
            self.changed(connection)

    def _prove(self, connection: Connection) -> None:
        """Keeps something sealed with the key, so that a process with another key is refused before it writes."""
        with_key = self.seal.close(b"", _PROOF)
        connection.execute("UPDATE deniable SET proof = ? WHERE proof IS NULL", [with_key])
        self.seal.open(connection.execute("SELECT proof FROM deniable").fetchone()[0], _PROOF)


class ReadOnlyPostgresServer(PostgresServer):
    """The same database as another process writes to: nothing is written here, and nothing is kept of what waits."""

    def __init__(self, url: str, name: str, key: Path) -> None:
        self._url, self._name = url, name
        self.seal = Seal.of(key)
        self.writer = NoWriter()
        self._scans = threading.BoundedSemaphore(1)
        self._pools = _pools(url, 2, apart=False)

    def close(self) -> None:
        """Lets go of the database."""
        self._pools[False].close()


def _pools(url: str, most: int, *, apart: bool = True) -> dict[bool, ConnectionPool[psycopg.Connection[Any]]]:
    """Returns the connections of respondents' threads (True) and of all others (False): one pool for both where there are too few."""
    reserved = int(most * RESERVED) if apart else 0
    if not reserved:
        return dict.fromkeys((True, False), _pool(url, most))
    return {True: _pool(url, reserved), False: _pool(url, most - reserved)}


def _pool(url: str, most: int) -> ConnectionPool[psycopg.Connection[Any]]:
    """Up to `most` connections, of which one stays."""
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
    """What an error of the database means to whoever sent the request."""
    if isinstance(error, errors.DiskFull):
        return FullError("the server's disk is full; nothing was stored, send the same again later")
    return UnavailableError("the server's database cannot be used now; nothing was stored, send the same again later")


def _line(error: psycopg.Error) -> str:
    """The first line of what PostgreSQL says; it names host and user, and never a password."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def _version(connection: Connection) -> object:
    """It differs whenever another process has written what waits: PostgreSQL notes the transaction that wrote a row."""
    return connection.execute("SELECT string_agg(xmin::text, ',' ORDER BY key) FROM intake").fetchone()
