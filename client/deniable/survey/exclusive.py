"""Exclusive options of a multiple choice: contradictory answers, with an exclusive option beside another, or with no required option.

The rule applies to true answers, before any coin is tossed. Items stay randomized independently, so epsilon is the same.
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
    """Yields the id of each question with exclusive options, its rule, and which respondents break it, shape (n,).

    Args:
        survey: The survey.
        categories: The categories of n respondents before skip logic, shape (items, n); -1 for invalid answers. A contradiction in a
            hidden question counts too, so that a refusal does not reveal whether the question was shown.
    """
    start = 0
    for question in survey.questions:
        items = categories[start : start + len(question.items)]
        start += len(question.items)
        if not question.exclusive:
            continue
        selected = items == _YES
        has_exclusive = selected[[question.labels.index(option) for option in question.exclusive]].any(axis=0)
        contradictory = has_exclusive & (selected.sum(axis=0) > 1)
        if question.none is not None:
            contradictory |= (items == _NO).all(axis=0)
        yield question.id, _rule(question), contradictory


def _rule(question: Question) -> str:
    """Returns the rule for an answer: one text, which does not reveal which part was broken."""
    others = "any of the others" if question.none is None else "one or more of the others"
    return f"one exclusive option alone, or {others}"
