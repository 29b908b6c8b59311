"""External sorting of a survey's counted records: downloads list them by their own bytes, which hides the order of arrival."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from typing import IO, Any

import numpy as np

AT_ONCE = 1 << 17  # records sorted in memory, at most
AT_ONCE_BYTES = 1 << 20  # bytes of these records, at most
_PIVOTS = 128
_IN_MEMORY = 1 << 13  # bytes of a bucket that stay in memory
_WORDS = (4, 8)  # bytes

Keys = np.ndarray[Any, np.dtype[Any]]
"""Records as numpy sorts them: as numbers up to eight bytes, which is ten times as fast, else as bytes."""


def sorted_records(reports: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Sorts whole records of `size` bytes. Yields them in chunks.

    Records that do not fit in memory are divided by pivots into temporary files, and each file is sorted by itself. Records that equal a
    pivot are only counted, so that the recursion ends even if many records are the same.
    """
    most = min(AT_ONCE * size, AT_ONCE_BYTES // size * size)
    source, chunks, length = _split(reports, most), list[bytes](), 0
    for chunk in source:
        chunks.append(chunk)
        length += len(chunk)
        if length > most:
            yield from _sort_in_buckets(_sorted(b"".join(chunks), size), chain(chunks, source), size, most)
            return
    if length:
        yield _packed(_sorted(b"".join(chunks), size), size)


def _sort_in_buckets(sample: Keys, reports: Iterable[bytes], size: int, most: int) -> Iterator[bytes]:
    pivots = np.unique(sample[:: -(-len(sample) // _PIVOTS)])
    equal = np.zeros(len(pivots), dtype=np.int64)
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.SpooledTemporaryFile(_IN_MEMORY)) for _ in range(len(pivots) + 1)]
        for chunk in reports:
            keys = _sorted(chunk, size)
            starts, ends = (np.searchsorted(keys, pivots, side) for side in ("left", "right"))
            equal += ends - starts
            packed = memoryview(_packed(keys, size))
            for file, first, last in zip(files, [0, *ends.tolist()], [*starts.tolist(), len(keys)], strict=True):
                file.write(packed[first * size : last * size])
        for index, file in enumerate(files):
            file.seek(0)
            yield from sorted_records(_chunks(file, most), size)
            file.close()
            if index < len(pivots):
                yield from _repeated(_packed(pivots[index : index + 1], size), int(equal[index]), most)


def _split(reports: Iterable[bytes], most: int) -> Iterator[bytes]:
    return (chunk[first : first + most] for chunk in reports for first in range(0, len(chunk), most))


def _chunks(file: IO[bytes], length: int) -> Iterator[bytes]:
    return iter(lambda: file.read(length), b"")


def _repeated(record: bytes, n: int, most: int) -> Iterator[bytes]:
    at_once = most // len(record)
    return (record * min(at_once, n - first) for first in range(0, n, at_once))


def _word(size: int) -> int | None:
    """Returns the bytes of the smallest number that holds a record; None for longer records."""
    return next((word for word in _WORDS if size <= word), None)


def _sorted(reports: bytes, size: int) -> Keys:
    rows = np.frombuffer(reports, dtype=np.uint8).reshape(-1, size)
    if (word := _word(size)) is None:
        return np.sort(rows.view(f"V{size}").reshape(-1))
    numbers = np.zeros((len(rows), word), dtype=np.uint8)
    for place in range(size):  # the first byte of a record is the highest of the number
        numbers[:, word - 1 - place] = rows[:, place]
    keys = numbers.view(f"<u{word}").reshape(-1)
    keys.sort()
    return keys


def _packed(keys: Keys, size: int) -> bytes:
    if (word := _word(size)) is None:
        return keys.tobytes()
    numbers, rows = keys.view(np.uint8).reshape(-1, word), np.empty((len(keys), size), dtype=np.uint8)
    for place in range(size):
        rows[:, place] = numbers[:, word - 1 - place]
    return rows.tobytes()
