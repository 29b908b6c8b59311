"""Randomized response: a question's channel, the probabilities of each report of a category. No coin is tossed here.

Unordered categories use subset selection: M. Ye and A. Barg, "Optimal schemes for discrete distribution estimation under locally
differential privacy", IEEE Trans. Inf. Theory 64 (2018), section III. Levels of a number use a window: the report of an answer is one of
the outputs near it, or one of the others. Every decision is by integers.
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
    """A perturbed question under subset selection: which subsets of `k` categories come out, and how often.

    Attributes:
        k: Number of categories, at least 2.
        d: Number of bits that are set in a report, the size of the subset, 1 <= d < k.
        keep_threshold: The respondent's own category is reported if, and only if, a uniform word is below it, 0 <= T <= coin.
        coin: Number of values of a word, 2^32 except where a test enumerates fewer.
    """

    k: int
    d: int
    keep_threshold: int
    coin: int = WORD

    @classmethod
    def for_epsilon(cls, epsilon: float | Fraction, k: int) -> Channel:
        """Returns the channel of least worst-case variance with a loss of at most `epsilon`, taken as the exact number it is."""
        power = exp_below(epsilon)
        d = _best_subset_size(power, k)
        own, other = power * d, (k - d) << SCALE
        return cls(k, d, WORD * own // (own + other))

    @cached_property
    def theta(self) -> Fraction:
        """P(the respondent's own bit is set), exactly."""
        return Fraction(self.keep_threshold, self.coin)

    @cached_property
    def phi(self) -> Fraction:
        """P(any one other bit is set), exactly."""
        return (self.d - self.theta) / (self.k - 1)

    @property
    def outputs(self) -> int:
        """Number of bits of a report; `d` of them are set."""
        return self.k

    @property
    def published(self) -> dict[str, int]:
        """The keys that a definition adds to the survey file's question."""
        return {"k": self.k, "d": self.d, "keep_threshold": self.keep_threshold}

    @property
    def inside(self) -> int:
        """Divisor of theta: a report with the respondent's own category has chance theta / inside, times a common factor."""
        return self.d

    @property
    def outside(self) -> int:
        """Divisor of 1 - theta: each other report has chance (1 - theta) / outside, times the same factor."""
        return self.k - self.d

    @property
    def likelihoods(self) -> tuple[int, int]:
        """The odds as two integers with common factors: one report's chances under its likeliest and its least likely answer."""
        return self.keep_threshold * self.outside, (self.coin - self.keep_threshold) * self.inside

    @cached_property
    def odds(self) -> Fraction:
        """The exact e^epsilon: the largest ratio of the chances of one report under two answers."""
        return Fraction(*self.likelihoods)

    @cached_property
    def epsilon(self) -> float:
        """The privacy loss of these integers, rounded to a double only here."""
        return math.log(self.odds)


@dataclass(frozen=True)
class Window(Channel):
    """A perturbed number: one of M outputs in a row is reported, and each of the k levels has a window of `width` outputs.

    Level j's window begins at output j, so M = levels + width - 1. If a word is below `keep_threshold` the report is one of the window's
    outputs, otherwise one of the others, each equally likely. d = 1: one bit of a report is set. theta and phi are the chances that a
    report is in an answer's window, for respondents with that answer, and for respondents whose window shares no output with it.

    Attributes:
        width: Number of outputs in a window.
        apart: Whether the last category is not a level but "no answer". It has an output of its own, the last one, which weighs as much as
            a window: `width` places that are reported as one.
    """

    width: int = 1
    apart: bool = False

    @classmethod
    def over_levels(cls, epsilon: float | Fraction, levels: int, width: int, *, apart: bool = False) -> Window:
        """Returns the window over these levels with a loss of at most `epsilon`, the exact number: T = floor(2^32 theta)."""
        places = levels + width - 1 + width * apart
        own, other = exp_below(epsilon) * width, (places - width) << SCALE
        return cls(levels + apart, 1, WORD * own // (own + other), WORD, width, apart)

    @property
    def levels(self) -> int:
        """Number of categories that are levels."""
        return self.k - self.apart

    @property
    def outputs(self) -> int:
        """Number of bits of a report; one of them is set."""
        return self.levels + self.width - 1 + self.apart

    @property
    def places(self) -> int:
        """Number of places to choose from: the outputs, with the last one `width` times if it is apart."""
        return self.levels + self.width - 1 + self.width * self.apart

    @property
    def published(self) -> dict[str, int]:
        """The keys that a definition adds to the survey file's question."""
        return {"k": self.k, "outputs": self.outputs, "keep_threshold": self.keep_threshold}

    @property
    def inside(self) -> int:
        """Divisor of theta: the number of places in a window."""
        return self.width

    @property
    def outside(self) -> int:
        """Divisor of 1 - theta: the number of places outside a window."""
        return self.places - self.width

    def first_place(self, category: int) -> int:
        """Returns where a category's window begins among the places."""
        return category if category < self.levels else self.places - self.width

    @cached_property
    def phi(self) -> Fraction:
        """P(the report is in a window) for a respondent whose window shares no output with it, exactly."""
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
    """Returns 2^192 e^x for x >= 0, rounded down: the exponential series, every term truncated."""
    numerator, denominator = x.as_integer_ratio()
    term = total = 1 << SCALE
    i = 0
    while term:
        i += 1
        term = term * numerator // (denominator * i)
        total += term
    return total


def _best_subset_size(power: int, k: int) -> int:
    """Returns the d that minimises (e^eps d + k - d)^2 / (d (k - d)), the smaller one on a tie.

    d beats d + 1 exactly when e^(2 eps) d (d + 1) >= (k - d) (k - d - 1): the cross terms cancel.
    """
    d = 1
    while power * power * d * (d + 1) < (k - d) * (k - d - 1) << 2 * SCALE:
        d += 1
    return d
