"""Precision of the slope of a logit model: of a yes/no outcome on a yes/no predictor, with coins for one or both.

The error comes from the expected information of `estimate.regression.likelihood`, at the true shares, with every possible report as often
as expected (E. Lehmann and G. Casella, "Theory of Point Estimation" (1998), section 6.3). So it includes the uncertainty about who has the
predictor. Limits and tests are Wald's, as in results.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product

import numpy as np
import scipy

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.limits.closed_form import normal_quantile
from deniable.estimate.regression.families import FAMILIES
from deniable.estimate.regression.likelihood import Reports, derivatives
from deniable.mechanism import Channel
from deniable.plan.arguments import check_confidence, check_count, check_inside

MOST_REFUSED = 0.05
"""Largest part of surveys whose fit may have no interior maximum: above it, the errors of the others mean little."""


@dataclass(frozen=True)
class SlopeOf:
    """A slope to plan, of a logit model.

    Attributes:
        outcome: The id of a question with two answers.
        predictor: The id of another one, or `group` for the survey's public groups.
        shares: As in `logit_slope`.
        predictor_share: As in `logit_slope`.
    """

    outcome: str
    predictor: str
    shares: tuple[float, float]
    predictor_share: float


@dataclass(frozen=True)
class Slope:
    """Expected precision of a slope, in log odds.

    Attributes:
        slope: The true slope.
        std_error: The standard error of its estimate.
        half_width: Half the width of its interval.
        power: The chance that the interval excludes 0.
        refused: About the largest chance that there is no fit, since 0 or 1 explains a share best (separation).
    """

    slope: float
    std_error: float
    half_width: float
    power: float
    refused: float


def logit_slope(
    n: int,
    shares: tuple[float, float],
    predictor_share: float,
    *,
    outcome: Channel | None = None,
    predictor: Channel | None = None,
    confidence: float = 0.95,
) -> Slope:
    """Returns the expected precision of the slope of `regress("outcome ~ predictor")`. All shares are above 0 and below 1.

    Args:
        n: Respondents.
        shares: The outcome's true share among people without the predictor, and with it.
        predictor_share: The predictor's true share.
        outcome: The coins of the outcome, with two categories, or None if it is public.
        predictor: The coins of the predictor, likewise.
        confidence: The confidence of the interval.

    Raises:
        EstimateError: An argument breaks its rule, or more than 1 in 20 such fits would be refused: n is too small.
    """
    reports, parameters = _expected_reports(check_count("n", n), shares, predictor_share, (outcome, predictor))
    refused = _chance_refused(n, shares, predictor_share, (outcome, predictor))
    if refused > MOST_REFUSED:
        raise EstimateError(
            f"n must be larger, got {n:,}: of so few people's reports {100 * refused:.0f}% of such fits would be refused, "
            "since a share is best explained by 0 or 1 there"
        )
    covariance = np.linalg.inv(derivatives(reports, parameters).observed)
    slope, error, z = float(parameters[1]), math.sqrt(covariance[1, 1]), normal_quantile(1 - check_confidence(confidence))
    power = float(scipy.special.ndtr(abs(slope) / error - z) + scipy.special.ndtr(-abs(slope) / error - z))
    return Slope(slope, error, z * error, power, refused)


def _expected_reports(
    n: int, shares: tuple[float, float], predictor_share: float, coins: tuple[Channel | None, Channel | None]
) -> tuple[Reports, FloatArray]:
    """Returns every possible report (outcome, predictor), as often as expected, and the true parameters."""
    without, with_it = (check_inside("shares", share) for share in shares)
    having = check_inside("predictor_share", predictor_share)
    b, a = (_rows(channel) for channel in coins)
    answers = np.array([[1 - having], [having]]) * np.array([[1 - without, without], [1 - with_it, with_it]])  # of (predictor, outcome)
    kinds = list(product((0, 1), (0, 1)))
    count = n * np.array([a[i] @ answers @ b[j] for i, j in kinds])
    beta = [float(scipy.special.logit(without)), float(scipy.special.logit(with_it) - scipy.special.logit(without))]
    outcomes = np.array([b[j][::-1] for _, j in kinds])[:, None, :]  # yes first: the last is the reference
    family, one = FAMILIES["logit"], np.ones((4, 1))
    if coins[1] is None:
        x = np.array([[[1.0, i]] for i, _ in kinds])
        return Reports(count, x, one, one, outcomes, family), np.array(beta)
    x = np.tile([[1.0, 0.0], [1.0, 1.0]], (4, 1, 1))
    beta.append(float(scipy.special.logit(having)))
    return Reports(count, x, one, np.array([a[i] for i, _ in kinds]), outcomes, family), np.array(beta)


def _rows(channel: Channel | None) -> FloatArray:
    """Returns P(reported | true), no before yes, shape (2, 2)."""
    if channel is None:
        return np.eye(2)
    if channel.k != 2:
        raise EstimateError(f"outcome and predictor must have 2 categories, got {channel.k}")
    theta, phi = float(channel.theta), float(channel.phi)
    return np.array([[1 - phi, 1 - theta], [phi, theta]])


def _chance_refused(n: int, shares: tuple[float, float], having: float, coins: tuple[Channel | None, Channel | None]) -> float:
    """Returns the sum of the chances that each unbiased estimate of a joint share is below 0, by the normal distribution.

    The model is saturated, so its likelihood has an interior maximum if none does. Public groups are of the expected size.
    """
    b, a = (np.linalg.inv(_rows(channel)) for channel in coins)
    answers = np.array([[1 - having], [having]]) * np.array([[1 - share, share] for share in shares])
    reports = np.linalg.inv(a) @ answers @ np.linalg.inv(b).T
    chance = 0.0
    for i, j in product((0, 1), (0, 1)):
        weights = np.outer(a[i], b[j])
        variance = (weights**2 * reports).sum() - answers[i, j] ** 2
        chance += float(scipy.special.ndtr(-answers[i, j] / math.sqrt(variance / n)))
    return min(1.0, chance)
