"""Rows as CSV: numbers only, so that no cell can be a formula."""

from __future__ import annotations

from typing import IO

from deniable.bundle.cell_texts import rows_of
from deniable.bundle.counted_records import CountedRecords
from deniable.bundle.variables import Variable


def write(counted: CountedRecords, columns: tuple[Variable, ...], file: IO[bytes]) -> None:
    """Writes a header with the names of the columns, and a line for each record (RFC 4180). A missing value is an empty cell."""
    file.write(",".join(column.name for column in columns).encode() + b"\r\n")
    for lines in rows_of(counted, columns, _cell, (b"", b",", b"\r\n")):
        file.write(lines)


def _cell(code: int | None) -> bytes:
    return b"" if code is None else b"%d" % code
