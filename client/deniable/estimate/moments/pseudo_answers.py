"""Pseudo-answers: unbiased values of one report for the true answer, and their moments under the channel.

A report's bits b become u_i = (b_i - phi) / (theta - phi), which is 1 on average for the respondent's own category and 0 for each other.
Through a window they become another linear function of the bits with these means (`output_values.inverse`).
Questions are randomized independently, so given the true answers the pseudo-answers of two questions are independent, and a
product of them is 1 on average in the respondent's own cell and 0 elsewhere.

Arrays here have one axis for each question, in the order of `channels`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from deniable.estimate.arrays import FloatArray
from deniable.estimate.moments.output_values import inverse
from deniable.mechanism import Channel, Window


def invert(rates: NDArray[np.floating], channels: Sequence[Channel]) -> FloatArray:
    """Returns the mean product of pseudo-answers in each cell, from the rates at which all bits of the cell are set.

    All bits of each question are needed: they add to d, which replaces the constant term. Axes before the axes of the questions are
        surveys.
    """
    shares = np.asarray(rates, dtype=np.float64)
    for axis, channel in enumerate(channels, start=-len(channels)):
        if isinstance(channel, Window):
            shares = np.moveaxis(np.tensordot(inverse(channel), shares, axes=(1, axis)), 0, axis)
            continue
        phi, gap = float(channel.phi), float(channel.theta - channel.phi)
        shares = (shares - shares.sum(axis=axis, keepdims=True) * (phi / channel.d)) / gap
    return shares


def score_of_bits(scores: FloatArray, channel: Channel) -> FloatArray:
    """Returns what each set bit of a report adds to its sum of scores times pseudo-answers, shape (outputs,); d bits are set."""
    if isinstance(channel, Window):
        return np.asarray(scores @ inverse(channel))
    phi, gap = float(channel.phi), float(channel.theta - channel.phi)
    return np.asarray((scores - phi * scores.sum() / channel.d) / gap)


def squares(shares: FloatArray, channels: Sequence[Channel]) -> FloatArray:
    """Returns E[(u_i v_j ..)^2] in each cell i, j, .., if the true answers have these joint shares; same shape."""
    moments = shares
    for axis, channel in enumerate(channels):
        own, other, _, _ = second_moments(channel)
        moments = own * moments + other * (moments.sum(axis=axis, keepdims=True) - moments)
    return moments


def cell_moments(shares: FloatArray, channels: Sequence[Channel]) -> tuple[float, FloatArray]:
    """Returns E[(u_i v_j ..)^2] in a cell for true answers in it, one number, and for all others, same shape as shares."""
    inside = math.prod(second_moments(channel)[0] for channel in channels)
    likely = possible(shares)
    rest = np.maximum(1 - likely, 1e-12)
    least = math.prod(second_moments(channel)[1] for channel in channels)
    return inside, np.maximum((squares(likely, channels) - likely * inside) / rest, least)


def products(shares: FloatArray, channels: Sequence[Channel]) -> FloatArray:
    """Returns E[(u_i v_j ..) (u_i' v_j' ..)] for every two cells, shape shares.shape twice over."""
    moments = shares
    for channel in channels:
        moments = _pairs(np.moveaxis(moments, 0, -1), channel)
    questions = len(channels)
    return moments.transpose([*range(0, 2 * questions, 2), *range(1, 2 * questions, 2)])


def possible(shares: FloatArray) -> FloatArray:
    """Returns the nearest possible shares, not below 0 and adding to 1, to estimated shares that add to 1; same shape."""
    return each_possible(shares.ravel()).reshape(shares.shape)


def each_possible(shares: FloatArray) -> FloatArray:
    """Returns the nearest possible shares along the last axis, survey by survey.

    The same amount is subtracted from each that stays above 0 (M. Held, P. Wolfe and H. Crowder, Math. Program. 6 (1974)), so large shares
    hardly change.
    """
    ordered = -np.sort(-shares, axis=-1)
    excess = (np.cumsum(ordered, axis=-1) - 1) / np.arange(1, ordered.shape[-1] + 1)
    last = ordered.shape[-1] - 1 - np.argmax((ordered > excess)[..., ::-1], axis=-1)
    positive = np.maximum(shares - np.take_along_axis(excess, last[..., None], axis=-1), 0.0)
    possible: FloatArray = positive / positive.sum(axis=-1, keepdims=True)
    return possible


def covariance(shares: FloatArray, channels: Sequence[Channel], sampling: float) -> FloatArray:
    """Returns the covariance of one report's products of pseudo-answers, shape (cells, cells); divide by n for their means.

    shares: as estimated. sampling: the part of the answers' own variance that counts, as in `Interval.sampling`: 1 for a population, 0
    if only the coins are random.
    """
    cells = shares if sampling == 1 else possible(shares)
    answers = (1 - sampling) * np.diag(cells.ravel()) + sampling * np.outer(cells, cells)
    return products(cells, channels).reshape(cells.size, cells.size) - answers


def covariances(shares: FloatArray, channel: Channel, sampling: float = 1.0) -> FloatArray:
    """Returns the covariances of one question's pseudo-answers, survey by survey, shape (.., k, k) for possible shares of shape (.., k)."""
    answers = sampling * shares[..., :, None] * shares[..., None, :]
    diagonal = np.arange(channel.k)
    answers[..., diagonal, diagonal] += (1 - sampling) * shares
    return _pairs(shares, channel) - answers


