"""Precision of a mean at the least precise true answers, with the limits of `deniable.estimate.mean`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import scipy

from deniable.estimate.arrays import FloatArray
from deniable.estimate.limits import normal
from deniable.estimate.limits.closed_form import normal_quantile
from deniable.estimate.moments.pseudo_answers import score_of_bits, second_moments
from deniable.mechanism import Channel, Window
from deniable.plan.arguments import check_confidence, check_count, check_number, check_scores

_MEANS = 41  # true means to try, evenly spaced
_UNCUT = 0.15  # of the scale: limits that reach less far from its middle are hardly ever cut at its ends
_TYPICAL = 0.6745  # standard errors: half of all estimates are nearer to the truth, and have wider limits


def mean_half_width(channel: Channel, scores: Sequence[float], n: int, *, confidence: float = 0.95, mean: float | None = None) -> float:
    """Returns half the width of the interval of a mean, in the unit of the scores: the median of possible widths.

    It is for the distribution of true answers with the largest variance of one report's pseudo-answer sum of (score - mean) u. Limits are
    Student's, and end with the scale. If some may not answer, the plan takes all to answer, which the reports do not show: Fieller's
    limits are 1 / sqrt(1 - g) times as far, g the squared t times the variance of the part that answered.

    Args:
        channel: The coins of the question.
        scores: One number for each of the first categories; categories without one ("no answer") do not count.
        n: People who answer.
        confidence: The confidence of the interval.
        mean: The true mean, or None for the hardest.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    uncut, length = uncut_half_width(channel, scores, n, confidence=confidence, mean=mean), float(np.ptp(scores))
    if not math.isfinite(uncut):
        return length / 2
    if uncut < _UNCUT * length:
        return uncut
    error = uncut / length / normal_quantile(1 - confidence)
    estimate = 0.5 + _TYPICAL * error / _stretch(confidence, n)
    low, high = normal.limits(np.array(estimate), np.array(error), confidence, 0.0, 1.0)
    return length * float(high - low) / 2


def uncut_half_width(channel: Channel, scores: Sequence[float], n: int, *, confidence: float = 0.95, mean: float | None = None) -> float:
    """Returns the half-width without an end of the scale; infinite if the part that answered is unknown. Raises EstimateError."""
    t = _t(confidence, n)
    values = check_scores(scores, channel.k)
    most, answered = _variances(channel, values, None if mean is None else check_number("mean", mean, min(values), max(values)))
    present = 1 - t**2 * answered / n
    return t * math.sqrt(most / n / present) if present > 0 else math.inf


def _stretch(confidence: float, n: int) -> float:
    return _t(confidence, n) / normal_quantile(1 - confidence)


@lru_cache(maxsize=256)
def _variances(channel: Channel, scores: tuple[float, ...], mean: float | None) -> tuple[float, float]:
    """Returns the variance of one report's sum of (score - mean) u, at worst; and of the part that answered."""
    values = np.array(scores)
    means = np.linspace(values.min(), values.max(), _MEANS).tolist() if mean is None else [mean]
    return max(_largest_variance(channel, values, one) for one in means), _variance_of_answered(channel, len(values))


def _variance_of_answered(channel: Channel, scored: int) -> float:
    """Returns the variance of one report's pseudo-answer "has a score", if everybody has one; 0 if all categories do."""
    if scored == channel.k:
        return 0.0
    return float(np.max(_squares(channel, np.repeat([1.0, 0.0], [scored, channel.k - scored]))[:scored])) - 1


def _largest_variance(channel: Channel, values: FloatArray, mean: float) -> float:
    """Returns the largest variance over all distributions on the scored categories with this mean: a mixture of two."""
    weights = np.zeros(channel.k)
    weights[: len(values)] = values - mean
    squares = _squares(channel, weights)[: len(values)]
    low, high = values <= mean, values >= mean
    below, above = (mean - values[low])[:, None], (values[high] - mean)[None, :]
    with np.errstate(invalid="ignore"):
        mixed = (squares[low][:, None] * above + squares[high][None, :] * below) / (below + above)
    return float(np.nanmax(np.where(below + above == 0, np.maximum(squares[low][:, None], squares[high][None, :]), mixed)))


def _squares(channel: Channel, weights: FloatArray) -> FloatArray:
    """Returns E[(sum of weights u)^2 | x] for each category x."""
    if isinstance(channel, Window):
        return np.asarray(np.array(channel.chances, dtype=np.float64) @ score_of_bits(weights, channel) ** 2)
    own, other, either, neither = second_moments(channel)
    rest, rest_squared = weights.sum() - weights, (weights**2).sum() - weights**2
    return np.asarray(own * weights**2 + other * rest_squared + 2 * either * weights * rest + neither * (rest**2 - rest_squared))


def _t(confidence: float, n: int) -> float:
    """Returns the distance of the limits of a mean of n reports in standard errors."""
    return -float(scipy.special.stdtrit(max(check_count("n", n) - 1, 1), (1 - check_confidence(confidence)) / 2))
