"""Text of a table's codes: each row is a concatenation of fixed texts, which numpy looks up for many rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from deniable.bundle.counted_records import Codes, CountedRecords
from deniable.bundle.variables import MISSING, Variable

_CELLS = 1 << 16  # whose text is in memory at a time, so that it fits into a cache
_PADDING = b"\0"


def rows_of(
    counted: CountedRecords, columns: Sequence[Variable], cell: Callable[[int | None], bytes], ends: tuple[bytes, ...]
) -> Iterator[bytes]:
    """Yields the text of some rows at a time.

    Args:
        counted: The records.
        columns: The columns of the table, at least two: who randomized, and an answer.
        cell: Returns the text of a code, None for a missing value. It has no zero byte.
        ends: The text before a row, between two cells, and after a row.
    """
    before, between, after = ends
    codes = [None, *range(max(code for column in columns for code in column.values) + 1)]  # by code - MISSING
    texts = [cell(code) for code in codes]
    first, middle = np.array([before + text + between for text in texts]), np.array([text + between for text in texts])
    last = np.array([text + after for text in texts])
    row = np.dtype([("first", first.dtype), ("middle", middle.dtype, (len(columns) - 2,)), ("last", last.dtype)])
    at_once = max(1, _CELLS // len(columns))
    for rows in counted.rows():
        for start in range(0, len(rows), at_once):
            yield _joined(rows[start : start + at_once] - MISSING, (first, middle, last), row)


def _joined(indices: Codes, tables: tuple[NDArray[np.bytes_], ...], row: np.dtype[np.void]) -> bytes:
    first, middle, last = tables
    lines = np.empty(len(indices), dtype=row)
    lines["first"], lines["middle"], lines["last"] = first[indices[:, 0]], middle[indices[:, 1:-1]], last[indices[:, -1]]
    text = lines.tobytes()
    return text.translate(None, _PADDING) if _PADDING in text else text
