"""Where rows come from: mappings, data frames, and files of text, Parquet, Arrow and Excel.

What cannot be read with certainty is refused, with what to say about it; nothing is guessed from answers. All of this is read
under a seal, and no message has a cell in it.
"""

from __future__ import annotations

import codecs
import csv
import errno
import io
import itertools
import json
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np

from deniable.device.columns import Coded, Texts, of_arrow
from deniable.device.cut import Lines
from deniable.device.sealed import callers_own
from deniable.device.tables import Raw, Rows, item_lists, lookup
from deniable.errors import AnswerError
from deniable.extras import missing
from deniable.files import File

T = TypeVar("T")
_PART = 500
"""Rows that are taken apart at a time."""
DELIMITERS = (",", ";", "\t", "|")
_EMPTY = SimpleNamespace(value=None, data_type="n")
"""The cell that a short row of a workbook does not have."""
_MARKS = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_NO_TEXT = {b"PK\3\4": ".xlsx", b"PAR1\x15": ".parquet", b"ARROW1\0\0": ".arrow", b"\xd0\xcf\x11\xe0": ".xls", b"\x1f\x8b": ".gz"}


def as_rows(rows: Any) -> Rows:
    """Recognises a path or another `File`, an open file, a data frame (of pandas, polars or Arrow), or an iterable of mappings."""
    if isinstance(rows, _File | Mappings | Frame):
        return rows
    if isinstance(rows, File):
        return _KINDS[rows.kind](rows)
    if isinstance(rows, str) and not os.path.exists(rows):
        raise FileNotFoundError(errno.ENOENT, "rows is a text, and no file has that name; it is not quoted, since it may be an answer")
    if isinstance(rows, str | os.PathLike):
        return as_rows(File(Path(rows)))
    if hasattr(rows, "read"):
        return as_rows(File(rows))
    if hasattr(rows, "columns") and (hasattr(rows, "iloc") or (hasattr(rows, "slice") and hasattr(rows, "__len__"))):
        return Frame(rows)
    if isinstance(rows, Iterable) and not isinstance(rows, Mapping | bytes):
        return Mappings(rows)
    raise AnswerError(f"rows must be an iterable of mappings, a data frame or the path of a file, got {type(rows).__name__}")


class Mappings:
    """Rows from an iterable of mappings, such as dicts; keys that are no questions are left alone."""

    name: str | None = None
    mark = ""

    def __init__(self, rows: Iterable[Any]) -> None:
        self._rows = rows
        self.repeatable = isinstance(rows, Sequence)
        self.total: int | None = len(rows) if isinstance(rows, Sequence) else None

    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[Raw]:
        rows, read = callers_own(itertools.islice, self._rows, skip, None), _of_mapping(names)
        return iter(lambda: _raw(list(map(read, callers_own(list, itertools.islice(rows, size)))), len(names)), None)


def _of_mapping(names: Sequence[str]) -> Callable[[Any], list[Any] | str]:
    lists = item_lists(names)
    rule = "must be a mapping from question to answer"
    return lambda row: [lookup(row, name, lists) for name in names] if isinstance(row, Mapping) else rule


def _raw(part: Sequence[Sequence[Any] | str], width: int) -> Raw | None:
    """A stretch of rows, each its cells, or in words why it is no row; None at the end."""
    broken = {i: row for i, row in enumerate(part) if isinstance(row, str)}
    whole = [[""] * width if isinstance(row, str) else row for row in part]
    return Raw(len(part), [list(cells) for cells in zip(*whole, strict=True)], broken) if part else None


class Frame:
    """Rows from a data frame of pandas, polars or Arrow, none of which this module imports for it."""

    name: str | None = None
    mark = ""
    repeatable = True

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.total: int | None = len(frame)

    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[Raw]:
        _require_columns("the data frame", names, list(getattr(self._frame, "column_names", self._frame.columns)))
        return (self._stretch(start, size, names) for start in range(skip, len(self._frame), size))

    def _stretch(self, start: int, size: int, names: Sequence[str]) -> Raw:
        of_pandas = hasattr(self._frame, "iloc")
        part = self._frame.iloc[start : start + size] if of_pandas else self._frame.slice(start, size)
        return Raw(len(part), [part[name] if of_pandas else of_arrow(part[name]) for name in names])


