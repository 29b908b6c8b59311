"""The one form that all results take on their way to people, files and programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Table:
    """title: one line above. columns: their names. rows: a cell for each column. notes: lines below. about: lines under the title.

    Cells are texts where people read them, and plain values (text, whole numbers, floats, None) where programs do. texts: how many of the
    first columns are words, which stand on the left; numbers stand on the right.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    notes: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    texts: int = 1

    def dicts(self) -> list[dict[str, Any]]:
        """The rows, each cell by its column's name."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def footnotes(warnings: list[str]) -> dict[str, str]:
    """A mark for each different warning that is not empty: [1], [2], .."""
    return {warning: f"[{i}]" for i, warning in enumerate(dict.fromkeys(filter(None, warnings)), start=1)}


def footnote_lines(marks: dict[str, str]) -> tuple[str, ...]:
    """The notes below a table whose cells carry these marks."""
    return tuple(f"{mark} {warning}" for warning, mark in marks.items())
