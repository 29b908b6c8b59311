"""Rows from a data frame of pandas, polars or Arrow, without importing these libraries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from deniable.device.columns import from_arrow
from deniable.device.sources.rows import RawRows, columns_of


class Frame:
    """Rows of a data frame."""

    name: str | None = None
    mark = ""
    repeatable = True

    def __init__(self, frame: Any) -> None:
        self._get: Callable[[], Any] = lambda: frame  # a function, for the reason given in `Mappings`
        self.total: int | None = len(frame)

    def batches(self, names: Sequence[str], size: int, skip: int) -> Iterator[RawRows]:
        """Yields rows as `Rows.batches` does."""
        frame = self._get()
        self._batch(0, 0, names)
        return (self._batch(start, size, names) for start in range(skip, len(frame), size))

    def _batch(self, start: int, size: int, names: Sequence[str]) -> RawRows:
        frame = self._get()
        of_pandas = hasattr(frame, "iloc")
        part = frame.iloc[start : start + size] if of_pandas else frame.slice(start, size)
        present = list(getattr(frame, "column_names", frame.columns))

        def column(index: int) -> Any:
            return part.iloc[:, index] if of_pandas else from_arrow(part[present[index]])

        return RawRows(len(part), columns_of("the data frame", names, present, column))