def variances(shares: FloatArray, channels: Sequence[Channel], sampling: float) -> FloatArray:
    """Returns the diagonal of `covariance`, same shape as shares, but never less than the coins alone give.

    For the coins alone it is unbiased, and never less than they give for any answers.
    """
    coins = squares(shares, channels) - shares
    if not sampling:
        return np.maximum(coins, _least_coins(channels))
    likely = possible(shares)
    return np.maximum(squares(likely, channels) - likely, coins + sampling * shares * (1 - shares))


def _least_coins(channels: Sequence[Channel]) -> float:
    """Returns the least variance of a product of pseudo-answers in one cell, given the true answers, in the cell or outside it."""
    moments = [second_moments(channel)[:2] for channel in channels]
    each = [math.prod(chosen) for chosen in product(*moments)]  # the first is of the cell itself
    return min(each[0] - 1, *each[1:])


def variance_of(weights: FloatArray, shares: FloatArray, channels: Sequence[Channel], sampling: float) -> float:
    """Returns the variance of one report's sum of weights times products of pseudo-answers; not below the variance of the coins alone.

    Estimated shares outside [0, 1] can make the plain formula too small, even negative; the truth never is.
    """
    w = weights.ravel()
    return max(float(w @ covariance(shares, channels, part) @ w) for part in {0.0, sampling})


def covariance_of(weights: FloatArray, shares: FloatArray, channels: Sequence[Channel], sampling: float) -> FloatArray:
    """Returns the covariance of one report's sums of weights times products of pseudo-answers.

    Its shape is (m, m) for weights of shape (m, cells). No sum varies less than by the coins alone.
    """
    coins: FloatArray = weights @ covariance(shares, channels, 0.0) @ weights.T
    if not sampling:
        return coins
    return at_least(coins, weights @ covariance(shares, channels, sampling) @ weights.T)


def reported_covariance(weights: FloatArray, channel: Window, ones: NDArray[np.int64], n: int) -> FloatArray:
    """Returns the covariance of one question's sums through a window, for a population, from the reports themselves: each has one output.

    One more report is added, spread evenly over all outputs, so that the covariance is never 0.
    """
    rates = (ones + 1 / channel.outputs) / (n + 1)
    added = weights @ inverse(channel)
    apart = added - (added @ rates)[:, None]
    return np.asarray((apart * rates) @ apart.T)


def at_least(coins: FloatArray, plain: FloatArray) -> FloatArray:
    """Returns a covariance, shape (m, m), with no variance below the coins' alone.

    The excess over the coins is projected onto the matrices that can be a covariance, each figure in units of its own standard error:
    else the result would depend on the units.
    """
    scale = np.sqrt(np.abs(np.diagonal(coins)) + np.abs(np.diagonal(plain)))
    units = np.outer(scale, scale)
    values, vectors = np.linalg.eigh(np.divide(plain - coins, units, out=np.zeros_like(units), where=units > 0))
    beyond: FloatArray = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return coins + beyond * units


def _pairs(weights: FloatArray, channel: Channel) -> FloatArray:
    """Returns the sum over x of weights[.., x] E[u_i u_j | x], shape (.., k, k)."""
    if isinstance(channel, Window):
        reported = weights @ np.array(channel.chances, dtype=np.float64)
        return np.asarray((inverse(channel) * reported[..., None, :]) @ inverse(channel).T)
    own, other, either, neither = second_moments(channel)
    total = weights.sum(axis=-1)[..., None]
    touched = weights[..., :, None] + weights[..., None, :]
    moments: FloatArray = either * touched + neither * (total[..., None] - touched)
    diagonal = np.arange(channel.k)
    moments[..., diagonal, diagonal] = own * weights + other * (total - weights)
    return moments


@lru_cache(maxsize=256)
def second_moments(channel: Channel) -> tuple[float, float, float, float]:
    """Returns E[u_i u_j | x] for i = j = x, for i = j other than x, for x one of i and j, and for x neither; not of a window."""
    if isinstance(channel, Window):
        raise TypeError("a window's outputs are not alike, so four moments do not say what they are")
    k, d, theta, phi = channel.k, channel.d, channel.theta, channel.phi
    either = theta * (d - 1) / (k - 1)
    neither = (theta * (d - 1) * (d - 2) + (1 - theta) * d * (d - 1)) / ((k - 1) * (k - 2)) if k > 2 else 0
    both_set = ((theta, theta + theta), (phi, phi + phi), (either, theta + phi), (neither, phi + phi))
    scale = (theta - phi) ** 2
    a, b, c, e = (float((both - phi * ones + phi**2) / scale) for both, ones in both_set)
    return a, b, c, e
