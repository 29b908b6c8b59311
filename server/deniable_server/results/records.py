"""A survey's counted records in the order of their own bytes: what is downloaded follows from them alone."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from typing import IO, Any

import numpy as np

AT_ONCE = 1 << 20  # records that are sorted together, at most
AT_ONCE_BYTES = 8 << 20  # of them
_MARKS = 128
_IN_MEMORY = 1 << 17  # bytes between two marks that need no file
_WORD = 8

Keys = np.ndarray[Any, np.dtype[Any]]
"""Records as numpy sorts them: those of up to eight bytes as numbers, which is ten times as fast, others as bytes."""


def ordered(reports: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Records of `size` bytes, whole ones back to back, in the order of their bytes.

    Of more than can be sorted at once, some are marks, and all others wait in files between two of these, to be sorted in turn. Records
    that are like a mark are only counted: so it ends, however alike they are.
    """
    most = min(AT_ONCE * size, AT_ONCE_BYTES // size * size)
    source, held, length = _cut(reports, most), list[bytes](), 0
    for chunk in source:
        held.append(chunk)
        length += len(chunk)
        if length > most:
            yield from _between_marks(_sorted(b"".join(held), size), chain(held, source), size, most)
            return
    if length:
        yield _packed(_sorted(b"".join(held), size), size)


def _between_marks(sample: Keys, reports: Iterable[bytes], size: int, most: int) -> Iterator[bytes]:
    marks = np.unique(sample[:: -(-len(sample) // _MARKS)])
    alike = np.zeros(len(marks), dtype=np.int64)
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.SpooledTemporaryFile(_IN_MEMORY)) for _ in range(len(marks) + 1)]
        for chunk in reports:
            keys = _sorted(chunk, size)
            starts, ends = (np.searchsorted(keys, marks, side) for side in ("left", "right"))
            alike += ends - starts
            packed = memoryview(_packed(keys, size))
            for file, first, last in zip(files, [0, *ends.tolist()], [*starts.tolist(), len(keys)], strict=True):
                file.write(packed[first * size : last * size])
        for number, file in enumerate(files):
            file.seek(0)
            yield from ordered(_chunks(file, most), size)
            file.close()
            if number < len(marks):
                yield from _repeated(_packed(marks[number : number + 1], size), int(alike[number]), most)


def _cut(reports: Iterable[bytes], most: int) -> Iterator[bytes]:
    return (chunk[first : first + most] for chunk in reports for first in range(0, len(chunk), most))


def _chunks(file: IO[bytes], length: int) -> Iterator[bytes]:
    return iter(lambda: file.read(length), b"")


def _repeated(record: bytes, n: int, most: int) -> Iterator[bytes]:
    at_once = most // len(record)
    return (record * min(at_once, n - first) for first in range(0, n, at_once))


def _sorted(reports: bytes, size: int) -> Keys:
    rows = np.frombuffer(reports, dtype=np.uint8).reshape(-1, size)
    if size > _WORD:
        return np.sort(rows.view(f"V{size}").reshape(-1))
    words = np.zeros((len(rows), _WORD), dtype=np.uint8)
    words[:, :size] = rows
    return np.sort(words.view(">u8").reshape(-1).astype(np.uint64))


def _packed(keys: Keys, size: int) -> bytes:
    if size > _WORD:
        return keys.tobytes()
    return keys.astype(">u8").view(np.uint8).reshape(-1, _WORD)[:, :size].tobytes()
