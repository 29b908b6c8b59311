"""Shrinkage estimates of shares: none below 0, adding to 1, and nearer to the truth than the unbiased estimate.

Two or three categories: the nearest point of the simplex; for two, this is maximum likelihood. More categories that are all clearly above 0
get it too, since nothing is cut off then and shrinking gains nothing: the unbiased estimate itself. Else:
an empirical Bayes estimate, which learns from all of them whether small estimates are mostly noise, as no estimate
can in fewer than three dimensions (C. Stein, Proc. Third Berkeley Symp. 1, 1956). docs/reference/methods.md has the
derivation, benchmarks/adjusted.py measures it.

Model: the unbiased estimates u_1 .. u_k, which add to 1, are independent normals about the shares p_i with variances
v_i, given their sum; the shares have a symmetric Dirichlet(a) prior: independent p_i^(a-1), given their sum. A
factor exp(-tilt p_i) on each changes nothing where the sum is fixed, and the tilt at which the means add to 1 makes
independence given the sum a good approximation to plain independence (a saddlepoint).
"""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray

_CLEAR = 4.0  # standard errors above 0 from which on a share is not mostly noise
_MANY = 4  # categories from which on the others say something about each
_CONCENTRATIONS = 0.5 ** np.arange(7)  # of the prior: from uniform on the simplex to nearly all in few categories
_NOTHING = 1e6  # standard errors that are larger say no less, and cost digits
_STEPS = 200  # at most; a few dozen is the most ever seen
_REACH = 8.0  # standard deviations that are integrated over on either side
_NODES, _WEIGHTS = (np.array(x) / 2 for x in np.polynomial.legendre.leggauss(48))


def adjusted(ones: NDArray[np.int64] | FloatArray, n: float, phi: float, theta: float) -> FloatArray:
    """Returns the adjusted shares of one question's k categories, shape (k,), from the counts of all its k bits in n >= 1 reports.

    phi, theta: P(bit set | another category), P(bit set | this category).
    """
    estimate = (ones / n - phi) / (theta - phi)
    nearest = _nearest_on_simplex(estimate)
    if len(estimate) < _MANY:
        return nearest
    variance = _variances(phi + (theta - phi) * nearest) / (n * (theta - phi) ** 2)
    if (estimate > _CLEAR * np.sqrt(variance)).all():
        return nearest
    scale = min(1.0, _NOTHING / math.sqrt(variance.max()))
    return _posterior_mean(estimate * scale, variance * scale**2)


def _nearest_on_simplex(point: FloatArray) -> FloatArray:
    """Returns the shares >= 0 that add to 1 at the least Euclidean distance: all lowered alike, none below 0."""
    falling = np.sort(point)[::-1]
    lowered = (np.cumsum(falling) - 1) / np.arange(1, len(point) + 1)
    shares: FloatArray = np.maximum(point - lowered[falling > lowered][-1], 0.0)
    shares /= shares.sum()
    return shares


def _variances(rates: FloatArray) -> FloatArray:
    """Returns variances of independent variables that, given their sum, vary as the bits of one report do.

    Given the sum a variance v_i becomes v_i - v_i^2 / sum(v); this must be f_i (1 - f_i). For d = 1 the answer is f
    itself: Poisson counts, given their total, are multinomial.
    """
    target = rates * (1 - rates)
    v = target
    for _ in range(100):  # contracts: its slope is 2 v_i / sum(v) less a mean of such terms
        v = target + v**2 / v.sum()
    return v


def _posterior_mean(estimate: FloatArray, variance: FloatArray) -> FloatArray:
    """Returns the mean over all concentrations, each weighted by how likely it makes the estimates."""
    a = _CONCENTRATIONS[len(estimate) * _CONCENTRATIONS >= 1]  # below 1/k the prior would expect a single category
    evidence, means = zip(*(_given_concentration(estimate, variance, concentration) for concentration in a), strict=True)
    weights = np.exp(np.array(evidence) - max(evidence))
    mean: FloatArray = weights @ np.array(means) / weights.sum()
    return mean


def _given_concentration(estimate: FloatArray, variance: FloatArray, a: float) -> tuple[float, FloatArray]:
    """Returns log P(estimates | a) up to a constant, and the shares' posterior mean under Dirichlet(a), which adds to 1.

    The tilt is found by Newton's method within a bracket: the sum of the means falls as the tilt grows.
    """
    k, tilt, low, high = len(estimate), 0.0, -np.inf, np.inf
    for _ in range(_STEPS):
        log_mass, mean, spread = _tilted(estimate, variance, a, tilt)
        excess = mean.sum() - 1
        if abs(excess) < 1e-9:
            break
        low, high = (tilt, high) if excess > 0 else (low, tilt)
        newton = tilt + excess / spread.sum()
        tilt = newton if low < newton < high else (low + high) / 2
    else:
        raise EstimateError(f"the adjusted shares did not converge in {_STEPS} steps")
    evidence = log_mass.sum() + tilt - np.log(spread.sum()) / 2 - k * scipy.special.gammaln(a) + scipy.special.gammaln(k * a)
    return float(evidence), mean / mean.sum()


def _tilted(estimate: FloatArray, variance: FloatArray, a: float, tilt: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Returns log mass, mean and variance of each density p^(a-1) exp(-(p - u)^2 / 2v - tilt p) over p > 0, shape (k,) each.

    Gauss-Legendre in y = p^a, which removes the pole at 0, over all p where the density is above exp(-32) of its
    peak. The first sixteenth has nodes of its own: for a small a it holds nearly all of y.
    """
    middle = estimate - tilt * variance
    start = np.maximum(0.0, middle - _REACH * np.sqrt(variance))
    stop = middle + np.sqrt(np.minimum(middle, 0.0) ** 2 + _REACH**2 * variance)
    y = np.stack([start, start + (stop - start) / 16, stop]) ** a
    dy = np.diff(y, axis=0)
    p = np.concatenate([low[:, None] + step[:, None] * (_NODES + 0.5) for low, step in zip(y, dy, strict=False)], axis=1) ** (1 / a)
    weights = np.concatenate([step[:, None] * (_WEIGHTS / a) for step in dy], axis=1)
    # the exponent less its largest value over p > 0, so that it does not cancel, and that value
    peak, slope = np.maximum(middle, 0.0), np.minimum(middle, 0.0) / variance
    exponent = -((p - peak[:, None]) ** 2) / (2 * variance[:, None]) + slope[:, None] * p
    largest = np.where(middle > 0, -tilt * (estimate + middle) / 2, -(estimate**2) / (2 * variance))
    logs = exponent + np.log(weights)
    log_mass = scipy.special.logsumexp(logs, axis=1)
    w = np.exp(logs - log_mass[:, None])
    mean = (w * p).sum(axis=1)
    return log_mass + largest, mean, (w * (p - mean[:, None]) ** 2).sum(axis=1)