class _File(ABC):
    """Only a path has a name, and can be read twice."""

    def __init__(self, file: File) -> None:
        self._told = file
        self._file = file.file
        self.name: str | None = None
        self.mark = ""
        self.total: int | None = None
        self.repeatable = isinstance(self._file, str | Path)
        if isinstance(self._file, str | Path):
            status = os.stat(self._file)
            self.name = os.path.abspath(self._file)
            self.mark = f"{status.st_size} bytes, changed {status.st_mtime_ns}"

    @abstractmethod
    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[Raw]:
        """As `Rows.stretches`."""

    @property
    def label(self) -> str:
        return str(self._file) if isinstance(self._file, str | Path) else "the input"

    def lines(self) -> Iterator[str]:
        """The lines of a text. An open one stays open: it is its owner's to close."""
        if isinstance(self._file, str | Path):
            with open(self._file, "rb") as raw:
                encoding = self._encoding(raw.peek(8))
            with open(self._file, encoding=encoding, newline="") as text:
                yield from text
        elif isinstance(self._file.read(0), str):
            yield from self._file
        else:
            buffer = self._file if isinstance(self._file, io.BufferedReader) else io.BufferedReader(self._file)  # type: ignore[type-var]
            wrapper = io.TextIOWrapper(buffer, self._encoding(buffer.peek(8)), newline="")
            try:
                yield from wrapper
            finally:
                with suppress(ValueError):  # it is closed already
                    wrapper.detach()

    def _encoding(self, start: bytes) -> str:
        if found := next((suffix for mark, suffix in _NO_TEXT.items() if start.startswith(mark)), None):
            raise AnswerError(f"{self.label}: must be text, and begins as {found} files do; if it is one, say so by its name")
        told = self._told.encoding
        mark = next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)
        if told and mark and not told.lower().replace("_", "-").startswith(mark[:6].rstrip("-")):
            raise AnswerError(f"{self.label}: begins with the mark of {mark[:6].rstrip('-').upper()}, and not with {told} text")
        if not (told or mark) and b"\0" in start[:8]:
            rule = "must be text, and has zero bytes, as UTF-16 without a mark has"
            raise AnswerError(f"{self.label}: {rule}: say its encoding, such as utf-16-le")
        return mark or told or "utf-8"


class _ByRow(_File):
    """A file that is read row by row."""

    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[Raw]:
        rows = itertools.islice(self.rows(names), skip, None)
        return iter(lambda: _raw(list(itertools.islice(rows, size)), len(names)), None)

    @abstractmethod
    def rows(self, names: Sequence[str]) -> Iterator[Sequence[Any] | str]:
        """The cells of each row under these names, or in words why it is no row."""


class CsvRows(_File):
    """Rows from CSV, the first line naming the columns; other columns are left alone."""

    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[Raw]:
        """Plain lines of a file are cut, many at once; from the first stretch on that is not plain, all is read cell by cell."""
        lines, seen, header = self._opened(names)
        begun = _reader(iter(seen), header.delimiter)
        next(filter(None, begun))
        header = replace(header, lines=begun.line_num)
        start = sum(len(line.encode()) for line in seen[: header.lines])
        if isinstance(self._file, str | Path) and size >= _PART and header.delimiter in DELIMITERS:
            with open(self._file, "rb") as raw:
                mark = raw.peek(3)[:3] == codecs.BOM_UTF8
                encoding = codecs.lookup(self._encoding(raw.peek(8))).name
            if encoding in ("utf-8", "utf-8-sig"):
                return self._cut(self._file, start + 3 * mark, header, size, skip)
        return self._read(itertools.chain(seen[header.lines :], lines), header, size, skip)

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
        return _without_text_errors(read, lambda: f"{self.label}, line {header.lines + reader.line_num:,}")

    def _opened(self, names: Sequence[str]) -> tuple[Iterator[str], list[str], _Header]:
        """The lines behind those that were read for the header, these, and the header: by the only delimiter that names all columns."""
        lines, seen = _without_text_errors(self.lines(), lambda: self.label), list[str]()
        told = (self._told.delimiter,) if self._told.delimiter else DELIMITERS
        found = [_header(seen, lines, delimiter) for delimiter in told]
        fits = [place for place, header in enumerate(found) if not {*names} - {*header}]
        if len({tuple(found[place]) for place in fits}) > 1:
            which = " and ".join({"\t": "tab"}.get(told[place], told[place]) for place in fits)
            raise AnswerError(f"{self.label}: its header names the columns with more than one delimiter, {which}: say which one it is")
        best = fits[0] if fits else max(range(len(told)), key=lambda place: len({*names} & {*found[place]}))
        _require_columns(self.label, names, found[best])
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


class JsonLines(_ByRow):
    """Rows from a text file with one JSON object a line."""

    def rows(self, names: Sequence[str]) -> Iterator[Sequence[Any] | str]:
        lines = _without_text_errors(self.lines(), lambda: self.label)
        return map(_of_mapping(names), map(_json_or_none, filter(str.strip, lines)))


