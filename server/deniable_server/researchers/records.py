"""A survey's counted records in the order of their own bytes: what is downloaded follows from them alone."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np

from deniable.survey import Survey
from deniable.wire.part import Part
from deniable_server.store.protocol import Store

_BUCKETS = 16  # by the first half byte, so that a sixteenth of the records or so is in memory at a time
_IN_MEMORY = 1 << 20  # bytes of a bucket that need no file
_WORD = 8


def in_order(store: Store, survey: Survey, part: Part) -> Iterator[bytes]:
    """The records of a part in the order of their bytes, many at a time."""
    size = survey.record.bytes
    with ExitStack() as stack:
        buckets = [stack.enter_context(tempfile.SpooledTemporaryFile(_IN_MEMORY)) for _ in range(_BUCKETS)]
        for reports in store.submissions.reports(survey.id, part):
            rows = _rows(reports, size)
            for number in np.unique(rows[:, 0] >> 4).tolist():
                buckets[number].write(rows[rows[:, 0] >> 4 == number].tobytes())
        for bucket in buckets:
            bucket.seek(0)
            rows = _rows(bucket.read(), size)
            if len(rows):
                yield _sorted(rows)


def _rows(reports: bytes, size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.frombuffer(reports, dtype=np.uint8).reshape(-1, size)


def _sorted(rows: np.ndarray[Any, np.dtype[np.uint8]]) -> bytes:
    """Records sorted by their bytes; those of up to eight as numbers, which is ten times as fast where many are alike."""
    n, size = rows.shape
    if size > _WORD:
        return np.sort(np.ascontiguousarray(rows).reshape(-1).view(f"V{size}")).tobytes()
    words = np.zeros((n, _WORD), dtype=np.uint8)
    words[:, :size] = rows
    ordered = np.sort(words.view(">u8").reshape(-1).astype(np.uint64))
    return ordered.astype(">u8").view(np.uint8).reshape(n, _WORD)[:, :size].tobytes()
