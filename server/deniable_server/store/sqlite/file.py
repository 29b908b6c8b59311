"""SQLite file, its writer, and the state in memory beside it.

How it stays unordered: a submission waits encrypted in the intake and enters the tables with others, under a random key and sorted by it;
the write-ahead log is emptied whenever the writer is idle; deleted bytes are overwritten; and the whole file is rewritten in
the order of its keys after arrivals while it is small, after withdrawals, when a survey closes and when the server stops.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from deniable_server.store.errors import FullError, StoreError, UnavailableError, busy
from deniable_server.store.sql import move_marks
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.encryption import Seal
from deniable_server.store.sql.intake import require_key
from deniable_server.store.sql.release import Releaser
from deniable_server.store.sql.vacuum import VacuumScheduler
from deniable_server.store.sql.writer import BUSY_SECONDS, NoWriter, Writer
from deniable_server.store.sqlite.schema import migrate

SMALL_BYTES = 8 << 20  # up to this size, the file is rewritten after arrivals: its few pages would show which came last
TIDY_SECONDS = 0.05  # the time that the writer waits for readers before it truncates its log
DUE = 1  # the file's user_version while a rewrite is due


class SqliteFile:
    """The database file at `path`, created if it is missing, and migrated by sqlite-utils. A missing key file is created.

    Raises:
        UnavailableError: The file belongs to another program, is damaged, or was written with another key.
        MovedError: The file was moved, or a move to it is not finished.
    """

    releaser: type[Releaser] = Releaser
    is_writing = True

    def __init__(self, path: Path, key: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        self.seal = Seal.of(key)
        due = self._migrate()
        self.rewriting = VacuumScheduler(self.rewrite)
        self.releases = self.releaser(self.seal, self._added, self.changed)
        self.writer = Writer(self, self.releases)
        if due == DUE:
            self.rewriting.due()

    def _migrate(self) -> int:
        """Brings the file to the newest version; writes nothing if it has it. Returns its user_version. Raises as the class does."""
        try:
            with closing(SqliteFile.connect(self)) as connection:
                _require_ours(connection, self.path)
                connection.execute("PRAGMA journal_mode = WAL")
                migrate(connection)
                move_marks.require_open(connection, str(self.path), writing=self.is_writing)
                require_key(connection, self.seal)
                return int(connection.execute("PRAGMA user_version").fetchone()[0])
        except sqlite3.Error as error:
            if _code(error) == sqlite3.SQLITE_FULL:
                raise FullError(f"the disk of the database {self.path.name} is full") from error
            if _code(error) == sqlite3.SQLITE_BUSY:
                raise busy() from error
            raise UnavailableError(f"the database {self.path.name} cannot be used: {error}") from error

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yields this thread's connection, for reading one snapshot. Raises UnavailableError if the database fails."""
        if not hasattr(self._local, "connection"):
            self._local.connection = self.connect()
            self._readers.append(self._local.connection)
        connection: sqlite3.Connection = self._local.connection
        try:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise explain(error) from error

    @contextmanager
    def scanning(self) -> Iterator[sqlite3.Connection]:
        """Yields a separate connection for long reads of one snapshot. Raises UnavailableError if the database fails."""
        try:
            with closing(self.connect()) as connection:
                connection.execute("BEGIN")
                yield connection
        except sqlite3.Error as error:
            raise explain(error) from error

    def connect(self) -> sqlite3.Connection:
        """Opens a connection with the required settings."""
        return connect(self.path)

    def changed(self, connection: Connection) -> None:
        """Schedules a rewrite of the file, from within a transaction."""
        if connection.execute("PRAGMA user_version").fetchone() != (DUE,):
            connection.execute(f"PRAGMA user_version = {DUE}")
        self.rewriting.due()

    def due(self) -> None:
        """Schedules a rewrite of the file after one failed."""
        self.rewriting.due()

    def rewrite(self) -> None:
        """Rewrites the file in the order of its keys: its pages show no order and contain no erased data."""

        def work(connection: Connection) -> None:
            connection.execute("VACUUM")
            connection.execute("PRAGMA user_version = 0")

        self.writer.run_alone(work)
        self.writer.run(lambda connection: None)

    def close(self) -> None:
        """Commits the queued jobs and closes the file."""
        self.rewriting.stop()
        for reader in self._readers:
            reader.close()
        self.writer.close()

    # How its writer writes.

    @property
    def errors(self) -> type[Exception]:
        """The base class of SQLite's errors."""
        return sqlite3.Error

    def begin(self, connection: Connection) -> None:
        """Begins a transaction with the write lock."""
        connection.execute("BEGIN IMMEDIATE")

    def commit(self, connection: Connection) -> None:
        """Commits the transaction."""
        connection.execute("COMMIT")

    def recovered(self, connection: Connection) -> Connection:
        """Rolls back after an error and returns the connection."""
        with suppress(sqlite3.Error):  # some errors have ended the transaction themselves
            connection.execute("ROLLBACK")
        return connection

    def passes(self, error: Exception) -> bool:
        """Returns False: SQLite itself has waited for other writers."""
        return False

    def tidy(self, connection: Connection) -> bool:
        """Moves the write-ahead log, which shows the order of commits, into the database, and truncates it.

        Long reads prevent that. Then it is tried again, and writers do not wait for readers.
        """
        connection.execute(f"PRAGMA busy_timeout = {int(1000 * TIDY_SECONDS)}")
        try:
            busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            connection.execute(f"PRAGMA busy_timeout = {int(1000 * BUSY_SECONDS)}")
        return not busy

    def explain(self, error: Exception) -> StoreError:
        """Returns the error for the caller of a failed request."""
        return explain(error)

    def _added(self, connection: Connection) -> None:
        """Schedules a rewrite after rows were added, if the file is so small that its pages would show which came last.

        Rows of waiting submissions, too: a reader with the key could join them to the rows of used codes, which came in the same order.
        """
        pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        if pages * size <= SMALL_BYTES:
            self.changed(connection)


def connect(path: Path) -> sqlite3.Connection:
    """Opens a connection to a file with the settings for writing."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _require_ours(connection: sqlite3.Connection, path: Path) -> None:
    """Raises UnavailableError for another program's database."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if tables and not tables >= {"surveys", "submissions", "users"}:  # tables of every version
        raise UnavailableError(f"the database {path.name} cannot be used: it belongs to another program")


def _code(error: Exception) -> int | None:
    """Returns SQLite's primary error code."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


class ReadOnlySqliteFile(SqliteFile):
    """The same file, opened for reading while another process writes it; without an intake.

    Only the migration of a file of an older version writes. Raises what `SqliteFile` raises, except for a file that was moved.
    """

    is_writing = False

    def __init__(self, path: Path, key: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self.seal = Seal.of(key)
        self.writer = NoWriter()
        if path.exists():
            self._migrate()

    def connect(self) -> sqlite3.Connection:
        """Opens a connection that refuses to write."""
        connection = super().connect()
        connection.execute("PRAGMA query_only = ON")
        return connection

    def close(self) -> None:
        """Closes the file."""
        for reader in self._readers:
            reader.close()


def explain(error: Exception) -> StoreError:
    """Returns the error for the caller of a request that failed with this database error."""
    if _code(error) == sqlite3.SQLITE_FULL:
        return FullError("the server's disk is full; nothing was stored, send the same again later")
    if _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return busy()
    return UnavailableError("the server's database cannot be used now; nothing was stored, send the same again later")
