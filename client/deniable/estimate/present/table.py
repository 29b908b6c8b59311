"""Table: the common form of all results on their way to people, files and programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Table:
    """A table of results.

    Cells are texts for people, and plain values (text, whole numbers, floats, None) for programs.

    Attributes:
        title: One line above.
        columns: The names of the columns.
        rows: A cell for each column.
        notes: Lines below.
        about: Lines under the title.
        texts: How many of the first columns are words, aligned left; numbers are aligned right.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    notes: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    texts: int = 1

    def dicts(self) -> list[dict[str, Any]]:
        """Returns the rows, each cell by its column's name."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def footnotes(warnings: list[str]) -> dict[str, str]:
    """Returns a mark for each different warning that is not empty: [1], [2], .."""
    return {warning: f"[{i}]" for i, warning in enumerate(dict.fromkeys(filter(None, warnings)), start=1)}


def footnote_lines(marks: dict[str, str]) -> tuple[str, ...]:
    """Returns the notes below a table whose cells carry these marks."""
    return tuple(f"{mark} {warning}" for warning, mark in marks.items())
