"""PostgreSQL as one of the two databases of a move."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager

import psycopg
from psycopg import sql

from deniable_server.store.errors import UnavailableError
from deniable_server.store.moving import layout
from deniable_server.store.moving.layout import CopiedTable
from deniable_server.store.moving.move_side import Row
from deniable_server.store.postgres import schema, settings
from deniable_server.store.postgres.connection import PostgresConnection, StreamingConnection
from deniable_server.store.postgres.server import READ, connect, usable
from deniable_server.store.sql import move_marks
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.move_marks import MoveMark

MOVE_LOCK = schema.LOCK + 1  # the advisory lock of a move to the database
_STATE = "deniable"  # the table with the version


class PostgresSide:
    """The database at a URL."""

    def __init__(self, url: str, name: str) -> None:
        self._url, self.name = url, name

    def failing(self) -> AbstractContextManager[None]:
        """Turns errors of psycopg into UnavailableError."""
        return usable(self.name)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Yields a connection for writing."""
        with self.failing(), closing(connect(self._url)) as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yields a connection that reads one snapshot and streams its rows."""
        with self.failing(), closing(connect(self._url)) as connection:
            connection.execute(READ)
            yield StreamingConnection(connection.raw)

    def begin(self, connection: Connection) -> None:
        """Begins a transaction with the advisory lock for writing."""
        connection.execute("BEGIN")
        connection.execute("SELECT pg_advisory_xact_lock(?::bigint)", [schema.LOCK])

    def streaming(self, connection: Connection) -> Connection:
        """Returns the connection, for queries whose rows are fetched as they are read."""
        return StreamingConnection(_raw(connection))

    def insert(self, connection: Connection, table: CopiedTable, rows: Iterable[Row]) -> None:
        """Inserts many rows with COPY. Raises UnavailableError for a text that PostgreSQL cannot store."""
        statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
            sql.Identifier(table.name), sql.SQL(", ").join(map(sql.Identifier, table.columns))
        )
        try:
            with _raw(connection).cursor() as cursor, cursor.copy(statement) as copy:
                for row in rows:
                    copy.write_row(row)
        except psycopg.DataError as error:
            raise UnavailableError(
                f"the table {table.name} must have no text with the character NUL, which PostgreSQL cannot store: change it first"
                if "NUL" in str(error)
                else f"a row of the table {table.name} cannot be stored by PostgreSQL"
            ) from None

    def table_names(self) -> set[str]:
        """Returns the names of the tables, without the one with the version."""
        query = "SELECT tablename FROM pg_tables WHERE schemaname = ANY(current_schemas(false))"
        with self.reading() as connection:
            return {str(name) for (name,) in connection.execute(query)} - {_STATE}

    def columns(self) -> dict[str, set[str]]:
        """Returns the columns of each table."""
        query = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = ANY(current_schemas(false))"
        columns: dict[str, set[str]] = {}
        with self.reading() as connection:
            for table, column in connection.execute(query):
                columns.setdefault(table, set()).add(column)
        columns.pop(_STATE, None)
        return columns

    def mark(self) -> MoveMark | None:
        """Returns the mark."""
        if move_marks.TABLE not in self.table_names():
            return None
        with self.reading() as connection:
            return move_marks.find(connection)

    def create(self, mark: MoveMark) -> None:
        """Creates the tables with the mark in one transaction."""
        with self.writing() as connection:
            settings.require(connection)
            connection.execute("BEGIN")
            schema.apply_steps(connection)
            move_marks.add(connection, mark)
            connection.execute("UPDATE deniable SET due = 1")
            connection.execute("COMMIT")

    def discard(self) -> None:
        """Drops the tables in one transaction."""
        names = [_STATE, move_marks.TABLE, *(table.name for table in layout.tables())]
        with self.writing() as connection:
            self.begin(connection)
            connection.execute("DROP TABLE IF EXISTS " + ", ".join(f'"{name}"' for name in names))
            connection.execute("COMMIT")

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Holds an advisory lock of a session, which ends with the process. Raises UnavailableError if another move has it."""
        with self.failing(), closing(connect(self._url)) as connection:
            (free,) = connection.execute("SELECT pg_try_advisory_lock(?::bigint)", [MOVE_LOCK]).fetchone()
            if not free:
                raise UnavailableError(f"another move to {self.name} is running")
            yield


def _raw(connection: Connection) -> psycopg.Connection[object]:
    assert isinstance(connection, PostgresConnection)
    return connection.raw