def _json_or_none(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


class ArrowRows(_File):
    """Rows from a Parquet file, or one in Arrow's own format (.arrow, .feather): a stretch is at most a part of the file."""

    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[Raw]:
        if error := missing(f"{self.label}", "parquet"):
            raise error
        with ExitStack() as stack:
            parts = _certain(lambda: self._parts(stack, names, size), self.label, "a Parquet or Arrow file, as its name says")
            yield from map(partial(_columns, names), _behind(parts, skip, size))  # no part is in this frame when the file is closed

    def _parts(self, stack: ExitStack, names: Sequence[str], size: int) -> Iterator[Any]:
        import pyarrow
        from pyarrow import ipc, parquet

        if self._told.kind == "parquet":
            file = stack.enter_context(parquet.ParquetFile(self._file))
            _require_columns(self.label, names, file.schema_arrow.names)
            return iter(file.iter_batches(batch_size=size, columns=list(dict.fromkeys(names))))
        reader = stack.enter_context(ipc.open_file(stack.enter_context(pyarrow.OSFile(str(self._file)))))
        _require_columns(self.label, names, reader.schema.names)
        return map(reader.get_batch, range(reader.num_record_batches))


def _behind(parts: Iterator[Any], skip: int, size: int) -> Iterator[Any]:
    """Parts of at most `size` rows, behind the first `skip`."""
    for part in parts:
        dropped = min(skip, part.num_rows)
        skip -= dropped
        yield from (part.slice(start, size) for start in range(dropped, part.num_rows, size))


def _columns(names: Sequence[str], part: Any) -> Raw:
    return Raw(part.num_rows, [of_arrow(part.column(name)) for name in names])


class ExcelRows(_ByRow):
    """Rows from a sheet of a workbook (.xlsx), its first row naming the columns. Rows that are empty all over are left alone."""

    def rows(self, names: Sequence[str]) -> Iterator[Sequence[Any] | str]:
        if error := missing(f"{self.label}", "xlsx"):
            raise error
        with ExitStack() as stack:
            rows = _certain(lambda: self._rows(stack), self.label, "a workbook (.xlsx)")
            filled = filter(_is_filled, iter(lambda: _quietly(lambda: next(rows, None)), None))
            header = ["" if cell.value is None else str(cell.value).strip() for cell in next(filled, ())]
            _require_columns(self.label, names, header)
            places = [header.index(name) for name in names]
            yield from map(partial(_values, places), filled)

    def _rows(self, stack: ExitStack) -> Iterator[Any]:
        from openpyxl import load_workbook

        book = _quietly(lambda: load_workbook(self._file, read_only=True))
        stack.callback(book.close)
        wanted = [sheet for sheet in book.worksheets if self._told.sheet in (None, sheet.title)]
        if len(wanted) != 1:
            which = f"has {len(book.worksheets):,} sheets, so say which one" if self._told.sheet is None else "has no sheet of that name"
            raise AnswerError(f"{self.label}: {which}")
        wanted[0].reset_dimensions()  # some programs write wrong ones, and rows would be missing
        return iter(wanted[0].iter_rows())


def _is_filled(row: Sequence[Any]) -> bool:
    return any(cell.value is not None for cell in row)


def _values(places: Sequence[int], row: Sequence[Any]) -> list[Any] | str:
    """Formulas are not values: what they come to may not be in the file."""
    cells = [row[place] if place < len(row) else _EMPTY for place in places]
    if any(cell.data_type == "f" for cell in cells):
        return "must have values, and has a formula"
    return [cell.value for cell in cells]


def _quietly(read: Callable[[], T]) -> T:
    """openpyxl's warnings quote cells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read()


def _certain(opened: Callable[[], T], label: str, what: str) -> T:
    """What a library opens. Its errors end here: they may quote what it read."""
    try:
        return opened()
    except (AnswerError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        problem = f"{label}: must be {what}, and cannot be read as one"
    raise AnswerError(problem)


_KINDS: dict[str, type[_File]] = {"csv": CsvRows, "jsonl": JsonLines, "parquet": ArrowRows, "arrow": ArrowRows, "xlsx": ExcelRows}


def _without_text_errors(items: Iterator[Any], where: Callable[[], str]) -> Iterator[Any]:
    """Errors about text carry the text itself, or a piece: they end here, and are not chained to what is raised instead."""
    while True:
        try:
            yield next(items)  # into no variable: while the last one is sent, it would still be there
            continue
        except StopIteration:
            return
        except UnicodeDecodeError as error:
            rule = "must be UTF-8 text, and is not: say its encoding, such as cp1252"
            problem = rule if error.encoding == "utf-8" else "must be text in the encoding that was named, and is not"
        except csv.Error as error:
            problem = f"is not well-formed CSV: {error}"
        raise AnswerError(f"{where()}: {problem}")


def _require_columns(label: str, names: Sequence[str], present: Sequence[Any]) -> None:
    """Names only what is looked for: a file without a header begins with somebody's answers."""
    like = {str(name).strip().casefold() for name in present}
    if absent := [f"{name}{' (but for capitals or spaces)' if name.casefold() in like else ''}" for name in names if name not in present]:
        found = [name for name in names if name in present]
        rule = f"{label} must have a column for each question (a file's first line names them)"
        others = f"{len(present) - len(found):,} others, not shown, since they may be answers"
        raise AnswerError(f"{rule}; missing: {', '.join(absent)}; found: {', '.join([*found, others])}")
    if twice := [name for name in names if list(present).count(name) > 1]:
        raise AnswerError(f"{label} must have each column once; more than once: {', '.join(twice)}")
