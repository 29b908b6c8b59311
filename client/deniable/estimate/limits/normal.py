"""Estimates with normal errors: limits within the possible range, ratios, and hypothesis tests."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass, field, fields, replace

import numpy as np
import scipy

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.limits.closed_form import normal_quantile
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.origin import Origin
from deniable.estimate.present.figures import p_value
from deniable.estimate.present.table import Table, footnote_lines, footnotes
from deniable.estimate.present.tabular import Tabular

_WIDE = 0.25  # error probabilities from which on the interval may be a single point
_FAR = 40.0  # standard errors
_HALVINGS = 30  # leave less than a hundred-millionth of a standard error


@dataclass(frozen=True)
class HypothesisTest(Tabular):
    """Test of a hypothesis. It prints as a sentence.

    Attributes:
        what: The hypothesis.
        statistic: Chi-squared with df degrees of freedom under the hypothesis, for large n.
        df: Degrees of freedom.
        p_value: The p-value.
        warning: The reason why the p-value may be wrong (see `few`), or empty.
        reference: The reference distribution, if it is not chi-squared with df degrees of freedom; else empty.
    """

    what: str
    statistic: float
    df: int
    p_value: float
    warning: str = ""
    reference: str = ""

    def tables(self) -> tuple[Table, ...]:
        """Returns one row, with the warning below."""
        marks = footnotes([self.warning])
        by = self.reference or "chi-squared"
        cells = (self.what, f"{self.statistic:.4g}", f"{self.df}", p_value(self.p_value), by, marks.get(self.warning, ""))
        return (Table("", ("hypothesis", "chi-squared", "df", "p", "p by", ""), (cells,), footnote_lines(marks)),)

    def records(self) -> tuple[Table, ...]:
        """Returns one row named `test`, with the fields above."""
        return (Table("test", tuple(one.name for one in fields(self)), (astuple(self),)),)

    def __str__(self) -> str:
        by = f" by {self.reference}" if self.reference else ""
        text = f"{self.what}: chi-squared {self.statistic:.4g} with {self.df} df, p {p_value(self.p_value)}{by}"
        return f"{text}; {self.warning}" if self.warning else text


@dataclass(frozen=True)
class Estimate(Tabular):
    """One number with its error. It prints as a sentence.

    Attributes:
        what: The estimated quantity, in words.
        n: Reports.
        estimate: Never clipped, so chance can take it out of its range.
        std_error: The standard error.
        low, high: Limits, within the possible range.
        confidence: The confidence of the limits.
        target: "population" or "respondents".
        warning: The reason why the limits may miss the truth more often than `confidence` allows (see `few`), or empty.
        origin: The reports used, if known; it is neither compared nor written.
    """

    what: str
    n: int
    estimate: float
    std_error: float
    low: float
    high: float
    confidence: float
    target: str
    warning: str = ""
    origin: Origin | None = field(default=None, compare=False, repr=False, kw_only=True)

    def tables(self) -> tuple[Table, ...]:
        """Returns one row, with the warning below."""
        marks = footnotes([self.warning])
        cells = (self.what, f"{self.n:,}", f"{self.estimate:z.4g}", f"{self.std_error:.3g}", f"{self.low:z.4g} – {self.high:z.4g}")
        about = (f"{100 * self.confidence:g}% interval · target: {self.target}",)
        header = ("figure", "reports", "estimate", "std error", "interval", "")
        return (Table("", header, ((*cells, marks.get(self.warning, "")),), footnote_lines(marks), about),)

    def records(self) -> tuple[Table, ...]:
        """Returns one row named `estimate`, with the fields above."""
        names = tuple(one.name for one in fields(self) if one.compare)
        return (Table("estimate", names, (tuple(getattr(self, name) for name in names),)),)

    def test(self, value: float = 0.0) -> HypothesisTest:
        """Tests whether the truth is `value`, from both sides, by the estimate's distance in standard errors."""
        result = chi_squared(f"{self.what} is {value:g}", ((self.estimate - value) / self.std_error) ** 2, 1)
        return replace(result, warning=self.warning)

    def __str__(self) -> str:
        limits = f"{100 * self.confidence:g}% {self.low:z.4g} to {self.high:z.4g}"
        text = f"{self.what}: {self.estimate:z.4g}, standard error {self.std_error:.3g}, {limits}"
        return f"{text}; {self.warning}" if self.warning else text


@dataclass(frozen=True)
class ClusterEstimate(Estimate):
    """Estimate whose error comes from few clusters, or from the reports themselves; df and wider are as in `Interval`."""

    df: float = math.inf
    wider: float = 1.0

    def test(self, value: float = 0.0) -> HypothesisTest:
        """Tests whether the truth is `value`, from both sides, by Student's t, whose square is the statistic over `wider` squared."""
        result = super().test(value)
        square = result.statistic / self.wider**2
        by = f"t {math.sqrt(square):.4g} with {self.df:.6g} df"
        return replace(result, p_value=float(scipy.special.fdtrc(1, self.df, square)), reference=by)


