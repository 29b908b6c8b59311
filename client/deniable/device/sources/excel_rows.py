"""Rows from a sheet of an Excel workbook (.xlsx)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from types import SimpleNamespace
from typing import Any, TypeVar

from deniable.device.sources.file_rows import FileRows
from deniable.device.sources.rows import RawRows, from_row_iterator, indexes_of
from deniable.errors import AnswerError
from deniable.extras import missing
from deniable.extras.openpyxl_warnings import without_warnings

T = TypeVar("T")
_EMPTY = SimpleNamespace(value=None, data_type="n")
"""Placeholder for a cell that a short row lacks."""


class ExcelRows(FileRows):
    """Rows of a workbook; the first row of its sheet names the columns. Empty rows are ignored."""

    def _batches(self, names: Sequence[str], size: int, skip: int) -> Iterator[RawRows]:
        return from_row_iterator(self._cells(names), len(names), size, skip)

    def _cells(self, names: Sequence[str]) -> Iterator[Sequence[Any] | str]:
        if error := missing(f"{self.label}", "xlsx"):
            raise error
        with ExitStack() as stack:
            rows = self.call_library(lambda: self._rows(stack), "a workbook (.xlsx)")
            filled = filter(_is_filled, iter(lambda: _quietly(lambda: next(rows, None)), None))
            header = ["" if cell.value is None else cell.value for cell in next(filled, ())]
            indexes = indexes_of(self.label, names, header)
            yield from map(partial(_values, indexes), filled)

    def _rows(self, stack: ExitStack) -> Iterator[Any]:
        from openpyxl import load_workbook

        book = _quietly(lambda: load_workbook(self._file, read_only=True))
        stack.callback(book.close)
        sheets = [sheet for sheet in book.worksheets if self._format.sheet in (None, sheet.title)]
        if len(sheets) != 1:
            which = f"has {len(book.worksheets):,} sheets, so say which one" if self._format.sheet is None else "has no sheet of that name"
            raise AnswerError(f"{self.label}: {which}")
        sheets[0].reset_dimensions()  # some programs write wrong dimensions, which would lose rows
        return iter(sheets[0].iter_rows())


def _is_filled(row: Sequence[Any]) -> bool:
    return any(cell.value is not None for cell in row)


def _values(indexes: Sequence[int], row: Sequence[Any]) -> list[Any] | str:
    """Returns the values in some columns of a row. A row with a formula is invalid: the file may lack the formula's value."""
    cells = [row[index] if index < len(row) else _EMPTY for index in indexes]
    if any(cell.data_type == "f" for cell in cells):
        return "must have values, got a formula"
    return [cell.value for cell in cells]


def _quietly(read: Callable[[], T]) -> T:
    """Calls a function without openpyxl's warnings, which quote cells."""
    with without_warnings():
        return read()
