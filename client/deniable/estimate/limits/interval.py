"""Which interval is wanted: how sure it is to be, by which method, and about whom."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from deniable.errors import EstimateError

DEFAULT_METHOD = "feldman-cousins"
TARGETS = ("population", "respondents")
METHODS = {
    "population": ("feldman-cousins", "likelihood-ratio", "wilson", "clopper-pearson", "wald"),
    "respondents": ("feldman-cousins", "constrained-score", "score"),
}


@dataclass(frozen=True)
class Interval:
    """confidence: the chance that limits hold the truth, above 0 and below 1. method: of a single share's limits; see `share`.

    target: "population", of which the respondents are a random sample, or "respondents", those who answered. Public functions take
    the three as keywords of these names and make this of them, which is where they are checked. Raises EstimateError, naming the
    keyword.
    everybody: how many answered the survey, where devices drew who is asked this; 0 where all were. rounding: of the answers' variance,
    the part that may be rounding to a grid, from 0 to 1. Both say what more than coins is random about the respondents.
    df: degrees of freedom of the errors, finite where few clusters, or the reports themselves, tell them. wider: how many times too small
    such errors tend to be.
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
        """The chance that limits miss the truth."""
        return 1 - self.confidence

    @property
    def quantile(self) -> float:
        """How many standard errors a limit is away: t with P(|T| > t) = alpha, for Student's T with df degrees of freedom; else normal.

        Where errors tend to be too small, so many times as far.
        """
        return -self.wider * float(
            scipy.special.ndtri(self.alpha / 2) if math.isinf(self.df) else scipy.special.stdtrit(self.df, self.alpha / 2)
        )

    def told_by(self, weights: NDArray[np.float64]) -> Interval:
        """The same for a mean whose error the reports themselves tell; weights: one a report. Without them see `told_by_all`."""
        total, squares = float(weights.sum()), float((weights**2).sum())
        left = 1 - 2 * float((weights**3).sum()) / (total * squares) + squares / total**2
        return self._told(squares**2 / float((weights**4).sum()), left)

    def told_by_all(self, n: int) -> Interval:
        """The same for n reports that count alike: Student's t with n - 1 degrees of freedom, and errors sqrt(n / (n - 1)) times wider."""
        return self._told(n, 1 - 1 / n)

    def _told(self, worth: float, left: float) -> Interval:
        """left: of a variance, what is left about the reports' own mean. One report tells no error, and counts as two."""
        return replace(self, df=max(worth - 1, 1.0), wider=max(left, 0.5) ** -0.5)

    def sampling(self, n: int) -> float:
        """The part of the answers' own variance that an estimate from n reports has beside its coins, from 0 to 1.

        All of it for a population. For the respondents (N - n) / (N - 1), where n of the N were drawn without replacement (W. Cochran,
        "Sampling Techniques" (1977), section 2.6), and of the rest as much as rounding may be.
        """
        if self.target == "population":
            return 1.0
        sampled = (self.everybody - n) / (self.everybody - 1) if self.everybody > n else 0.0
        return sampled + (1 - sampled) * self.rounding


def confidence_of(alpha: float | None, confidence: float | None, usual: float) -> float:
    """Returns the confidence that is asked for, by itself or as the chance alpha of missing the truth; `usual` where neither is.

    Raises EstimateError for both at once, and for a number that is not above 0 and below 1.
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
    """Raises EstimateError where limits of another confidence are asked for than there are. instead: what has such."""
    item = confidence_of(alpha, confidence, own)
    if not math.isclose(item, own, rel_tol=0, abs_tol=1e-9):
        raise EstimateError(f"confidence must be {own:g}, which these limits have, got {item:g}; {instead}")


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
