"""Comparability of questions between survey waves: the rule by which two questions with the same id measure the same thing."""

from __future__ import annotations

from typing import Literal

from deniable.mechanism import Window
from deniable.survey.question import Question

Mismatch = Literal["type", "scale", "options"]


def mismatch(one: Question, other: Question) -> Mismatch | None:
    """Returns what keeps two questions or items with the same id from being compared, or None. Epsilons may differ."""
    if one.type != other.type:
        return "type"
    if isinstance(one.channel, Window) and isinstance(other.channel, Window):  # their levels follow from epsilon
        ends = [(question.kind.range, question.required) for question in (one, other)]
        return None if ends[0] == ends[1] else "scale"
    if one.categories != other.categories:
        return "options"
    return None if one.scores == other.scores and one.rounds == other.rounds else "scale"
