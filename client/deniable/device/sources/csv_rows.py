"""Rows from CSV: simple lines are split many at once, all others are read cell by cell."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from deniable.device.columns import Coded, Texts
from deniable.device.sources.rows import PART, RawRows, places_of
from deniable.device.sources.text_rows import TextRows, without_text_errors
from deniable.errors import AnswerError

DELIMITERS = (",", ";", "\t", "|")
_SAYS = re.compile("\ufeff?sep=(.)\r?\n?")
"""The line that states the delimiter to Excel."""
_HINT = "; if the file has decimal commas, say so: decimal=',' or --decimal ,"


class CsvRows(TextRows):
    """Rows from CSV; the first line names the columns, and other columns are ignored."""

    def _stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[RawRows]:
        lines, header = self._opened(names)
        self._hint = _HINT if header.delimiter == ";" and not self._format.decimal else ""
        body = _Body(lines, header)

        def stretch() -> RawRows | None:
            nonlocal skip
            while skip and (left_out := body.stretch(min(skip, size))):
                skip -= left_out.size
            return body.stretch(size)

        return without_text_errors(iter(stretch, None), lambda: f"{self.label}, line {body.line:,}")

    def _opened(self, names: Sequence[str]) -> tuple[Iterator[str], _Header]:
        """Returns the lines after the header, and the header: by the only delimiter that names all columns."""
        rest = self.lines()
        lines = without_text_errors(rest, lambda: self.label)
        peeked = list(itertools.islice(lines, 1))
        says = _SAYS.fullmatch("".join(peeked))
        delimiters = self._format.delimiter or (says and says[1]) or DELIMITERS[self._format.decimal == "," :]
        headers = [_header(peeked, lines, delimiter, says is not None) for delimiter in delimiters]
        fits = [header for header in headers if {*map(str.strip, names)} <= {*header.cells}]
        if len({tuple(header.cells) for header in fits}) > 1:
            which = " and ".join({"\t": "tab"}.get(header.delimiter, header.delimiter) for header in fits)
            raise AnswerError(f"{self.label}: its header names the columns with more than one delimiter, {which}: say which one it is")
        if not fits:
            self.refuse_another_kind("".join(peeked[:1]).encode(errors="replace"), "CSV with a line that names the columns", text=True)
        best = fits[0] if fits else max(headers, key=lambda header: len({*names} & {*header.cells}))
        places = places_of(self.label, names, best.cells)
        return itertools.chain(peeked[best.lines :], rest), replace(best, places=places)


@dataclass(frozen=True)
class _Header:
    """Format of a file's rows: the delimiter, the names of the columns, the number of lines up to them, and the indexes of used columns."""

    delimiter: str
    cells: list[str]
    lines: int
    places: Sequence[int] = ()


class _Body:
    """The rows after a header. Lines are split until one is not simple; from there on a reader goes cell by cell."""

    def __init__(self, lines: Iterator[str], header: _Header) -> None:
        self._lines, self._header, self._split = lines, header, header.lines
        self._part, self._reader = list[str](), cast(Any, None)

    @property
    def line(self) -> int:
        """The number of the last line that was read."""
        return self._split + len(self._part) + (self._reader.line_num if self._reader else 0)

    def stretch(self, size: int) -> RawRows | None:
        """Returns up to `size` rows, read some hundred at a time to fit into the processor's cache; None at the end."""
        places, done, broken = self._header.places, 0, dict[int, str]()
        codes, distinct = np.empty((len(places), size), dtype=np.int32), [Texts() for _ in places]
        while columns := self._columns(min(PART, size - done), done, broken):
            for row, texts, place in zip(codes, distinct, places, strict=True):
                row[done : done + len(columns[0])] = np.fromiter(map(texts.__getitem__, columns[place]), dtype=np.int32)
            done += len(columns[0])
        coded = [Coded(row[:done], [text.lstrip(" ") for text in texts]) for row, texts in zip(codes, distinct, strict=True)]
        return RawRows(done, coded, broken) if done else None

    def _columns(self, size: int, done: int, broken: dict[int, str]) -> list[Sequence[str]]:
        """Returns all columns of up to `size` rows. A row that is not as wide as the header is invalid."""
        if not self._reader:
            self._part += itertools.islice(self._lines, size)  # lines before an error stay there, to be counted
            lines, self._part = self._part, []
            if _plain(lines, self._header):
                self._split += len(lines)
                delimiter, width = self._header.delimiter, len(self._header.cells)
                cells = "".join(lines).replace("\r", "").removesuffix("\n").replace("\n", delimiter).split(delimiter) if lines else []
                return [cells[place::width] for place in range(width)] if lines else []
            self._reader = _reader(itertools.chain(lines, self._lines), self._header.delimiter)
        part, width = list(itertools.islice(filter(None, self._reader), size)), len(self._header.cells)
        for number, row in enumerate(part):
            if len(row) != width:
                broken[done + number] = f"must have {width} cells, as the header has, got {len(row)}"
                part[number] = [""] * width
        return list(zip(*part, strict=True))


def _plain(lines: list[str], header: _Header) -> bool:
    """Returns whether lines are simple: no quotes, no other line ends, and as many cells as the header has."""
    text = "".join(lines)
    if '"' in text or "\0" in text or text.count("\r") != text.count("\r\n") or header.delimiter not in DELIMITERS:
        return False
    if len(header.cells) == 1 and not all(map(str.strip, lines)):  # a line with one empty cell is no row
        return False
    widths = {line.count(header.delimiter) for line in lines}
    return widths <= {len(header.cells) - 1} and max(map(len, lines), default=0) < csv.field_size_limit()


def _reader(lines: Iterable[str], delimiter: str) -> Any:
    return csv.reader(lines, strict=True, skipinitialspace=True, delimiter=delimiter)


def _header(peeked: list[str], lines: Iterator[str], delimiter: str, behind: bool) -> _Header:
    """Returns the first row with this delimiter, or the second. Lines read for it are added to `peeked`."""

    def more() -> Iterator[str]:
        for line in lines:
            peeked.append(line)
            yield line

    reader = _reader(itertools.chain(list(peeked), more()), delimiter)
    try:
        cells: list[str] = next(itertools.islice(filter(None, reader), int(behind), None), [])
    except csv.Error:
        cells = []
    return _Header(delimiter, [cell.removeprefix("\ufeff").strip() for cell in cells], reader.line_num)
