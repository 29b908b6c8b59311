"""What every source of rows gives: stretches of them, as they came."""

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
"""Rows that are taken at a time."""


@dataclass
class RawRows:
    """A stretch of rows as they came: for each question the answers, and the rows that are no rows at all.

    comma: whether numbers have a decimal comma. hint: what may help where a number is refused; it follows from the file, not from answers.
    """

    size: int
    columns: list[Any] = field(repr=False)
    broken: dict[int, str] = field(default_factory=dict)
    comma: bool = False
    hint: str = ""

    def plain(self, question: Question, column: Any) -> Any:
        """A question's column, with decimal points in a number's. With a point a text is no number where the file has commas."""
        if not (self.comma and question.is_number):
            return column
        values = column.values if isinstance(column, Coded) else listed(column)
        written = [value.replace(".", "?").replace(",", ".") if isinstance(value, str) else value for value in values]
        return Coded(column.codes, written) if isinstance(column, Coded) else written


class Rows(Protocol):
    """An input. `name` and `mark` tell a file from others and from its later self; `repeatable` says it can be read twice."""

    name: str | None
    mark: str
    repeatable: bool
    total: int | None

    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[RawRows]:
        """Yields the answers under these column names, up to `size` rows at a time, leaving out the first `skip`."""


def row_by_row(rows: Iterator[Sequence[Any] | str], width: int, size: int, skip: int = 0) -> Iterator[RawRows]:
    """Stretches of rows that come one by one: each its cells, or in words why it is no row."""
    left = itertools.islice(rows, skip, None)
    return iter(lambda: _stretch(left, width, size), None)


def _stretch(rows: Iterator[Sequence[Any] | str], width: int, size: int) -> RawRows | None:
    """Up to `size` rows, some hundred at a time, which stay in the processor's cache; None at the end."""
    columns, broken, done, nothing = [list[Any]() for _ in range(width)], dict[int, str](), 0, [""] * width
    while part := list(itertools.islice(rows, min(PART, size - done))):
        broken |= {done + number: row for number, row in enumerate(part) if isinstance(row, str)}
        for column, cells in zip(columns, zip(*(nothing if isinstance(row, str) else row for row in part), strict=True), strict=True):
            column += cells
        done += len(part)
    return RawRows(done, columns, broken) if done else None


def columns_of(label: str, names: Sequence[str], present: Sequence[Any], column: Callable[[int], Any]) -> list[Any]:
    """Returns the columns of a table whose cells may be lists: the items of a multiple choice stand in columns of their own or in one.

    column: Gives the column at a place, with Python's own values where it is one of lists. Raises AnswerError as `places_of`.
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
    """Returns the places of columns among those present. Blanks around a name do not count.

    Raises:
        AnswerError: One is missing or there twice. Only what is looked for is named: a file without a header begins with answers.
    """
    there = list(map(_bare, present))
    wanted = list(map(_bare, names))
    like = {name.casefold() for name in there}
    if absent := [f"{name}{' (but for capitals or spaces)' if name.casefold() in like else ''}" for name in wanted if name not in there]:
        found = [name for name in dict.fromkeys(wanted) if name in there]
        rule = f"{label} must have a column for each question (a file's first line names them)"
        columns = ", ".join([*found, *_unnamed(len(there) - len(found))]) or "no column"
        raise AnswerError(f"{rule}; missing: {', '.join(dict.fromkeys(absent))}; found: {columns}")
    if twice := [name for name in dict.fromkeys(wanted) if there.count(name) > 1]:
        raise AnswerError(f"{label} must have each column once; more than once: {', '.join(twice)}")
    return list(map(there.index, wanted))


def _bare(name: Any) -> str:
    """The name of a column without a byte order mark and blanks around it."""
    return str(name).removeprefix("\ufeff").strip()


def _unnamed(others: int) -> list[str]:
    """How many columns are there beside those that are looked for, in words."""
    if others == 1:
        return ["1 other, not shown, since it may be an answer"]
    return [f"{others:,} others, not shown, since they may be answers"] if others else []
