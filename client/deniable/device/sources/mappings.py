"""Rows from an iterable of mappings, such as dicts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from deniable.device.items import ExpectedKeys, item_lists, lookup
from deniable.device.sealed import call_callers_code
from deniable.device.sources.rows import PART, RawRows, from_row_iterator


class Mappings:
    """Rows from an iterable of mappings, such as dicts; keys that are not questions are ignored."""

    name: str | None = None
    mark = ""

    def __init__(self, rows: Iterable[Any]) -> None:
        # a function, since some error reports show the attributes of objects
        self._get: Callable[[], Iterable[Any]] = lambda: rows
        self.repeatable = isinstance(rows, Sequence)
        self.total: int | None = len(rows) if isinstance(rows, Sequence) else None

    def batches(self, names: Sequence[str], size: int, skip: int) -> Iterator[RawRows]:
        """Yields rows as `Rows.batches` does."""
        rows = call_callers_code(itertools.islice, self._get(), skip, None)
        parts: Iterator[list[Any]] = iter(lambda: call_callers_code(list, itertools.islice(rows, min(size, PART))), [])
        return from_mappings(_pop_all(parts), names, size, "must be a mapping from question to answer")


def _pop_all(parts: Iterable[list[Any]]) -> Iterator[Any]:
    """Yields the elements of lists and removes each, so that no list keeps answers alive while they are sent."""
    for part in parts:
        part.reverse()
        while part:
            yield part.pop()


def from_mappings(rows: Iterable[Any], names: Sequence[str], size: int, rule: str) -> Iterator[RawRows]:
    """Returns batches of rows. A row that is not a mapping breaks `rule`."""
    lists = item_lists(names)

    def cells(row: Any) -> list[Any] | str:
        return [lookup(row, name, lists) for name in names] if isinstance(row, Mapping) else rule

    return from_row_iterator(map(cells, map(ExpectedKeys(names).normalize, rows)), len(names), size)
