"""What one submission gives away in all. The losses of the questions asked add (sequential composition), so their odds multiply.

Where a survey asks a sample, the blocks of questions that give away most are taken to be the ones drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from deniable.mechanism import SCALE, exp_below
from deniable.survey.question import Question, blocks_of

HIGH = 8
"""A total above this needs the survey's and the client's consent: it lets a 50:50 guess become sure in 2,981 of 2,982 cases."""

SLACK = 1e-12  # a cap of `ln 9` must admit two questions of `ln 3`, whose doubles add up to a little more or less


def within(epsilon: float, cap: float) -> bool:
    """Whether a sum of doubles is at most a cap."""
    return epsilon <= cap * (1 + SLACK)


def parts(weights: Sequence[Fraction], block: Sequence[int], ask: int | None) -> list[Fraction]:
    """What part of a survey's epsilon each question takes: its weight, of the largest sum of weights that one record can hold.

    A hidden question counts, for it is sent as a randomized "no answer". block: the number of each question's block, from 0 on.
    ask: how many blocks are drawn, or None where everybody is asked everything.
    """
    sums = [Fraction(0)] * (max(block, default=-1) + 1)
    for weight, number in zip(weights, block, strict=True):
        sums[number] += weight
    most = sum(sorted(sums)[-ask:] if ask else sums)
    return [weight / most for weight in weights]


def total_epsilon(questions: Sequence[Question], ask: int | None) -> float:
    """The total as a double, for display and for sums over surveys."""
    if ask is None:
        return math.fsum(question.epsilon for question in questions)
    blocks = sorted(math.fsum(questions[i].epsilon for i in block) for block in blocks_of(questions))
    return math.fsum(blocks[-ask:])


def exceeds(questions: Sequence[Question], ask: int | None, cap: float) -> bool:
    """Whether the total is above `cap`, decided exactly: the odds that the thresholds give, against e^cap. Twin: `randomize.mjs`."""
    own, other = _largest(questions, ask)
    return own << SCALE > other * exp_below(cap)


def odds_of_all(questions: Sequence[Question], ask: int | None) -> Fraction:
    """e^total, exactly: the largest ratio of the chances of one whole record under two answers. Twin: `oddsOfAll` in `randomize.mjs`."""
    return Fraction(*_largest(questions, ask))


def _largest(questions: Sequence[Question], ask: int | None) -> tuple[int, int]:
    """The odds of the record that gives away most, as `_odds` has them."""
    if ask is None:
        return _odds(questions)
    drawn = sorted((_odds([questions[i] for i in block]) for block in blocks_of(questions)), key=lambda pair: Fraction(*pair))[-ask:]
    return math.prod(own for own, _ in drawn), math.prod(other for _, other in drawn)


def _odds(questions: Sequence[Question]) -> tuple[int, int]:
    """The largest ratio of the chances of one report under two answers, as a numerator and a denominator with common factors left in."""
    pairs = [item.channel.likelihoods for question in questions for item in question.items]
    return math.prod(own for own, _ in pairs), math.prod(other for _, other in pairs)
