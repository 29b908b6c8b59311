"""Replicate weights: an estimate is computed again with each column of weights, and the spread of the results is its error.

    V = sum over replicates of scale_r (figure_r - their mean)^2

Sources: K. Wolter, "Introduction to Variance Estimation" (2007); the package `survey` for R (svrepdesign, svrVar). The spread includes the
coins, and all differences between the parts left out together. One group's reports have one weight, so replicates are of whole groups.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from deniable.estimate.arrays import FloatArray

FEWEST = 2


def wrong(replicates: Any, scale: Any, others: bool) -> list[str]:
    """Returns the errors of replicates and scale by themselves. others: whether the sample is described in another way, too."""
    if not replicates:
        return [] if scale is None else ["scale must come with replicates"]
    if (
        isinstance(replicates, str | Mapping)
        or not isinstance(replicates, Sequence)
        or not all(isinstance(one, Mapping) for one in replicates)
    ):
        return ["replicates must be a list, of each replicate a mapping of the groups to numbers"]
    result = [] if len(replicates) >= FEWEST else [f"replicates must be at least {FEWEST}, got {len(replicates)}"]
    if not all(_number(weight) and weight >= 0 for one in replicates for weight in one.values()):
        result.append("replicates must be finite numbers, none below 0")
    scales = [scale] * len(replicates) if _number(scale) else scale
    if not isinstance(scales, Sequence) or len(scales) != len(replicates) or not all(_number(one) and one > 0 for one in scales):
        result.append("scale must be a number above 0, or one for each of the replicates")
    return [*result, "replicates have clusters, strata, population and margins in them: leave these out"] if others else result


def misfits(replicates: Sequence[Mapping[str, float]], groups: Collection[str]) -> list[str]:
    """Returns the errors of replicates for these groups."""
    if all(set(groups) <= set(one) and any(one[group] for group in groups) for one in replicates):
        return []
    return ["replicates: each must have a number for every group, and one above 0"]


def factors(replicates: Sequence[Mapping[str, float]], groups: Sequence[str]) -> FloatArray:
    """Returns the numbers as an array, shape (replicates, groups)."""
    return np.array([[float(one[group]) for group in groups] for one in replicates], dtype=np.float64).reshape(-1, len(groups))


def covariance(figures: FloatArray, scale: float | Sequence[float]) -> FloatArray:
    """Returns the covariance of figures that each replicate gives, shape (replicates, m)."""
    apart = figures - figures.mean(axis=0)
    return np.asarray((apart * np.broadcast_to(scale, len(figures))[:, None]).T @ apart)


def degrees_of_freedom(factors: FloatArray) -> float:
    """Returns the number of independent replicates less one, as R's `degf`."""
    return float(np.linalg.matrix_rank(factors)) - 1.0


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