def chi_squared(what: str, statistic: float, df: int) -> HypothesisTest:
    """Returns the test whose statistic is chi-squared with df degrees of freedom under its hypothesis."""
    return HypothesisTest(what, float(statistic), df, float(scipy.special.chdtrc(df, statistic)))


def by_f(test: HypothesisTest, f: float, first: float, second: float) -> HypothesisTest:
    """Returns the test with the p-value of F = f with so many degrees of freedom; by chi-squared where the second are infinite."""
    if math.isinf(second):
        by = f"chi-squared {first * f:.4g} with {first:.4g} df"
        return replace(test, p_value=float(scipy.special.chdtrc(first, first * f)), reference=by)
    by = f"F {f:.4g} with {first:.4g} and {second:.6g} df"
    return replace(test, p_value=float(scipy.special.fdtrc(first, second, f)), reference=by)


def limits(estimate: FloatArray, std_error: FloatArray, confidence: float, lowest: float, highest: float) -> tuple[FloatArray, FloatArray]:
    """Returns confidence limits of values in [lowest, highest] from estimates with normal errors, std_error > 0; any shape.

    Feldman-Cousins, as for single shares, here for a normal estimate: all values whose p-value is above 1 - confidence. Away from the
    ends of the range this is the Wald interval; near them it covers as often, with limits inside the range and always with a width. Below
    75% confidence it is the constrained likelihood-ratio interval, since a width cannot be kept otherwise.
    """
    # an end that is far away changes nothing, and may be infinite
    start = np.maximum(lowest, np.minimum(estimate, highest) - _FAR * std_error)
    stop = np.minimum(highest, np.maximum(estimate, lowest) + _FAR * std_error)
    x, top = (estimate - start) / std_error, (stop - start) / std_error
    alpha = 1 - confidence
    z = normal_quantile(alpha)
    best = np.clip(x, 0.0, top)
    half = np.hypot(best - x, z)
    # the constrained likelihood-ratio limits, which are nowhere inside the others, and the same two z from the ends
    outer = np.stack([np.maximum(x - half, 0.0), np.minimum(x + half, top)])
    near = (x < 2 * z) | (x > top - 2 * z)
    if alpha < _WIDE and near.any():
        outer[:, near] = _outermost_accepted(x[near], top[near], best[near], outer[:, near], alpha)
    low, high = start + std_error * outer
    return np.maximum(low, lowest), np.where(outer[1] >= top, stop, np.minimum(high, highest))


def _outermost_accepted(x: FloatArray, top: FloatArray, best: FloatArray, outer: FloatArray, alpha: float) -> FloatArray:
    """Searches by bisection between `best`, which is accepted, and `outer`: the p-value falls on either side of best."""
    inside = np.where(_p_value(x, top, outer) > alpha, outer, best)
    for _ in range(_HALVINGS):
        middle = (inside + outer) / 2
        accepted = _p_value(x, top, middle) > alpha
        inside, outer = np.where(accepted, middle, inside), np.where(accepted, outer, middle)
    return inside


def _p_value(x: FloatArray, top: FloatArray, value: FloatArray) -> FloatArray:
    """Returns the probability, if `value` in [0, top] is true, that a standard normal estimate is no likelier than x, relative to the best.

    Twice that log ratio is (x - value)^2 inside [0, top], and (x - value)^2 - x^2 = value (value - 2x) below 0; above top, mirrored.
    """
    above = top - value
    drop = np.where(x < 0, value * (value - 2 * x), np.where(x > top, above * (2 * x - value - top), (x - value) ** 2))
    root = np.sqrt(drop)
    with np.errstate(divide="ignore", invalid="ignore"):
        below_zero, over_top = (value - drop / value) / 2, (above - drop / above) / 2
    reach_down = np.where(root <= value, root, np.where(value > 0, value - below_zero, np.inf))
    reach_up = np.where(root <= above, root, np.where(above > 0, above - over_top, np.inf))
    p_value: FloatArray = scipy.special.ndtr(-reach_down) + scipy.special.ndtr(-reach_up)
    return p_value


def limited(what: str, n: int, value: float, variance: float, interval: Interval, bounds: tuple[float, float]) -> Estimate:
    """Returns an estimate of this variance with the limits above; wider by Student's t if few clusters determine the variance."""
    std_error = math.sqrt(variance)
    low, high = limits(np.array(value), np.array(std_error * stretch(interval)), interval.confidence, *bounds)
    return estimated(what, n, value, std_error, (float(low), float(high)), interval)


