"""Rows from a data frame of pandas, polars or Arrow, none of which is imported here for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from deniable.device.columns import of_arrow
from deniable.device.sources.rows import Raw, require_columns


class Frame:
    """A data frame."""

    name: str | None = None
    mark = ""
    repeatable = True

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.total: int | None = len(frame)

    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[Raw]:
        require_columns("the data frame", names, list(getattr(self._frame, "column_names", self._frame.columns)))
        return (self._stretch(start, size, names) for start in range(skip, len(self._frame), size))

    def _stretch(self, start: int, size: int, names: Sequence[str]) -> Raw:
        of_pandas = hasattr(self._frame, "iloc")
        part = self._frame.iloc[start : start + size] if of_pandas else self._frame.slice(start, size)
        return Raw(len(part), [part[name] if of_pandas else of_arrow(part[name]) for name in names])
