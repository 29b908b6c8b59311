"""Queries about many ids: in steps, since a statement takes a limited number of parameters."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from deniable_server.store.sql.connection import Connection

STEP = 500
"""Ids in one statement."""


def rows_of(connection: Connection, query: str, ids: Collection[str], before: Sequence[Any] = ()) -> Iterator[Sequence[Any]]:
    """Yields the rows of a query for each of these ids.

    Args:
        connection: An open transaction.
        query: A statement with `{}` in the place of the marks of the ids.
        ids: The ids.
        before: The parameters that come before the ids.
    """
    every = sorted(set(ids))
    for begin in range(0, len(every), STEP):
        step = every[begin : begin + STEP]
        yield from connection.execute(query.format(", ".join("?" * len(step))), [*before, *step]).fetchall()
