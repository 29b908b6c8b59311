"""How many levels a number is rounded to, where its author names none.

More levels round less and randomize more. For each size the variance of one report's pseudo-answer for the mean is
largest somewhere in the range; the size with the least such variance wins. At small epsilon that is 2, the mechanism
of J. Duchi, M. Jordan and M. Wainwright (2018); from epsilon 2 on it is below the Piecewise and Hybrid mechanisms of
N. Wang et al. (ICDE 2019).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.mechanism import Channel

_POINTS = 64  # between two neighbouring levels, where the worst case is looked for
_MOST = 64


def best_levels(epsilon: float) -> int:
    """The number of levels, 2 to 64, of least worst-case variance of a mean at this privacy loss."""
    return min(range(2, _MOST + 1), key=lambda levels: (worst_variance(epsilon, levels), levels))


def worst_variance(epsilon: float, levels: int) -> float:
    """The largest variance of one report's unbiased guess at a number in [0, 1], rounded to `levels` levels and randomized."""
    channel = Channel.for_epsilon(epsilon, levels)
    scores = np.linspace(0, 1, levels)
    second = _second_moments(channel, scores)
    share = np.linspace(0, 1, _POINTS + 1)[:, None]
    between = (1 - share) * second[:-1] + share * second[1:]
    truth = (1 - share) * scores[:-1] + share * scores[1:]
    return float((between - truth**2).max())


def _second_moments(channel: Channel, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """E[(sum of score_j u_j)^2 | x] for each category x; u is the pseudo-answer, and its second moments are the channel's."""
    k, d, theta, phi = channel.k, channel.d, float(channel.theta), float(channel.phi)
    total, squares = scores.sum(), (scores**2).sum()
    with_own = theta * (d - 1) / (k - 1)
    without = (theta * (d - 1) * (d - 2) + (1 - theta) * d * (d - 1)) / ((k - 1) * (k - 2)) if k > 2 else 0.0
    others, other_squares = total - scores, squares - scores**2
    bits = theta * scores**2 + phi * other_squares + 2 * with_own * scores * others + without * (others**2 - other_squares)
    mean = theta * scores + phi * others
    slope, shift = (k - 1) / (k * theta - d), (d - theta) / (k * theta - d) * total
    return np.asarray(slope**2 * bits - 2 * slope * shift * mean + shift**2)
