"""Tables of answers: rows of any source (`sources`), one respondent each, become batches of categories.

Rows are counted from 1; a CSV file's header is not a row. A message about an invalid row has its number, the question and the rule,
never its content.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.device.branching import apply_skip_logic
from deniable.device.columns import DictionaryColumn, as_list, categories
from deniable.device.encode import MISSING
from deniable.device.randomize import Words
from deniable.device.sources.rows import RawRows, Rows
from deniable.errors import AnswerError, RejectedRow
from deniable.privacy.person_keys import UNNAMED, key_problem
from deniable.survey import Survey
from deniable.survey.exclusive import contradictions
from deniable.survey.question import Question
from deniable.survey.rules import allowed
from deniable.survey.types.base import label_of
from deniable.wire.public import some_of


@dataclass(frozen=True)
class Batch:
    """Some consecutive rows: the categories of the valid rows, and the rejected rows.

    Attributes:
        size: Number of rows, including rejected rows.
        categories: The categories of valid rows, shape (items, n).
        rejected: The rejected rows.
        groups: The index of each valid row's group among the survey's, shape (n,); -1 if no column names it.
        rows: The number of each valid row, from 1.
        people: The key of each valid row's person, if a column names it.
        keys: The key of each valid row, if a column names it.
        marks: Hashes of those keys.
    """

    size: int
    categories: NDArray[np.integer[Any]] = field(repr=False)
    rejected: list[RejectedRow]
    groups: NDArray[np.int64] = field(repr=False)
    rows: NDArray[np.int64]
    people: list[Any] = field(default_factory=list, repr=False)
    keys: list[Any] = field(default_factory=list, repr=False)
    marks: list[bytes] = field(default_factory=list, repr=False)

    def only(self, keep: NDArray[np.bool_]) -> Batch:
        """Returns the same batch with fewer valid rows."""
        if keep.all():
            return self
        lists: dict[str, Any] = {name: list(itertools.compress(getattr(self, name), keep)) for name in ("people", "keys", "marks")}
        return replace(self, categories=self.categories[:, keep], groups=self.groups[keep], rows=self.rows[keep], **lists)


class ExtraColumns(NamedTuple):
    """Names of columns that are not randomized: the group is sent as it is, the two keys never."""

    group_column: str | None = None
    person_column: str | None = None
    row_key: str | None = None

    def check(self, survey: Survey, names: Sequence[str]) -> None:
        """Checks that no extra column has answers or is used twice. Raises AnswerError."""
        questions = {*names, *(question.id for question in survey.questions)}
        reasons = ("a group is public", "a key is no answer", "its hashes are kept")
        for argument, why, column in zip(self._fields, reasons, self, strict=True):
            if column in questions:
                raise AnswerError(f"{argument} must be a column of its own, got the column of question {column}: {why}")
            if column is not None and column == self.group_column and argument != "group_column":
                raise AnswerError(f"{argument} must be another column than group_column, {column}: a group is sent, a key never")


_NO_COLUMNS = ExtraColumns()


def batches(
    survey: Survey,
    rows: Rows,
    words: Words,
    *,
    size: int,
    skip: int = 0,
    columns: Mapping[str, str] | None = None,
    extra: ExtraColumns = _NO_COLUMNS,
) -> Iterator[Batch]:
    """Reads and encodes rows.

    Args:
        survey: The survey.
        rows: The source of the rows.
        words: Source of random words, which round numbers.
        size: Most rows of a batch.
        skip: Number of rows to skip at the start.
        columns: The names of columns by question, where they differ from its id.
        extra: Columns besides the answers.

    Raises:
        AnswerError: A column is missing, or `columns` names an unknown question.
        OSError: The file cannot be read.
    """
    columns = columns or {}
    ids = [item.id for item in survey.items]
    if others := sum(name not in ids for name in columns):
        raise AnswerError(
            f"columns must name questions of survey {survey.id}, which are {', '.join(ids)}; got {others:,} other{'s' * (others > 1)}"
        )
    names = [columns.get(item, item) for item in ids]
    extra.check(survey, names)
    for raw in rows.batches([*names, *(name for name in extra if name is not None)], size, skip):
        yield _encode(survey, raw, skip + 1, words, extra)
        skip += raw.size


def _encode(survey: Survey, raw: RawRows, first: int, words: Words, extra: ExtraColumns) -> Batch:
    """Encodes a batch of rows; `first` is the number of its first row."""
    answers, others = raw.columns[: len(survey.items)], iter(raw.columns[len(survey.items) :])
    groups_named, people, keys = ([] if name is None else as_list(next(others)) for name in extra)
    codes = np.empty((len(answers), raw.size), dtype=np.min_scalar_type(-max(item.k for item in survey.items)))
    for row, item, column in zip(codes, survey.items, answers, strict=True):
        row[:] = categories(item, raw.with_decimal_points(item, column), words)
    contradictory = [
        (name, dict.fromkeys(np.flatnonzero(rows).tolist(), f"must be {rule}")) for name, rule, rows in contradictions(survey, codes)
    ]
    codes = apply_skip_logic(survey, codes)
    groups = np.full(raw.size, -1) if extra.group_column is None else _group_indexes(survey, groups_named)
    unknown = np.flatnonzero(groups < 0).tolist() if extra.group_column is not None else []
    wrong: list[tuple[str, Mapping[int, str]]] = [
        (str(extra.group_column), dict.fromkeys(unknown, f"must be {some_of(survey.groups)}")),
        (str(extra.person_column), _invalid_keys(people, "person")),
        (str(extra.row_key), _invalid_keys(keys, "row")),
        *contradictory,
    ]
    valid: NDArray[np.bool_] = codes.min(axis=0) >= 0
    valid[[*raw.broken, *itertools.chain.from_iterable(rows for _, rows in wrong)]] = False
    rejected: list[RejectedRow] = []
    for row in np.flatnonzero(~valid).tolist():
        rejected += _reasons(survey.items, answers, raw, codes[:, row], row, first)
        rejected += [RejectedRow(first + row, name, rows[row]) for name, rows in wrong if row in rows and row not in raw.broken]
    raw.columns.clear()  # no reference to an answer remains while the batch is sent
    return Batch(raw.size, codes, rejected, groups, first + np.arange(raw.size), people, keys).only(valid)


def _invalid_keys(cells: Sequence[Any], what: str) -> dict[int, str]:
    """Returns the indexes of invalid keys, each with the rule it breaks."""
    rule = f"must name the {what}, by text or a whole number"
    reasons = ((row, key_problem(cell)) for row, cell in enumerate(cells))
    return {row: rule if reason == UNNAMED else f"{rule}; it {reason}" for row, reason in reasons if reason}


def _group_indexes(survey: Survey, column: Any) -> NDArray[np.int64]:
    """Returns the index of each row's group among the survey's, -1 for an unknown group. A label may be written as a whole number."""
    indexes = {label: index for index, label in enumerate(survey.groups)}
    return np.array([indexes.get(label_of(cell, indexes), -1) for cell in column], dtype=np.int64)


def _reasons(
    questions: Sequence[Question], columns: Sequence[Any], raw: RawRows, codes: NDArray[np.integer[Any]], row: int, first: int
) -> Iterator[RejectedRow]:
    """Yields each rule that a row's answers break."""
    if row in raw.broken:
        yield RejectedRow(first + row, "", raw.broken[row])
        return
    for question, column, code in zip(questions, columns, codes.tolist(), strict=True):
        if code < 0:
            missing = isinstance(column, list | DictionaryColumn) and column[row] is MISSING
            hint = raw.hint if question.is_number else ""
            yield RejectedRow(first + row, question.id, "is missing" if missing else f"must be {allowed(question)}{hint}")
