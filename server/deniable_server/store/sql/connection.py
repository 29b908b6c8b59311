"""Connection interface that SQLite and PostgreSQL share, with `?` for parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol


class Cursor(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int:
        """The number of rows that the statement changed."""

    def fetchone(self) -> Any:
        """Returns the next row, or None."""

    def fetchall(self) -> list[Any]:
        """Returns the remaining rows."""

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A database connection. Code that receives one inside a transaction neither begins nor ends it."""

    def execute(self, statement: str, values: Sequence[Any] = ..., /) -> Cursor:
        """Executes a statement with values for its `?`."""

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> object:
        """Executes a statement once for each row of values."""

    def close(self) -> None:
        """Closes the connection."""
