"""Contradictions in answers to a multiple choice: an exclusive option beside another one, or no option where one must be chosen.

The rule is about true answers and holds before any coin is tossed. Items stay randomized independently, so epsilon is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.survey.question import Question
from deniable.survey.survey import Survey

_YES, _NO = 0, 1


def contradictions(survey: Survey, categories: NDArray[np.integer[Any]]) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    """Yields the id of each question with exclusive options, its rule, and for whom the answer breaks it, shape (n,).

    Args:
        survey: The survey that was answered.
        categories: Those of n respondents before skip logic, shape (items, n); -1 where an answer means none. A contradiction in a
            hidden question is one, too: whether it is refused must not tell what was shown.
    """
    start = 0
    for question in survey.questions:
        mine = categories[start : start + len(question.items)]
        start += len(question.items)
        if not question.exclusive:
            continue
        chosen = mine == _YES
        apart = chosen[[question.labels.index(option) for option in question.exclusive]].any(axis=0)
        wrong = apart & (chosen.sum(axis=0) > 1)
        if question.none is not None:
            wrong |= (mine == _NO).all(axis=0)
        yield question.id, _rule(question), wrong


def _rule(question: Question) -> str:
    """Returns the rule for an answer: one text, which does not reveal which part was broken."""
    others = "any of the others" if question.none is None else "one or more of the others"
    return f"one exclusive option alone, or {others}"
