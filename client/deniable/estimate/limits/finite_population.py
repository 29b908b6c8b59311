"""Confidence limits for the share among those who answered: m of n hold the category, and only the coins are random.

The count of set bits is then a sum of two binomials, Bin(m, q1) + Bin(n - m, q0), with mean mu(m) and variance v(m). A count y
is as surprising under m as

    T(y; m) = (y - mu(m))^2 / v(m) - (y - mu(best))^2 / v(best),   best = the m in [0, n], not only whole ones, with mu nearest to y,

says. Within the possible range the second term is 0, and T is the score statistic. Beyond the range it takes off what no m explains, as
Feldman and Cousins do (Phys. Rev. D 57, 1998), so no count rejects every m and no interval shrinks to a point.

`exact` keeps every whole m whose p-value P(T(Y; m) >= T(y; m)) is above alpha: the chance that its limits hold the true m is at least
1 - alpha, whatever m is. `constrained_score` compares T with its limit for large n, chi-squared with one degree of freedom.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.estimate.limits.closed_form import normal_quantile

_Floats = NDArray[np.float64]

_TIE = 1e-9  # two values of T closer than this, relative to 1 or T, count as equal
_CHUNK = 64  # values of m that are looked at together
_NEVER = 40.0  # -log of a chance that is no chance


def exact(ones: int, n: int, q0: float, q1: float, alpha: float) -> tuple[float, float]:
    """The limits of the share m / n for `ones` of n; q0 != q1. Half a respondent wider on both sides where only one m is left."""
    if q0 > q1:
        ones, q0, q1 = n - ones, 1 - q0, 1 - q1
    low, high = ones, ones  # where the bit is the answer itself
    if q1 - q0 < 1:
        high = _largest(ones, _Coins(n, q0, q1), alpha)
        low = n - _largest(n - ones, _Coins(n, 1 - q1, 1 - q0), alpha)
    if low == high:
        return max(0.0, low - 0.5) / n, min(float(n), high + 0.5) / n
    return low / n, high / n


def constrained_score(ones: int, n: int, q0: float, q1: float, alpha: float) -> tuple[float, float]:
    """The shares p in [0, 1] with T(ones; n p) <= z^2: a quadratic. Wherever the estimate is possible, the score limits, clipped."""
    gap, v0, v1 = q1 - q0, q0 * (1 - q0), q1 * (1 - q1)
    off = ones / n - q0
    best = min(1.0, max(0.0, off / gap))
    beyond = (off - best * gap) ** 2
    z2 = normal_quantile(alpha) ** 2 / n + (beyond / (v0 + best * (v1 - v0)) if beyond else 0.0)
    a, b, c = gap**2, 2 * gap * off + z2 * (v1 - v0), off**2 - z2 * v0
    root = math.sqrt(max(0.0, b * b - 4 * a * c))
    return max(0.0, (b - root) / (2 * a)), min(1.0, (b + root) / (2 * a))


@dataclass(frozen=True)
class _Coins:
    """n respondents; q0 < q1."""

    n: int
    q0: float
    q1: float

    def mean(self, m: _Floats) -> _Floats:
        return self.n * self.q0 + m * (self.q1 - self.q0)

    def variance(self, m: _Floats) -> _Floats:
        return m * (self.q1 * (1 - self.q1)) + (self.n - m) * (self.q0 * (1 - self.q0))

    def best(self, y: _Floats) -> _Floats:
        return np.clip((y - self.n * self.q0) / (self.q1 - self.q0), 0, self.n)

    def surprise(self, y: _Floats, m: _Floats) -> _Floats:
        """T(y; m), the two shapes broadcast. For every m it falls until y = mu(m), then rises."""
        best = self.best(y)
        return _ratio((y - self.mean(m)) ** 2, self.variance(m)) - _ratio((y - self.mean(best)) ** 2, self.variance(best))


def _ratio(top: _Floats, bottom: _Floats) -> _Floats:
    """0 / 0 is 0: where there is no variance the mean is certain."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(top < _TIE**2, 0.0, top / bottom)


def _largest(ones: int, coins: _Coins, alpha: float) -> int:
    """The largest accepted m. That nearest to the estimate always is, so one is found."""
    nearest = math.floor(coins.best(np.array(float(ones))))
    m = np.arange(nearest, coins.n + 1, dtype=np.float64)
    # T >= reach^2 / v puts both tails beyond the reach, so the p-value is at most alpha
    near = coins.surprise(np.array(float(ones)), m) < _ratio(_reach(coins.variance(m), math.log(2 / alpha)) ** 2, coins.variance(m))
    m = m[: int(np.flatnonzero(near)[-1]) + 1]
    while len(m):
        some, m = m[-_CHUNK:], m[:-_CHUNK]
        accepted = np.flatnonzero(_p_values(ones, coins, some) > alpha)
        if accepted.size:
            return int(some[accepted[-1]])
    return nearest


def _reach(variance: _Floats, minus_log: float) -> _Floats:
    """A sum of independent bits strays at least this far to one side with a chance of at most exp(-minus_log) (Bernstein's inequality)."""
    return np.asarray(minus_log / 3 + np.sqrt(minus_log**2 / 9 + 2 * variance * minus_log))


def _p_values(ones: int, coins: _Coins, m: _Floats) -> _Floats:
    """P(T(Y; m) >= T(ones; m)) for each m, shape (m,). A p-value is summed over the counts that are possible at all, shape (m, size)."""
    size = min(coins.n + 1, 2 * math.ceil(float(_reach(coins.variance(m), _NEVER).max())) + 2)
    first = np.clip(np.floor(coins.mean(m)) - size // 2, 0, coins.n + 1 - size)
    y = first[:, None] + np.arange(size)
    surprise, observed = coins.surprise(y, m[:, None]), coins.surprise(np.array(float(ones)), m)
    counted = surprise >= (observed - _TIE * np.maximum(1.0, observed))[:, None]
    chances = np.take_along_axis(_chances(coins, m, size), y.astype(np.int64) % size, axis=1)
    return np.asarray((chances * counted).sum(axis=1))


def _chances(coins: _Coins, m: _Floats, size: int) -> _Floats:
    """P(Y mod size = r) for each m and r, shape (m, size), by the inverse Fourier transform of what generates Y."""
    turn = np.exp(-2j * np.pi * np.arange(size // 2 + 1) / size)
    own, other = (np.log(1 - q + q * turn + 1e-300) for q in (coins.q1, coins.q0))
    return np.asarray(np.fft.irfft(np.exp(m[:, None] * own + (coins.n - m[:, None]) * other), size, axis=1))
