"""Confidence interval of a proportion: the share of one category, from the number of reports with its bit set."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.errors import EstimateError
from deniable.estimate.limits import closed_form, feldman_cousins, finite_population, likelihood_ratio
from deniable.estimate.limits.interval import DEFAULT_METHOD, METHODS, Interval

EXACT_UP_TO = 10_000  # reports; above, the default interval is one for large n, constrained to [0, 1] like the exact one
RARE_UP_TO = 200_000  # the same where a set or an unset bit is so rare that n is not yet large
RARE = 25  # expected bits of that kind
EXACT_DRAWN_UP_TO = 500  # reports of respondents drawn by their devices; each count of holders is then tried by itself

_Limits = Callable[[int, int, float, float, float], tuple[float, float]]
"""Of ones, n, two rates and an error probability: limits for a rate between the two."""

_RATE_LIMITS: dict[str, _Limits] = {
    "feldman-cousins": feldman_cousins.limits,
    "likelihood-ratio": likelihood_ratio.limits,
    "wilson": lambda ones, n, lowest, highest, alpha: closed_form.wilson(ones, n, alpha),
    "clopper-pearson": lambda ones, n, lowest, highest, alpha: closed_form.clopper_pearson(ones, n, alpha),
}
_FOR_LARGE_N = {"population": "likelihood-ratio", "respondents": "constrained-score"}


@dataclass(frozen=True)
class Share:
    """An estimated share of one category.

    Attributes:
        ones, n: Reports with the bit set, and all reports.
        estimate: Unbiased and never clipped, so chance can take it below 0 or above 1.
        std_error: Its standard error, with n (not n - 1) in the denominator, and never below the error of the coins alone.
        low, high: Confidence limits, in [0, 1] for every method but "wald".
        confidence: The confidence of the limits.
        method: The method used.
        target: "population" or "respondents".
    """

    ones: int
    n: int
    estimate: float
    std_error: float
    low: float
    high: float
    confidence: float
    method: str
    target: str


def share(
    ones: int,
    n: int,
    *,
    q0: float | Fraction,
    q1: float | Fraction,
    confidence: float = 0.95,
    method: str = DEFAULT_METHOD,
    target: str = "population",
) -> Share:
    """Estimates the share of a category from `ones` set bits in n reports. Formulas and sources: docs/reference/methods.md.

    Args:
        ones: Reports with the bit set.
        n: Reports.
        q0: P(bit set | another category).
        q1: P(bit set | this category); it may be below q0.
        confidence: The confidence of the limits.
        method: "feldman-cousins" (exact up to n = 10,000, and up to 200,000 if under 25 bits of a kind are expected; then
            "likelihood-ratio", or "constrained-score" for respondents); for a population also "likelihood-ratio", "wilson",
            "clopper-pearson" or "wald", for respondents "constrained-score" or "score".
        target: "population" takes the respondents for a simple random sample of it; "respondents" is about the people who answered, so that
            only the coins are random.

    Raises:
        EstimateError: A value breaks its rule, n is 0, or q0 equals q1: there is no estimate.
    """
    low_rate, high_rate = _probability("q0", q0), _probability("q1", q1)
    interval = Interval(confidence, method, target)
    if q0 == q1 or low_rate == high_rate:
        raise EstimateError(
            f"q0 must differ from q1, got {low_rate:g} for both: the bit is as likely under every answer, "
            "so the reports say nothing (epsilon is 0)"
        )
    return proportion(ones, n, low_rate, high_rate, interval)


def proportion(ones: int, n: int, q0: float, q1: float, interval: Interval) -> Share:
    """Estimates a share as `share` does, from rates that keep its rules. Raises EstimateError for counts that do not."""
    ones, n = _counts(ones, n)
    gap, rate, sampling = q1 - q0, ones / n, interval.sampling(n)
    confidence, target = interval.confidence, interval.target
    estimate = (rate - q0) / gap
    inside = min(1.0, max(0.0, estimate))
    variance = max(rate * (1 - rate), (q0 + gap * inside) * (1 - q0 - gap * inside))
    if sampling < 1:
        variance = inside * q1 * (1 - q1) + (1 - inside) * (q0 * (1 - q0) + sampling * inside * gap**2)
    whose, method = _feasible_method(interval, n, min(q0, 1 - q0, q1, 1 - q1))
    std_error = math.sqrt(variance / n) / abs(gap)
    if method == "wald":  # by the rate as observed
        half = closed_form.normal_quantile(interval.alpha) * math.sqrt(rate * (1 - rate) / n) / abs(gap)
        return Share(ones, n, estimate, std_error, estimate - half, estimate + half, confidence, method, target)
    limits = _of_population if whose == "population" else _of_respondents
    low, high = (min(1.0, max(0.0, limit)) for limit in sorted(limits((ones, n), q0, q1, replace(interval, method=method, target=whose))))
    return Share(ones, n, estimate, std_error, low, high, confidence, method, target)


def _feasible_method(interval: Interval, n: int, rarest: float) -> tuple[str, str]:
    """Returns the target and method of the limits: a method for large n where the default would take too long.

    The randomness of rounding alone, of the respondents, is a sum of independent chances, and no such sum spreads more than a population's
    count (W. Hoeffding, Ann. Math. Stat. 27 (1956)), so they get a population's limits. So do many who were drawn, where limits for large n
    would fail.
    """
    whose = interval.target if interval.sampling(n) < 1 else "population"
    method = interval.method if interval.method in METHODS[whose] else DEFAULT_METHOD
    rare = n <= RARE_UP_TO and n * rarest < RARE
    if method != DEFAULT_METHOD:
        return whose, method
    if n > EXACT_UP_TO and not rare:
        return whose, _FOR_LARGE_N[whose]
    if whose == "respondents" and interval.everybody > n > EXACT_DRAWN_UP_TO:
        return ("population", method) if rare else (whose, _FOR_LARGE_N[whose])
    return whose, method


def _of_population(bits: tuple[int, int], q0: float, q1: float, interval: Interval) -> tuple[float, float]:
    low, high = _RATE_LIMITS[interval.method](*bits, min(q0, q1), max(q0, q1), interval.alpha)
    return (low - q0) / (q1 - q0), (high - q0) / (q1 - q0)


def _of_respondents(bits: tuple[int, int], q0: float, q1: float, interval: Interval) -> tuple[float, float]:
    n = bits[1]
    if interval.method == DEFAULT_METHOD:
        return finite_population.exact(bits, q0, q1, interval.alpha, max(n, interval.everybody))
    if interval.method == "score":
        return closed_form.score(bits, q0, q1, closed_form.normal_quantile(interval.alpha) ** 2, interval.sampling(n))
    return finite_population.constrained_score(bits, q0, q1, interval.alpha, interval.sampling(n))


def _counts(ones: Any, n: Any) -> tuple[int, int]:
    n = _integer("n", n)
    if n < 1:
        raise EstimateError(f"n must be at least 1 report, got {n}: without reports there is no estimate")
    ones = _integer("ones", ones)
    if not 0 <= ones <= n:
        raise EstimateError(f"ones must be from 0 to n = {n}, got {ones}")
    return ones, n


def _integer(name: str, value: Any) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise EstimateError(f"{name} must be a whole number, got {value!r}") from None


def _probability(name: str, value: Any) -> float:
    number = _number(name, value)
    if not 0 <= number <= 1:
        raise EstimateError(f"{name} must be a probability from 0 to 1, got {value!r}")
    return number


def _number(name: str, value: Any) -> float:
    try:
        if isinstance(value, bool | np.bool_ | str | bytes):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise EstimateError(f"{name} must be a number, got {value!r}") from None
