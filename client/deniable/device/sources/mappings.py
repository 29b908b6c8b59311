"""Rows from an iterable of mappings, such as dicts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from deniable.device.items import item_lists, lookup
from deniable.device.sealed import callers_own
from deniable.device.sources.rows import Raw, raw_of


class Mappings:
    """Rows from an iterable of mappings, such as dicts; keys that are no questions are left alone."""

    name: str | None = None
    mark = ""

    def __init__(self, rows: Iterable[Any]) -> None:
        # behind a function: some reports of errors show the attributes of objects, and of these again
        self._given: Callable[[], Iterable[Any]] = lambda: rows
        self.repeatable = isinstance(rows, Sequence)
        self.total: int | None = len(rows) if isinstance(rows, Sequence) else None

    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[Raw]:
        rows, read = callers_own(itertools.islice, self._given(), skip, None), of_mapping(names)
        return iter(lambda: raw_of(list(map(read, callers_own(list, itertools.islice(rows, size)))), len(names)), None)


def of_mapping(names: Sequence[str], rule: str = "must be a mapping from question to answer") -> Callable[[Any], list[Any] | str]:
    """What makes a row's cells of a mapping; of anything else, `rule`."""
    lists = item_lists(names)
    return lambda row: [lookup(row, name, lists) for name in names] if isinstance(row, Mapping) else rule
