"""One share from yes/no reports whose design varies from respondent to respondent.

Respondents of one design are a stratum: ones_s of n_s said yes, with q0_s and q1_s. The pseudo-answers (y - q0_s) / (q1_s - q0_s) are
unbiased in every stratum, so any mean of them with weights that do not depend on the answers is, if the share is the same in
all strata. The weights are the inverse variances at a share of one half. For the target "respondents" all weights are equal: that needs
no such assumption.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.limits.closed_form import normal_quantile
from deniable.estimate.limits.interval import DEFAULT_METHOD, Interval
from deniable.estimate.limits.proportion import Share, proportion
from deniable.estimate.limits.roots import root

METHODS = ("likelihood-ratio", "wald")


@dataclass(frozen=True)
class Strata:
    """Respondents by their design.

    Attributes:
        ones: Reports of yes in each stratum, shape (s,).
        n: Reports in each stratum, shape (s,).
        q0, q1: The design of each stratum, shape (s,), different everywhere.
    """

    ones: NDArray[np.int64]
    n: NDArray[np.int64]
    q0: FloatArray
    q1: FloatArray

    @classmethod
    def count(cls, yes: NDArray[np.bool_], q0: FloatArray, q1: FloatArray) -> Strata:
        """Groups respondents, shape (n,) each, by their design; q0 differs from q1 everywhere."""
        designs, which = np.unique(np.column_stack([q0, q1]), axis=0, return_inverse=True)
        n = np.bincount(which.ravel(), minlength=len(designs))
        ones = np.bincount(which.ravel()[yes], minlength=len(designs))
        return cls(ones, n, designs[:, 0], designs[:, 1])

    def share(self, interval: Interval) -> Share:
        """Returns the common share; as `share` if there is one stratum. Raises EstimateError."""
        if not self.n.sum():
            raise EstimateError("n must be at least 1 report, got 0: without reports there is no estimate")
        if len(self.n) == 1:
            one = (int(self.ones[0]), int(self.n[0]))
            return proportion(*one, float(self.q0[0]), float(self.q1[0]), interval)
        confidence, method, target = interval.confidence, interval.method, interval.target
        if target == "respondents":
            if method not in (DEFAULT_METHOD, "constrained-score"):
                raise EstimateError(f"method must be constrained-score where the design varies by row, got {method!r}")
            method, weights = "constrained-score", np.full(len(self.n), 1 / self.n.sum())
        elif method in (DEFAULT_METHOD, *METHODS):
            method, weights = "likelihood-ratio" if method == DEFAULT_METHOD else method, self._weights()
        else:
            raise EstimateError(f"method must be one of {', '.join(METHODS)} where the design varies by row, got {method!r}")
        estimate = float(weights @ ((self.ones - self.n * self.q0) / (self.q1 - self.q0)))
        z, (at_0, slope) = normal_quantile(interval.alpha), self._coin_variance(weights)
        coins = at_0 + slope * min(1.0, max(0.0, estimate))
        if target == "respondents":
            std_error = math.sqrt(coins)
            low, high = _score_limits(estimate, at_0, slope, z)
        else:
            std_error = math.sqrt(max(coins, self._variance(weights, estimate)))
            wald = (estimate - z * std_error, estimate + z * std_error)
            low, high = wald if method == "wald" else self._likelihood_limits(interval.alpha)
        return Share(int(self.ones.sum()), int(self.n.sum()), estimate, std_error, low, high, confidence, method, target)

    def _weights(self) -> FloatArray:
        """Returns the weight of one respondent of each stratum; over all respondents they add to 1."""
        middle = (self.q0 + self.q1) / 2
        weights = (self.q1 - self.q0) ** 2 / (middle * (1 - middle))
        return np.asarray(weights / (self.n @ weights))

    def _variance(self, weights: FloatArray, estimate: float) -> float:
        """Returns the sum of squared weighted distances of the pseudo-answers from their mean.

        It is f (1 - f) / (n (q1 - q0)^2) for one stratum.
        """
        gap = self.q1 - self.q0
        yes, no = (1 - self.q0) / gap - estimate, -self.q0 / gap - estimate
        return float(weights**2 @ (self.ones * yes**2 + (self.n - self.ones) * no**2))

    def _coin_variance(self, weights: FloatArray) -> tuple[float, float]:
        """Returns the variance by the coins alone, a straight line in the share: its value at 0, and its slope."""
        each = self.n * weights**2 / (self.q1 - self.q0) ** 2
        at_0, at_1 = float(each @ (self.q0 * (1 - self.q0))), float(each @ (self.q1 * (1 - self.q1)))
        return at_0, at_1 - at_0

    def _likelihood_limits(self, alpha: float) -> tuple[float, float]:
        """Returns the ends of all p in [0, 1] whose log-likelihood is near the largest one there (Wilks)."""
        drop, best = float(scipy.special.chdtri(1, alpha)) / 2, self._most_likely()
        top = self._log_likelihood(best)

        def excess(p: float) -> float:
            return max(top - self._log_likelihood(p), 0.0) - drop if math.isfinite(self._log_likelihood(p)) else 1e300

        low = 0.0 if excess(0.0) <= 0 else root(excess, 0.0, best, xtol=1e-13)
        high = 1.0 if excess(1.0) <= 0 else root(excess, best, 1.0, xtol=1e-13)
        return low, high

    def _most_likely(self) -> float:
        """Returns the maximum over [0, 1] of a concave function."""
        if self._slope(0.0) <= 0:
            return 0.0
        if self._slope(1.0) >= 0:
            return 1.0
        return root(self._slope, 0.0, 1.0, xtol=1e-14)

    def _slope(self, p: float) -> float:
        rate = self.q0 + p * (self.q1 - self.q0)
        with np.errstate(divide="ignore", invalid="ignore"):
            yes = np.where(self.ones > 0, self.ones / rate, 0.0)
            no = np.where(self.ones < self.n, (self.n - self.ones) / (1 - rate), 0.0)
        return float(np.clip(((self.q1 - self.q0) * (yes - no)), -1e300, 1e300).sum())

    def _log_likelihood(self, p: float) -> float:
        rate = self.q0 + p * (self.q1 - self.q0)
        with np.errstate(divide="ignore"):
            yes = np.where(self.ones > 0, self.ones * np.log(np.where(self.ones > 0, rate, 1.0)), 0.0)
            no = np.where(self.ones < self.n, (self.n - self.ones) * np.log1p(np.where(self.ones < self.n, -rate, 0.0)), 0.0)
        return float((yes + no).sum())


def _score_limits(estimate: float, at_0: float, slope: float, z: float) -> tuple[float, float]:
    """Returns the shares p in [0, 1] with T(p) - T(best) <= z^2 for T(p) = (estimate - p)^2 / (at_0 + slope p): a quadratic.

    best: the estimate, moved into [0, 1]. So an estimate outside has an interval too, as in `limits.finite_population`.
    """
    best = min(1.0, max(0.0, estimate))
    z2 = z**2 + ((estimate - best) ** 2 / (at_0 + slope * best) if estimate != best else 0.0)
    middle = estimate + z2 * slope / 2
    half = math.sqrt(max(0.0, middle**2 - estimate**2 + z2 * at_0))
    return min(1.0, max(0.0, middle - half)), min(1.0, max(0.0, middle + half))
