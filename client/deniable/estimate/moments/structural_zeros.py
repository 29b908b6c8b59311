"""Structural zeros: impossible pairs of answers to branched questions, removed to reduce the noise of all other pairs.

Respondents who were not shown a question sent no answer to it. Estimates of such pairs are noise alone, correlated with the noise of the
others. With S the covariance of the cells' estimates p and Z the impossible cells, p - S_Z S_ZZ^-1 p_Z has the least variance of all
unbiased linear estimates, and is 0 in Z: generalised least squares, for many reports as precise as maximum likelihood over the possible
pairs (A. Aitken, Proc. R. Soc. Edinb. 55 (1935)). S depends a little on the shares; it is taken half-way between shares that are as even
as can be and the estimated ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deniable.estimate.arrays import FloatArray
from deniable.estimate.moments import pseudo_answers
from deniable.mechanism import Channel
from deniable.survey import Survey
from deniable.survey.condition import Combination, ShowIf, SumCondition
from deniable.survey.question import Question, summands


def impossible(survey: Survey, a: str, b: str, complete: bool = False) -> NDArray[np.bool_]:
    """Returns which pairs of answers to two items are impossible, shape (k_a, k_b): an answer to one item that the other item hid.

    complete: whether everybody answered what they were shown. Devices do not enforce it, so it is an assumption.
    """
    first, second = (survey.record.field(name).item for name in (a, b))
    result = np.zeros((first.k, second.k), dtype=bool)
    if all(_question_of(survey, item).show_if is None for item in (first, second)):
        return result
    for item, present, cells in ((second, first, result), (first, second, result.T)):
        if (show_if := _question_of(survey, item).show_if) is None:
            continue
        for answer in range(present.k):
            if not _may_hold(survey, show_if, present, answer):
                cells[answer, :-1] = True
            elif complete and _holds(survey, show_if, present, answer):
                cells[answer, -1] = True
    return result


def removal(shares: FloatArray, channels: Sequence[Channel], zeros: NDArray[np.bool_]) -> FloatArray:
    """Returns the matrix that removes the noise of impossible cells from estimated cells in row-major order, shape (cells, cells)."""
    even = np.where(zeros, 0.0, 1.0)
    even /= np.maximum(even.sum(axis=1, keepdims=True), 1.0)  # each answer to the first as common, and to the second where it can be
    even /= even.sum()
    left = float(shares[zeros].sum() / (~zeros).sum())  # what the impossible cells have, shared out, so that the others add to 1
    likely = np.zeros(shares.shape)
    likely[~zeros] = pseudo_answers.possible(shares[~zeros] + left)
    spread = pseudo_answers.covariance((even + likely) / 2, channels, 1.0)
    inside = np.flatnonzero(zeros.ravel())
    slopes = np.linalg.solve(spread[np.ix_(inside, inside)], spread[inside]).T
    result = np.eye(zeros.size)
    result[:, inside] -= slopes
    result[inside] = 0.0
    return result


def _may_hold(survey: Survey, show_if: ShowIf, other: Question, answer: int) -> bool:
    """Returns whether a condition may hold for a respondent with this answer to an item."""
    if isinstance(show_if, SumCondition):
        least, greatest = _sums(survey, show_if, other, answer)
        return greatest >= show_if.range[0] and least < show_if.range[1]
    if isinstance(show_if, Combination):
        join = all if show_if.word == "all" else any
        return join(_may_hold(survey, part, other, answer) for part in show_if.parts)
    item = next(question for question in survey.questions if question.id == show_if.question)
    if other.id == item.id:
        return other.categories[answer] in show_if.options
    if item.labels and other.id in _ids(item) and answer:  # this option of a multiple choice was not chosen
        return any(f"{item.id}[{option}]" != other.id for option in show_if.options)
    return item.show_if is None or item.id == _question_of(survey, other).id or _may_hold(survey, item.show_if, other, answer)


def _holds(survey: Survey, show_if: ShowIf, other: Question, answer: int) -> bool:
    """Returns whether a condition holds for all respondents with this answer to an item."""
    if isinstance(show_if, SumCondition):
        least, greatest = _sums(survey, show_if, other, answer)
        return least >= show_if.range[0] and greatest < show_if.range[1]
    if isinstance(show_if, Combination):
        join = all if show_if.word == "all" else any
        return join(_holds(survey, part, other, answer) for part in show_if.parts)
    if other.id == show_if.question:
        return other.categories[answer] in show_if.options
    return answer == 0 and other.id in [f"{show_if.question}[{option}]" for option in show_if.options]


def _sums(survey: Survey, show_if: SumCondition, other: Question, answer: int) -> tuple[float, float]:
    """Returns bounds of a sum for a respondent with this answer to an item: the sums of each question's least and greatest part."""
    bounds = [_summands(survey, show_if, name, other, answer) for name in show_if.questions]
    return sum(least for least, _ in bounds), sum(greatest for _, greatest in bounds)


def _summands(survey: Survey, show_if: SumCondition, name: str, other: Question, answer: int) -> tuple[float, float]:
    """Returns the least and the greatest part of a question in a sum, for a respondent with this answer to an item."""
    question = next(question for question in survey.questions if question.id == name)
    own = other.id in _ids(question)
    if own and question.labels:
        if answer == 0 and other.id in [f"{name}[{option}]" for option in show_if.options]:
            return 1, 1
        return 0, float(any(f"{name}[{option}]" != other.id for option in show_if.options))
    parts = summands(show_if, question)
    if own:
        return parts[answer], parts[answer]
    if question.show_if is not None and not _may_hold(survey, question.show_if, other, answer):
        return 0, 0
    return min(parts), max(parts)


def _question_of(survey: Survey, item: Question) -> Question:
    return next(question for question in survey.questions if item.id in _ids(question))


def _ids(question: Question) -> list[str]:
    return [item.id for item in question.items]
