"""Limits of a difference from the limits of its two sides: MOVER, the method of variance estimates recovery.

    d = a - b,   low = d - sqrt((a - a_low)^2 + (b_high - b)^2),   high = d + sqrt((a_high - a)^2 + (b - b_low)^2)

and of any sum of weights times independent estimates, each of which moves to that of its limits which makes the sum less, or more.

Sources: G. Zou and A. Donner, "Construction of confidence limits about effect measures", Statistics in Medicine 27 (2008); of sums: G. Zou,
W. Huang and X. Zhang, Comput. Stat. Data Anal. 53 (2009). Each side brings its own limits, exact ones where it has such, so a small group
or a rare answer does what it should. An estimate outside its limits is moved to the nearer one first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Side(NamedTuple):
    """An estimate and its confidence limits."""

    estimate: float
    low: float
    high: float

    @property
    def inside(self) -> float:
        """The estimate, moved into the limits."""
        return min(max(self.estimate, self.low), self.high)


def contrast(sides: Sequence[Side], weights: Sequence[float]) -> tuple[float, float]:
    """The limits of a weighted sum of independent sides whose limits have one confidence, which is that of the result."""
    pairs = list(zip(sides, weights, strict=True))
    middle = sum(weight * side.inside for side, weight in pairs)
    down = (weight * (side.inside - (side.low if weight > 0 else side.high)) for side, weight in pairs)
    up = (weight * ((side.high if weight > 0 else side.low) - side.inside) for side, weight in pairs)
    return middle - math.hypot(*down), middle + math.hypot(*up)
