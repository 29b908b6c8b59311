"""Rows from a data frame of pandas, polars or Arrow; none of them is imported here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from deniable.device.columns import of_arrow
from deniable.device.sources.rows import RawRows, columns_of


class Frame:
    """A data frame."""

    name: str | None = None
    mark = ""
    repeatable = True

    def __init__(self, frame: Any) -> None:
        self._get: Callable[[], Any] = lambda: frame  # behind a function, as in `Mappings`
        self.total: int | None = len(frame)

    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[RawRows]:
        """Yields rows as `Rows.stretches` does."""
        frame = self._get()
        self._stretch(0, 0, names)
        return (self._stretch(start, size, names) for start in range(skip, len(frame), size))

    def _stretch(self, start: int, size: int, names: Sequence[str]) -> RawRows:
        frame = self._get()
        of_pandas = hasattr(frame, "iloc")
        part = frame.iloc[start : start + size] if of_pandas else frame.slice(start, size)
        present = list(getattr(frame, "column_names", frame.columns))

        def column(place: int) -> Any:
            return part.iloc[:, place] if of_pandas else of_arrow(part[present[place]])

        return RawRows(len(part), columns_of("the data frame", names, present, column))
