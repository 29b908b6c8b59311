"""Many respondents' answers, from mappings, a DataFrame, a CSV file or JSON lines, become batches of categories.

Rows are counted from 1; a CSV file's header is not a row. A row that cannot be sent is named by its number,
the question and the rule, never by what it holds.
"""

from __future__ import annotations

import csv
import errno
import itertools
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TextIO

import numpy as np
from numpy.typing import NDArray

from deniable.device.branching import apply_skip_logic
from deniable.device.encode import allowed, chosen, positions, round_stochastically
from deniable.device.randomize import Words
from deniable.device.sealed import callers_own
from deniable.errors import AnswerError, Rejected
from deniable.persons import known_by
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable.survey.types.base import Answer
from deniable.wire.public import some_of

MISSING = object()


@dataclass(frozen=True)
class Batch:
    """Some rows in a stretch: the categories of those that can be sent, shape (questions, n), and the others.

    groups: the place of each one's group among the survey's, shape (n,); -1 where no column names it. rows: the number of each,
    from 1. people: the key of each one's person, where a column names it.
    """

    size: int
    categories: NDArray[np.int64] = field(repr=False)
    rejected: list[Rejected]
    groups: NDArray[np.int64] = field(repr=False)
    rows: NDArray[np.int64]
    people: list[Any] = field(default_factory=list, repr=False)

    def only(self, keep: NDArray[np.bool_]) -> Batch:
        """The same stretch with fewer rows that can be sent."""
        people = list(itertools.compress(self.people, keep))
        return replace(self, categories=self.categories[:, keep], groups=self.groups[keep], rows=self.rows[keep], people=people)


class Beside(NamedTuple):
    """The columns beside the answers, which are not randomized: the group's is sent as it is, the person's never."""

    group: str | None = None
    person: str | None = None

    def check(self, survey: Survey, names: Sequence[str]) -> None:
        """Raises AnswerError where one is the column of a question, or both are one."""
        questions = {*names, *(question.id for question in survey.questions)}
        if self.group in questions:
            raise AnswerError(f"group_column must be a column of its own, got that of a question, {self.group}: a group is public")
        if self.person in questions:
            raise AnswerError(f"person_column must be a column of its own, got that of a question, {self.person}")
        if self.person is not None and self.person == self.group:
            raise AnswerError(f"person_column must be another column than group_column, {self.group}: a group is sent, a key never")


@dataclass
class Raw:
    """A stretch of rows as they came: for each question the answers, and the rows that are no rows at all."""

    size: int
    columns: list[Any] = field(repr=False)
    broken: dict[int, str] = field(default_factory=dict)


class Rows(Protocol):
    """An input. `name` and `mark` tell a file from others and from its later self; `repeatable` says it can be read twice."""

    name: str | None
    mark: str
    repeatable: bool
    total: int | None

    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[Raw]:
        """Yields the answers under these column names, up to `size` rows at a time, leaving out the first `skip`."""


def as_rows(rows: Any) -> Rows:
    """Recognises a path (.csv, or .jsonl for JSON lines), an open CSV file, a DataFrame, or an iterable of mappings."""
    if isinstance(rows, _File | Mappings | Table):
        return rows
    if isinstance(rows, str | os.PathLike):
        path = Path(rows)
        if isinstance(rows, str) and not os.path.exists(rows):
            raise FileNotFoundError(errno.ENOENT, "rows is a text, and no file has that name; it is not quoted, since it may be an answer")
        return JsonLines(path) if path.suffix.lower() in (".jsonl", ".ndjson") else CsvRows(path)
    if hasattr(rows, "read"):
        return CsvRows(rows)
    if hasattr(rows, "iloc") and hasattr(rows, "columns"):
        return Table(rows)
    if isinstance(rows, Iterable) and not isinstance(rows, Mapping | bytes):
        return Mappings(rows)
    raise AnswerError(f"rows must be an iterable of mappings, a DataFrame or the path of a CSV file, got {type(rows).__name__}")


def batches(
    survey: Survey,
    rows: Rows,
    words: Words,
    *,
    columns: Mapping[str, str] | None = None,
    group_column: str | None = None,
    person_column: str | None = None,
    size: int,
    skip: int = 0,
) -> Iterator[Batch]:
    """Reads and encodes `rows`, up to `size` at a time; `words` round numbers. Raises AnswerError if a column is missing; OSError."""
    columns = columns or {}
    ids = [item.id for item in survey.items]
    if others := sum(name not in ids for name in columns):
        raise AnswerError(
            f"columns must name questions of survey {survey.id}, which are {', '.join(ids)}; got {others:,} other{'s' * (others > 1)}"
        )
    names = [columns.get(question.id, question.id) for question in survey.items]
    beside = Beside(group_column, person_column)
    beside.check(survey, names)
    labels = [name for name in beside if name is not None]
    for raw in rows.stretches([*names, *labels], size, skip):
        yield _encoded(survey, raw, skip + 1, words, beside)
        skip += raw.size


