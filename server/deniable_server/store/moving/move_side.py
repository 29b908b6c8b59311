"""Interface of the two databases of a move: connections, snapshots, and the creation and removal of an unfinished one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from deniable_server.store.moving.layout import CopiedTable
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.move_marks import MoveMark

Row = Sequence[Any]


class MoveSide(Protocol):
    """One database of a move. Its methods raise UnavailableError for the errors of the database."""

    name: str
    """The database in messages, without a password."""

    def failing(self) -> AbstractContextManager[None]:
        """Turns errors of the database inside the context into UnavailableError."""

    def writing(self) -> AbstractContextManager[Connection]:
        """Yields a connection without a transaction, to be begun by `begin`."""

    def reading(self) -> AbstractContextManager[Connection]:
        """Yields a connection that reads one snapshot and streams the rows of one query at a time."""

    def begin(self, connection: Connection) -> None:
        """Begins a transaction that excludes all other writers. Raises an error of the database if they take too long."""

    def streaming(self, connection: Connection) -> Connection:
        """Returns the connection for queries of many rows inside its transaction."""

    def insert(self, connection: Connection, table: CopiedTable, rows: Iterable[Row]) -> None:
        """Inserts many rows."""

    def table_names(self) -> set[str]:
        """Returns the names of the tables that the database has, without the tables of the engine; empty without a database."""

    def columns(self) -> dict[str, set[str]]:
        """Returns the columns of each table."""

    def mark(self) -> MoveMark | None:
        """Returns the mark of the database."""

    def create(self, mark: MoveMark) -> None:
        """Creates the tables, and the mark with them: no server ever sees the one without the other."""

    def discard(self) -> None:
        """Removes the tables of an unfinished move."""

    def exclusive(self) -> AbstractContextManager[None]:
        """Refuses a second move to the database meanwhile."""
