"""External sorting of a survey's counted records: downloads list them by their own bytes, which hides the order of arrival."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

AT_ONCE = 1 << 17  # records sorted in memory, at most
AT_ONCE_BYTES = 1 << 20  # bytes of these records, at most
_PIVOTS = 128
_WORDS = (4, 8)  # bytes

Keys = np.ndarray[Any, np.dtype[Any]]
"""Records as numpy sorts them: as numbers up to eight bytes, which is ten times as fast, else as bytes."""


def sorted_records(reports: Iterable[bytes], size: int, pivots: int = _PIVOTS) -> Iterator[bytes]:
    """Sorts whole records of `size` bytes. Yields them in chunks.

    Records that do not fit in memory are written to a file in sorted runs. Pivots divide each run into buckets, and each bucket of all
    runs is sorted by itself. Records that equal a pivot are only counted, so that the recursion ends even if many records are the same.

    Args:
        reports: The records, in pieces.
        size: The bytes of a record.
        pivots: About how many pivots to use, at most.
    """
    most = min(AT_ONCE * size, AT_ONCE_BYTES // size * size)
    runs = _in_runs(reports, most)
    first, second = next(runs, b""), next(runs, b"")
    if second:
        yield from _sort_in_buckets(chain(iter([first, second]), runs), size, most, pivots)
    elif first:
        yield _packed(_sorted(first, size), size)


def _sort_in_buckets(runs: Iterator[bytes], size: int, most: int, count: int) -> Iterator[bytes]:
    with tempfile.TemporaryFile() as file:
        pivots, bounds = _write_runs(file, runs, size, count)
        equal = (bounds[:, 2::2] - bounds[:, 1:-1:2]).sum(axis=0)
        for bucket in range(len(pivots) + 1):
            places = bounds[:, 2 * bucket : 2 * bucket + 2] * size
            length = int((places[:, 1] - places[:, 0]).sum())
            yield from sorted_records(_bucket(file, places), size, min(_PIVOTS, 2 * (length // most) + 1))
            if bucket < len(pivots):
                yield from _repeated(_packed(pivots[bucket : bucket + 1], size), int(equal[bucket]), most)


def _write_runs(file: IO[bytes], runs: Iterator[bytes], size: int, count: int) -> tuple[Keys, NDArray[np.int64]]:
    """Writes each run sorted. Returns the pivots, and a row for each run: where the buckets and the records equal to a pivot begin.

    Positions count the records of the file; the last one is where the run ends.
    """
    keys = _sorted(next(runs), size)
    pivots = np.unique(keys[len(keys) // (count + 1) :: -(-len(keys) // (count + 1))])
    begin, rows = 0, []
    while True:
        file.write(_packed(keys, size))
        inner = np.stack([np.searchsorted(keys, pivots, side) for side in ("left", "right")], axis=1).reshape(-1)
        rows.append(begin + np.concatenate([[0], inner, [len(keys)]]))
        begin += len(keys)
        if not (run := next(runs, b"")):
            return pivots, np.array(rows)
        keys = _sorted(run, size)


def _bucket(file: IO[bytes], bounds: NDArray[np.int64]) -> Iterator[bytes]:
    """Yields the records of a bucket, run by run, from the bytes at which it begins and ends in each run."""
    for first, end in bounds.tolist():
        file.seek(first)
        yield file.read(end - first)


def _in_runs(reports: Iterable[bytes], length: int) -> Iterator[bytes]:
    """Yields the same bytes in chunks of this length, and the rest in a shorter one."""
    chunks, missing = list[bytes](), length
    for report in reports:
        for first in range(0, len(report), length):
            piece = report[first : first + length]
            while len(piece) >= missing:
                chunks.append(piece[:missing])
                piece, missing = piece[missing:], length
                yield b"".join(chunks)
                chunks.clear()
            chunks.append(piece)
            missing -= len(piece)
    if missing < length:
        yield b"".join(chunks)


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
