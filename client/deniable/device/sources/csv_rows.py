"""Rows from CSV: simple lines are split many at once, and other lines are read cell by cell."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from deniable.device.columns import DictionaryColumn, ValueCodes
from deniable.device.sources.rows import PART, RawRows, indexes_of
from deniable.device.sources.text_rows import TextRows, without_text_errors
from deniable.errors import AnswerError

DELIMITERS = (",", ";", "\t", "|")
_SEP_LINE = re.compile("\ufeff?sep=(.)\r?\n?")
"""The line that states the delimiter to Excel."""
_HINT = "; if the file has decimal commas, say so: decimal=',' or --decimal ,"


class CsvRows(TextRows):
    """Rows from CSV; the first line names the columns, and other columns are ignored."""

    def _batches(self, names: Sequence[str], size: int, skip: int) -> Iterator[RawRows]:
        lines, header = self._open(names)
        self._hint = _HINT if header.delimiter == ";" and not self._format.decimal else ""
        body = _Body(lines, header)

        def batch() -> RawRows | None:
            nonlocal skip
            while skip and (skipped := body.batch(min(skip, size))):
                skip -= skipped.size
            return body.batch(size)

        return without_text_errors(iter(batch, None), lambda: f"{self.label}, line {body.line:,}")

    def _open(self, names: Sequence[str]) -> tuple[Iterator[str], _Header]:
        """Returns the lines after the header, and the header, read with the only delimiter that gives all columns."""
        rest = self.lines()
        lines = without_text_errors(rest, lambda: self.label)
        peeked = list(itertools.islice(lines, 1))
        sep_line = _SEP_LINE.fullmatch("".join(peeked))
        delimiters = self._format.delimiter or (sep_line and sep_line[1]) or DELIMITERS[self._format.decimal == "," :]
        headers = [_header(peeked, lines, delimiter, int(sep_line is not None)) for delimiter in delimiters]
        fits = [header for header in headers if {*map(str.strip, names)} <= {*header.cells}]
        if len({tuple(header.cells) for header in fits}) > 1:
            which = " and ".join({"\t": "tab"}.get(header.delimiter, header.delimiter) for header in fits)
            raise AnswerError(f"{self.label}: its header names the columns with more than one delimiter, {which}: say which one it is")
        if not fits:
            self.refuse_another_kind("".join(peeked[:1]).encode(errors="replace"), "CSV with a line that names the columns", text=True)
        best = fits[0] if fits else max(headers, key=lambda header: len({*names} & {*header.cells}))
        indexes = indexes_of(self.label, names, best.cells)
        return itertools.chain(peeked[best.lines :], rest), replace(best, indexes=indexes)


@dataclass(frozen=True)
class _Header:
    """Header of a file: the delimiter, the names of its columns, the number of its lines, and the indexes of the columns to read."""

    delimiter: str
    cells: list[str]
    lines: int
    indexes: Sequence[int] = ()


class _Body:
    """The rows after a header. Lines are split up to the first complex line; from there on they are read cell by cell."""

    def __init__(self, lines: Iterator[str], header: _Header) -> None:
        self._lines, self._header, self._split = lines, header, header.lines
        self._part, self._reader = list[str](), cast(Any, None)

    @property
    def line(self) -> int:
        """The number of the last line that was read."""
        return self._split + len(self._part) + (self._reader.line_num if self._reader else 0)

    def batch(self, size: int) -> RawRows | None:
        """Returns up to `size` rows, read some hundred at a time to fit into the processor's cache; None at the end."""
        indexes, done, broken = self._header.indexes, 0, dict[int, str]()
        codes, distinct = np.empty((len(indexes), size), dtype=np.int32), [ValueCodes() for _ in indexes]
        while cells := self._columns(min(PART, size - done), done, broken):
            for row, texts, index in zip(codes, distinct, indexes, strict=True):
                row[done : done + len(cells[0])] = texts.encode(cells[index])
            done += len(cells[0])
        columns = [DictionaryColumn(row[:done], [text.lstrip(" ") for text in texts]) for row, texts in zip(codes, distinct, strict=True)]
        return RawRows(done, columns, broken) if done else None

    def _columns(self, size: int, done: int, broken: dict[int, str]) -> list[Sequence[str]]:
        """Returns all columns of up to `size` rows. A row that is not as wide as the header is invalid."""
        if not self._reader:
            self._part += itertools.islice(self._lines, size)  # after an error, `line` counts the lines that precede it
            lines, self._part = self._part, []
            if _are_simple(lines, self._header):
                self._split += len(lines)
                delimiter, width = self._header.delimiter, len(self._header.cells)
                cells = "".join(lines).replace("\r", "").removesuffix("\n").replace("\n", delimiter).split(delimiter) if lines else []
                return [cells[index::width] for index in range(width)] if lines else []
            self._reader = _reader(itertools.chain(lines, self._lines), self._header.delimiter)
        part, width = list(itertools.islice(filter(None, self._reader), size)), len(self._header.cells)
        for number, row in enumerate(part):
            if len(row) != width:
                broken[done + number] = f"must have {width} cells, as the header has, got {len(row)}"
                part[number] = [""] * width
        return list(zip(*part, strict=True))


def _are_simple(lines: list[str], header: _Header) -> bool:
    """Returns whether lines have no quotes, no unusual line ends, and as many cells as the header."""
    text = "".join(lines)
    if '"' in text or "\0" in text or text.count("\r") != text.count("\r\n") or header.delimiter not in DELIMITERS:
        return False
    if len(header.cells) == 1 and not all(map(str.strip, lines)):  # a line with one empty cell is no row
        return False
    widths = {line.count(header.delimiter) for line in lines}
    return widths <= {len(header.cells) - 1} and max(map(len, lines), default=0) < csv.field_size_limit()


def _reader(lines: Iterable[str], delimiter: str) -> Any:
    return csv.reader(lines, strict=True, skipinitialspace=True, delimiter=delimiter)


def _header(peeked: list[str], lines: Iterator[str], delimiter: str, skip: int) -> _Header:
    """Returns the header, after `skip` rows, as read with a delimiter. The lines that are read are added to `peeked`."""

    def more() -> Iterator[str]:
        for line in lines:
            peeked.append(line)
            yield line

    reader = _reader(itertools.chain(list(peeked), more()), delimiter)
    try:
        cells: list[str] = next(itertools.islice(filter(None, reader), skip, None), [])
    except csv.Error:
        cells = []
    return _Header(delimiter, [cell.removeprefix("\ufeff").strip() for cell in cells], reader.line_num)
