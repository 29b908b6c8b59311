"""SQLite file as one side of a move, and the choice of a side for a database."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from deniable.extras import missing
from deniable_server.config import Database
from deniable_server.store.errors import UnavailableError
from deniable_server.store.moving.layout import CopiedTable, names_in
from deniable_server.store.moving.move_side import MoveSide, Row
from deniable_server.store.sql import move_marks
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.move_marks import MoveMark
from deniable_server.store.sqlite import file, schema


class SqliteSide:
    """An SQLite file."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.name = str(self.path)

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Turns errors of SQLite into UnavailableError."""
        try:
            yield
        except sqlite3.Error as error:
            raise UnavailableError(f"the database {self.name} cannot be used: {error}") from error

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Yields a connection for writing."""
        with self.failing(), closing(file.connect(self.path)) as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yields a connection that reads one snapshot."""
        with self.failing(), closing(file.connect(self.path)) as connection:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("BEGIN")
            yield connection

    def begin(self, connection: Connection) -> None:
        """Begins a transaction with the write lock."""
        connection.execute("BEGIN IMMEDIATE")

    def streaming(self, connection: Connection) -> Connection:
        """Returns the connection: SQLite streams all rows."""
        return connection

    def insert(self, connection: Connection, table: CopiedTable, rows: Iterable[Row]) -> None:
        """Inserts many rows."""
        columns = ", ".join(f'"{column}"' for column in table.columns)
        marks = ", ".join("?" * len(table.columns))
        connection.executemany(f'INSERT INTO "{table.name}" ({columns}) VALUES ({marks})', rows)  # noqa: S608 - our own names

    def table_names(self) -> set[str]:
        """Returns the names of the tables."""
        if not self.path.exists():
            return set()
        with self.failing(), closing(sqlite3.connect(f"{self.path.as_uri()}?mode=ro", uri=True)) as connection:
            return set(names_in(connection))

    def columns(self) -> dict[str, set[str]]:
        """Returns the columns of each table."""
        with self.reading() as connection:
            return {
                name: {row[1] for row in connection.execute(f'PRAGMA table_info("{name}")').fetchall()}
                for name in sorted(self.table_names())
            }

    def mark(self) -> MoveMark | None:
        """Returns the mark."""
        if move_marks.TABLE not in self.table_names():
            return None
        with self.reading() as connection:
            return move_marks.find(connection)

    def create(self, mark: MoveMark) -> None:
        """Creates the file under another name, and gives it its own once it is marked."""
        new = self.path.with_name(f"{self.path.name}.moving")
        _remove(new)
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with self.failing(), closing(file.connect(new)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            schema.migrate(connection)
            connection.execute("BEGIN")
            move_marks.add(connection, mark)
            connection.execute(f"PRAGMA user_version = {file.DUE}")
            connection.execute("COMMIT")
        if not self.table_names():
            _remove(self.path)
        os.link(new, self.path)  # fails if another program was faster
        new.unlink()

    def discard(self) -> None:
        """Removes the file."""
        _remove(self.path)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Locks the file as a server does. Raises UnavailableError if another process has it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path.with_name(f"{self.path.name}.lock"), os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise UnavailableError(f"another move to {self.name} is running, or a server uses it") from None
        finally:
            os.close(descriptor)


def _remove(path: Path) -> None:
    for end in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + end).unlink(missing_ok=True)


def side_of(database: Database) -> MoveSide:
    """Returns the side for a database. Raises MissingExtraError without the driver of PostgreSQL."""
    if database.path is not None:
        return SqliteSide(database.path)
    if error := missing("a database on PostgreSQL", "postgres"):
        raise error
    from deniable_server.store.moving.postgres_side import PostgresSide  # without the driver, SQLite works

    return PostgresSide(database.url, str(database))
