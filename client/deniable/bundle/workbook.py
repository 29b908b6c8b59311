"""Rows as an Excel workbook (.xlsx): a sheet each for the rows, the columns' labels and the values' labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import IO

from deniable.bundle.cell_texts import rows_of
from deniable.bundle.counted_records import CountedRecords
from deniable.bundle.variables import Variable
from deniable.errors import EstimateError
from deniable.estimate.present import workbook
from deniable.estimate.present.workbook import MOST_COLUMNS, MOST_ROWS, Sheet, cell, row

_CELL_BYTES = 20  # at most, of a number
_ROW = (b"<row>", b"", b"</row>")


def write(counted: CountedRecords, columns: Sequence[Variable], file: IO[bytes]) -> None:
    """Writes the sheets rows, variables and values.

    Raises:
        EstimateError: A sheet cannot hold as many records or columns.
    """
    if problem := too_large(counted.n, len(columns)):
        raise EstimateError(f"rows.xlsx: {problem}")
    values = [(column.name, *value) for column in columns for value in column.values.items()]
    sheets = [
        Sheet("rows", [column.name for column in columns], rows_of(counted, columns, cell, _ROW), counted.n * len(columns) * _CELL_BYTES),
        Sheet("variables", ("variable", "label"), _text_rows((column.name, column.label) for column in columns)),
        Sheet("values", ("variable", "value", "label"), _text_rows(values)),
    ]
    workbook.write(file, sheets)


def too_large(n: int, columns: int) -> str:
    """Returns why a sheet cannot hold n records, or an empty text if it can."""
    if n > MOST_ROWS:
        return f"a sheet holds at most {MOST_ROWS:,} rows below its header, and there are {n:,} records"
    return f"a sheet holds at most {MOST_COLUMNS:,} columns, and there are {columns:,}" if columns > MOST_COLUMNS else ""


def _text_rows(rows: Iterable[Sequence[object]]) -> Iterator[bytes]:
    return (row(map(cell, values)) for values in rows)
