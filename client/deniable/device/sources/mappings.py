"""Rows from an iterable of mappings, such as dicts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from deniable.device.items import Keys, item_lists, lookup
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
        rows = callers_own(itertools.islice, self._given(), skip, None)
        return of_mappings(lambda: callers_own(list, itertools.islice(rows, size)), names, "must be a mapping from question to answer")


def of_mappings(taken: Callable[[], Iterable[Any]], names: Sequence[str], rule: str) -> Iterator[Raw]:
    """Stretches of the rows that `taken` gives; of the first, the keys are looked at, too. What is no mapping is told `rule`."""
    lists, first = item_lists(names), [partial(map, Keys(names).checked)]

    def cells(row: Any) -> list[Any] | str:
        return [lookup(row, name, lists) for name in names] if isinstance(row, Mapping) else rule

    return iter(lambda: raw_of(list(map(cells, (first.pop() if first else iter)(taken()))), len(names)), None)