def _encoded(survey: Survey, raw: Raw, first: int, words: Words, beside: Beside) -> Batch:
    answers, others = raw.columns[: len(survey.items)], raw.columns[len(survey.items) :]
    stand = zip(survey.items, answers, strict=True)
    categories = apply_skip_logic(survey, np.array([round_stochastically(item, _positions(item, column), words) for item, column in stand]))
    groups = np.full(raw.size, -1) if beside.group is None else _group_places(survey, others[0])
    people = [] if beside.person is None else _cells(others[-1])
    nobody = {row for row, person in enumerate(people) if known_by(person) is None}
    valid: NDArray[np.bool_] = np.all(categories >= 0, axis=0)
    if beside.group is not None:
        valid &= groups >= 0
    valid[[*raw.broken, *nobody]] = False
    rejected: list[Rejected] = []
    for row in np.flatnonzero(~valid).tolist():
        rejected += _reasons(survey.items, answers, raw.broken, categories[:, row], row, first)
        if beside.group is not None and groups[row] < 0 and row not in raw.broken:
            rejected.append(Rejected(first + row, beside.group, f"must be {some_of(survey.groups)}"))
        if row in nobody and row not in raw.broken:
            rejected.append(Rejected(first + row, str(beside.person), "must name the person, by text or a whole number"))
    raw.columns.clear()  # whoever still has the stretch while it is sent has no answer
    numbers = first + np.flatnonzero(valid)
    return Batch(raw.size, categories[:, valid], rejected, groups[valid], numbers, list(itertools.compress(people, valid)))


def _group_places(survey: Survey, column: Any) -> NDArray[np.int64]:
    """Where each row's group stands among the survey's, -1 for nowhere. A label may be written as a whole number."""
    known = {label: place for place, label in enumerate(survey.groups)}
    found = [known.get(str(cell).strip(), -1) if isinstance(cell, str | int | np.integer) else -1 for cell in _cells(column)]
    return np.array(found, dtype=np.int64)


def _cells(column: Any) -> list[Any]:
    return column.tolist() if hasattr(column, "tolist") else column  # type: ignore[no-any-return]


def _positions(question: Question, column: Any) -> NDArray[np.float64]:
    """Where one question's answers stand, -1 for nowhere; each distinct value of a uniform column is looked up once."""
    if isinstance(column, list) and not question.required:
        column = [None if answer is MISSING else answer for answer in column]
    if isinstance(column, list) and set(map(type, column)) == {str}:
        cells = list(set(column))
        meaning = dict(zip(cells, positions(question, cells).tolist(), strict=True))
        return np.fromiter(map(meaning.__getitem__, column), dtype=np.float64, count=len(column))
    if hasattr(column, "factorize") and column.dtype != object:  # a pandas column
        codes, distinct = column.factorize()
        known = positions(question, [*distinct.tolist(), None])  # a code of -1 means that there is no answer
        return np.asarray(known[codes])
    return positions(question, column.tolist() if hasattr(column, "tolist") else column)


def _reasons(
    questions: Sequence[Question], columns: Sequence[Any], broken: Mapping[int, str], codes: NDArray[np.int64], row: int, first: int
) -> Iterator[Rejected]:
    if row in broken:
        yield Rejected(first + row, "", broken[row])
        return
    for question, column, code in zip(questions, columns, codes.tolist(), strict=True):
        if code < 0:
            missing = isinstance(column, list) and column[row] is MISSING
            yield Rejected(first + row, question.id, "is missing" if missing else f"must be {allowed(question)}")


def each_answer(survey: Survey, answers: Mapping[str, Answer]) -> Iterator[tuple[Question, Answer]]:
    """Each item of a survey with one respondent's answer to it, or MISSING. A multiple choice is a list, or its items one by one."""
    lists = _lists([item.id for item in survey.items])
    for item in survey.items:
        yield item, _lookup(answers, item.id, lists)


def _lists(names: Sequence[str]) -> dict[str, tuple[str, list[str]]]:
    """For each name like `drugs[tea]` that of the whole question, and the labels of all its items."""
    found: dict[str, tuple[str, list[str]]] = {}
    labels: dict[str, list[str]] = {}
    for name in names:
        if name.endswith("]") and "[" in name:
            whole, _, label = name[:-1].partition("[")
            labels.setdefault(whole, []).append(label)
            found[name] = (whole, labels[whole])
    return found


def _lookup(row: Mapping[str, Answer], name: str, lists: Mapping[str, tuple[str, list[str]]]) -> Answer:
    if name in row or name not in lists or lists[name][0] not in row:
        return row.get(name, MISSING)
    whole, labels = lists[name]
    return chosen(row[whole], name[len(whole) + 1 : -1], labels)


