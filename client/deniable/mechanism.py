"""A question's channel: which reports its coins make of a category, and how often. It says what a coin does, and never tosses one.

Source: M. Ye and A. Barg, "Optimal schemes for discrete distribution estimation under locally
differential privacy", IEEE Trans. Inf. Theory 64 (2018), section III: Subset Selection. All that decides is an integer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

WORD = 1 << 32
SCALE = 192  # bits after the binary point while e^epsilon is computed


@dataclass(frozen=True)
class Channel:
    """One perturbed question: which subsets of `k` categories come out, and how often.

    k: categories, at least 2. d: size of the reported subset, 1 <= d < k.
    keep_threshold: the own category is reported if, and only if, a uniform word is below it, 0 <= T <= coin.
    coin: the number of values of a word, 2^32 except where a test enumerates a smaller one.
    """

    k: int
    d: int
    keep_threshold: int
    coin: int = WORD

    @classmethod
    def for_epsilon(cls, epsilon: float | Fraction, k: int) -> Channel:
        """The channel of least worst-case variance whose loss is at most `epsilon`, taken as the exact number it is."""
        power = exp_below(epsilon)
        d = _best_subset_size(power, k)
        own, other = power * d, (k - d) << SCALE
        return cls(k, d, WORD * own // (own + other))

    @cached_property
    def theta(self) -> Fraction:
        """P(own bit set), exactly."""
        return Fraction(self.keep_threshold, self.coin)

    @cached_property
    def phi(self) -> Fraction:
        """P(any one other bit set), exactly."""
        return (self.d - self.theta) / (self.k - 1)

    @cached_property
    def odds(self) -> Fraction:
        """e^epsilon as it really is: the largest ratio of the chances of one report under two answers."""
        return Fraction(self.keep_threshold * (self.k - self.d), (self.coin - self.keep_threshold) * self.d)

    @cached_property
    def epsilon(self) -> float:
        """The privacy loss that these integers give, rounded to a double only here."""
        return math.log(self.odds)


def exp_below(x: float | Fraction) -> int:
    """2^192 e^x for x >= 0, rounded down: the exponential series, every term truncated."""
    numerator, denominator = x.as_integer_ratio()
    term = total = 1 << SCALE
    i = 0
    while term:
        i += 1
        term = term * numerator // (denominator * i)
        total += term
    return total


def _best_subset_size(power: int, k: int) -> int:
    """The d that minimises (e^eps d + k - d)^2 / (d (k - d)), the smaller one on a tie.

    d beats d + 1 exactly when e^(2 eps) d (d + 1) >= (k - d) (k - d - 1): the cross terms cancel.
    """
    d = 1
    while power * power * d * (d + 1) < (k - d) * (k - d - 1) << 2 * SCALE:
        d += 1
    return d
