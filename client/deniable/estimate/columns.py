"""Where a question's bits are in a record and in a tally, its implied last bit included."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.submission import record_bits
from deniable.survey import Question, Survey
from deniable.tally import Tally


def find(survey: Survey, name: str) -> tuple[Question, slice]:
    """The question of that id and its stored bits. Raises EstimateError."""
    start = 0
    for question in survey.items:
        if question.id == name:
            return question, slice(start, start + question.k - 1)
        start += question.k - 1
    known = ", ".join(question.id for question in survey.items[:8])
    raise EstimateError(f"the question must be one of survey {survey.id} ({known}), got {name!r}")


def option_index(question: Question, option: str) -> int:
    """The category of that label. Raises EstimateError."""
    if option not in question.categories:
        known = ", ".join(question.categories[:8])
        raise EstimateError(f"the option must be one of question {question.id} ({known}), got {option!r}")
    return question.categories.index(option)


def counts(survey: Survey, tally: Tally, name: str) -> tuple[Question, int, NDArray[np.int64]]:
    """The question, its reports, and how many of them have each of its k bits set, shape (k,). Raises EstimateError."""
    question, place = find(survey, name)
    n = _reports(survey, tally, name)
    stored = tally.ones[place]
    return question, n, np.append(stored, n * question.d - stored.sum())


def pair_counts(survey: Survey, tally: Tally, a: str, b: str) -> tuple[tuple[Question, Question], int, NDArray[np.int64]]:
    """Both questions, the reports with both, and how many of these have bits i of a and j of b set, shape (k_a, k_b)."""
    (first, rows), (second, columns) = find(survey, a), find(survey, b)
    if a == b:
        raise EstimateError(f"the two questions must differ, got {a} twice")
    n = _reports(survey, tally, a, b)
    stored = tally.pairs[rows, columns]
    last_column = second.d * tally.ones[rows] - stored.sum(axis=1)
    last_row = first.d * tally.ones[columns] - stored.sum(axis=0)
    corner = first.d * (n * second.d - tally.ones[columns].sum()) - last_column.sum()
    return (first, second), n, np.block([[stored, last_column[:, None]], [last_row[None, :], np.array([[corner]])]])


def bits_of(survey: Survey, bits: NDArray[np.bool_], names: Sequence[str]) -> tuple[list[Question], list[NDArray[np.bool_]]]:
    """The questions and all k bits of each, shape (n, k), from unpacked reports, shape (n, record_bits). Raises EstimateError."""
    if bits.ndim != 2 or bits.shape[1] != record_bits(survey):
        raise EstimateError(f"bits must have {record_bits(survey)} columns, as survey {survey.id} has, got the shape {bits.shape}")
    if not len(bits):
        raise EstimateError("bits must hold at least 1 report, got 0: without reports there is no estimate")
    found = [find(survey, name) for name in names]
    stored = [bits[:, place] for _, place in found]
    implied = [part.sum(axis=1) < question.d for (question, _), part in zip(found, stored, strict=True)]
    return [question for question, _ in found], [np.column_stack([part, last]) for part, last in zip(stored, implied, strict=True)]


def _reports(survey: Survey, tally: Tally, *names: str) -> int:
    """How many reports answer all of these questions: every one does."""
    if len(tally.pairs) != record_bits(survey):
        raise EstimateError(f"the tally must have {record_bits(survey)} bits, as survey {survey.id} has, got {len(tally.pairs)}")
    if tally.n < 1:
        raise EstimateError(f"the tally must hold at least 1 report to {' and '.join(names)}, got 0: without reports there is no estimate")
    return tally.n
