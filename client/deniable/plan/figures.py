"""How precise means, differences of groups and cells of cross tables will be, at the true answers that make each least precise.

By the normal distribution, of means by Student's t as their estimates, and at most half of what is possible, since no interval reaches
beyond that: 0.5 for a share, 1 for a difference of two shares, half of the scale for a mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from deniable.estimate.moments.pseudo_answers import score_of_bits, second_moments
from deniable.mechanism import Channel, Window
from deniable.plan.precision import Mechanism, check_count, check_inside, std_error

_Floats = NDArray[np.float64]
_MEANS = 41  # true means that are tried, evenly spaced


def mean_half_width(channel: Channel, scores: Sequence[float], n: int, *, confidence: float = 0.95) -> float:
    """Half the width of a mean's interval, in the unit of the scores, for n people who answer.

    scores: one for each of the first categories; those without one ("no answer") do not count. Of all distributions of the true
    answers, the one with the largest variance of one report's pseudo-answer sum of (score - mean) u. Where some may not answer, all are
    taken to, which the reports do not know: Fieller's limits are 1 / sqrt(1 - g) times as far, g the squared t times the variance of the
    part that answered. Raises EstimateError.
    """
    values = np.asarray(scores, dtype=np.float64)
    widest = float(np.ptp(values)) / 2
    most = max(_largest_variance(channel, values, mean) for mean in np.linspace(values.min(), values.max(), _MEANS).tolist())
    known = 1 - _t(confidence, n) ** 2 * _variance_of_answered(channel, len(values)) / n
    return widest if known <= 0 else min(widest, _t(confidence, n) * math.sqrt(most / n / known))


def difference_half_width(design: Mechanism, n: int, *, confidence: float = 0.95, share: float | None = None) -> float:
    """The same of the difference of two groups' shares, n people in each, both with the true share or, for None, the hardest one."""
    return min(1.0, _z(confidence) * math.sqrt(2) * std_error(design, n, share))


def cell_half_width(first: Channel, second: Channel, n: int, *, confidence: float = 0.95) -> float:
    """The same of one cell's share in the cross table of two questions, at the hardest joint shares; n people were asked both.

    The variance of a report's product of pseudo-answers is sum of p m - p_cell^2, m the product of their second moments in each of:
    the cell, its row, its column, elsewhere. It is largest with some share in the cell and the rest where m is largest beside it.
    """
    (own, other), (own_too, other_too) = (second_moments(channel)[:2] for channel in (first, second))
    inside, beside = own * own_too, max(own * other_too, other * own_too, other * other_too)
    share = min(1.0, max(0.0, (inside - beside) / 2))
    variance = share * inside + (1 - share) * beside - share**2
    return min(0.5, _z(confidence) * math.sqrt(variance / check_count("n", n)))


def _variance_of_answered(channel: Channel, scored: int) -> float:
    """Of one report's pseudo-answer "has a score", where everybody has one; 0 where all categories do."""
    if scored == channel.k:
        return 0.0
    return float(np.max(_squares(channel, np.repeat([1.0, 0.0], [scored, channel.k - scored]))[:scored])) - 1


def _largest_variance(channel: Channel, values: _Floats, mean: float) -> float:
    """Of all distributions over the scored categories with this mean: a mixture of two of them, on either side of the mean."""
    weights = np.zeros(channel.k)
    weights[: len(values)] = values - mean
    squares = _squares(channel, weights)[: len(values)]
    low, high = values <= mean, values >= mean
    below, above = (mean - values[low])[:, None], (values[high] - mean)[None, :]
    with np.errstate(invalid="ignore"):
        mixed = (squares[low][:, None] * above + squares[high][None, :] * below) / (below + above)
    return float(np.nanmax(np.where(below + above == 0, np.maximum(squares[low][:, None], squares[high][None, :]), mixed)))


def _squares(channel: Channel, weights: _Floats) -> _Floats:
    """E[(sum of weights u)^2 | x] for each category x."""
    if isinstance(channel, Window):
        return np.asarray(np.array(channel.chances, dtype=np.float64) @ score_of_bits(weights, channel) ** 2)
    own, other, either, neither = second_moments(channel)
    rest, rest_squared = weights.sum() - weights, (weights**2).sum() - weights**2
    return np.asarray(own * weights**2 + other * rest_squared + 2 * either * weights * rest + neither * (rest**2 - rest_squared))


def _t(confidence: float, n: int) -> float:
    """How many standard errors the limits of a mean of n reports are away."""
    check_inside("confidence", confidence)
    return -float(stdtrit(max(check_count("n", n) - 1, 1), (1 - confidence) / 2))


def _z(confidence: float) -> float:
    return -float(ndtri((1 - check_inside("confidence", confidence)) / 2))
