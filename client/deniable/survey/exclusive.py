"""Exclusive options and limits of a multiple choice: answers with an exclusive option beside another, or with too few or too many options.

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
    """Yields the id of each question with exclusive options or limits, its rule, and which respondents break it, shape (n,).

    Args:
        survey: The survey.
        categories: The categories of n respondents before skip logic, shape (items, n); -1 for invalid answers. A contradiction in a
            hidden question counts too, so that a refusal does not reveal whether the question was shown.
    """
    start = 0
    for question in survey.questions:
        items = categories[start : start + len(question.items)]
        start += len(question.items)
        if question.limits is None:
            continue
        least, most = question.limits
        selected = items == _YES
        count, is_complete = selected.sum(axis=0), (selected | (items == _NO)).all(axis=0)
        is_alone = selected[[label in question.exclusive for label in question.labels]].any(axis=0)
        yield question.id, _rule(question), np.where(is_alone, count > 1, (count > most) | (is_complete & (count < least)))


def _rule(question: Question) -> str:
    """Returns the rule for an answer: one text, which does not reveal which part was broken."""
    least, most = question.limits or (0, 0)
    together = len(question.labels) - len(question.exclusive)
    if most < together:
        number = f"{least:,} to {most:,}" if 0 < least < most else f"{'exactly' if least else 'at most'} {most:,}"
    else:
        number = {0: "any", 1: "one or more"}.get(least, f"at least {least:,}")
    return f"one exclusive option alone, or {number} of the others" if question.exclusive else f"{number} of the options"
