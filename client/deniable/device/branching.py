"""Questions that are shown only after certain answers. Which ones were shown depends on true answers, so it must not show.

What is hidden becomes "no answer", which is randomized like any other answer. An answer that its question does not allow
stays one (-1) even there: whether it is refused must not tell what was shown.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.survey import Survey
from deniable.survey.question import Condition, Question


def apply_skip_logic(survey: Survey, categories: NDArray[np.int64]) -> NDArray[np.int64]:
    """The categories of n respondents, shape (items, n), with those of the hidden questions replaced by no answer."""
    result, rows, start = categories.copy(), dict[str, slice](), 0
    for question in survey.questions:
        rows[question.id] = slice(start, start + len(question.items))
        start += len(question.items)
        if question.show_if:
            asked = _asked(survey, question.show_if)
            hidden = ~_holds(question.show_if, asked, result[rows[asked.id]])
            mine = result[rows[question.id]]
            mine[(mine >= 0) & hidden] = question.k - 1
    return result


def _asked(survey: Survey, condition: Condition) -> Question:
    return next(question for question in survey.questions if question.id == condition.question)


def _holds(condition: Condition, asked: Question, categories: NDArray[np.int64]) -> NDArray[np.bool_]:
    """For whom the condition holds, shape (n,). A multiple choice meets it with any of the options."""
    if asked.labels:
        ticked = [categories[asked.labels.index(option)] == 0 for option in condition.options]
        return np.asarray(np.any(ticked, axis=0))
    return np.isin(categories[0], [asked.categories.index(option) for option in condition.options])