class Mappings:
    """Rows from an iterable of mappings, such as dicts; keys that are no questions are left alone."""

    name: str | None = None
    mark = ""

    def __init__(self, rows: Iterable[Any]) -> None:
        self._rows = rows
        self.repeatable = isinstance(rows, Sequence)
        self.total: int | None = len(rows) if isinstance(rows, Sequence) else None

    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[Raw]:
        rows = callers_own(itertools.islice, self._rows, skip, None)
        return iter(lambda: _of_mappings(callers_own(list, itertools.islice(rows, size)), names), None)


def _of_mappings(part: list[Any], names: Sequence[str]) -> Raw | None:
    if not part:
        return None
    broken = {i: "must be a mapping from question to answer" for i, row in enumerate(part) if not isinstance(row, Mapping)}
    mappings: list[Mapping[str, Answer]] = [{} if i in broken else row for i, row in enumerate(part)]
    lists = _lists(names)
    return Raw(len(part), [[_lookup(row, name, lists) for row in mappings] for name in names], broken)


class Table:
    """Rows from a pandas DataFrame, which this module never imports."""

    name: str | None = None
    mark = ""
    repeatable = True

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.total: int | None = len(frame)

    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[Raw]:
        _require_columns("the DataFrame", names, list(self._frame.columns))
        starts = range(skip, len(self._frame), size)
        return (self._stretch(slice(start, start + size), names) for start in starts)

    def _stretch(self, rows: slice, names: Sequence[str]) -> Raw:
        part = self._frame.iloc[rows]
        return Raw(len(part), [part[name] for name in names])


class _File(ABC):
    """A text file, by its path or already open. Only a path has a name, and can be read twice."""

    def __init__(self, file: str | Path | TextIO) -> None:
        self._file = file
        self.name: str | None = None
        self.mark = ""
        self.total: int | None = None
        self.repeatable = isinstance(file, str | Path)
        if isinstance(file, str | Path):
            status = os.stat(file)
            self.name = os.path.abspath(file)
            self.mark = f"{status.st_size} bytes, changed {status.st_mtime_ns}"

    @abstractmethod
    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[Raw]: ...

    @property
    def label(self) -> str:
        return str(self._file) if isinstance(self._file, str | Path) else "the input"

    def lines(self) -> Iterator[str]:
        if not isinstance(self._file, str | Path):
            yield from self._file
            return
        with open(self._file, encoding="utf-8-sig", newline="") as stream:
            yield from stream


class CsvRows(_File):
    """Rows from a CSV file in UTF-8, the first line naming the columns; other columns are left alone."""

    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[Raw]:
        reader = csv.reader(self.lines(), strict=True, skipinitialspace=True)
        rows = _without_text_errors(filter(None, reader), lambda: f"{self.label}, line {reader.line_num:,}")
        header = [cell.strip().removeprefix("\ufeff") for cell in next(rows, [])]
        _require_columns(self.label, names, header)
        places = [header.index(name) for name in names]
        rows = itertools.islice(rows, skip, None)
        return iter(lambda: _of_cells(list(itertools.islice(rows, size)), len(header), places), None)


def _of_cells(part: list[list[str]], width: int, places: Sequence[int]) -> Raw | None:
    if not part:
        return None
    broken = {i: f"must have {width} cells, as the header has, got {len(row)}" for i, row in enumerate(part) if len(row) != width}
    blank = [""] * width
    whole = [blank if i in broken else row for i, row in enumerate(part)]
    return Raw(len(part), [[row[place] for row in whole] for place in places], broken)


class JsonLines(_File):
    """Rows from a text file with one JSON object a line."""

    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[Raw]:
        lines = _without_text_errors(self.lines(), lambda: self.label)
        rows = itertools.islice(map(_json_or_none, filter(str.strip, lines)), skip, None)
        return iter(lambda: _of_mappings(list(itertools.islice(rows, size)), names), None)


def _json_or_none(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _without_text_errors(items: Iterator[Any], where: Any) -> Iterator[Any]:
    """Errors about text carry the text itself, or a piece: they end here, and are not chained to what is raised instead."""
    while True:
        try:
            yield next(items)  # into no variable: while the last one is sent, it would still be there
            continue
        except StopIteration:
            return
        except UnicodeDecodeError:
            problem = "must be UTF-8 text, and is not"
        except csv.Error as error:
            problem = f"is not well-formed CSV: {error}"
        raise AnswerError(f"{where()}: {problem}")


def _require_columns(label: str, names: Sequence[str], present: Sequence[Any]) -> None:
    """Names only what is looked for: a file without a header begins with somebody's answers."""
    if missing := [name for name in names if name not in present]:
        rule = f"{label} must have a column for each question (a file's first line names them)"
        raise AnswerError(f"{rule}; it has {len(present):,}; missing: {', '.join(missing)}")
    if twice := [name for name in names if list(present).count(name) > 1]:
        raise AnswerError(f"{label} must have each column once; more than once: {', '.join(twice)}")
