"""Branching (skip logic): questions that respondents see only after certain answers.

Whether a question was shown depends on true answers, so it stays hidden: a hidden question becomes "no answer", which is randomized
like any other answer. An invalid answer (-1) stays invalid even there, so that a refusal does not reveal whether the question was shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.survey import Survey
from deniable.survey.condition import Combination, ShowIf
from deniable.survey.question import Question

Categories = NDArray[np.integer[Any]]


def apply_skip_logic(survey: Survey, categories: Categories) -> Categories:
    """Returns the categories of n respondents, shape (items, n), with hidden questions replaced by no answer."""
    if not any(question.show_if for question in survey.questions):
        return categories
    result, answers, start = categories.copy(), dict[str, _Answers](), 0
    for question in survey.questions:
        block = result[start : start + len(question.items)]
        start += len(question.items)
        answers[question.id] = _Answers(question, block)
        if question.show_if:
            block[(block >= 0) & ~_holds(question.show_if, answers)] = question.k - 1
    return result


class _Answers(NamedTuple):
    """A question and its items' categories, shape (items, n): a view, with hidden ones already replaced by no answer."""

    question: Question
    categories: Categories


def _holds(show_if: ShowIf, answers: Mapping[str, _Answers]) -> NDArray[np.bool_]:
    """Returns whether a condition holds for each respondent, shape (n,). Any of the options is enough in a multiple choice."""
    if isinstance(show_if, Combination):
        combine = np.all if show_if.word == "all" else np.any
        return np.asarray(combine([_holds(condition, answers) for condition in show_if.parts], axis=0))
    question, categories = answers[show_if.question]
    if question.labels:
        return np.asarray(np.any([categories[question.labels.index(option)] == 0 for option in show_if.options], axis=0))
    return np.isin(categories[0], [question.categories.index(option) for option in show_if.options])
