"""Rows as CSV: numbers only, so that no cell can be a formula."""

from __future__ import annotations

from typing import IO

import numpy as np

from deniable.bundle.counted_records import CountedRecords
from deniable.bundle.variables import MISSING, Variable
from deniable.survey.types.base import MAX_OPTIONS

MOST_CODES = MAX_OPTIONS + 2  # a group, or a category and no answer
_TEXTS = np.array([b"", *(str(code).encode() for code in range(MOST_CODES))], dtype=object)
"""The text of each code at index code - MISSING; a missing value is an empty cell."""


def write(counted: CountedRecords, columns: tuple[Variable, ...], file: IO[bytes]) -> None:
    """Writes a header with the names of the columns, and a line for each record (RFC 4180)."""
    file.write(",".join(column.name for column in columns).encode() + b"\r\n")
    for rows in counted.rows():
        file.write(b"".join(b"%s\r\n" % b",".join(row) for row in _TEXTS[rows - MISSING].tolist()))
