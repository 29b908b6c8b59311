"""PostgreSQL connections with SQLite-style `?` parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import psycopg

from deniable_server.store.sql.connection import Cursor


class PostgresConnection:
    """A connection that fetches all rows of a query at once, in binary."""

    def __init__(self, raw: psycopg.Connection[Any]) -> None:
        self.raw = raw

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Cursor:
        """Executes a statement with values for its `?`."""
        return self.raw.execute(_to_format_style(statement), _searched(statement, values), binary=True)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> object:
        """Executes a statement once for each row of values."""
        with self.raw.cursor() as cursor:
            cursor.executemany(_to_format_style(statement), rows)
        return None

    def close(self) -> None:
        """Closes the connection."""
        self.raw.close()


class StreamingConnection(PostgresConnection):
    """A connection that fetches rows as they are read, so that memory does not grow; read one query's rows before the next query."""

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Cursor:
        """Executes a query and streams its rows."""
        return _Rows(self.raw.cursor().stream(_to_format_style(statement), _searched(statement, values), binary=True))


class _Rows:
    """A cursor over streamed rows."""

    rowcount = -1  # not known before the last one

    def __init__(self, rows: Iterator[Any]) -> None:
        self._rows = rows

    def fetchone(self) -> Any:
        rows = self.fetchall()
        return rows[0] if rows else None

    def fetchall(self) -> list[Any]:
        return list(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return self._rows


@lru_cache(maxsize=256)
def _to_format_style(statement: str) -> bytes:
    return statement.replace("%", "%%").replace("?", "%s").encode()


_LOOKS_FOR = ("SELECT", "DELETE", "UPDATE")  # no UPDATE sets a text that a person typed


def _searched(statement: str, values: Sequence[Any]) -> Sequence[Any]:
    """Returns values with U+FFFF for NUL characters, which PostgreSQL refuses: it matches no stored text."""
    if statement.startswith(_LOOKS_FOR):
        return [value.replace("\0", "\uffff") if isinstance(value, str) else value for value in values]
    return values
