"""A connection to PostgreSQL that is spoken to as one to SQLite is: `?` for values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import psycopg

from deniable_server.store.sql.connection import Cursor


class PostgresConnection:
    """Rows come all at once, as bytes and not as text."""

    def __init__(self, raw: psycopg.Connection[Any]) -> None:
        self.raw = raw

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Cursor:
        return self.raw.execute(_written(statement), _searched(statement, values), binary=True)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> object:
        with self.raw.cursor() as cursor:
            cursor.executemany(_written(statement), rows)
        return None

    def close(self) -> None:
        self.raw.close()


class StreamingConnection(PostgresConnection):
    """Rows come as they are asked for, so that memory does not grow with them; the rows of one query are read before the next one."""

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Cursor:
        return _Rows(self.raw.cursor().stream(_written(statement), _searched(statement, values), binary=True))


class _Rows:
    """A cursor whose rows are on their way."""

    rowcount = -1  # not known before the last one

    def __init__(self, rows: Iterator[Any]) -> None:
        self._rows = rows

    def fetchone(self) -> Any:
        found = self.fetchall()
        return found[0] if found else None

    def fetchall(self) -> list[Any]:
        return list(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return self._rows


@lru_cache(maxsize=256)
def _written(statement: str) -> bytes:
    return statement.replace("%", "%%").replace("?", "%s").encode()


_LOOKS_FOR = ("SELECT", "DELETE", "UPDATE")  # what an UPDATE sets is no text that anybody typed


def _searched(statement: str, values: Sequence[Any]) -> Sequence[Any]:
    """PostgreSQL keeps no text with a NUL, and takes none: what is looked for with one is nowhere, as what has U+FFFF is."""
    if statement.startswith(_LOOKS_FOR):
        return [value.replace("\0", "\uffff") if isinstance(value, str) else value for value in values]
    return values
