"""Confidence limits of a share in a finite population of N respondents: the coins and the choice of n people are random.

Of the N respondents, n were asked: all of them, or a sample that their devices drew without replacement. The count of set bits has the mean
mu(m) = n q0 + n p (q1 - q0), with p = m / N, and the variance

    v(m) = n [p q1 (1 - q1) + (1 - p) q0 (1 - q0)] + n (q1 - q0)^2 p (1 - p) (N - n) / (N - 1).

Where all were asked it is a sum of two binomials, Bin(m, q1) + Bin(N - m, q0). The test statistic of a count y under m is

    T(y; m) = (y - mu(m))^2 / v(m) - (y - mu(best))^2 / v(best),

where `best` is the real number in [0, N] whose mu is nearest to y. Within the possible range the second term is 0, and T is the score
statistic. Beyond the range it removes the part of the deviation that no m can explain, as Feldman and Cousins do (Phys. Rev. D 57, 1998),
so no count rejects every m and no interval shrinks to a point.

`exact` keeps every whole m whose p-value P(T(Y; m) >= T(y; m)) is above alpha: the chance that its limits hold the true m is at least
1 - alpha, whatever m is. `constrained_score` compares T with its limit for large n, chi-squared with one degree of freedom.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from deniable.estimate.arrays import FloatArray
from deniable.estimate.limits import closed_form

_TIE = 1e-9  # two values of T closer than this, relative to 1 or T, count as equal
_CHUNK = 24  # values of m that are looked at together
_PARTS = 12  # of the values of m, to reject whole parts
_MOST = 4_000  # values of m that are tried
_NEVER = 40.0  # -log of a chance that is no chance


@lru_cache(maxsize=1 << 12)  # yes and no of one question mirror each other, and questions often have the same counts
def exact(bits: tuple[int, int], q0: float, q1: float, alpha: float, everybody: int) -> tuple[float, float]:
    """Returns the limits of the share m / N, N = everybody, for bits = (ones, n); q0 != q1.

    They are half a respondent wider on both sides if only one m is left.
    """
    ones, n = bits
    if q0 > q1:
        ones, q0, q1 = n - ones, 1 - q0, 1 - q1
    low, high = ones, ones  # where the bit is the answer itself, of everybody
    if q1 - q0 < 1 or everybody > n:
        high = _largest(ones, _Coins(n, q0, q1, everybody), alpha)
        low = everybody - _largest(n - ones, _Coins(n, 1 - q1, 1 - q0, everybody), alpha)
    if low == high:
        return max(0.0, low - 0.5) / everybody, min(float(everybody), high + 0.5) / everybody
    return low / everybody, high / everybody


def constrained_score(bits: tuple[int, int], q0: float, q1: float, alpha: float, sampling: float) -> tuple[float, float]:
    """Returns the ends of the shares p in [0, 1] with T(ones; p) <= z^2, a quadratic: the clipped score limits if the estimate is possible.

    bits: ones and n. sampling: as in `Interval.sampling`, (N - n) / (N - 1) above.
    """
    ones, n = bits
    off = ones / n - q0
    best = min(1.0, max(0.0, off / (q1 - q0)))
    beyond = (off - best * (q1 - q0)) ** 2
    spread = (1 - best) * q0 * (1 - q0) + best * q1 * (1 - q1)
    low, high = closed_form.score(
        bits, q0, q1, closed_form.normal_quantile(alpha) ** 2 + (n * beyond / spread if beyond else 0.0), sampling
    )
    return max(0.0, low), min(1.0, high)


@dataclass(frozen=True)
class _Coins:
    """The distribution of the count: n of `everybody` were asked; q0 < q1."""

    n: int
    q0: float
    q1: float
    everybody: int

    def mean(self, m: FloatArray) -> FloatArray:
        """Returns the mean count for each m."""
        return self.n * (self.q0 + m / self.everybody * (self.q1 - self.q0))

    def variance(self, m: FloatArray) -> FloatArray:
        """Returns the variance of the count for each m."""
        return self._variance(m, (self.everybody - self.n) / max(1, self.everybody - 1))

    def loose_variance(self, m: FloatArray) -> FloatArray:
        """Returns a variance not below `variance`: of draws with replacement (W. Hoeffding, JASA 58 (1963), theorem 4)."""
        return self._variance(m, float(self.everybody > self.n))

    def _variance(self, m: FloatArray, sampling: float) -> FloatArray:
        p = m / self.everybody
        coins = p * (self.q1 * (1 - self.q1)) + (1 - p) * (self.q0 * (1 - self.q0))
        return self.n * (coins + sampling * (self.q1 - self.q0) ** 2 * p * (1 - p))

    def best(self, y: FloatArray) -> FloatArray:
        """Returns the possible m, not only whole ones, whose mean is nearest to each count y."""
        return np.clip((y / self.n - self.q0) / (self.q1 - self.q0) * self.everybody, 0, self.everybody)

    def surprise(self, y: FloatArray, m: FloatArray) -> FloatArray:
        """Returns T(y; m), the two shapes broadcast. For every m it falls until y = mu(m), then rises."""
        best = self.best(y)
        return _ratio((y - self.mean(m)) ** 2, self.variance(m)) - _ratio((y - self.mean(best)) ** 2, self.variance(best))

    def spectrum(self, m: FloatArray, turn: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """Returns E[turn^Y] for each m and turn, shape (m, turns)."""
        own, other = (np.log(1 - q + q * turn + 1e-300) for q in (self.q1, self.q0))
        if self.everybody == self.n:
            return np.asarray(np.exp(m[:, None] * own + (self.n - m[:, None]) * other))
        holders = np.arange(self.n + 1.0)[:, None]  # among those who were asked: hypergeometric
        return np.asarray(_hypergeometric(holders.T, m[:, None], self) @ np.exp(holders * own + (self.n - holders) * other))


def _hypergeometric(holders: FloatArray, m: FloatArray, coins: _Coins) -> FloatArray:
    """Returns the probability of each number of the m holders among the n that were asked, the two shapes broadcast."""
    rest, n = coins.everybody - m, coins.n
    possible = (holders <= m) & (n - holders <= rest)
    capped, missed = np.where(possible, holders, 0.0), np.where(possible, n - holders, 0.0)
    logs = _log_choose(m, capped) + _log_choose(rest, missed) - _log_choose(np.float64(coins.everybody), np.float64(n))
    return np.where(possible, np.exp(np.where(possible, logs, 0.0)), 0.0)


def _log_choose(n: FloatArray | np.float64, k: FloatArray | np.float64) -> FloatArray:
    return np.asarray(scipy.special.gammaln(n + 1) - scipy.special.gammaln(k + 1) - scipy.special.gammaln(n - k + 1))


def _ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Returns top / bottom, with 0 / 0 = 0: where there is no variance the mean is certain."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(top < _TIE**2, 0.0, top / bottom)


def _largest(ones: int, coins: _Coins, alpha: float) -> int:
    """Returns the largest accepted m. The m nearest to the estimate is always accepted, so one exists.

    If there are very many m, only evenly spaced ones are tested; the limit is then one step further out.
    """
    nearest, step = math.floor(coins.best(np.array(float(ones)))), max(1, coins.everybody // _MOST)
    m = np.append(np.arange(nearest, coins.everybody, step, dtype=np.float64), float(coins.everybody))
    # T >= reach^2 / v puts both tails beyond the reach, so the p-value is at most alpha
    reach = _reach(coins.loose_variance(m), math.log(2 / alpha))
    near = coins.surprise(np.array(float(ones)), m) < _ratio(reach**2, coins.variance(m))
    m = m[: int(np.flatnonzero(near)[-1]) + 1]
    top = _top_accepted(ones, coins, m, alpha)
    return nearest if top is None else min(coins.everybody, int(top) + step - 1)


def _top_accepted(ones: int, coins: _Coins, m: FloatArray, alpha: float) -> float | None:
    """Returns the largest accepted value of m, or None. Parts of m whose p-values have a bound of alpha are rejected as a whole."""
    if len(m) <= _CHUNK:
        accepted = np.flatnonzero(_p_values(ones, coins, m) > alpha)
        return float(m[accepted[-1]]) if accepted.size else None
    cuts = np.linspace(0, len(m) - 1, _PARTS + 1).astype(np.int64)
    bounds = _bounds(ones, coins, m, cuts)
    for part in reversed(np.flatnonzero(bounds > alpha - _TIE)):
        top = _top_accepted(ones, coins, m[cuts[part] : cuts[part + 1] + 1], alpha)
        if top is not None:
            return top
    return None


def _bounds(ones: int, coins: _Coins, m: FloatArray, cuts: NDArray[np.int64]) -> FloatArray:
    """Returns an upper bound of the p-values of each part of m between two cuts, from the distributions at the cuts alone.

    The more holders, the more bits are set: P(Y <= y) falls in m, and P(Y >= y) rises. So if for every m of a part, a count above `ones` is
    as surprising only from `least` on, each p-value is at most P(Y <= ones) at the first m plus P(Y >= least) at the last.
    """
    ends = m[cuts]
    y, chances, counted = _distributions(ones, coins, ends)
    above = counted & (y > np.maximum(coins.mean(ends), ones)[:, None])
    least = np.where(above.any(axis=1), y[np.arange(len(ends)), above.argmax(axis=1)], y[:, -1] + 1)
    least = np.minimum(least[:-1], least[1:])
    tails = (chances[:-1] * (y[:-1] <= ones)).sum(axis=1) + (chances[1:] * (y[1:] >= least[:, None])).sum(axis=1)
    part = np.searchsorted(cuts[1:-1], np.arange(len(m)), side="left")  # a cut itself is in the part before it
    observed = _observed(ones, coins, m)
    between = [coins.surprise(count, m) < observed for count in (np.full(len(m), ones + 1.0), least[part] - 1)]
    holds = between[0] & between[1] & (coins.mean(m) > ones) & (least[part] > ones + 1)
    fails = np.bincount(part, weights=~holds, minlength=len(tails)) + ~holds[cuts[:-1]]
    return np.where(fails > 0, 1.0, tails)


def _observed(ones: int, coins: _Coins, m: FloatArray) -> FloatArray:
    """Returns the value of T from which on a count is at least as surprising as `ones`, for each m."""
    observed = coins.surprise(np.array(float(ones)), m)
    return observed - _TIE * np.maximum(1.0, observed)


def _reach(variance: FloatArray, minus_log: float) -> FloatArray:
    """Returns a distance that a sum of independent bits exceeds to one side with probability exp(-minus_log) at most (Bernstein)."""
    return np.asarray(minus_log / 3 + np.sqrt(minus_log**2 / 9 + 2 * variance * minus_log))


def _p_values(ones: int, coins: _Coins, m: FloatArray) -> FloatArray:
    """Returns P(T(Y; m) >= T(ones; m)) for each m, shape (m,)."""
    _, chances, counted = _distributions(ones, coins, m)
    return np.asarray((chances * counted).sum(axis=1))


def _distributions(ones: int, coins: _Coins, m: FloatArray) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Returns the counts that are possible at all for each m, their chances, and whether each is as surprising as `ones`.

    The shape of all three is (m, size).
    """
    size = min(coins.n + 1, 2 * math.ceil(float(_reach(coins.loose_variance(m), _NEVER).max())) + 2)
    first = np.clip(np.floor(coins.mean(m)) - size // 2, 0, coins.n + 1 - size)
    y = first[:, None] + np.arange(size)
    counted = coins.surprise(y, m[:, None]) >= _observed(ones, coins, m)[:, None]
    chances = np.take_along_axis(_chances(coins, m, size), y.astype(np.int64) % size, axis=1)
    return y, chances, counted


def _chances(coins: _Coins, m: FloatArray, size: int) -> FloatArray:
    """Returns P(Y mod size = r) for each m and r, shape (m, size), by the inverse Fourier transform of the generating function of Y."""
    turn = np.exp(-2j * np.pi * np.arange(size // 2 + 1) / size)
    return np.asarray(np.fft.irfft(coins.spectrum(m, turn), size, axis=1))
