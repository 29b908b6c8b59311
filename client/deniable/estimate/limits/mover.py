"""Limits of a difference from the limits of its two sides: MOVER, the method of variance estimates recovery.

    d = a - b,   low = d - sqrt((a - a_low)^2 + (b_high - b)^2),   high = d + sqrt((a_high - a)^2 + (b - b_low)^2)

Source: G. Zou and A. Donner, "Construction of confidence limits about effect measures", Statistics in Medicine 27 (2008). Each side brings
its own limits, exact ones where it has such, so a small group or a rare answer does what it should. An estimate outside its limits is moved
to the nearer one first.
"""

from __future__ import annotations

import math
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


def difference(a: Side, b: Side) -> tuple[float, float]:
    """The limits of a - b, of independent sides whose limits have one confidence, which is that of the result."""
    middle = a.inside - b.inside
    low = middle - math.hypot(a.inside - a.low, b.high - b.inside)
    return low, middle + math.hypot(a.high - a.inside, b.inside - b.low)
