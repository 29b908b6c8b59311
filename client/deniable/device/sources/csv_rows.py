"""Rows from CSV: plain lines are cut many at once, all others read cell by cell."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from deniable.device.columns import Coded, Texts
from deniable.device.sources.cut import Lines
from deniable.device.sources.rows import Raw, require_columns
from deniable.device.sources.text_rows import TextRows, without_text_errors
from deniable.errors import AnswerError

_PART = 500
"""Rows that are taken apart at a time."""
DELIMITERS = (",", ";", "\t", "|")
_HINT = "; if the file has decimal commas, say so: decimal=',' or --decimal ,"


class CsvRows(TextRows):
    """Rows from CSV, the first line naming the columns; other columns are left alone."""

    def _stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[Raw]:
        delimiter, stretches = self._as_written(names, size, skip)
        comma, hint = self._told.decimal == ",", _HINT if delimiter == ";" and not self._told.decimal else ""
        return (replace(raw, comma=comma, hint=hint) for raw in stretches) if comma or hint else stretches

    def _as_written(self, names: Sequence[str], size: int, skip: int) -> tuple[str, Iterator[Raw]]:
        """Returns the delimiter and the rows. Plain lines of a file are cut, many at once, until one is not plain: all others are read."""
        lines, seen, header = self._opened(names)
        begun = _reader(iter(seen), header.delimiter)
        next(filter(None, begun))
        header = replace(header, lines=begun.line_num)
        start = sum(len(line.encode()) for line in seen[: header.lines])
        if isinstance(self._file, str | Path) and size >= _PART and header.delimiter in DELIMITERS:
            with open(self._file, "rb") as raw:
                mark = raw.peek(3)[:3] == codecs.BOM_UTF8
                encoding = codecs.lookup(self.encoding(raw.peek(8))).name
            if encoding in ("utf-8", "utf-8-sig"):
                return header.delimiter, self._cut(self._file, start + 3 * mark, header, size, skip)
        return header.delimiter, self._read(itertools.chain(seen[header.lines :], lines), header, size, skip)

    def _cut(self, path: str | Path, start: int, header: _Header, size: int, skip: int) -> Iterator[Raw]:
        with open(path, "rb") as file:
            cut = Lines(file, start, header.lines, header.delimiter, header.width)
            skip = cut.skip(skip)
            yield from cut.stretches(header.places, size)
        if not cut.certain:
            with open(path, "rb") as file:
                file.seek(cut.offset)
                lines = io.TextIOWrapper(file, "utf-8", newline="")
                yield from self._read(iter(lines), replace(header, lines=cut.number), size, skip)

    def _read(self, lines: Iterator[str], header: _Header, size: int, skip: int) -> Iterator[Raw]:
        reader = _reader(lines, header.delimiter)
        rows = itertools.islice(filter(None, reader), skip, None)
        read = iter(lambda: _coded_stretch(rows, header, size), None)
        return without_text_errors(read, lambda: f"{self.label}, line {header.lines + reader.line_num:,}")

    def _opened(self, names: Sequence[str]) -> tuple[Iterator[str], list[str], _Header]:
        """The lines behind those that were read for the header, these, and the header: by the only delimiter that names all columns."""
        lines, seen = without_text_errors(self.lines(), lambda: self.label), list[str]()
        told = (self._told.delimiter,) if self._told.delimiter else DELIMITERS[self._told.decimal == "," :]
        found = [_header(seen, lines, delimiter) for delimiter in told]
        fits = [place for place, header in enumerate(found) if not {*names} - {*header}]
        if len({tuple(found[place]) for place in fits}) > 1:
            which = " and ".join({"\t": "tab"}.get(told[place], told[place]) for place in fits)
            raise AnswerError(f"{self.label}: its header names the columns with more than one delimiter, {which}: say which one it is")
        best = fits[0] if fits else max(range(len(told)), key=lambda place: len({*names} & {*found[place]}))
        require_columns(self.label, names, found[best])
        return lines, seen, _Header(told[best], [found[best].index(name) for name in names], len(found[best]))


@dataclass(frozen=True)
class _Header:
    """How a file's rows are read: what stands between cells, the columns that are wanted, how many there are, and the lines before them."""

    delimiter: str
    places: list[int]
    width: int
    lines: int = 0


def _coded_stretch(rows: Iterator[list[str]], header: _Header, size: int) -> Raw | None:
    """Up to `size` rows, some hundred at a time, which stay in the processor's cache. One that is not as wide as the header is no row."""
    places, width = header.places, header.width
    codes, known, broken, done = np.empty((len(places), size), dtype=np.int32), [Texts() for _ in places], dict[int, str](), 0
    while part := list(itertools.islice(rows, min(_PART, size - done))):
        if set(map(len, part)) != {width}:
            wrong = {number: len(row) for number, row in enumerate(part) if len(row) != width}
            broken |= {done + number: f"must have {width} cells, as the header has, got {cells}" for number, cells in wrong.items()}
            part = [[""] * width if number in wrong else row for number, row in enumerate(part)]
        columns = list(zip(*part, strict=True))
        for row, known_here, place in zip(codes, known, places, strict=True):
            row[done : done + len(part)] = np.fromiter(map(known_here.__getitem__, columns[place]), dtype=np.int32, count=len(part))
        done += len(part)
    return Raw(done, [Coded(row[:done], list(texts)) for row, texts in zip(codes, known, strict=True)], broken) if done else None


def _reader(lines: Iterable[str], delimiter: str) -> Any:
    return csv.reader(lines, strict=True, skipinitialspace=True, delimiter=delimiter)


def _header(seen: list[str], lines: Iterator[str], delimiter: str) -> list[str]:
    """The first row with this delimiter. What is read for it is added to `seen`."""

    def more() -> Iterator[str]:
        for line in lines:
            seen.append(line)
            yield line

    rows = filter(None, _reader(itertools.chain(list(seen), more()), delimiter))
    try:
        return [cell.strip().removeprefix("\ufeff") for cell in next(rows, [])]
    except csv.Error:
        return []
