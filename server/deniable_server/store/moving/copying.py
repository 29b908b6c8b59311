"""Copy of tables between databases: the first copy, the later changes, and the comparison row by row.

Rows are read and written in the order of their keys, which are random or names, so a copy shows no order of arrival.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from deniable_server.store.moving.layout import CopiedTable
from deniable_server.store.moving.move_side import MoveSide, Row
from deniable_server.store.sql.connection import Connection

STEP = 500
"""Rows that one statement reads or deletes by their keys."""

NEVER_CHANGED = frozenset({"submissions", "intake"})
"""Tables whose rows have a random key and never change: their keys alone say which rows are new or gone."""


@dataclass
class Changes:
    """How a table of the new database must change. `gone` are keys, `added` and `changed` whole rows, the key first."""

    table: CopiedTable
    gone: list[Row]
    added: list[Row]
    changed: list[Row]

    def __len__(self) -> int:
        """Returns the number of rows."""
        return len(self.gone) + len(self.added) + len(self.changed)


def copy_all(tables: Sequence[CopiedTable], source: MoveSide, target: MoveSide) -> None:
    """Copies one snapshot into empty tables, each in a transaction of its own."""
    with source.reading() as old, target.writing() as new:
        for table in tables:
            target.begin(new)
            target.insert(new, table, iter(old.execute(_select(table, table.columns))))
            new.execute("COMMIT")


def catch_up(tables: Sequence[CopiedTable], old: Connection, target: MoveSide) -> int:
    """Brings the new database to the state of the old one, in one transaction of the new one.

    Args:
        tables: All tables; a table comes after those that it refers to.
        old: A connection to the old database that streams rows, in a transaction.
        target: The new database.

    Returns:
        The number of rows that were different.
    """
    with target.reading() as new:
        changes = [_changes(table, old, new) for table in tables]
    if any(changes):
        with target.writing() as connection:
            target.begin(connection)
            for each in reversed(changes):
                _delete(connection, each)
            for each in changes:
                _add(connection, target, each)
            connection.execute("COMMIT")
    return sum(map(len, changes))


def compare(tables: Sequence[CopiedTable], source: MoveSide, target: MoveSide) -> dict[str, int]:
    """Compares all rows of two databases. Returns the number of rows of each table.

    Raises:
        ValueError: A row is different, or only in one of them.
    """
    counts = {}
    with source.reading() as old, target.reading() as new:
        for table in tables:
            rows = 0
            query = _select(table, table.columns)
            for ours, theirs in _pairs(iter(old.execute(query)), iter(new.execute(query)), len(table.key)):
                if ours is None or theirs is None or tuple(ours) != tuple(theirs):
                    raise ValueError(f"the tables {table.name} must be equal, got a difference after {rows:,} equal rows")
                rows += 1
            counts[table.name] = rows
    return counts


def _changes(table: CopiedTable, old: Connection, new: Connection) -> Changes:
    """Returns the changes of a table between its copy and now."""
    changes, missing = Changes(table, [], [], []), list[Row]()
    is_fixed = table.name in NEVER_CHANGED
    query = _select(table, table.key if is_fixed else table.columns)
    for ours, theirs in _pairs(iter(old.execute(query)), iter(new.execute(query)), len(table.key)):
        if ours is None:
            changes.gone.append(theirs[: len(table.key)])
        elif theirs is None:
            (missing if is_fixed else changes.added).append(ours)
        elif tuple(ours) != tuple(theirs):
            changes.changed.append(ours)
    changes.added += _rows(table, old, missing)
    return changes


def _rows(table: CopiedTable, connection: Connection, keys: Sequence[Row]) -> Iterator[Row]:
    """Yields whole rows of a table with one key column."""
    for begin in range(0, len(keys), STEP):
        some = [key for (key,) in keys[begin : begin + STEP]]
        chosen = f'{_columns(table.columns)} FROM "{table.name}" WHERE "{table.key[0]}" IN ({", ".join("?" * len(some))})'
        yield from connection.execute(f"SELECT {chosen}", some).fetchall()


def _delete(connection: Connection, changes: Changes) -> None:
    """Deletes rows that are gone, and changed ones, which are added again; changed rows that others refer to stay."""
    table = changes.table
    keys = [*changes.gone, *(() if table.is_referenced else (row[: len(table.key)] for row in changes.changed))]
    if keys:
        connection.executemany(f'DELETE FROM "{table.name}" WHERE {_each(table.key, " AND ")}', keys)  # noqa: S608 - our own names


def _add(connection: Connection, target: MoveSide, changes: Changes) -> None:
    """Adds new and changed rows in the order of their keys."""
    table, width = changes.table, len(changes.table.key)
    if table.is_referenced and changes.changed:
        statement = f'UPDATE "{table.name}" SET {_each(table.others, ", ")} WHERE {_each(table.key, " AND ")}'  # noqa: S608 - our own names
        connection.executemany(statement, [[*row[width:], *row[:width]] for row in changes.changed])
    added = changes.added if table.is_referenced else [*changes.added, *changes.changed]
    if added:
        target.insert(connection, table, sorted(added, key=lambda row: tuple(row[:width])))


def _pairs(old: Iterator[Row], new: Iterator[Row], width: int) -> Iterator[tuple[Any, Any]]:
    """Yields the rows of two sorted tables with the same key together; None where one of them lacks the key."""
    ours, theirs = next(old, None), next(new, None)
    while ours is not None or theirs is not None:
        own = None if ours is None else tuple(ours[:width])
        other = None if theirs is None else tuple(theirs[:width])
        if own == other:
            yield ours, theirs
            ours, theirs = next(old, None), next(new, None)
        elif other is None or (own is not None and own < other):
            yield ours, None
            ours = next(old, None)
        else:
            yield None, theirs
            theirs = next(new, None)


def _select(table: CopiedTable, columns: Sequence[str]) -> str:
    """Returns a query of all rows, sorted by the bytes of the key in both databases."""
    return f'SELECT {_columns(columns)} FROM "{table.name}" ORDER BY {_columns(table.key)}'  # noqa: S608 - our own names


def _columns(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _each(names: Sequence[str], separator: str) -> str:
    return separator.join(f'"{name}" = ?' for name in names)
