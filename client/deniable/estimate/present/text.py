"""Text output: tables as aligned text for a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from deniable.estimate.present.table import Table


def render(tables: Iterable[Table]) -> str:
    """Returns titles, cells side by side and notes, with blank lines between, and no text that could break a line."""
    parts = [part for table in tables for part in (_lines(table.title, *table.about), _aligned(table), _lines(*table.notes)) if any(part)]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def one_line(text: str) -> str:
    """Returns a text that can neither break a table nor control the terminal: results may come from a server."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split()))


def _lines(*texts: str) -> list[str]:
    return [one_line(text) for text in texts]


def _aligned(table: Table) -> list[str]:
    cells = [[one_line(str(cell)) for cell in row] for row in (table.columns, *table.rows)]
    widths = [max(_columns(row[i]) for row in cells) for i in range(len(table.columns))]
    lines = ([_padded(cell, width, i < table.texts) for i, (cell, width) in enumerate(zip(row, widths, strict=True))] for row in cells)
    return ["  ".join(line).rstrip() for line in lines]


def _padded(cell: str, width: int, left: bool) -> str:
    space = " " * (width - _columns(cell))
    return cell + space if left else space + cell


def _columns(text: str) -> int:
    """Returns how many columns a text takes on a terminal."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
