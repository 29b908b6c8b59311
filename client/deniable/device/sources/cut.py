"""Plain lines of CSV are cut into cells by numpy, all of a stretch at once: the same cells, some times as fast.

Only what can be cut with certainty is: UTF-8 without a quote in it, where every line has as many cells as the header. The first stretch
that is otherwise, and all behind it, is left to whoever reads cell by cell.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import IO

import numpy as np
from numpy.typing import NDArray

from deniable.device.columns import Coded, Texts
from deniable.device.sources.rows import Raw

_PART = 5000  # lines at a time, which stay in the processor's cache
_FEW = 12  # different cells that are looked for one after the other; more of them by sorting
_LONGEST = 64  # bytes of a cell; longer ones are looked up one by one
_MASKS = np.array([(1 << 8 * length) - 1 for length in range(9)], dtype=np.uint64)
_MIX = np.uint64(0x9E3779B97F4A7C15)  # odd; which one it is does not matter, since what it makes alike is compared


class Lines:
    """The lines of a file behind its header. offset: where the next one begins. number: how many came before it."""

    def __init__(self, file: IO[bytes], offset: int, number: int, delimiter: str, width: int) -> None:
        file.seek(offset)
        self.offset, self.number, self.certain = offset, number, True
        self._file, self._delimiter, self._width = file, ord(delimiter), width
        self._ahead, self._length = b"", 64

    def skip(self, rows: int) -> int:
        """Leaves out so many rows; returns how many of these are left where it is no longer certain."""
        while rows and (found := self._cells(min(rows, _PART))):
            rows -= len(found[2])
        return rows

    def stretches(self, places: Sequence[int], size: int) -> Iterator[Raw]:
        """Up to `size` rows at a time, while it is certain; the columns at these places."""
        return iter(lambda: self._stretch(places, size), None)

    def _stretch(self, places: Sequence[int], size: int) -> Raw | None:
        codes, known, done = np.empty((len(places), size), dtype=np.int32), [Texts() for _ in places], 0
        while done < size and (found := self._cells(min(_PART, size - done))):
            text, starts, ends = found
            for row, texts, place in zip(codes, known, places, strict=True):
                part = _coded(text, starts[:, place], ends[:, place])
                row[done : done + len(ends)] = np.array([texts[value] for value in part.values])[part.codes]
            done += len(ends)
        return Raw(done, [Coded(row[:done], list(texts)) for row, texts in zip(codes, known, strict=True)]) if done else None

    def _cells(self, size: int) -> tuple[bytes, NDArray[np.int64], NDArray[np.int64]] | None:
        """Some lines, and where their cells begin and end, of shape (rows, width); None at the end, or where it is not certain."""
        text = self._lines(size)
        self.certain = self.certain and _plain(text)
        if not text or not self.certain:
            return None
        octets = np.frombuffer(text, dtype=np.uint8)
        ends = np.flatnonzero((octets == self._delimiter) | (octets == ord("\n")))
        rows, left = divmod(len(ends), self._width)
        last = octets[ends[self._width - 1 :: self._width]] == ord("\n")
        self.certain = not left and rows == text.count(b"\n") and bool(last.all())
        if not self.certain:
            return None
        starts: NDArray[np.int64] = np.concatenate([[0], ends[:-1] + 1])
        ends[self._width - 1 :: self._width] -= octets[ends[self._width - 1 :: self._width] - 1] == ord("\r")
        empty = self._width == 1 and bool((starts == ends).any())  # a line of one cell that is empty is no row
        self.certain = not empty and int((ends - starts).max()) < csv.field_size_limit()
        if not self.certain:
            return None
        self.offset, self.number, self._length = self.offset + len(text), self.number + rows, len(text) // rows + 1
        self._ahead = self._ahead[len(text) :]
        return text, starts.reshape(rows, -1), ends.reshape(rows, -1)

    def _lines(self, size: int) -> bytes:
        """Up to `size` whole lines of what is ahead, the last of a file with the end that it may lack."""
        while (rows := self._ahead.count(b"\n")) < size:
            more = self._file.read((size - rows) * self._length + 1024)
            if not more:
                break
            self._ahead += more
        if rows < size:
            return self._ahead if self._ahead.endswith(b"\n") or not self._ahead else self._ahead + b"\n"
        ends = np.flatnonzero(np.frombuffer(self._ahead, dtype=np.uint8) == ord("\n"))
        return self._ahead[: int(ends[size - 1]) + 1]


def _plain(text: bytes) -> bool:
    """Whether lines and cells end where they seem to: no quotes, no other ends of lines, no zeros, and all of it UTF-8."""
    if b'"' in text or b"\0" in text or text.count(b"\r") != text.count(b"\r\n"):
        return False
    try:
        return text.isascii() or bool(text.decode())
    except UnicodeDecodeError:
        return False


def _coded(text: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Coded:
    """The different cells of a column, and which one each row has. Spaces before a cell are no part of it."""
    words = _words(text, starts, ends - starts)
    if words is None:
        cells = [text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        known = {cell: code for code, cell in enumerate(dict.fromkeys(cells))}
        return Coded(np.array([known[cell] for cell in cells], dtype=np.int64), [_text(cell) for cell in known])
    mixed = words[0]
    for word in words[1:]:
        mixed = (mixed ^ mixed >> np.uint64(29)) * _MIX ^ word
    first, codes = _distinct(mixed)
    if any((word != word[first][codes]).any() for word in words):  # different cells were made alike
        _, first, codes = np.unique(np.stack(words), axis=1, return_index=True, return_inverse=True)
    return Coded(codes, [_text(text[starts[row] : ends[row]]) for row in first.tolist()])


def _distinct(numbers: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A place of each different number, and which one each of them is."""
    codes, first = np.full(len(numbers), -1), list[int]()
    while len(first) < _FEW:
        place = int(codes.argmin())
        if codes[place] >= 0:
            return np.array(first), codes
        np.copyto(codes, len(first), where=numbers == numbers[place])
        first.append(place)
    _, many, codes = np.unique(numbers, return_index=True, return_inverse=True)
    return many, codes


def _words(text: bytes, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> list[NDArray[np.uint64]] | None:
    """The cells eight bytes at a time, zeros behind their ends; None where one is too long for that."""
    longest = max(1, int(lengths.max()))
    if longest > _LONGEST:
        return None
    eight = np.ndarray((len(text) + 1,), dtype="<u8", buffer=text + bytes(8), strides=(1,))
    places = range(0, longest, 8)
    return [eight[np.minimum(starts + at, len(text))] & _MASKS[np.clip(lengths - at, 0, 8)] for at in places]


def _text(cell: bytes) -> str:
    return cell.decode().lstrip(" ")
