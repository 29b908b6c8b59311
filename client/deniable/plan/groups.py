"""Precision and power for two groups of stated sizes: the width of their difference's interval, and how often it excludes 0.

Each group brings its own limits, exact ones for few people, as `deniable.estimate.difference` combines them (`limits.mover`, with its
sources). So a group of 50 beside one of 1,000 gets the interval of the results page, and not the normal distribution's. Sums
go over the possible counts of each group, each or evenly spaced ones, with the limits computed in full.
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
from deniable.plan.precision import REACH, Mechanism, at_most, chances_of, half_width, is_uncut, std_error, widest_share

_COUNTS = 40  # of a group, at least, where there are as many
_RARE = 1e-7  # pairs of counts with less chance are left out

Sizes = tuple[int, int]


def median_half_width(design: Mechanism, sizes: Sizes, confidence: float, share: float | None) -> float:
    """Returns half the median width of the interval of the difference, both groups with this true share.

    None: with the share at which the smaller group's interval is widest. By the normal distribution, or Student's for a number, if no
    group's limits are clipped at 0 or 1.
    """
    if share is None:
        share = widest_share(design, min(sizes), confidence=confidence)
    if design.number or all(is_uncut(design, n, confidence, share) for n in sizes):
        return min(1.0, math.hypot(*(half_width(design, n, confidence=confidence, share=share) for n in sizes)))
    first, second = (
        [(_printed(design, n, count, confidence), chance) for count, chance in zip(*_may_come(n, design.rate(share)), strict=True)]
        for n in sizes
    )
    widths = ((difference(a, b), chance * other) for a, chance in first for b, other in second if chance * other > _RARE)
    figures = sorted(((both.high - both.low) / 2, chance) for both, chance in widths)
    return figures[int(np.searchsorted(np.cumsum([chance for _, chance in figures]), 0.5))][0]


def chance_of_showing(design: Mechanism, sizes: Sizes, shares: tuple[float, float], confidence: float) -> float:
    """Returns the chance that the interval of the difference excludes 0, on the side of the truth. For designs without noise.

    For each count of the group with the smaller share, the chance that the other's is so large that
    b - a > sqrt((b - b_low)^2 + (a_high - a)^2); clipped limits never show a difference. Of a number by Student's limits and the
    normal distribution.
    """
    (less, few), (more, many) = sorted(zip(shares, sizes, strict=True))
    if design.number:
        reach = math.hypot(*(half_width(design, n, confidence=confidence, share=p) for p, n in ((less, few), (more, many))))
        return float(scipy.special.ndtr((more - less - reach) / math.hypot(std_error(design, few, less), std_error(design, many, more))))
    counts, chances = _may_come(few, design.rate(less))
    others, _ = _may_come(many, design.rate(more))
    below = [mover.Side(one.estimate, one.low, one.high) for one in (_printed(design, few, count, confidence) for count in counts)]
    above = [mover.Side(one.estimate, one.low, one.high) for one in (_printed(design, many, count, confidence) for count in others)]
    b, b_low = np.array([side.inside for side in above]), np.array([side.low for side in above])
    beside = (b - side.inside - np.hypot(b - b_low, side.high - side.inside) for side in below)
    return float(chances @ [1 - at_most(_last_without(apart, others), many, design.rate(more)) for apart in beside])


def _may_come(n: int, rate: float) -> tuple[list[int], FloatArray]:
    """Counts of n and their chances, which sum to 1: all that may come, or the multiples of a power of two among them."""
    reach = REACH * math.sqrt(n * rate * (1 - rate)) + 1
    step = 2 ** max(0, math.floor(math.log2(2 * reach / _COUNTS)))  # so that rates that are near have counts in common
    figures = np.arange(math.ceil(max(0.0, n * rate - reach) / step), math.floor(min(n, n * rate + reach) / step) + 1) * step
    return figures.tolist(), chances_of(figures, n, np.array(rate))


@lru_cache(maxsize=4096)
def _printed(design: Mechanism, n: int, count: int, confidence: float) -> Share:
    return estimate_share(count, n, q0=design.q0, q1=design.q1, confidence=confidence)


def _last_without(apart: FloatArray, counts: list[int]) -> int:
    """Returns the last count that shows no difference; between the tried counts, along the line."""
    without = np.flatnonzero(apart <= 0)
    if not without.size:
        return counts[0] - 1
    last = int(without[-1])
    if last == len(counts) - 1:
        return counts[-1]
    return counts[last] + math.floor((counts[last + 1] - counts[last]) * -float(apart[last]) / float(apart[last + 1] - apart[last]))
