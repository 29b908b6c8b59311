"""What an estimate with normal errors says: limits that respect what is possible, ratios, and tests."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from deniable.errors import EstimateError
from deniable.estimate.closed_form import normal_quantile

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class HypothesisTest:
    """A test of a hypothesis. what: the hypothesis. statistic: chi-squared with df degrees of freedom if it holds, for large n."""

    what: str
    statistic: float
    df: int
    p_value: float

    def __str__(self) -> str:
        return f"{self.what}: chi-squared {self.statistic:.4g} with {self.df} df, p {self.p_value:.3g}"


@dataclass(frozen=True)
class Estimate:
    """One number and how sure it is.

    what: in words. n: reports. estimate: never clipped, so chance can take it out of its range. std_error: of the
    estimate. low, high: limits, within the range that is possible. target: "population" or "respondents".
    """

    what: str
    n: int
    estimate: float
    std_error: float
    low: float
    high: float
    confidence: float
    target: str

    def test(self, value: float = 0.0) -> HypothesisTest:
        """Tests whether the truth is `value`, from both sides, by the estimate's distance in standard errors."""
        return chi_squared(f"{self.what} is {value:g}", ((self.estimate - value) / self.std_error) ** 2, 1)

    def __str__(self) -> str:
        limits = f"{100 * self.confidence:g} % {self.low:.4g} to {self.high:.4g}"
        return f"{self.what}: {self.estimate:.4g}, standard error {self.std_error:.3g}, {limits}"


def chi_squared(what: str, statistic: float, df: int) -> HypothesisTest:
    """The test whose statistic is chi-squared with df degrees of freedom under its hypothesis."""
    return HypothesisTest(what, float(statistic), df, float(chdtrc(df, statistic)))


def limits(estimate: _Floats, std_error: _Floats, confidence: float, lowest: float, highest: float) -> tuple[_Floats, _Floats]:
    """Confidence limits of values in [lowest, highest] from estimates with normal errors; any shape.

    The constrained likelihood-ratio interval: all x in the range with (x - estimate)^2 - (best - estimate)^2 at most
    z^2 std_error^2, where `best` is the estimate moved into the range. Inside the range that is the Wald interval, cut
    off at the ends; outside, it still has a width. Covers with at least the confidence wherever the errors are normal.
    """
    best = np.clip(estimate, lowest, highest)
    half = np.hypot(best - estimate, normal_quantile(1 - confidence) * std_error)
    return np.maximum(estimate - half, lowest), np.minimum(estimate + half, highest)


def limited(what: str, n: int, value: float, variance: float, confidence: float, target: str, bounds: tuple[float, float]) -> Estimate:
    """An estimate of that variance, with the limits above."""
    std_error = math.sqrt(variance)
    low, high = limits(np.array(value), np.array(std_error), confidence, *bounds)
    return Estimate(what, n, value, std_error, float(low), float(high), confidence, target)


def ratio(
    what: str, n: int, parts: tuple[float, float], covariance: _Floats, confidence: float, target: str, bounds: tuple[float, float]
) -> Estimate:
    """A ratio of two estimates, parts = (over, under), whose covariance has shape (2, 2).

    Limits: all x within bounds with T(x) - T(best) <= z^2 for T(x) = (over - x under)^2 / Var(over - x under), where `best` is
    the ratio moved into the bounds (E. Fieller, J. R. Stat. Soc. B 16 (1954), if nothing bounds x). Standard error: delta method.
    Raises EstimateError where `under` is not clearly above 0, since then no ratio can be excluded.
    """
    over, under = parts
    z = normal_quantile(1 - confidence)
    if under <= z * math.sqrt(covariance[1, 1]):
        raise EstimateError(
            f"{what}: the denominator must be clearly above 0, got {under:.4g} with a standard error of {math.sqrt(covariance[1, 1]):.4g}; "
            "more reports, or a larger epsilon, are needed"
        )
    value = over / under
    best = min(max(value, bounds[0]), bounds[1])
    drop = z**2 + (over - best * under) ** 2 / _spread(best, covariance)
    low, high = _around(best, _ratio_polynomial(over, under, covariance, drop), bounds)
    return Estimate(what, n, value, math.sqrt(_spread(value, covariance)) / under, low, high, confidence, target)


def _spread(x: float, covariance: _Floats) -> float:
    """Var(over - x under)."""
    return float(covariance[0, 0] - 2 * x * covariance[0, 1] + x * x * covariance[1, 1])


def _ratio_polynomial(over: float, under: float, covariance: _Floats, drop: float) -> tuple[float, float, float]:
    """The coefficients of (over - x under)^2 - drop Var(over - x under), the highest power first."""
    return (
        float(under**2 - drop * covariance[1, 1]),
        float(-2 * (over * under - drop * covariance[0, 1])),
        float(over**2 - drop * covariance[0, 0]),
    )


def _around(best: float, polynomial: tuple[float, float, float], bounds: tuple[float, float]) -> tuple[float, float]:
    """The stretch about `best`, within the bounds, on which a quadratic polynomial is not positive."""
    a, b, c = polynomial
    half = math.sqrt(max(0.0, b * b - 4 * a * c))
    far = -(b + math.copysign(half, b)) / 2  # the two roots without cancellation
    roots = [top / bottom for top, bottom in ((far, a), (c, far)) if bottom != 0]
    return max([bounds[0], *(r for r in roots if r < best)]), min([bounds[1], *(r for r in roots if r > best)])
