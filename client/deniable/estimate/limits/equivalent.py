"""Confidence limits of a share estimated by a mean of pseudo-answers: a cell of a cross table, or a sum of cells.

People who belong to the share have a pseudo-answer of 1 on average with the second moment `inside`, all others one of 0 with `outside`.
At a share p its variance is p inside + (1 - p) outside - p^2. The yes/no design with

    q1 - q0 = 1 / sqrt(D^2 + 4 outside),   q0 = (1 - D (q1 - q0)) / 2,   D = inside - outside

has the same variance at every p, for the same people and for its coins alone, and its limits are exact. So these limits are used, at the
count that gives the same estimate. For a share of one question this is its own design. The count need not be whole: between two whole
counts the limit away from 1/2 is interpolated, and the other limit is taken at the outer count, since the nearest whole count decides
where coins make a count nearly certain.
"""

from __future__ import annotations

import math

from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.proportion import proportion

_SAYS_NOTHING = 1e-9  # 10^12 reports have a standard error of 500 then, and the difference of the two rates loses its digits


def limits(estimate: float, n: int, moments: tuple[float, float], interval: Interval) -> tuple[float, float]:
    """Returns the limits, in [0, 1], of a share with this unbiased estimate from n reports; moments: `inside` and `outside` as above."""
    inside, outside = moments
    if estimate > 0.5:  # those who do not belong to it have the mirrored pseudo-answer 1 - u
        low, high = limits(1 - estimate, n, (1 + outside, inside - 1), interval)
        return 1 - high, 1 - low
    gap = 1 / math.sqrt((inside - outside) ** 2 + 4 * outside)
    if gap < _SAYS_NOTHING:
        return 0.0, 1.0
    q0 = max(0.0, (1 - (inside - outside) * gap) / 2)
    q1 = min(1.0, q0 + gap)
    count = min(float(n), max(0.0, n * (q0 + gap * estimate)))
    below = math.floor(count)
    part = count - below
    first = proportion(below, n, q0, q1, interval)
    if not part:
        return first.low, first.high
    return first.low, (1 - part) * first.high + part * proportion(below + 1, n, q0, q1, interval).high
