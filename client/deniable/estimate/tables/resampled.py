"""Tests where expected counts are small: a parametric bootstrap, the statistic beside those of surveys drawn as the hypothesis says.

P-value: (1 + draws whose statistic is no smaller) / (1 + draws), from 999 draws of a generator that always starts alike, so that the same
reports have the same p-value (A. Davison and D. Hinkley, "Bootstrap Methods and their Application" (1997), section 4.2.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.mechanism import Channel

_Floats = NDArray[np.float64]

DRAWS = 999
SMALL = 5.0  # expected reports of a kind, below which chi-squared will not do (W. Cochran, Biometrics 10 (1954))
_MOST = 1 << 27  # bits that are drawn in all
_AT_A_TIME = 1 << 22


def feasible(n: int, channels: Sequence[Channel]) -> bool:
    """Whether so many surveys of n reports can be drawn in a moment: always where a report is one category."""
    return all(channel.d == 1 for channel in channels) or DRAWS * n * sum(channel.k for channel in channels) <= _MOST


def p_value(observed: float, statistic: Callable[[Any], float], draws: Iterator[Any]) -> float:
    """Of the observed statistic, among those of the draws."""
    larger = [statistic(draw) >= observed * (1 - 1e-9) for draw in draws]
    return (1 + sum(larger)) / (1 + len(larger))


def generator() -> np.random.Generator:
    """The one that always starts alike."""
    return np.random.default_rng(19990101)


def counts(shares: _Floats, channel: Channel, n: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """How many of n reports have each bit set, shape (k,), survey by survey, where the true answers have these shares."""
    if channel.d == 1:
        yield from rng.multinomial(n, _rates(shares, channel), DRAWS)
        return
    for (bits,) in _surveys([shares], [channel], n, rng):
        yield bits.sum(axis=0)


def tables(margins: Sequence[_Floats], channels: Sequence[Channel], n: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """How many of n reports have bit i of one question and j of another set, shape (k_a, k_b), where their answers are independent."""
    if all(channel.d == 1 for channel in channels):
        first, second = (_rates(margin, channel) for margin, channel in zip(margins, channels, strict=True))
        for drawn in rng.multinomial(n, np.outer(first, second).ravel(), DRAWS):
            yield drawn.reshape(len(first), len(second))
        return
    for a, b in _surveys(margins, channels, n, rng):
        yield a.T.astype(np.int64) @ b


def _rates(shares: _Floats, channel: Channel) -> _Floats:
    rates = float(channel.phi) + shares * float(channel.theta - channel.phi)
    return np.asarray(rates / rates.sum())


def _surveys(shares: Sequence[_Floats], channels: Sequence[Channel], n: int, rng: np.random.Generator) -> Iterator[list[NDArray[np.int64]]]:
    """The bits of n reports to each question, shape (n, k), survey by survey."""
    width = max(1, min(DRAWS, _AT_A_TIME // (n * sum(channel.k for channel in channels))))
    for start in range(0, DRAWS, width):
        surveys = min(width, DRAWS - start)
        made = [_bits(share, channel, surveys * n, rng) for share, channel in zip(shares, channels, strict=True)]
        yield from ([bits[n * i : n * (i + 1)] for bits in made] for i in range(surveys))


def _bits(shares: _Floats, channel: Channel, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Of each report the d categories with the least marks: the own one first or last, the others in any order."""
    marks = rng.random((size, channel.k))
    answers = rng.choice(channel.k, size, p=shares)
    marks[np.arange(size), answers] = np.where(rng.random(size) < float(channel.theta), -1.0, 2.0)
    bits = np.zeros((size, channel.k), dtype=np.int64)
    np.put_along_axis(bits, np.argpartition(marks, channel.d - 1, axis=1)[:, : channel.d], 1, axis=1)
    return bits
