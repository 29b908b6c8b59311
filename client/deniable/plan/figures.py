"""Precision of group differences and of cells of cross tables, at the least precise true answers.

Cells are by the normal distribution. None is more than half of the possible range, since no interval reaches beyond it: 0.5 for a share,
1 for a difference.
"""

from __future__ import annotations

import math

import scipy

from deniable.estimate.moments.pseudo_answers import second_moments
from deniable.mechanism import Channel
from deniable.plan.checked import both_sizes, check_confidence, check_count
from deniable.plan.groups import median_half_width
from deniable.plan.precision import Mechanism, half_width


def difference_half_width(design: Mechanism, n: int | tuple[int, int], *, confidence: float = 0.95, share: float | None = None) -> float:
    """Returns half the width of the interval of two groups' difference in shares, from 0 to 1.

    n: the people in each group, or in the first and in the second. Both have the true share or, for None, the hardest one. It is the
    median of the widths that may be printed (`median_half_width`), which near 0 and 1 and for few people are less than the normal
    distribution's; for designs with noise the latter. Raises EstimateError.
    """
    sizes = both_sizes(n)
    if design.noise:
        return min(1.0, math.hypot(*(half_width(design, size, confidence=confidence, share=share) for size in sizes)))
    return median_half_width(design, sizes, check_confidence(confidence), share)


def cell_half_width(first: Channel, second: Channel, n: int, *, confidence: float = 0.95) -> float:
    """Returns half the width of the interval of a cell's share in the cross table of two questions, at the hardest joint shares.

    n people were asked both. The variance of a report's product of pseudo-answers is sum of p m - p_cell^2, m the product of their second
    moments in each of: the cell, its row, its column, elsewhere. It is largest with some share in the cell and the rest where m is largest
    beside it.
    """
    (own, other), (own_too, other_too) = (second_moments(channel)[:2] for channel in (first, second))
    inside, beside = own * own_too, max(own * other_too, other * own_too, other * other_too)
    share = min(1.0, max(0.0, (inside - beside) / 2))
    variance = share * inside + (1 - share) * beside - share**2
    return min(0.5, _z(confidence) * math.sqrt(variance / check_count("n", n)))


def _z(confidence: float) -> float:
    return -float(scipy.special.ndtri((1 - check_confidence(confidence)) / 2))
