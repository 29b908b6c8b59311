"""Interpolated quantiles: a quantile as a number, if the options are bins of a number, with people spread evenly over each bin."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from deniable.estimate.arrays import FloatArray
from deniable.estimate.limits.roots import root
from deniable.survey.question import Question

Sums = Callable[[FloatArray], tuple[float, float]]
"""Of a weighted sum of shares, for weights of shape (k,): its estimate, and how far limits are from it."""


def edges_of(question: Question, order: Sequence[int]) -> list[tuple[float, float]] | None:
    """Returns the ends of each option in this order, or None if the options are no bins of a number."""
    edges = question.kind.bin_edges
    return [edges[index] for index in order] if edges else None


def point(fitted: FloatArray, edges: Sequence[tuple[float, float]], q: float) -> float:
    """Returns the number below which a share q of the possible shares `fitted`, in order, lies."""
    target, below = q * float(fitted.sum()), 0.0
    for share, (start, end) in zip(fitted.tolist(), edges, strict=True):
        if share > 0 and below + share >= target * (1 - 1e-12):
            return float(start + (end - start) * min(1.0, (target - below) / share))
        below += share
    return edges[-1][1]


def limits(sums: Sums, order: NDArray[np.intp], k: int, edges: Sequence[tuple[float, float]], q: float) -> tuple[float, float]:
    """Returns Woodruff's limits: the first number at which the share below it may be q, and the last at which it may be less."""

    def at(place: int, part: float, sign: float) -> float:
        weights = np.zeros(k)
        weights[order] = -q
        weights[order[:place]] += 1.0
        weights[order[place]] += part
        value, reach = sums(weights)
        return value + sign * reach

    def crossing(place: int, sign: float) -> float:
        start, end = edges[place]
        if at(place, 0.0, sign) >= 0:
            return start
        if at(place, 1.0, sign) < 0:
            return end
        return start + (end - start) * root(lambda part: at(place, part, sign), 0.0, 1.0)

    last = len(edges) - 1
    low = next((place for place in range(last + 1) if at(place, 1.0, 1.0) >= 0), last)
    high = next((place for place in range(last, 0, -1) if at(place - 1, 1.0, -1.0) < 0), 0)
    return crossing(low, 1.0), max(crossing(low, 1.0), crossing(high, -1.0))
