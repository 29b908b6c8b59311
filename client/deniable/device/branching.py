"""Branching (skip logic): questions that respondents see only after certain answers.

Whether a question was shown depends on true answers, so it stays hidden: a hidden question becomes "no answer", which is randomized
like any other answer. An invalid answer (-1) stays invalid even there, so that a refusal does not reveal whether the question was shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.survey import Survey
from deniable.survey.condition import Combination, ShowIf, SumCondition
from deniable.survey.question import Question

Categories = NDArray[np.integer[Any]]
_Answers = tuple[Question, Categories]
"""A question and its items' categories, shape (items, n): a view, with hidden ones already replaced by no answer."""


def apply_skip_logic(survey: Survey, categories: Categories) -> Categories:
    """Returns the categories of n respondents, shape (items, n), with hidden questions replaced by no answer."""
    if not any(question.show_if for question in survey.questions):
        return categories
    result, answers, start = categories.copy(), dict[str, _Answers](), 0
    for question in survey.questions:
        block = result[start : start + len(question.items)]
        start += len(question.items)
        answers[question.id] = question, block
        if question.show_if:
            block[(block >= 0) & ~_holds(question.show_if, answers)] = question.k - 1
    return result


def _holds(show_if: ShowIf, answers: Mapping[str, _Answers]) -> NDArray[np.bool_]:
    """Returns whether a condition holds for each respondent, shape (n,). Any of the options is enough in a multiple choice."""
    if isinstance(show_if, Combination):
        combine = np.all if show_if.word == "all" else np.any
        return np.asarray(combine([_holds(condition, answers) for condition in show_if.parts], axis=0))
    if isinstance(show_if, SumCondition):
        at_least, below = show_if.range
        total = np.sum([_summand(show_if, *answers[name]) for name in show_if.questions], axis=0)
        return np.asarray((total >= at_least) & (total < below))
    return _is_one_of(*answers[show_if.question], show_if.options)


def _is_one_of(question: Question, categories: Categories, options: Sequence[str]) -> NDArray[np.bool_]:
    """Returns whether each respondent's answer is one of some options, or names one of them in a multiple choice, shape (n,)."""
    if question.labels:
        return np.asarray(np.any([categories[question.labels.index(option)] == 0 for option in options], axis=0))
    return np.isin(categories[0], [question.categories.index(option) for option in options])


def _summand(show_if: SumCondition, question: Question, categories: Categories) -> NDArray[np.integer[Any]]:
    """Returns what a question adds to each respondent's sum, shape (n,): 0 for no answer, and for an invalid one (-1)."""
    if show_if.word == "count":
        return _is_one_of(question, categories, show_if.options).astype(np.int64)
    return np.asarray(np.append(question.scores or (), (0, 0)).astype(np.int64)[categories[0]])
