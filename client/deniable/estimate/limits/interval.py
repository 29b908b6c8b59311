"""Which interval is wanted: how sure it is to be, by which method, and about whom."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import scipy

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
    df: degrees of freedom of the errors, finite where they are those of a few clusters. wider: how many times too small errors tend to be
    that clusters of different sizes tell.
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

    def sampling(self, n: int) -> float:
        """The part of the answers' own variance that an estimate from n reports has beside its coins, from 0 to 1.

        All of it for a population. For the respondents (N - n) / (N - 1), where n of the N were drawn without replacement (W. Cochran,
        "Sampling Techniques" (1977), section 2.6), and of the rest as much as rounding may be.
        """
        if self.target == "population":
            return 1.0
        drawn = (self.everybody - n) / (self.everybody - 1) if self.everybody > n else 0.0
        return drawn + (1 - drawn) * self.rounding


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
