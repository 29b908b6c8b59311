"""Rows as CSV: numbers only, so that no cell can be a formula."""

from __future__ import annotations

from typing import IO

import numpy as np

from deniable.bundle.counted import Counted
from deniable.bundle.variables import UNASKED, Variable
from deniable.survey.types.base import MAX_OPTIONS

MOST_CODES = MAX_OPTIONS + 2  # a group, or a category and no answer
TEXTS = np.array([b"", *(str(code).encode() for code in range(MOST_CODES))], dtype=object)
"""How a number is written, one place further on, so that what was not asked is empty."""


def write(counted: Counted, columns: tuple[Variable, ...], file: IO[bytes]) -> None:
    """A header with the names, and a line a record (RFC 4180); an empty cell where somebody was not asked."""
    file.write(",".join(column.name for column in columns).encode() + b"\r\n")
    for rows in counted.rows():
        file.write(b"".join(b"%s\r\n" % b",".join(row) for row in TEXTS[rows - UNASKED].tolist()))
