"""Requested confidence interval: its level, method and target."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import scipy

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray

DEFAULT_METHOD = "feldman-cousins"
TARGETS = ("population", "respondents")
METHODS = {
    "population": ("feldman-cousins", "likelihood-ratio", "wilson", "clopper-pearson", "wald"),
    "respondents": ("feldman-cousins", "constrained-score", "score"),
}


@dataclass(frozen=True)
class Interval:
    """A request for confidence limits. Raises EstimateError that names the wrong keyword.

    Public functions take confidence, method and target as keywords of these names, and check them by making this object.

    Attributes:
        confidence: The probability that the limits enclose the truth, above 0 and below 1.
        method: The method of a single share's limits; see `share`.
        target: "population", with the respondents a random sample of it, or "respondents", the people who answered.
        everybody: How many people answered the survey, if devices drew the questions; 0 if all were asked.
        rounding: The part of the answers' variance that may be rounding to a grid, from 0 to 1.
        df: Degrees of freedom of the errors; finite if few clusters, or the reports themselves, determine them.
        wider: The factor that corrects such standard errors, which tend to be too small.
    """

    confidence: float = 0.95
    method: str = DEFAULT_METHOD
    target: str = "population"
    everybody: int = 0
    rounding: float = 0.0
    df: float = math.inf
    wider: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "confidence", _confidence(self.confidence))
        if self.target not in TARGETS:
            raise EstimateError(f"target must be one of {', '.join(TARGETS)}, got {self.target!r}")
        if self.method not in METHODS[self.target]:
            raise EstimateError(
                f"method must be one of {', '.join(METHODS[self.target])} where target is {self.target}, got {self.method!r}"
            )

    @property
    def alpha(self) -> float:
        """The probability that the limits miss the truth."""
        return 1 - self.confidence

    @property
    def quantile(self) -> float:
        """The distance of a limit in standard errors: t with P(|T| > t) = alpha for Student's T with df degrees of freedom, else normal.

        It is multiplied by `wider`, where errors tend to be too small.
        """
        return -self.wider * float(
            scipy.special.ndtri(self.alpha / 2) if math.isinf(self.df) else scipy.special.stdtrit(self.df, self.alpha / 2)
        )

    def for_weights(self, weights: FloatArray) -> Interval:
        """Returns the interval of a mean whose error is estimated from the reports themselves; weights: one a report.

        See `for_reports` without weights.
        """
        total, squares = float(weights.sum()), float((weights**2).sum())
        left = 1 - 2 * float((weights**3).sum()) / (total * squares) + squares / total**2
        return self._with_estimated_error(squares**2 / float((weights**4).sum()), left)

    def for_reports(self, n: int) -> Interval:
        """Returns the interval for n equally weighted reports: Student's t with n - 1 degrees of freedom.

        Errors are sqrt(n / (n - 1)) times wider.
        """
        return self._with_estimated_error(n, 1 - 1 / n)

    def _with_estimated_error(self, worth: float, left: float) -> Interval:
        """Returns the interval with estimated errors. One report counts as two.

        left: the part of a variance left about the reports' own mean.
        """
        return replace(self, df=max(worth - 1, 1.0), wider=max(left, 0.5) ** -0.5)

    def sampling(self, n: int) -> float:
        """Returns the part of the answers' own variance that an estimate from n reports has besides the coins, from 0 to 1.

        It is 1 for a population. For the respondents it is (N - n) / (N - 1), if n of the N were drawn without replacement (W. Cochran,
        "Sampling Techniques" (1977), section 2.6), and of the rest as much as rounding may be.
        """
        if self.target == "population":
            return 1.0
        sampled = (self.everybody - n) / (self.everybody - 1) if self.everybody > n else 0.0
        return sampled + (1 - sampled) * self.rounding


def confidence_of(alpha: float | None, confidence: float | None, usual: float) -> float:
    """Returns the requested confidence, given directly or as the probability alpha of missing the truth; else `usual`.

    Raises:
        EstimateError: Both are given, or a number is not above 0 and below 1.
    """
    if alpha is not None and confidence is not None:
        raise EstimateError(f"alpha and confidence must not be given together, got {alpha!r} and {confidence!r}")
    if confidence is not None:
        return _confidence(confidence)
    if alpha is None:
        return usual
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0 < alpha < 1:
        raise EstimateError(f"alpha must be above 0 and below 1, got {alpha!r}")
    return 1 - float(alpha)


def require_confidence(alpha: float | None, confidence: float | None, own: float, instead: str) -> None:
    """Requires the confidence that limits have. instead: the call that offers other levels.

    Raises:
        EstimateError: Another confidence is requested.
    """
    requested = confidence_of(alpha, confidence, own)
    if not math.isclose(requested, own, rel_tol=0, abs_tol=1e-9):
        raise EstimateError(f"confidence must be {own:g}, which these limits have, got {requested:g}; {instead}")


def _confidence(value: Any) -> float:
    try:
        if isinstance(value, bool | str | bytes):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise EstimateError(f"confidence must be a number, got {value!r}") from None
    if not 0 < 1 - number < 1:
        raise EstimateError(f"confidence must be above 0 and below 1, got {value!r}")
    return number
