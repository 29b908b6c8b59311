"""Total privacy loss of one submission: the losses of its questions add up (sequential composition), so their odds multiply.

For a survey that asks a sample of its questions, the total assumes that the blocks with the largest losses are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from deniable.mechanism import SCALE, exp_below
from deniable.survey.question import Question, blocks_of

HIGH = 8
"""Largest total without the survey's and the client's consent: above it, a 50:50 guess can become right in 2,981 of 2,982 cases."""

SLACK = 1e-12  # a cap of `ln 9` must admit two questions of `ln 3`: their doubles add up to slightly more or less


def within(epsilon: float, cap: float) -> bool:
    """Returns whether a sum of doubles is at most a cap."""
    return epsilon <= cap * (1 + SLACK)


def shares_of_epsilon(weights: Sequence[Fraction], block: Sequence[int], ask: int | None) -> list[Fraction]:
    """Returns each question's share of a survey's epsilon: its weight, divided by the largest sum of weights in one record.

    Hidden questions count, since they are sent as a randomized "no answer".

    Args:
        weights: The weight of each question.
        block: The number of each question's block, from 0.
        ask: How many blocks are drawn, or None if everyone is asked everything.
    """
    sums = [Fraction(0)] * (max(block, default=-1) + 1)
    for weight, number in zip(weights, block, strict=True):
        sums[number] += weight
    most = sum(sorted(sums)[-ask:] if ask else sums)
    return [weight / most for weight in weights]


def total_epsilon(questions: Sequence[Question], ask: int | None) -> float:
    """Returns the total as a double, for display and for sums over surveys."""
    if ask is None:
        return math.fsum(question.epsilon for question in questions)
    blocks = sorted(math.fsum(questions[i].epsilon for i in block) for block in blocks_of(questions))
    return math.fsum(blocks[-ask:])


def exceeds(questions: Sequence[Question], ask: int | None, cap: float) -> bool:
    """Returns whether the total is above `cap`, by an exact comparison of the odds with e^cap. Twin: `randomize.mjs`."""
    own, other = _largest(questions, ask)
    return own << SCALE > other * exp_below(cap)


def odds_of_all(questions: Sequence[Question], ask: int | None) -> Fraction:
    """Returns the exact e^total: the largest ratio of one whole record's chances under two answers. Twin: `randomize.mjs`."""
    return Fraction(*_largest(questions, ask))


def _largest(questions: Sequence[Question], ask: int | None) -> tuple[int, int]:
    """Returns the odds of the record with the largest loss, as `_odds` does."""
    if ask is None:
        return _odds(questions)
    blocks = sorted((_odds([questions[i] for i in block]) for block in blocks_of(questions)), key=lambda pair: Fraction(*pair))[-ask:]
    return math.prod(own for own, _ in blocks), math.prod(other for _, other in blocks)


def _odds(questions: Sequence[Question]) -> tuple[int, int]:
    """Returns the largest ratio of one report's chances under two answers, as a numerator and a denominator with common factors."""
    pairs = [item.channel.likelihoods for question in questions for item in question.items]
    return math.prod(own for own, _ in pairs), math.prod(other for _, other in pairs)
