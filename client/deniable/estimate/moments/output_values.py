"""Unbiased values of a window's outputs: the number that each output of a report is worth, on average right for every level.

Levels are counted in steps from their middle here: s_j = j - (L - 1) / 2. With a = theta / w and b = (1 - theta) / outside, the values v
must have (a - b) (v_j + .. + v_(j+w-1)) + b sum v = s_j for every level. Neighbouring windows share all but one output, so v_(j+w) =
v_j + c with c = 1 / (a - b), and if v is antisymmetric the sum is 0 and all equations hold: v_i = c (floor(i / w) + r_(i mod w)), where
r_i + r_i' is a whole number for residues i and i' that mirror each other. Half of the w numbers r are then free. They are chosen for the
least worst-case variance of a number anywhere in the range, rounding to levels included: a convex problem. Its solution is rounded to
multiples of 2^-16 before anything else is computed, so the values are fractions and unbiased exactly. "No answer" has the value 0.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from deniable.estimate.arrays import FloatArray
from deniable.mechanism import Window

_GRAIN = 1 << 16


@lru_cache(maxsize=256)
def output_values(channel: Window) -> tuple[Fraction, ...]:
    """Returns the value of each output, in steps between levels from their middle; E[value | level j] = s_j, exactly. Needs two levels."""
    m, w = channel.levels + channel.width - 1, channel.width
    size = 1 / (channel.theta / w - (1 - channel.theta) / channel.outside)
    free = [Fraction(round(x * _GRAIN), _GRAIN) for x in _least_worst(m, w, *_rates(channel)).tolist()]
    residues = _residues(m, w, free)
    values = tuple(size * (i // w + residues[i % w]) for i in range(m))
    return (*values, Fraction(0)) if channel.apart else values


@lru_cache(maxsize=256)
def inverse(channel: Window) -> FloatArray:
    """Returns the pseudo-answer of each category for each output, shape (k, outputs): E[row | category] = 1 for its own and 0 for others.

    Any scores that are evenly spaced over the levels give the values above; "no answer" depends on its own output alone. The remaining
    freedom is used for the least squares at even shares of all categories.
    """
    chances = np.array(channel.chances, dtype=np.float64).T
    root = np.sqrt(chances.mean(axis=1))
    result = np.linalg.pinv(chances / root[:, None]) / root  # not from products of chances, which are singular where epsilon is least
    levels = np.arange(channel.levels)
    steps, ones = np.zeros(channel.k), np.zeros(channel.k)
    steps[levels], ones[levels] = levels - levels.mean(), 1.0
    values = np.array([float(value) for value in output_values(channel)])
    answered = np.ones(channel.outputs)
    if channel.apart:
        gap = float(channel.theta - channel.phi)
        result[-1] = -float(channel.phi) / gap
        result[-1, -1] += 1 / gap
        answered -= result[-1]
    result += np.outer(steps, values - steps @ result) / (steps @ steps)
    result += np.outer(ones, answered - ones @ result) / (ones @ ones)
    result.setflags(write=False)
    return np.asarray(result)


def worst_variance(channel: Window) -> float:
    """Returns the largest variance of one report's value about a number anywhere in the range, which is 1 long, of people with a number."""
    m = channel.levels + channel.width - 1
    values = np.array([float(value) for value in output_values(channel)[:m]])
    return float(_peaks(values, channel.width, *_rates(channel)).max() / (channel.levels - 1) ** 2)


def largest_variance(channel: Window) -> float:
    """Returns the largest variance by people's numbers and coins together: half of the numbers at each of two mirrored levels."""
    values = np.array([float(value) for value in output_values(channel)])
    squares = np.array(channel.chances, dtype=np.float64)[: channel.levels] @ values**2
    return float(squares.max() / (channel.levels - 1) ** 2)


def _rates(channel: Window) -> tuple[float, float]:
    """Returns the probabilities of one output in the window, and of one outside."""
    return float(channel.theta / channel.width), float((1 - channel.theta) / channel.outside)


def _mirrored(m: int, w: int) -> list[tuple[int, int, int]]:
    """Returns (i, j, r_i + r_j) for the residues that antisymmetry links, each once; i = j for a residue that mirrors itself."""
    blocks, last = divmod(m - 1, w)
    pairs = ((i, last - i, -blocks) if i <= last else (i, w + last - i, 1 - blocks) for i in range(w))
    return [(i, j, total) for i, j, total in pairs if i <= j]


def _residues(m: int, w: int, free: list[Fraction]) -> list[Fraction]:
    """Returns all of r, from the free differences."""
    result, rest = [Fraction(0)] * w, iter(free)
    for i, j, total in _mirrored(m, w):
        apart = next(rest) if i < j else Fraction(0)
        result[i], result[j] = Fraction(total, 2) - apart, Fraction(total, 2) + apart
    return result


def _least_worst(m: int, w: int, near: float, far: float) -> FloatArray:
    """Returns the free numbers with the least worst-case variance."""
    pairs = _mirrored(m, w)
    free = [(i, j) for i, j, _ in pairs if i < j]
    if not free:
        return np.empty(0)
    from scipy.optimize import minimize  # which takes long to load

    outputs, size = np.arange(m), 1 / (near - far)
    fixed = np.zeros(w)
    spread = np.zeros((w, len(free)))
    for i, j, total in pairs:
        fixed[i] = fixed[j] = total / 2
    for place, (i, j) in enumerate(free):
        spread[i, place], spread[j, place] = -1.0, 1.0

    def peaks(x: FloatArray) -> FloatArray:
        return _peaks(size * (outputs // w + (fixed + spread @ x)[outputs % w]), w, near, far)

    start = np.array([(j - i) / (2 * w) for i, j in free])
    unit = float(peaks(start).max())

    def largest(z: FloatArray) -> float:
        return float(z[-1])

    def below(z: FloatArray) -> FloatArray:
        return np.asarray(z[-1] - peaks(z[:-1]) / unit)

    least: Any = {"method": "SLSQP", "constraints": {"type": "ineq", "fun": below}, "options": {"maxiter": 500, "ftol": 1e-13}}
    best = np.asarray(minimize(largest, np.append(start, 1.0), **least).x[:-1])
    return np.asarray(best if peaks(best).max() <= unit else start)


def _peaks(values: FloatArray, w: int, near: float, far: float) -> FloatArray:
    """Returns the largest variance of a report's value about a number between each two neighbouring levels, in steps squared.

    Rounding makes E[value^2] linear there, so the variance is a parabola in the place t of the number, 0 <= t <= 1.
    """
    running = np.concatenate([[0.0], np.cumsum(values**2)])
    squares = (near - far) * (running[w:] - running[:-w]) + far * running[-1]
    lower = np.arange(len(squares) - 1) - (len(squares) - 1) / 2
    slope = np.diff(squares)
    t = np.clip(slope / 2 - lower, 0.0, 1.0)
    return np.asarray(squares[:-1] + t * slope - (lower + t) ** 2)
