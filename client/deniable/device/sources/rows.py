"""Interface of row sources: batches of raw rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from deniable.device.columns import Coded, listed
from deniable.device.items import item_lists, item_of
from deniable.errors import AnswerError
from deniable.survey.question import Question

PART = 500
"""Rows read at a time."""


@dataclass
class RawRows:
    """A batch of rows as read: for each question the answers, and the rows that cannot be read.

    Attributes:
        size: Number of rows.
        columns: The answers to each question.
        broken: The rows that cannot be read, each with the rule it breaks.
        comma: Whether numbers have a decimal comma.
        hint: Advice where a number is refused; it follows from the file, not from answers.
    """

    size: int
    columns: list[Any] = field(repr=False)
    broken: dict[int, str] = field(default_factory=dict)
    comma: bool = False
    hint: str = ""

    def plain(self, question: Question, column: Any) -> Any:
        """Returns a question's column, with decimal points in numbers; with decimal commas, a text with a point is no number."""
        if not (self.comma and question.is_number):
            return column
        values = column.values if isinstance(column, Coded) else listed(column)
        written = [value.replace(".", "?").replace(",", ".") if isinstance(value, str) else value for value in values]
        return Coded(column.codes, written) if isinstance(column, Coded) else written


class Rows(Protocol):
    """A source of rows. `name` and `mark` identify a file and its version; `repeatable` says whether it can be read twice."""

    name: str | None
    mark: str
    repeatable: bool
    total: int | None

    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[RawRows]:
        """Yields the answers under these column names, up to `size` rows at a time, without the first `skip`."""


def row_by_row(rows: Iterator[Sequence[Any] | str], width: int, size: int, skip: int = 0) -> Iterator[RawRows]:
    """Returns batches of rows that come one by one: each is its cells, or the rule that it breaks."""
    left = itertools.islice(rows, skip, None)
    return iter(lambda: _stretch(left, width, size), None)


def _stretch(rows: Iterator[Sequence[Any] | str], width: int, size: int) -> RawRows | None:
    """Returns up to `size` rows, read some hundred at a time to fit into the processor's cache; None at the end."""
    columns, broken, done, nothing = [list[Any]() for _ in range(width)], dict[int, str](), 0, [""] * width
    while part := list(itertools.islice(rows, min(PART, size - done))):
        broken |= {done + number: row for number, row in enumerate(part) if isinstance(row, str)}
        for column, cells in zip(columns, zip(*(nothing if isinstance(row, str) else row for row in part), strict=True), strict=True):
            column += cells
        done += len(part)
    return RawRows(done, columns, broken) if done else None


def columns_of(label: str, names: Sequence[str], present: Sequence[Any], column: Callable[[int], Any]) -> list[Any]:
    """Returns the columns of a table whose cells may be lists: a multiple choice has one column, or one for each item.

    Args:
        label: The table's name, for messages.
        names: The columns to return.
        present: The columns of the table.
        column: Returns the column at an index, with Python's own values if it has lists.

    Raises:
        AnswerError: As `places_of`, or a multiple choice has columns of both kinds.
    """
    lists, there = item_lists(names), set(map(_bare, present))
    wholes = {whole for whole, _ in lists.values() if whole in there}
    if both := sorted(wholes & {lists[name][0] for name in names if name in lists and name in there}):
        rule = "must have one column for a multiple choice or one for each of its items"
        raise AnswerError(f"{label} {rule}, got both for {', '.join(both)}")
    sought = [lists[name][0] if name in lists and lists[name][0] in wholes else name for name in names]
    columns = map(column, places_of(label, sought, present))
    return [
        cells if name == whole else [item_of(cell, name, lists) for cell in listed(cells)]
        for name, whole, cells in zip(names, sought, columns, strict=True)
    ]


def places_of(label: str, names: Sequence[str], present: Sequence[Any]) -> list[int]:
    """Returns the indexes of columns among those present. Blanks around a name are ignored.

    Raises:
        AnswerError: One is missing or repeated. Only expected names are quoted: a file without a header begins with answers.
    """
    headers = list(map(_bare, present))
    expected = list(map(_bare, names))
    like = {name.casefold() for name in headers}
    if absent := [
        f"{name}{' (but for capitals or spaces)' if name.casefold() in like else ''}" for name in expected if name not in headers
    ]:
        matches = [name for name in dict.fromkeys(expected) if name in headers]
        rule = f"{label} must have a column for each question (a file's first line names them)"
        columns = ", ".join([*matches, *_unnamed(len(headers) - len(matches))]) or "no column"
        raise AnswerError(f"{rule}; missing: {', '.join(dict.fromkeys(absent))}; found: {columns}")
    if twice := [name for name in dict.fromkeys(expected) if headers.count(name) > 1]:
        raise AnswerError(f"{label} must have each column once; more than once: {', '.join(twice)}")
    return list(map(headers.index, expected))


def _bare(name: Any) -> str:
    """Returns the name of a column without a byte order mark and surrounding blanks."""
    return str(name).removeprefix("\ufeff").strip()


def _unnamed(others: int) -> list[str]:
    """Returns the number of other columns as a phrase, or nothing."""
    if others == 1:
        return ["1 other, not shown, since it may be an answer"]
    return [f"{others:,} others, not shown, since they may be answers"] if others else []
