"""Confidence limits for a rate in [lowest, highest] where the log-likelihood is near its constrained maximum.

Wilks' theorem: twice the drop of the log-likelihood is about chi-squared with one degree of freedom, and less
than that at an end of the range. For large n these are the limits of `feldman_cousins` without their steps.
"""

from __future__ import annotations

import math

import scipy

from deniable.estimate.limits.roots import root


def limits(ones: int, n: int, lowest: float, highest: float, alpha: float) -> tuple[float, float]:
    """Returns the limits of the rate, lowest <= low < high <= highest, for `ones` of n and an error probability alpha."""
    drop = float(scipy.special.chdtri(1, alpha)) / 2
    best = min(max(ones / n, lowest), highest)
    high = upper(ones, n, best, highest, drop)
    mirrored = upper(n - ones, n, 1 - best, 1 - lowest, drop)
    return (lowest if mirrored == 1 - lowest else 1 - mirrored), high


def upper(ones: int, n: int, best: float, highest: float, drop: float) -> float:
    """Returns the rate in [best, highest] at which the log-likelihood is `drop` below its value at `best`; else highest."""
    if _fall(ones, n, best, highest) <= drop:
        return highest
    return root(lambda rate: _fall(ones, n, best, rate) - drop, best, highest, xtol=1e-15)


def _fall(ones: int, n: int, best: float, rate: float) -> float:
    """Returns the log-likelihood at best less the one at rate >= best, without cancellation for large n."""
    step = rate - best
    if step == 0:
        return 0.0
    own = ones * math.log1p(step / best) if ones else 0.0
    if rate >= 1:
        return math.inf if ones < n else -own
    left = 1 - step / (1 - best)  # close to 0 it would be the rounding alone
    return -own - (n - ones) * (math.log1p(-step / (1 - best)) if left > 0.5 else math.log((1 - rate) / (1 - best)))
