"""What every source of rows gives: stretches of them, as they came."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from deniable.device.columns import Coded, listed
from deniable.device.encode import chosen
from deniable.device.items import item_lists
from deniable.errors import AnswerError
from deniable.survey.question import Question


@dataclass
class Raw:
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

    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[Raw]:
        """Yields the answers under these column names, up to `size` rows at a time, leaving out the first `skip`."""


def row_by_row(rows: Iterator[Sequence[Any] | str], width: int, size: int, skip: int = 0) -> Iterator[Raw]:
    """Stretches of rows that come one by one: each its cells, or in words why it is no row."""
    left = itertools.islice(rows, skip, None)
    return iter(lambda: raw_of(list(itertools.islice(left, size)), width), None)


def raw_of(part: Sequence[Sequence[Any] | str], width: int) -> Raw | None:
    """A stretch of rows, each its cells, or in words why it is no row; None at the end."""
    broken = {i: row for i, row in enumerate(part) if isinstance(row, str)}
    whole = [[""] * width if isinstance(row, str) else row for row in part]
    return Raw(len(part), [list(cells) for cells in zip(*whole, strict=True)], broken) if part else None


def columns_of(label: str, names: Sequence[str], present: Sequence[Any], column: Callable[[str], Any]) -> list[Any]:
    """Returns the columns of a table whose cells may be lists: the items of a multiple choice stand in columns of their own or in one.

    column: Gives the column of a name, with Python's own values where it is one of lists. Raises AnswerError as `require_columns`.
    """
    lists, there = item_lists(names), set(map(str, present))
    wholes = {whole for whole, _ in lists.values() if whole in there}
    if both := sorted(wholes & {lists[name][0] for name in names if name in lists and name in there}):
        rule = "must have one column for a multiple choice or one for each of its items"
        raise AnswerError(f"{label} {rule}, got both for {', '.join(both)}")
    split = [name for name in names if name in lists and lists[name][0] in wholes]
    require_columns(label, [name for name in names if name not in split], present)
    cells = {whole: [_cell(one) for one in listed(column(whole))] for whole in wholes}

    def item(name: str) -> list[Any]:
        whole, labels = lists[name]
        return [chosen(cell, name[len(whole) + 1 : -1], labels) for cell in cells[whole]]

    return [item(name) if name in split else column(name) for name in names]


def _cell(cell: Any) -> Any:
    """A cell that may be a list of NumPy's."""
    return cell.tolist() if hasattr(cell, "tolist") else cell


def require_columns(label: str, names: Sequence[str], present: Sequence[Any]) -> None:
    """Names only what is looked for: a file without a header begins with somebody's answers."""
    like = {str(name).strip().casefold() for name in present}
    if absent := [f"{name}{' (but for capitals or spaces)' if name.casefold() in like else ''}" for name in names if name not in present]:
        found = [name for name in names if name in present]
        rule = f"{label} must have a column for each question (a file's first line names them)"
        there = ", ".join([*found, *_unnamed(len(present) - len(found))]) or "no column"
        raise AnswerError(f"{rule}; missing: {', '.join(absent)}; found: {there}")
    if twice := [name for name in names if list(present).count(name) > 1]:
        raise AnswerError(f"{label} must have each column once; more than once: {', '.join(twice)}")


def _unnamed(others: int) -> list[str]:
    """How many columns are there beside those that are looked for, in words."""
    if others == 1:
        return ["1 other, not shown, since it may be an answer"]
    return [f"{others:,} others, not shown, since they may be answers"] if others else []
