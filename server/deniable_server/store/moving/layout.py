"""Layout of the tables that a move copies, as the migrations of this version make them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass

from deniable_server.store.sql.move_marks import TABLE
from deniable_server.store.sqlite.schema import migrate


@dataclass(frozen=True)
class CopiedTable:
    """A table of the data.

    Attributes:
        name: Its name.
        key: The columns of the primary key, in order.
        others: The remaining columns.
        is_referenced: Whether rows of other tables refer to its rows.
    """

    name: str
    key: tuple[str, ...]
    others: tuple[str, ...]
    is_referenced: bool

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, with the key first."""
        return self.key + self.others


def tables() -> tuple[CopiedTable, ...]:
    """Returns all tables of the data; a table comes after those that it refers to."""
    with closing(sqlite3.connect(":memory:")) as connection:
        migrate(connection)
        names = [name for name in names_in(connection) if name != TABLE]
        referenced = {row[2] for name in names for row in connection.execute(f'PRAGMA foreign_key_list("{name}")')}
        return tuple(_table(connection, name, name in referenced) for name in names)


def names_in(connection: sqlite3.Connection) -> list[str]:
    """Returns the names of a file's tables in the order of their creation, without the tables of SQLite and of its migrations."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid").fetchall()
    return [name for (name,) in rows if not name.startswith(("sqlite_", "_sqlite"))]


def _table(connection: sqlite3.Connection, name: str, is_referenced: bool) -> CopiedTable:
    columns = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
    key = tuple(column for place, column in sorted((row[5], row[1]) for row in columns if row[5]))
    others = tuple(row[1] for row in columns if not row[5])
    return CopiedTable(name, key, others, is_referenced)
