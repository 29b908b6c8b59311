"""Limits of estimates with normal errors, of ratios, and tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from deniable.errors import EstimateError
from deniable.estimate.limits import normal
from deniable.estimate.limits.interval import Interval


def one_sided(x: float, confidence: float = 0.95) -> tuple[float, float]:
    low, high = normal.limits(np.array(x), np.array(1.0), confidence, 0.0, math.inf)
    return float(low), float(high)


@pytest.mark.parametrize(
    ("x", "low", "high"), [(-3.0, 0, 0.42), (-1.0, 0, 1.10), (0.0, 0, 1.96), (1.0, 0, 2.96), (2.0, 0.35, 3.96), (3.0, 1.14, 4.96)]
)
def test_limits_of_a_value_above_0_are_those_that_feldman_and_cousins_published(x: float, low: float, high: float) -> None:
    """Phys. Rev. D 57 (1998), table X, 95%."""
    assert one_sided(x) == pytest.approx((low, high), abs=0.006)


def test_away_from_the_ends_the_limits_are_those_of_wald() -> None:
    low, high = normal.limits(np.array([0.4, 0.5]), np.array([0.05, 0.01]), 0.95, 0.0, 1.0)
    half = stats.norm.ppf(0.975) * np.array([0.05, 0.01])
    assert low == pytest.approx(np.array([0.4, 0.5]) - half, abs=1e-12)
    assert high == pytest.approx(np.array([0.4, 0.5]) + half, abs=1e-12)


@pytest.mark.parametrize("std_error", [0.02, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("truth", [0.0, 0.01, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_limits_cover_as_often_as_they_say_wherever_the_truth_is(std_error: float, truth: float, confidence: float) -> None:
    """The chance is summed over a fine grid of estimates, so it is exact to the grid's step."""
    z = np.linspace(-7, 7, 2_801)
    low, high = normal.limits(truth + z * std_error, np.full(z.shape, std_error), confidence, 0.0, 1.0)
    inside = (low <= truth) & (truth <= high)
    assert (inside * stats.norm.pdf(z)).sum() / stats.norm.pdf(z).sum() == pytest.approx(confidence, abs=2e-3)
    assert (high - low).min() > 0
    assert low.min() >= 0
    assert high.max() <= 1


def test_limits_of_wald_that_are_cut_off_would_fail_the_test_above() -> None:
    z = np.linspace(-7, 7, 2_801)
    low, high = (np.clip(0.01 + z + side * 1.96, 0, 1) for side in (-1, 1))
    assert (high - low).min() == 0


@pytest.mark.parametrize("confidence", [0.1, 0.5, 0.7])
def test_low_confidences_keep_a_width(confidence: float) -> None:
    x = np.linspace(-4, 5, 91)
    low, high = normal.limits(x, np.ones(91), confidence, 0.0, 1.0)
    assert (high - low).min() > 0


def test_limits_without_a_range_are_those_of_wald() -> None:
    low, high = normal.limits(np.array(7.0), np.array(2.0), 0.9, -math.inf, math.inf)
    assert (low, high) == pytest.approx((7 - 2 * 1.6448536269514722, 7 + 2 * 1.6448536269514722))


COVARIANCE = np.array([[0.0004, 0.0001], [0.0001, 0.0009]])


def fieller(over: float, under: float, covariance: np.ndarray, z: float) -> tuple[float, float]:
    """The textbook formula, in g = z^2 Var(under) / under^2."""
    g, value = z**2 * covariance[1, 1] / under**2, over / under
    slope = covariance[0, 1] / covariance[1, 1]
    inner = covariance[0, 0] - 2 * value * covariance[0, 1] + value**2 * covariance[1, 1]
    inner -= g * (covariance[0, 0] - covariance[0, 1] ** 2 / covariance[1, 1])
    half = z / under * math.sqrt(inner)
    return (value - g * slope - half) / (1 - g), (value - g * slope + half) / (1 - g)


def test_the_limits_of_a_ratio_are_those_of_fieller() -> None:
    one = normal.ratio("a ratio", 100, (0.2, 0.5), COVARIANCE, Interval(), (0.0, 1.0))
    assert one.estimate == pytest.approx(0.4)
    assert (one.low, one.high) == pytest.approx(fieller(0.2, 0.5, COVARIANCE, 1.959963984540054))
    assert one.std_error == pytest.approx(math.sqrt(0.0004 - 2 * 0.4 * 0.0001 + 0.16 * 0.0009) / 0.5)


@pytest.mark.parametrize("over", [-0.15, -0.03, 0.0, 0.55, 0.9])
def test_a_ratio_outside_its_range_keeps_an_interval_inside_it(over: float) -> None:
    one = normal.ratio("a ratio", 100, (over, 0.5), COVARIANCE, Interval(), (0.0, 1.0))
    assert one.estimate == over / 0.5
    assert 0 <= one.low < one.high <= 1
    x = np.linspace(0, 1, 100_001)
    surprise = (over - x * 0.5) ** 2 / (0.0004 - 2 * x * 0.0001 + x**2 * 0.0009)
    inside = x[surprise - surprise.min() <= 1.959963984540054**2]
    assert (one.low, one.high) == pytest.approx((inside[0], inside[-1]), abs=1.1e-5)


@pytest.mark.parametrize("under", [0.0, -0.5])
def test_a_ratio_to_nothing_is_refused(under: float) -> None:
    with pytest.raises(EstimateError, match="a ratio: the denominator must be above 0, got"):
        normal.ratio("a ratio", 100, (0.2, under), COVARIANCE, Interval(), (0.0, 1.0))


@pytest.mark.parametrize(
    ("over", "top", "said"), [(0.2, math.inf, "on one side only"), (0.02, math.inf, "exclude nothing"), (0.2, 9.0, "one side")]
)
def test_a_ratio_to_what_may_be_0_has_limits_that_say_so(over: float, top: float, said: str) -> None:
    one = normal.ratio("a ratio", 100, (over, 0.05), COVARIANCE, Interval(), (0.0, top))
    assert one.high == top
    assert said in one.warning
    x = np.linspace(0, min(top, 1000), 100_001)
    surprise = (over - x * 0.05) ** 2 / (0.0004 - 2 * x * 0.0001 + x**2 * 0.0009)
    inside = x[surprise <= 1.959963984540054**2]
    assert one.low == pytest.approx(inside[0], abs=0.02)
    assert inside[-1] == x[-1], "no ratio is too large"


def test_an_estimate_is_tested_by_its_distance_in_standard_errors() -> None:
    one = normal.limited("the share", 100, 0.3, 0.01, Interval(), (0.0, 1.0))
    assert one.test().p_value == pytest.approx(2 * stats.norm.sf(3))
    assert one.test(0.3).p_value == 1
    assert str(one.test(0.1)).startswith("the share is 0.1: chi-squared 4 with 1 df, p 0.045")
    assert str(one) == "the share: 0.3, standard error 0.1, 95% 0.1141 to 0.496"
