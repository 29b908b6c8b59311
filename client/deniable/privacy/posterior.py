"""What coins mean in people of 100: how sure a guess about one person can become, and how often a record has somebody's answer.

Each figure is computed and rounded here and in the twin of this file, `browser/posterior.mjs`, and nowhere else; pages, commands and
plans only write it down.
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
MAX_GUESSED = 10**5  # people of whom somebody guesses
_SLACK = 1e-12  # two times ln 3 is ln 9, whatever the last digit of a sum of doubles
_ALIKE = 1e-6  # thresholds are whole numbers, so equal parts of an epsilon differ a little
_CERTAIN = 99.0  # an epsilon whose bound is 100%


class People(NamedTuple):
    """Of `of` people who give an answer, `own` have it in their record; of `of` who give another, `other` have it in theirs."""

    of: int
    own: int
    other: int


def posterior_bound(odds: Fraction) -> Decimal:
    """How sure, in percent, somebody who could only guess 50:50 can become by seeing a record: from 50 to 100.

    odds: e^epsilon, at least 1, the largest ratio of the chances of one record under two answers. By Bayes' rule 100 odds / (1 + odds),
    rounded up, never down, with as many digits behind the point as it takes not to say 100; and 100 where nine do not do.
    Raises ValueError.
    """
    if odds < 1:
        raise ValueError(f"odds must be at least 1, got {odds}")
    doubt = Fraction(100) / (1 + odds)
    digits = next((digits for digits in range(MAX_DIGITS + 1) if doubt * 10**digits >= 1), 0)
    return Decimal(100) - Decimal(math.floor(doubt * 10**digits)).scaleb(-digits)


def right_for(bound: Decimal) -> tuple[int, int]:
    """A bound of `posterior_bound` in whole people: of so many, a guess is right for so many at most.

    Of 100, or of as many as it takes; and for all of 100 where MAX_GUESSED do not do.
    """
    of = 100 * 10 ** max(0, -int(bound.as_tuple().exponent))
    return (100, 100) if of > MAX_GUESSED else (of, int(bound * of / 100))


def odds_of_sum(epsilon: float) -> Fraction:
    """The odds of records whose epsilons add up to `epsilon`, a double, whose own rounding is allowed for."""
    return max(Fraction(1), Fraction(math.exp(min(epsilon, _CERTAIN)) * (1 - _SLACK)))


def people(channel: Channel) -> People:
    """A channel's odds in people of 100, for a window of records that lie in it; in more people where that
    would round to never, to always, or to no difference."""
    of = 100
    while True:
        found = People(of, _nearest(of * channel.theta), _nearest(of * channel.phi))
        if of == MAX_PEOPLE or 0 < found.other < found.own:
            return found
        of *= 10


def odds_in_words(item: Question) -> str:
    """The odds of a question in a sentence, without its full stop."""
    of, own, other = people(item.channel)
    if item.shared != item.categories:  # a number of which only the mean is estimated
        far = f"of {of:,} with a number far from it, {other:,} have one there"
        return f"Of {of:,} people with one number, {own:,} have a record near it; {far}"
    named = "in their record" if item.d == 1 else f"among the {item.d} of {item.k} that their record names"
    return f"Of {of:,} people who give an answer, {own:,} have it {named}; of {of:,} who give another, {other:,} have that one there"


def least_protected(items: Sequence[Question]) -> Question:
    """The item whose coins hide least; of several alike, the first of those with the fewest categories, which are understood best."""
    most = max(item.channel.epsilon for item in items)
    return min((item for item in items if item.channel.epsilon >= most * (1 - _ALIKE)), key=lambda item: item.k)


def _nearest(number: Fraction) -> int:
    return math.floor(number + Fraction(1, 2))
