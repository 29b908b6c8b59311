"""Quantitative indirect questions: numbers scrambled by a chance number, and counts of acquaintances (network scale-up)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.designs.classic import probability
from deniable.estimate.indirect.estimates import Estimates
from deniable.estimate.limits import normal
from deniable.estimate.limits.interval import Interval


@dataclass(frozen=True)
class Scrambling:
    """A report whose mean, for a true number y, is factor y + shift. Raises EstimateError if it does not depend on y."""

    name: str
    factor: float
    shift: float

    def __post_init__(self) -> None:
        for name in ("factor", "shift"):
            object.__setattr__(self, name, _number(name, getattr(self, name)))
        if not self.factor:
            raise EstimateError(f"{self.name}: the report must depend on the true number, got a factor of 0")

    @classmethod
    def multiplied(cls, mean: float) -> Scrambling:
        """Returns the design that reports y S, for a chance number S of this mean.

        B. Eichhorn and L. Hayre, J. Stat. Plan. Inference 7 (1983).
        """
        return cls(f"multiplied (mean {_number('mean', mean):.4g})", mean, 0.0)

    @classmethod
    def added(cls, mean: float) -> Scrambling:
        """Returns the design that reports y + S, for a chance number S of this mean.

        K. Pollock and Y. Bek, J. Am. Stat. Assoc. 71 (1976).
        """
        return cls(f"added (mean {_number('mean', mean):.4g})", 1.0, mean)

    @classmethod
    def replaced(cls, p: float, mean: float) -> Scrambling:
        """Returns the design that reports y with chance p, else a chance number, or the answer to a harmless question, of this mean.

        B. Greenberg et al., J. Am. Stat. Assoc. 66 (1971); S. Eriksson, Int. Stat. Review 41 (1973).
        """
        p, mean = probability("p", p), _number("mean", mean)
        return cls(f"replaced (true with {p:.4g}, mean {mean:.4g})", p, (1 - p) * mean)

    @classmethod
    def sometimes_multiplied(cls, p: float, mean: float) -> Scrambling:
        """Returns the design that reports y with chance p, else y S, for a chance number S of this mean.

        S. Bar-Lev et al., Metrika 60 (2004).
        """
        p, mean = probability("p", p), _number("mean", mean)
        return cls(f"sometimes multiplied (true with {p:.4g}, mean {mean:.4g})", p + (1 - p) * mean, 0.0)


def scrambled_mean(
    reports: Sequence[float] | FloatArray,
    scrambling: Scrambling,
    *,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    confidence: float = 0.95,
) -> Estimates:
    """Estimates the mean of the true numbers ("mean") from scrambled reports: (mean of the reports - shift) / factor, unbiased.

    The error comes from the reports' own spread, with Student's t. The privacy loss of a report depends on the chance numbers, and is not
    bounded here.

    Args:
        reports: Shape (n,), n >= 2, not all equal.
        scrambling: The design.
        bounds: The range of the true numbers.
        confidence: The confidence of the limits.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    values = _column("reports", reports)
    if len(values) < 2 or np.ptp(values) == 0:
        raise EstimateError("reports must be at least 2, and not all equal: their spread tells the error")
    low, high = (float(bound) for bound in bounds)
    if not low < high:
        raise EstimateError(f"bounds must be the least and the greatest true number, got {low:g} and {high:g}")
    n, interval = len(values), Interval(confidence)
    value = (float(values.mean()) - scrambling.shift) / scrambling.factor
    variance = float(values.var(ddof=1)) / n / scrambling.factor**2
    result = normal.limited("mean", n, value, variance, replace(interval, df=n - 1), (low, high))
    result = replace(result, warning=_skewness_warning(values))
    assumes = ("the chance numbers have the mean that is stated, whatever the true number is",)
    return Estimates(f"scrambled numbers: {scrambling.name}", None, (result,), assumes)


def network_scale_up(
    hidden: Sequence[float] | FloatArray,
    known_groups: Sequence[Sequence[float]] | FloatArray,
    sizes: Sequence[float] | FloatArray,
    *,
    confidence: float = 0.95,
) -> Estimates:
    """Estimates the size of a group that cannot be asked ("size"), from how many of its members the respondents know.

    (sum of hidden / sum of known) x (sum of sizes), the basic scale-up estimate: P. Killworth et al., Evaluation Review 22 (1998). Their
    error takes every acquaintance for an independent draw; here people are, so the spread between respondents counts, by Fieller.
    Answers are not randomized; they are only protected by being about others.

    Args:
        hidden: Shape (n,), acquaintances in the hidden group.
        known_groups: Shape (n, K), acquaintances in K groups of known sizes.
        sizes: Shape (K,), the sizes of these groups.
        confidence: The confidence of the limits.

    Raises:
        EstimateError: An argument breaks its rule, or no respondent knows a member of a group.
    """
    mine, others, total = _column("hidden", hidden), _column("known_groups", known_groups, 2), _column("sizes", sizes)
    if others.shape != (len(mine), len(total)) or len(mine) < 2:
        raise EstimateError(f"known_groups must have a row for each of 2 or more respondents and a column a size, got shape {others.shape}")
    if (mine < 0).any() or (others < 0).any() or (total <= 0).any():
        raise EstimateError("hidden and known_groups must be numbers of people from 0, and sizes above 0")
    if not mine.any() or not others.any():
        raise EstimateError("hidden and known_groups must not be all 0: without acquaintances in a group its size cannot be estimated")
    pair = np.stack([mine, others.sum(axis=1)])
    parts, covariance = pair.mean(axis=1), np.cov(pair) / len(mine)
    if not float(np.array([parts[1], -parts[0]]) @ covariance @ np.array([parts[1], -parts[0]])) > 0:
        raise EstimateError("hidden and known_groups must not be in one proportion for everybody: their spread tells the error")
    result = normal.ratio("size", len(mine), (float(parts[0]), float(parts[1])), covariance, Interval(confidence), (0.0, math.inf))
    parts_to_people = ("estimate", "std_error", "low", "high")
    result = replace(result, **{name: float(total.sum()) * getattr(result, name) for name in parts_to_people})
    assumes = (
        "everybody is as likely to know someone of the hidden group as of the known ones (no barriers)",
        "people know of their acquaintances whether they are in the group (no hiding), and count them rightly",
    )
    return Estimates("network scale-up", None, (result,), assumes)


def _skewness_warning(values: FloatArray) -> str:
    """Returns the warning about too few reports for their skewness, or nothing: W. Cochran, "Sampling Techniques" (1977), section 2.15."""
    off = values - values.mean()
    enough = 25 * float((off**3).mean() / (off**2).mean() ** 1.5) ** 2
    if len(values) >= enough:
        return ""
    return f"the reports are skewed, as {enough:,.0f} would have to be for limits to hold the truth as often as they say"


def _column(name: str, values: Any, dimensions: int = 1) -> FloatArray:
    try:
        result = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise EstimateError(f"{name} must be numbers") from None
    if result.ndim != dimensions or not np.isfinite(result).all():
        raise EstimateError(f"{name} must be finite numbers in {dimensions} dimension{'s' if dimensions > 1 else ''}")
    return result


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool | str) or not isinstance(value, int | float | np.number) or not math.isfinite(value):
        raise EstimateError(f"{name} must be a finite number, got {value!r}")
    return float(value)
