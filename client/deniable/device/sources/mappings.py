"""Rows from an iterable of mappings, such as dicts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from deniable.device.items import Keys, item_lists, lookup
from deniable.device.sealed import callers_own
from deniable.device.sources.rows import PART, RawRows, row_by_row


class Mappings:
    """Rows from an iterable of mappings, such as dicts; keys that are not questions are ignored."""

    name: str | None = None
    mark = ""

    def __init__(self, rows: Iterable[Any]) -> None:
        # behind a function: some error reports show the attributes of objects
        self._get: Callable[[], Iterable[Any]] = lambda: rows
        self.repeatable = isinstance(rows, Sequence)
        self.total: int | None = len(rows) if isinstance(rows, Sequence) else None

    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[RawRows]:
        """Yields rows as `Rows.stretches` does."""
        rows = callers_own(itertools.islice, self._get(), skip, None)
        parts: Iterator[list[Any]] = iter(lambda: callers_own(list, itertools.islice(rows, min(size, PART))), [])
        return of_mappings(_emptied(parts), names, size, "must be a mapping from question to answer")


def _emptied(parts: Iterable[list[Any]]) -> Iterator[Any]:
    """Yields the elements of lists and removes each, so that no list keeps answers alive while they are sent."""
    for part in parts:
        part.reverse()
        while part:
            yield part.pop()


def of_mappings(rows: Iterable[Any], names: Sequence[str], size: int, rule: str) -> Iterator[RawRows]:
    """Returns batches of rows. A row that is not a mapping breaks `rule`."""
    lists = item_lists(names)

    def cells(row: Any) -> list[Any] | str:
        return [lookup(row, name, lists) for name in names] if isinstance(row, Mapping) else rule

    return row_by_row(map(cells, map(Keys(names).checked, rows)), len(names), size)
