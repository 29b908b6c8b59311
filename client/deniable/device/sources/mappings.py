"""Rows from an iterable of mappings, such as dicts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from deniable.device.items import ExpectedKeys, all_plain, lookup_columns
from deniable.device.sealed import call_callers_code
from deniable.device.sources.rows import RawRows, from_parts


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
        return from_mappings(
            lambda most: call_callers_code(list, itertools.islice(rows, most)), names, size, "must be a mapping from question to answer"
        )


def from_mappings(take: Callable[[int], list[Any]], names: Sequence[str], size: int, rule: str) -> Iterator[RawRows]:
    """Returns batches of rows.

    Args:
        take: Returns the next rows, at most as many as its argument says; no row at the end. A row that is not a mapping breaks `rule`.
        names: The columns to return.
        size: Most rows of a batch.
        rule: The rule.
    """
    keys, blank = ExpectedKeys(names), dict.fromkeys(names, "")

    def read(most: int) -> RawRows | None:
        rows, broken = keys.normalize_all(take(most)), dict[int, str]()
        if not all_plain(rows):
            broken = {number: rule for number, row in enumerate(rows) if not isinstance(row, Mapping)}
            rows = [blank if number in broken else row for number, row in enumerate(rows)]
        return RawRows(len(rows), lookup_columns(rows, names), broken) if rows else None

    return from_parts(read, len(names), size)
