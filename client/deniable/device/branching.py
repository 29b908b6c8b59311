"""Questions that are shown only after certain answers. Which ones were shown depends on true answers, so it must not show.

What is hidden becomes "no answer", which is randomized like any other answer. An answer that its question does not allow
stays one (-1) even there: whether it is refused must not tell what was shown.
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
    """The categories of n respondents, shape (items, n), with those of the hidden questions replaced by no answer."""
    if not any(question.show_if for question in survey.questions):
        return categories
    result, rows, start = categories.copy(), dict[str, _Answered](), 0
    for question in survey.questions:
        mine = result[start : start + len(question.items)]
        start += len(question.items)
        rows[question.id] = _Answered(question, mine)
        if question.show_if:
            mine[(mine >= 0) & ~_holds(question.show_if, rows)] = question.k - 1
    return result


class _Answered(NamedTuple):
    """A question and its items' categories, shape (items, n): a view, in which the hidden ones are no answer already."""

    question: Question
    categories: Categories


def _holds(show_if: ShowIf, rows: Mapping[str, _Answered]) -> NDArray[np.bool_]:
    """For whom a condition holds, shape (n,). A multiple choice meets it with any of the options."""
    if isinstance(show_if, Joined):
        join = np.all if show_if.word == "all" else np.any
        return np.asarray(join([_holds(part, rows) for part in show_if.parts], axis=0))
    asked, categories = rows[show_if.question]
    if asked.labels:
        return np.asarray(np.any([categories[asked.labels.index(option)] == 0 for option in show_if.options], axis=0))
    return np.isin(categories[0], [asked.categories.index(option) for option in show_if.options])
