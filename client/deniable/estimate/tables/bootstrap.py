"""Parametric bootstrap tests for small expected counts: the statistic is compared with surveys simulated under the hypothesis.

P-value: (1 + draws whose statistic is no smaller) / (1 + draws), from 999 draws of a generator that always starts alike, so that the same
reports have the same p-value (A. Davison and D. Hinkley, "Bootstrap Methods and their Application" (1997), section 4.2.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.estimate.arrays import FloatArray
from deniable.mechanism import Channel

DRAWS = 999
REFERENCE = f"{DRAWS} resamples"
SMALL = 5.0  # expected reports of a kind, below which chi-squared will not do (W. Cochran, Biometrics 10 (1954))
_KINDS = 1 << 12  # of reports; up to so many, the number of each is drawn, beyond it each report
_MOST = 1 << 27  # bits, or numbers of reports of a kind, that are drawn in all
_AT_A_TIME = 1 << 22


def feasible(n: int, channels: Sequence[Channel]) -> bool:
    """Returns whether enough surveys of n reports can be drawn in a moment."""
    bits = DRAWS * n * sum(channel.k for channel in channels)
    return few_kinds(channels) or bits <= _MOST


def p_value(observed: float, statistic: Callable[[Any], FloatArray], draws: Iterator[Any]) -> float:
    """Returns the p-value of the observed statistic among the draws, some surveys at a time."""
    larger = np.concatenate([statistic(some) >= observed * (1 - 1e-9) for some in draws])
    return (1 + int(larger.sum())) / (1 + larger.size)


def generator() -> np.random.Generator:
    """Returns a generator with a fixed seed."""
    return np.random.default_rng(19990101)


def groups(shares: FloatArray, channel: Channel, sizes: Sequence[int], rng: np.random.Generator) -> Iterator[list[NDArray[np.int64]]]:
    """Yields how many reports of each group have each bit set, shape (surveys, k), if all groups' true answers have these shares.

    sizes: of the groups. Some surveys at a time, DRAWS in all.
    """
    if not few_kinds([channel]):
        for surveys in _portions(channel.k * max(channel.k, *sizes)):
            yield [_bits(shares, channel, (surveys, n), rng).sum(axis=1) for n in sizes]
        return
    bits, chances = _kinds(shares, channel)
    for surveys in _portions(max(channel.k**2, len(bits))):
        yield [rng.multinomial(n, chances, surveys) @ bits for n in sizes]


def tables(margins: Sequence[FloatArray], channels: Sequence[Channel], n: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Yields how many of n reports have bit i of one question and j of another set, if their answers are independent.

    Shape (surveys, k_a, k_b); some surveys at a time, DRAWS in all.
    """
    most = max(channel.k for channel in channels) ** 2
    if not few_kinds(channels):
        for surveys in _portions(max(most, n * sum(channel.k for channel in channels))):
            a, b = (_bits(margin, channel, (surveys, n), rng) for margin, channel in zip(margins, channels, strict=True))
            yield a.swapaxes(1, 2) @ b
        return
    (a, first), (b, second) = (_kinds(margin, channel) for margin, channel in zip(margins, channels, strict=True))
    chances = np.outer(first, second)
    for surveys in _portions(max(most, chances.size)):
        yield a.T @ rng.multinomial(n, chances.ravel(), surveys).reshape(surveys, *chances.shape) @ b


def joint_tables(joint: FloatArray, channels: Sequence[Channel], n: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Yields tables as `tables` does, for two questions with these joint shares, shape (k_a, k_b), and `few_kinds`."""
    (a, first), (b, second) = map(_kinds_of_each, channels)
    chances = first @ joint @ second.T
    for surveys in _portions(max(max(channel.k for channel in channels) ** 2, chances.size)):
        sampled = rng.multinomial(n, chances.ravel() / chances.sum(), surveys)
        yield a.T @ sampled.reshape(surveys, *chances.shape) @ b


def few_kinds(channels: Sequence[Channel]) -> bool:
    """Returns whether there are so few kinds of reports that the number of each is quickly drawn."""
    kinds = math.prod(math.comb(channel.k, channel.d) for channel in channels)
    return kinds <= _KINDS or (all(channel.d == 1 for channel in channels) and DRAWS * kinds <= _MOST)


def _kinds(shares: FloatArray, channel: Channel) -> tuple[NDArray[np.int64], FloatArray]:
    """Returns all possible reports of a question, shape (kinds, k), and their chances if the true answers have these shares."""
    bits, each = _kinds_of_each(channel)
    chances = each @ shares
    return bits, np.asarray(chances / chances.sum())


def _kinds_of_each(channel: Channel) -> tuple[NDArray[np.int64], FloatArray]:
    """Returns all possible reports of a question, and their chances under each true answer, shape (kinds, k)."""
    k, d, theta = channel.k, channel.d, float(channel.theta)
    bits = np.zeros((math.comb(k, d), k), dtype=np.int64)
    np.put_along_axis(bits, np.array(list(combinations(range(k), d))), 1, axis=1)
    return bits, bits * (theta / math.comb(k - 1, d - 1)) + (1 - bits) * ((1 - theta) / math.comb(k - 1, d))


def _portions(size: int) -> Iterator[int]:
    """Yields how many surveys to draw at a time, each of this size, DRAWS in all."""
    width = max(1, min(DRAWS, _AT_A_TIME // size))
    yield from (min(width, DRAWS - start) for start in range(0, DRAWS, width))


def _bits(shares: FloatArray, channel: Channel, shape: tuple[int, int], rng: np.random.Generator) -> NDArray[np.int64]:
    """Draws reports: for each the d categories with the least marks, the true one first or last, the others in any order.

    shape: (surveys, n).
    """
    size = math.prod(shape)
    marks = rng.random((size, channel.k))
    answers = rng.choice(channel.k, size, p=shares)
    marks[np.arange(size), answers] = np.where(rng.random(size) < float(channel.theta), -1.0, 2.0)
    bits = np.zeros((size, channel.k), dtype=np.int64)
    np.put_along_axis(bits, np.argpartition(marks, channel.d - 1, axis=1)[:, : channel.d], 1, axis=1)
    return bits.reshape(*shape, channel.k)
