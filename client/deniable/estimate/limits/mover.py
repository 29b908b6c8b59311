"""Limits of a difference from the limits of its two sides: MOVER, the method of variance estimates recovery.

    d = a - b,   low = d - sqrt((a - a_low)^2 + (b_high - b)^2),   high = d + sqrt((a_high - a)^2 + (b - b_low)^2)

and of any weighted sum of independent estimates: each moves to the limit that makes the sum smaller, or larger.

Sources: G. Zou and A. Donner, "Construction of confidence limits about effect measures", Statistics in Medicine 27 (2008); of sums: G. Zou,
W. Huang and X. Zhang, Comput. Stat. Data Anal. 53 (2009). Each side brings its own limits, exact ones where it has such, so a small group
or a rare answer does what it should. An estimate outside its limits is moved to the nearer one first.

A limit that is cut, at 0 or at an end of a scale, is nearer than the side's error reaches, and squares of such distances add to too little:
of two means near opposite ends the interval held the truth in 75% of surveys. So each side brings how far its error reaches, and a limit
of the sum is the largest that sides within their limits have, whose distances, as parts of their reach, have squares that add to 1. Where
nothing is cut that is the formula above.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Side(NamedTuple):
    """An estimate and its confidence limits.

    Attributes:
        estimate, low, high: The estimate and its limits.
        cut: The least reach of its error towards a limit that may be clipped, (below, above).
    """

    estimate: float
    low: float
    high: float
    cut: tuple[float, float] = (0.0, 0.0)

    @property
    def inside(self) -> float:
        """The estimate, moved into the limits."""
        return min(max(self.estimate, self.low), self.high)


def contrast(sides: Sequence[Side], weights: Sequence[float]) -> tuple[float, float]:
    """Returns the limits of a weighted sum of independent sides whose limits all have the confidence of the result."""
    middle = sum(weight * side.inside for side, weight in zip(sides, weights, strict=True))
    return middle - _step(sides, [-weight for weight in weights]), middle + _step(sides, weights)


def _step(sides: Sequence[Side], weights: Sequence[float]) -> float:
    """Returns how far the weighted sum may rise."""
    ways = []
    for side, weight in zip(sides, weights, strict=True):
        distance = side.high - side.inside if weight > 0 else side.inside - side.low
        ways.append((abs(weight) * distance, abs(weight) * max(distance, side.cut[weight > 0])))
    free, left, result = [(most, reach) for most, reach in ways if most > 0], 1.0, 0.0
    while free:
        whole = math.hypot(*(reach for _, reach in free))
        capped = [(most, reach) for most, reach in free if most * whole < math.sqrt(left) * reach**2 * (1 - 1e-12)]
        if not capped:
            return result + math.sqrt(left) * whole
        result, left = result + sum(most for most, _ in capped), max(0.0, left - sum((most / reach) ** 2 for most, reach in capped))
        free = [one for one in free if one not in capped]
    return result
