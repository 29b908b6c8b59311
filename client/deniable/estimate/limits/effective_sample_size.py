"""Effective sample size: confidence limits of a share whose error is not the error of simple random sampling.

The effective number of reports is n* = (variance of one report of a person drawn alone) / (variance of the share). With few clusters it
is smaller by (z / t)^2, since their own spread determines the variance, and it is never above n. The limits are exact for n* reports, so
they are right near 0 and 1, where an error alone is not (E. Korn and B. Graubard, "Confidence intervals for proportions with small expected
number of positive counts estimated from survey data", Survey Methodology 24 (1998)).
"""

from __future__ import annotations

import math
from dataclasses import replace

from deniable.estimate.limits import normal
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.proportion import proportion


def size(estimate: float, variance: float, most: float, moments: tuple[float, float], interval: Interval) -> float:
    """Returns the effective sample size n*, at least 1.

    Args:
        estimate: The share.
        variance: The variance of the share.
        most: The number of reports, or of equally weighted reports with the same information; n* where nothing varies.
        moments: E[u^2] of one pseudo-answer u, of people who hold the share and of all others.
        interval: The requested interval.
    """
    inside, outside = moments
    share = min(1.0, max(0.0, estimate))
    alone = share * inside + (1 - share) * outside - share**2
    clusters = math.isfinite(interval.df)
    if alone <= 0 or variance <= 0:
        return max(1.0, most)
    result = alone / variance / normal.stretch(interval) ** 2
    return max(1.0, min(result, most) if clusters else result)


def limits(estimate: float, variance: float, most: float, q: tuple[float, float], interval: Interval) -> tuple[str, float, float]:
    """Returns the method, and limits of a category's share: in [0, 1] unless the method is "wald".

    Args:
        estimate: The share.
        variance: The variance of the share.
        most: As in `size`.
        q: P(bit set | another category) and P(bit set | this category).
        interval: The requested interval.
    """
    q0, q1 = q
    gap = q1 - q0
    if interval.method == "wald":
        half = interval.quantile * math.sqrt(variance)
        return "wald", estimate - half, estimate + half
    moments = (q1 - 2 * q1 * q0 + q0**2) / gap**2, q0 * (1 - q0) / gap**2
    n = math.floor(size(estimate, variance, most, moments, interval))
    count = min(float(n), max(0.0, n * (q0 + gap * estimate)))
    below, plain = min(math.floor(count), n - 1), replace(interval, df=math.inf)
    part = count - below
    first, second = (proportion(ones, n, q0, q1, plain) for ones in (below, below + 1))
    low, high = ((1 - part) * a + part * b for a, b in ((first.low, second.low), (first.high, second.high)))
    return first.method, low, high
