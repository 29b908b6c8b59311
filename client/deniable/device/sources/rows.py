"""Interface of row sources: batches of raw rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from deniable.device.columns import ColumnBuilder, DictionaryColumn, as_list
from deniable.device.items import item_lists, item_of
from deniable.errors import AnswerError
from deniable.survey.question import Question

PART = 500
"""Rows read at a time."""


@dataclass
class RawRows:
    """A batch of rows as read: the answers to each question, and the rows that cannot be read.

    Attributes:
        size: Number of rows.
        columns: The answers to each question.
        broken: The rows that cannot be read, each with the rule it breaks.
        comma: Whether numbers have a decimal comma.
        hint: Advice for refused numbers; it depends on the file, not on answers.
    """

    size: int
    columns: list[Any] = field(repr=False)
    broken: dict[int, str] = field(default_factory=dict)
    comma: bool = False
    hint: str = ""

    def with_decimal_points(self, question: Question, column: Any) -> Any:
        """Returns a question's column, with points for the decimal commas of numbers. A text with a point is then no number."""
        if not (self.comma and question.is_number):
            return column
        cells = column.values if isinstance(column, DictionaryColumn) else as_list(column)
        values = [cell.replace(".", "?").replace(",", ".") if isinstance(cell, str) else cell for cell in cells]
        return DictionaryColumn(column.codes, values) if isinstance(column, DictionaryColumn) else values


class Rows(Protocol):
    """A source of rows.

    Attributes:
        name: The path of a file.
        mark: The version of a file.
        repeatable: Whether the rows can be read twice.
        total: The number of rows, if it is known before they are read.
    """

    name: str | None
    mark: str
    repeatable: bool
    total: int | None

    def batches(self, names: Sequence[str], size: int, skip: int) -> Iterator[RawRows]:
        """Yields the columns with these names, up to `size` rows at a time, without the first `skip`."""


def from_row_iterator(rows: Iterator[Sequence[Any] | str], width: int, size: int, skip: int = 0) -> Iterator[RawRows]:
    """Returns batches of rows from an iterator. Each row is its cells, or the rule that it breaks."""
    remaining, blank = itertools.islice(rows, skip, None), [""] * width

    def read(most: int) -> RawRows | None:
        part = list(itertools.islice(remaining, most))
        broken = {number: row for number, row in enumerate(part) if isinstance(row, str)}
        columns = zip(*(blank if isinstance(row, str) else row for row in part), strict=True)
        return RawRows(len(part), list(columns), broken) if part else None

    return from_parts(read, width, size)


def from_parts(read: Callable[[int], RawRows | None], width: int, size: int) -> Iterator[RawRows]:
    """Returns batches of up to `size` rows, read some hundred at a time to fit into the processor's cache.

    Args:
        read: Returns at most as many rows as its argument says, or None at the end.
        width: The number of columns.
        size: Most rows of a batch.
    """
    return iter(lambda: _batch(read, width, size), None)


def _batch(read: Callable[[int], RawRows | None], width: int, size: int) -> RawRows | None:
    columns, broken, done = [ColumnBuilder() for _ in range(width)], dict[int, str](), 0
    while part := read(min(PART, size - done)):
        broken |= {done + number: rule for number, rule in part.broken.items()}
        for column, cells in zip(columns, part.columns, strict=True):
            column.extend(cells)
        done += part.size
    return RawRows(done, [column.build() for column in columns], broken) if done else None


def columns_of(label: str, names: Sequence[str], present: Sequence[Any], column: Callable[[int], Any]) -> list[Any]:
    """Returns columns of a table. A multiple choice has one column of lists, or one column for each item.

    Args:
        label: The table's name, for messages.
        names: The columns to return.
        present: The columns of the table.
        column: Returns the column at an index, with Python's own values if it has lists.

    Raises:
        AnswerError: As for `indexes_of`, or a multiple choice has columns of both kinds.
    """
    lists, headers = item_lists(names), set(map(_strip, present))
    wholes = {whole for whole, _ in lists.values() if whole in headers}
    if both := sorted(wholes & {lists[name][0] for name in names if name in lists and name in headers}):
        rule = "must have one column for a multiple choice or one for each of its items"
        raise AnswerError(f"{label} {rule}, got both for {', '.join(both)}")
    sources = [lists[name][0] if name in lists and lists[name][0] in wholes else name for name in names]
    columns = map(column, indexes_of(label, sources, present))
    return [
        cells if name == source else [item_of(cell, name, lists) for cell in as_list(cells)]
        for name, source, cells in zip(names, sources, columns, strict=True)
    ]


def indexes_of(label: str, names: Sequence[str], present: Sequence[Any]) -> list[int]:
    """Returns the indexes of columns in a table. Blanks around a name are ignored.

    Raises:
        AnswerError: A column is missing or repeated. Only expected names are quoted: a file without a header begins with answers.
    """
    headers = list(map(_strip, present))
    expected = list(map(_strip, names))
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


def _strip(name: Any) -> str:
    """Returns the name of a column without a byte order mark and surrounding blanks."""
    return str(name).removeprefix("\ufeff").strip()


def _unnamed(others: int) -> list[str]:
    """Returns the number of other columns as a phrase, or nothing."""
    if others == 1:
        return ["1 other, not shown, since it may be an answer"]
    return [f"{others:,} others, not shown, since they may be answers"] if others else []
