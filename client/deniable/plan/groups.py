"""Precision and power of the difference of two groups: the width of its interval, and how often that excludes 0.

Each group has its own limits, exact ones for few people, which `deniable.estimate.difference` combines (`limits.mover`, with its sources).
So a group of 50 beside one of 1,000 gets the interval of the results page, not the normal distribution's. Sums are over the possible
counts of each group, or evenly spaced ones, with the limits computed in full.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import scipy

from deniable.estimate import Share, difference
from deniable.estimate import share as estimate_share
from deniable.estimate.arrays import FloatArray
from deniable.estimate.limits import mover
from deniable.plan.precision import REACH, Mechanism, at_most, chances_of, is_uncut, normal_half_width, std_error, widest_share

_COUNTS = 40  # counts of a group, at least, if it has as many
_RARE = 1e-7  # pairs of counts with less chance are left out

Sizes = tuple[int, int]


def median_half_width(design: Mechanism, sizes: Sizes, confidence: float, share: float | None) -> float:
    """Returns half the median width of the interval of the difference.

    It uses the normal distribution, or Student's for a number, if no group's limits are clipped at 0 or 1.

    Args:
        design: A design without noise.
        sizes: The sizes of the groups.
        confidence: The confidence of the interval.
        share: The true share of both groups, or None for the one with the smaller group's widest interval.
    """
    if share is None:
        share = widest_share(design, min(sizes), confidence=confidence)
    if design.number or all(is_uncut(design, n, confidence, share) for n in sizes):
        return min(1.0, math.hypot(*(normal_half_width(design, n, confidence=confidence, share=share) for n in sizes)))
    first, second = (
        [(_printed_share(design, n, count, confidence), chance) for count, chance in zip(*_counts(n, design.rate(share)), strict=True)]
        for n in sizes
    )
    widths = ((difference(a, b), chance * other) for a, chance in first for b, other in second if chance * other > _RARE)
    figures = sorted(((both.high - both.low) / 2, chance) for both, chance in widths)
    return figures[int(np.searchsorted(np.cumsum([chance for _, chance in figures]), 0.5))][0]


def chance_of_showing(design: Mechanism, sizes: Sizes, shares: tuple[float, float], confidence: float) -> float:
    """Returns the chance that the interval of the difference excludes 0, on the side of the truth, for designs without noise.

    For each count of the group with the smaller share, the chance that the other's is so large that
    b - a > sqrt((b - b_low)^2 + (a_high - a)^2); clipped limits never show a difference. A number has Student's limits and
    the normal distribution.
    """
    (less, few), (more, many) = sorted(zip(shares, sizes, strict=True))
    if design.number:
        reach = math.hypot(*(normal_half_width(design, n, confidence=confidence, share=p) for p, n in ((less, few), (more, many))))
        return float(scipy.special.ndtr((more - less - reach) / math.hypot(std_error(design, few, less), std_error(design, many, more))))
    counts, chances = _counts(few, design.rate(less))
    others, _ = _counts(many, design.rate(more))
    below = [mover.Side(one.estimate, one.low, one.high) for one in (_printed_share(design, few, count, confidence) for count in counts)]
    above = [mover.Side(one.estimate, one.low, one.high) for one in (_printed_share(design, many, count, confidence) for count in others)]
    b, b_low = np.array([side.inside for side in above]), np.array([side.low for side in above])
    beside = (b - side.inside - np.hypot(b - b_low, side.high - side.inside) for side in below)
    return float(chances @ [1 - at_most(_last_without(apart, others), many, design.rate(more)) for apart in beside])


def _counts(n: int, rate: float) -> tuple[list[int], FloatArray]:
    """Returns the possible counts of n, or the multiples of a power of two among them, and their chances, which sum to 1."""
    reach = REACH * math.sqrt(n * rate * (1 - rate)) + 1
    step = 2 ** max(0, math.floor(math.log2(2 * reach / _COUNTS)))  # a power of two: near rates have counts in common
    figures = np.arange(math.ceil(max(0.0, n * rate - reach) / step), math.floor(min(n, n * rate + reach) / step) + 1) * step
    return figures.tolist(), chances_of(figures, n, np.array(rate))


@lru_cache(maxsize=4096)
def _printed_share(design: Mechanism, n: int, count: int, confidence: float) -> Share:
    return estimate_share(count, n, q0=design.q0, q1=design.q1, confidence=confidence)


def _last_without(apart: FloatArray, counts: list[int]) -> int:
    """Returns the last count that shows no difference, interpolated between the counts."""
    without = np.flatnonzero(apart <= 0)
    if not without.size:
        return counts[0] - 1
    last = int(without[-1])
    if last == len(counts) - 1:
        return counts[-1]
    return counts[last] + math.floor((counts[last + 1] - counts[last]) * -float(apart[last]) / float(apart[last + 1] - apart[last]))
