"""Branching (skip logic): questions shown only after certain answers. Which ones were shown depends on true answers, so it stays hidden.

A hidden question becomes "no answer", which is randomized like any other answer. An answer that its question does not allow stays
invalid (-1) even there: whether it is refused must not reveal what was shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.survey import Survey
from deniable.survey.condition import Joined, ShowIf
from deniable.survey.question import Question

Categories = NDArray[np.integer[Any]]


def apply_skip_logic(survey: Survey, categories: Categories) -> Categories:
    """Returns the categories of n respondents, shape (items, n), with hidden questions replaced by no answer."""
    if not any(question.show_if for question in survey.questions):
        return categories
    result, rows, start = categories.copy(), dict[str, _Answered](), 0
    for question in survey.questions:
        block = result[start : start + len(question.items)]
        start += len(question.items)
        rows[question.id] = _Answered(question, block)
        if question.show_if:
            block[(block >= 0) & ~_holds(question.show_if, rows)] = question.k - 1
    return result


class _Answered(NamedTuple):
    """A question and its items' categories, shape (items, n): a view, in which hidden ones are already no answer."""

    question: Question
    categories: Categories


def _holds(show_if: ShowIf, rows: Mapping[str, _Answered]) -> NDArray[np.bool_]:
    """Returns for each respondent whether a condition holds, shape (n,). A multiple choice meets it with any of the options."""
    if isinstance(show_if, Joined):
        join = np.all if show_if.word == "all" else np.any
        return np.asarray(join([_holds(part, rows) for part in show_if.parts], axis=0))
    question, categories = rows[show_if.question]
    if question.labels:
        return np.asarray(np.any([categories[question.labels.index(option)] == 0 for option in show_if.options], axis=0))
    return np.isin(categories[0], [question.categories.index(option) for option in show_if.options])
