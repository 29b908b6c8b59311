"""Half-widths of intervals: of a share, of the difference of two groups, of a cell of a cross table.

Without a true share they are the largest that any true answers give. None is more than half of the possible range (0.5 for a share, 1 for
a difference), since no interval reaches beyond it.
"""

from __future__ import annotations

import math

import scipy

from deniable.errors import EstimateError
from deniable.estimate.moments.pseudo_answers import second_moments
from deniable.mechanism import Channel
from deniable.plan.arguments import both_sizes, check_confidence, check_count
from deniable.plan.clusters import Clusters, cluster_half_width
from deniable.plan.groups import median_half_width
from deniable.plan.precision import Mechanism, normal_half_width, share_half_width


def half_width(
    design: Mechanism,
    n: int | tuple[int, int],
    *,
    share: float | None = None,
    clusters: Clusters | None = None,
    confidence: float = 0.95,
) -> float:
    """Returns half the width of an interval: of a share, or of the difference of a share between two groups.

    Args:
        design: The coins of a question (`private`), `NO_PRIVACY`, or a `curator`.
        n: Respondents; for a difference the sizes of the two groups.
        share: The true share, in both groups, by default the one with the widest interval.
        clusters: The clusters that respondents come from, such as clinics; not for a difference.
        confidence: The confidence of the interval.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    if not isinstance(n, tuple):
        if clusters is None:
            return share_half_width(design, n, confidence=confidence, share=share)
        return cluster_half_width(design, n, clusters, confidence=confidence, share=share)
    if clusters is not None:
        raise EstimateError("clusters must be left out for the difference of two groups")
    return difference_half_width(design, n, confidence=confidence, share=share)


def difference_half_width(design: Mechanism, n: int | tuple[int, int], *, confidence: float = 0.95, share: float | None = None) -> float:
    """Returns half the width of the interval of a difference of two groups, the median of the widths that results may print.

    Near 0 and 1 and for few people it is less than the normal distribution's, which designs with noise have.

    Args:
        design: As in `half_width`.
        n: The size of each group, or both sizes.
        confidence: The confidence of the interval.
        share: The true share of both groups, or None for the hardest one.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    sizes = both_sizes(n)
    if design.noise:
        return min(1.0, math.hypot(*(normal_half_width(design, size, confidence=confidence, share=share) for size in sizes)))
    return median_half_width(design, sizes, check_confidence(confidence), share)


def cell_half_width(first: Channel, second: Channel, n: int, *, confidence: float = 0.95) -> float:
    """Returns half the width of the interval of a cell's share in the cross table of two questions, by the normal distribution.

    It is for the hardest joint shares. The variance of a report's product of pseudo-answers is sum of p m - p_cell^2, with m the product
    of their second moments in the cell, its row, its column and elsewhere. It is largest with some share in the cell and the rest where m
    is largest beside it.

    Args:
        first: The coins of one question.
        second: The coins of the other.
        n: People who answer both.
        confidence: The confidence of the interval.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    (own, other), (own_too, other_too) = (second_moments(channel)[:2] for channel in (first, second))
    inside, beside = own * own_too, max(own * other_too, other * own_too, other * other_too)
    share = min(1.0, max(0.0, (inside - beside) / 2))
    variance = share * inside + (1 - share) * beside - share**2
    return min(0.5, _z(confidence) * math.sqrt(variance / check_count("n", n)))


def _z(confidence: float) -> float:
    return -float(scipy.special.ndtri((1 - check_confidence(confidence)) / 2))
