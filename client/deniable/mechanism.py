"""A question's channel: which reports its coins make of a category, and how often. It says what a coin does, and never tosses one.

Categories that stand in no order go through Subset Selection: M. Ye and A. Barg, "Optimal schemes for discrete distribution estimation
under locally differential privacy", IEEE Trans. Inf. Theory 64 (2018), section III. Levels of a number go through a window: an answer's
report is one of the outputs near it, or one of the others. All that decides is an integer.
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
    """One perturbed question by Subset Selection: which subsets of `k` categories come out, and how often.

    k: categories, at least 2. d: how many bits of a report are set, the size of the subset, 1 <= d < k.
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

    @property
    def outputs(self) -> int:
        """The bits of a report, of which `d` are set."""
        return self.k

    @property
    def published(self) -> dict[str, int]:
        """What a definition says of it, beside what its survey file says."""
        return {"k": self.k, "d": self.d, "keep_threshold": self.keep_threshold}

    @property
    def inside(self) -> int:
        """Each report that the coin keeps has a chance of theta / inside times the same number for all answers .."""
        return self.d

    @property
    def outside(self) -> int:
        """.. and each other one (1 - theta) / outside times that number."""
        return self.k - self.d

    @property
    def likelihoods(self) -> tuple[int, int]:
        """The odds as two integers, common factors left in: the chances of one report under the answer that makes it likeliest, and
        under the one that makes it least likely."""
        return self.keep_threshold * self.outside, (self.coin - self.keep_threshold) * self.inside

    @cached_property
    def odds(self) -> Fraction:
        """e^epsilon as it really is: the largest ratio of the chances of one report under two answers."""
        return Fraction(*self.likelihoods)

    @cached_property
    def epsilon(self) -> float:
        """The privacy loss that these integers give, rounded to a double only here."""
        return math.log(self.odds)


@dataclass(frozen=True)
class Window(Channel):
    """A perturbed number: one of M outputs in a row is reported, and each of the k levels has a window of `width` of them.

    Level j's window begins at output j, so M = levels + width - 1. Below `keep_threshold` the report is one of the own window's outputs,
    else one of the others; each of them is equally likely. d = 1: one bit of a report is set.
    apart: whether the last category is no level ("no answer"). It has an output of its own, the last one, which weighs as much as a
    window: `width` places that are reported as one.
    theta, phi: the chances that a report lies in the window of an answer, for those who gave it, and for those whose own window shares no
    output with it.
    """

    width: int = 1
    apart: bool = False

    @classmethod
    def over_levels(cls, epsilon: float | Fraction, levels: int, width: int, *, apart: bool = False) -> Window:
        """The window over so many levels whose loss is at most `epsilon`, taken as the exact number it is: T = floor(2^32 theta)."""
        places = levels + width - 1 + width * apart
        own, other = exp_below(epsilon) * width, (places - width) << SCALE
        return cls(levels + apart, 1, WORD * own // (own + other), WORD, width, apart)

    @property
    def levels(self) -> int:
        """The categories that stand in a row."""
        return self.k - self.apart

    @property
    def outputs(self) -> int:
        return self.levels + self.width - 1 + self.apart

    @property
    def places(self) -> int:
        """What is chosen from: the outputs, but the last one `width` times where it stands apart."""
        return self.levels + self.width - 1 + self.width * self.apart

    @property
    def published(self) -> dict[str, int]:
        return {"k": self.k, "outputs": self.outputs, "keep_threshold": self.keep_threshold}

    @property
    def inside(self) -> int:
        return self.width

    @property
    def outside(self) -> int:
        return self.places - self.width

    def first_place(self, category: int) -> int:
        """Where a category's window begins among the places."""
        return category if category < self.levels else self.places - self.width

    @cached_property
    def phi(self) -> Fraction:
        return self.width * (1 - self.theta) / self.outside

    @cached_property
    def chances(self) -> tuple[tuple[Fraction, ...], ...]:
        """P(output | category), exactly: a row for each category, its entries the outputs in order."""
        near, far = self.theta / self.width, (1 - self.theta) / self.outside
        alone = self.outputs - self.apart
        rows = []
        for first in map(self.first_place, range(self.k)):
            row = [near if first <= place < first + self.width else far for place in range(self.places)]
            rows.append((*row[:alone], *([sum(row[alone:], Fraction(0))] if self.apart else [])))
        return tuple(rows)


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
