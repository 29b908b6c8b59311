"""Posterior bounds in percent, and odds in natural frequencies: how certain a guess can become, how often a record has the answer.

Each figure is computed and rounded here and in the twin of this file, `browser/posterior.mjs`, and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from deniable.mechanism import Channel
    from deniable.survey.question import Question

MAX_DIGITS = 9  # behind the decimal point of a percentage
MAX_PEOPLE = 10**6
MAX_GUESSED = 10**5  # people to guess about
_SLACK = 1e-12  # two times ln 3 is ln 9, whatever the last digit of a sum of doubles
_ALIKE = 1e-6  # thresholds are whole numbers, so equal parts of an epsilon differ a little
_CERTAIN = 99.0  # an epsilon whose bound is 100%


class NaturalFrequencies(NamedTuple):
    """Of `of` people with an answer, `own` have it in their record; of `of` people with another answer, `other` have it there."""

    of: int
    own: int
    other: int


def posterior_bound(odds: Fraction) -> Decimal:
    """Returns how certain, in percent, a 50:50 guess can become by seeing a record: from 50 to 100.

    By Bayes' rule 100 odds / (1 + odds), rounded up, never down, with as many digits as it takes not to say 100; and 100 if nine are too
    few.

    Args:
        odds: e^epsilon, at least 1, the largest ratio of the chances of one record under two answers.

    Raises:
        ValueError: The odds are below 1.
    """
    if odds < 1:
        raise ValueError(f"odds must be at least 1, got {odds}")
    doubt = Fraction(100) / (1 + odds)
    digits = next((digits for digits in range(MAX_DIGITS + 1) if doubt * 10**digits >= 1), 0)
    return Decimal(100) - Decimal(math.floor(doubt * 10**digits)).scaleb(-digits)


def right_for(bound: Decimal) -> tuple[int, int]:
    """Returns a bound of `posterior_bound` in whole people: the number of people, and for how many of them a guess is right at most.

    Of 100, or of as many as it takes; all of 100 if more than MAX_GUESSED would be needed.
    """
    of = 100 * 10 ** max(0, -int(bound.as_tuple().exponent))
    return (100, 100) if of > MAX_GUESSED else (of, int(bound * of / 100))


def odds_of_sum(epsilon: float) -> Fraction:
    """Returns the odds of records whose epsilons add up to `epsilon`, a double, allowing for its rounding."""
    return max(Fraction(1), Fraction(math.exp(min(epsilon, _CERTAIN)) * (1 - _SLACK)))


def people(channel: Channel) -> NaturalFrequencies:
    """Returns a channel's odds in people of 100; in more people if that rounds to never, always or equal.

    For a window: records that lie in it.
    """
    of = 100
    while True:
        frequencies = NaturalFrequencies(of, _nearest(of * channel.theta), _nearest(of * channel.phi))
        if of == MAX_PEOPLE or 0 < frequencies.other < frequencies.own:
            return frequencies
        of *= 10


def odds_in_words(item: Question) -> str:
    """Returns the odds of a question as a sentence, without its full stop."""
    of, own, other = people(item.channel)
    if item.shared != item.categories:  # a number whose mean alone is estimated
        return f"Of {of:,} people with one number, {own:,} have a record near it; of {of:,} with a number far from it, {other:,} do too"
    named = "in their record" if item.d == 1 else f"among the {item.d} of {item.k} that their record names"
    own_words = f"Of {of:,} people who give an answer, {own:,} have it {named}"
    return f"{own_words}; of {of:,} who give another answer, {other:,} have the first one there too"


def least_protected(items: Sequence[Question]) -> Question:
    """Returns the item with the weakest coins; of several alike, the first with the fewest categories, which are easiest to read."""
    most = max(item.channel.epsilon for item in items)
    return min((item for item in items if item.channel.epsilon >= most * (1 - _ALIKE)), key=lambda item: item.k)


def _nearest(number: Fraction) -> int:
    return math.floor(number + Fraction(1, 2))