def estimated(
    what: str, n: int, value: float, std_error: float, limits: tuple[float, float], interval: Interval, warning: str = ""
) -> Estimate:
    """Returns an estimate with these limits, and with the degrees of freedom of its error."""
    fields = (what, n, value, std_error, *limits, interval.confidence, interval.target, warning)
    return Estimate(*fields) if math.isinf(interval.df) else ClusterEstimate(*fields, interval.df, interval.wider)


def stretch(interval: Interval) -> float:
    """Returns how many times wider limits are than with a normal error: 1, unless few clusters determine the error."""
    return interval.quantile / normal_quantile(interval.alpha)


def ratio(
    what: str,
    n: int,
    parts: tuple[float, float],
    covariance: FloatArray,
    interval: Interval,
    bounds: tuple[float, float],
    sides: tuple[FloatArray, FloatArray] | None = None,
) -> Estimate:
    """Returns a ratio of two estimates, parts = (over, under), whose covariance has shape (2, 2).

    Limits are all x within bounds with T(x) - T(best) <= z^2 for T(x) = (over - x under)^2 / Var(over - x under), with `best` the ratio
    moved into the bounds (E. Fieller, J. R. Stat. Soc. B 16 (1954), if nothing bounds x). The standard error is by the delta method. If
    `under` is not clearly above 0, a limit may be a bound, and a warning says so. `sides` has other covariances, for the lower and the
    upper limit.

    Raises:
        EstimateError: `under` is not above 0, so there is no ratio.
    """
    over, under = parts
    if min(covariance[0, 0], covariance[1, 1]) < 0:  # digits are lost where epsilon is about 10^-8
        raise EstimateError(f"{what}: its error cannot be computed from so little information; use a larger epsilon")
    z, error = interval.quantile, math.sqrt(covariance[1, 1])
    if under <= 0:
        raise EstimateError(
            f"{what}: the denominator must be above 0, got {under:.4g} with a standard error of {error:.4g}; "
            "more reports, or a larger epsilon, are needed"
        )
    value = over / under
    best = min(max(value, bounds[0]), bounds[1])
    low, high = bounds
    below, above = sides or (covariance, covariance)
    if best > low:
        low = _around(best, _ratio_polynomial(parts, below, z**2 + _beyond(best, parts, below)), bounds)[0]
    if best < high:
        high = _around(best, _ratio_polynomial(parts, above, z**2 + _beyond(best, parts, above)), bounds)[1]
    std_error = math.sqrt(_spread(value, covariance)) / under
    warning = "" if under > z * error else _unbounded_warning((low, high), bounds)
    return estimated(what, n, value, std_error, (low, high), interval, warning)


def _unbounded_warning(limits: tuple[float, float], bounds: tuple[float, float]) -> str:
    """Returns the warning about a ratio whose denominator may be 0."""
    if limits == bounds:
        return "its denominator is not clearly above 0: the reports exclude nothing that is possible"
    return "its denominator is not clearly above 0: the reports bound it on one side only" if set(limits) & set(bounds) else ""


def _spread(x: float, covariance: FloatArray) -> float:
    """Returns Var(over - x under)."""
    return float(covariance[0, 0] - 2 * x * covariance[0, 1] + x * x * covariance[1, 1])


def _beyond(best: float, parts: tuple[float, float], covariance: FloatArray) -> float:
    """Returns T(best): 0 where the ratio is possible, and best is the ratio itself."""
    return 0.0 if best == parts[0] / parts[1] else (parts[0] - best * parts[1]) ** 2 / _spread(best, covariance)


def _ratio_polynomial(parts: tuple[float, float], covariance: FloatArray, drop: float) -> tuple[float, float, float]:
    """Returns the coefficients of (over - x under)^2 - drop Var(over - x under), the highest power first."""
    over, under = parts
    return (
        float(under**2 - drop * covariance[1, 1]),
        float(-2 * (over * under - drop * covariance[0, 1])),
        float(over**2 - drop * covariance[0, 0]),
    )


def _around(best: float, polynomial: tuple[float, float, float], bounds: tuple[float, float]) -> tuple[float, float]:
    """Returns the interval about `best`, within the bounds, on which a quadratic polynomial is not positive."""
    a, b, c = polynomial
    if a <= 0 and b * b < 4 * a * c:  # nowhere positive
        return bounds
    half = math.sqrt(max(0.0, b * b - 4 * a * c))
    far = -(b + math.copysign(half, b)) / 2  # the two roots without cancellation
    roots = [top / bottom for top, bottom in ((far, a), (c, far)) if bottom != 0]
    return max([bounds[0], *(r for r in roots if r < best)]), min([bounds[1], *(r for r in roots if r > best)])
