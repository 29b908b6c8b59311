"""Exact confidence limits for a rate that is known to lie in [lowest, highest].

Source: G. Feldman and R. Cousins, "Unified approach to the classical statistical analysis of small signals",
Phys. Rev. D 57 (1998), here for a binomial count Y of n. A count y is as surprising under the rate f as

    lr(y; f) = log P(y; f) - log P(y; best),   best = y / n moved into [lowest, highest],

says, its p-value is P(lr(Y; f) <= lr(y; f)), and the limits enclose every f whose p-value is above alpha.

The p-value jumps, so scanning f on a grid could miss the outermost accepted one. No scan is needed. Take the
upper limit, f >= best. Then lr is unimodal in the count, so the counts that are no less surprising are those
up to y and those from some b(f) > y on. With c(y) = log P(y; best) less its binomial coefficient,

    lr(b; f) <= lr(y; f)   <=>   logit f <= (c(b) - c(y)) / (b - y),

and as c is convex (a maximum of lines in y), the right-hand side grows with b: it is where b(f) jumps from b to
b + 1. Between two jumps the p-value P(Y <= y) + P(Y >= b) falls, then rises (the ratio of the two slopes is a
power of f / (1 - f)), so it is largest at an end. So the two ends of every piece tell which piece is the
outermost one to be accepted somewhere, and one root gives the limit inside it.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from deniable.estimate.arrays import FloatArray
from deniable.estimate.limits import likelihood_ratio
from deniable.estimate.limits.roots import root

_AT_A_TIME = 64  # pieces
_TIE = 1e-10  # two likelihood ratios closer than this count as equal


def limits(ones: int, n: int, lowest: float, highest: float, alpha: float) -> tuple[float, float]:
    """Returns the limits of the rate, lowest <= low < high <= highest, for `ones` of n and an error probability alpha."""
    high = _upper(ones, n, lowest, highest, alpha)
    mirrored = _upper(n - ones, n, 1 - highest, 1 - lowest, alpha)
    low = lowest if mirrored == 1 - lowest else 1 - mirrored
    if high - low < _TIE:  # a single point is accepted: only below 75% confidence, as P(Y > n f) >= 1/4 for f >= 1/n
        return likelihood_ratio.limits(ones, n, lowest, highest, alpha)
    return low, high


@lru_cache(maxsize=1 << 14)  # questions of one survey often have the same counts, and yes and no mirror each other
def _upper(ones: int, n: int, lowest: float, highest: float, alpha: float) -> float:
    """Returns the largest accepted rate."""
    best = min(max(ones / n, lowest), highest)
    if best == highest:
        return highest
    # Chernoff bounds both tails by exp(lr), so the p-value is at most 2 exp(lr): no accepted rate is beyond this one.
    farthest = likelihood_ratio.upper(ones, n, best, highest, float(np.log(2 / alpha)) + _TIE)
    others, ends = _pieces(ones, n, lowest, highest, farthest)
    starts = np.concatenate([[best], ends[:-1]])
    for first in reversed(range(0, len(ends), _AT_A_TIME)):  # from outside, since the outermost is looked for
        some = slice(first, first + _AT_A_TIME)
        at_end = _tails(ones, others[some], n, ends[some]) > alpha
        accepted = np.flatnonzero(at_end | (_tails(ones, others[some], n, starts[some]) > alpha))
        if accepted.size:
            piece = first + accepted[-1]
            if at_end[accepted[-1]]:
                return float(ends[piece])
            return root(_excess, starts[piece], ends[piece], args=(alpha, ones, others[piece : piece + 1], n), xtol=1e-15)
    return best  # its p-value is 1; only rounding, at a confidence next to 0, can say otherwise


def _pieces(ones: int, n: int, lowest: float, highest: float, farthest: float) -> tuple[NDArray[np.int64], FloatArray]:
    """Returns the counts b from ones + 1 up that may begin the other tail, and the largest rate at which each does.

    Counts whose rates begin beyond `farthest` are left out: with many reports nearly all are.
    """
    counts, jumps = _jumps(ones, n, lowest, highest, _AT_A_TIME)
    while counts[-1] < n and jumps[-1] <= farthest:
        counts, jumps = _jumps(ones, n, lowest, highest, 2 * len(counts))
    others, ends = np.append(counts[1:], n + 1), np.append(np.minimum(jumps, highest), highest)
    near = 1 + int(np.searchsorted(ends[:-1], farthest, side="right"))
    return others[:near], ends[:near]


def _jumps(ones: int, n: int, lowest: float, highest: float, most: int) -> tuple[NDArray[np.int64], FloatArray]:
    """Returns the counts from `ones` on, at most `most` more, and the rate at which each but the first gives way to the next."""
    counts = np.arange(ones, min(n, ones + most) + 1)
    best = np.clip(counts / n, lowest, highest)
    c = scipy.special.xlogy(counts, best) + scipy.special.xlog1py(n - counts, -best)
    slopes = (c[1:] - c[0] + _TIE) / (counts[1:] - ones)
    return counts, scipy.special.expit(np.maximum.accumulate(slopes))


def _tails(ones: int, others: NDArray[np.int64], n: int, rate: FloatArray | float) -> FloatArray:
    """Returns P(Y <= ones) + P(Y >= other) for Y binomial (n, rate)."""
    return np.asarray(scipy.special.bdtr(ones, n, rate) + scipy.special.bdtrc(others - 1, n, rate))


def _excess(rate: float, alpha: float, ones: int, other: NDArray[np.int64], n: int) -> float:
    """Returns the p-value of a rate inside one piece, less alpha."""
    return float(_tails(ones, other, n, rate)[0]) - alpha
