"""Step sizes of marginal effects: the change of a variable over which a slope is computed, and the changes that are refused."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.regression.factors import Factor, flat
from deniable.estimate.regression.layout import ModelLayout

if TYPE_CHECKING:
    import pandas as pd


_STEP = 1e-4  # of a number's spread, for its slope
_LONGEST = 0.05  # of it, however many digits are lost
_SMALLER = 8  # times that a step is divided by 8, until slopes agree
_AGREE = 1e-3  # of the largest slope of a term
_HALVINGS = 64  # of the distance between two neighbours: what still changes then is a jump
_JUMP = 1e-6  # of a factor's range
_CORNER = 1e-2  # of a factor's range in a spread of the variable: by how much the slopes on both sides may differ
_ROWS = 20_000  # looked at for jumps and corners


def require_own(layout: ModelLayout, name: str) -> None:
    """Requires that a variable does not enter by a factor that looks at all rows together, since its value cannot change alone there.

    Raises:
        EstimateError: There is such a factor.
    """
    for factor in layout.factors:
        if factor.stored is not None and name in factor.variables:
            raise EstimateError(
                f"the effect of {name} must follow from a row's own value, and {factor.text} looks at all rows together. Compute it into a "
                "column of the data, whose effect there is"
            )


def step(layout: ModelLayout, frame: pd.DataFrame, name: str) -> float:
    """Returns the distance over which the slope of a number is computed.

    It is a power of 2, so that adding it to whole numbers is exact; more where the numbers are far from 0 beside their spread.

    Args:
        layout: The right-hand side.
        frame: Every variable at the respondents' values and all answers.
        name: The number.

    Raises:
        EstimateError: The slope is not defined: a factor jumps between two of the number's values, or has a corner at one.
    """
    values = frame[name].to_numpy(dtype=np.float64)
    spread = float(values.std()) or max(float(np.abs(values).max()), 1.0)
    factors = [factor for factor in layout.factors if name in factor.variables and not factor.expression.by_name]
    rows = frame.iloc[:: max(1, math.ceil(len(frame) / _ROWS))].reset_index(drop=True)
    for factor in factors:
        _refuse_jump(factor, rows, name)
        _refuse_corner(factor, rows, name, spread)
    power = 2 if factors else 1  # a square loses twice as many digits as the number itself
    rounding = np.finfo(np.float64).eps * (float(np.abs(values).max()) / spread) ** power
    return float(2.0 ** round(math.log2(spread * min(max(_STEP, math.cbrt(rounding)), _LONGEST))))


def sides(layout: ModelLayout, frame: pd.DataFrame, name: str, kinds: NDArray[np.int64]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Returns the terms on both sides of each value of a number, (rows, p) each, and the distance between them, (rows, 1).

    A side that cannot be computed, such as one beyond a spline's bounds, is replaced by the value itself.

    Raises:
        EstimateError: As in `step`, or a side cannot be computed within the number's range, either.
    """
    distance, values = step(layout, frame, name), frame[name].to_numpy(dtype=np.float64)

    def at(half: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        over, under = values + half, values - half
        try:
            above, below = (layout.matrix(frame.assign(**{name: side}), kinds) for side in (over, under))
        except EstimateError:
            over, under = np.minimum(over, values.max()), np.maximum(under, values.min())
            above, below = (layout.matrix(frame.assign(**{name: side}), kinds) for side in (over, under))
        return above, below, (over - under)[:, None]

    here = at(distance / 2)
    for _ in range(_SMALLER):
        there = at(distance / 16)
        one, other = ((above - below) / per for above, below, per in (here, there))
        if (np.abs(one - other).max(axis=0) <= _AGREE * np.abs(other).max(axis=0)).all():
            return here
        here, distance = there, distance / 8
    raise EstimateError(
        f"the slope of {name} must be defined, and a term changes too fast for it. Compute the term into a column of the data"
    )


def _refuse_jump(factor: Factor, frame: pd.DataFrame, name: str) -> None:
    """Raises EstimateError for a jump: halves the distance between neighbours, where the factor changes more, until the change stays."""
    values = frame[name].to_numpy(dtype=np.float64)
    present = np.unique(values)
    below = np.flatnonzero(values < present[-1])
    low, high = values[below], present[np.searchsorted(present, values[below], side="right")]
    if not len(below):
        return
    rows = frame.iloc[below].reset_index(drop=True)
    left, right = _at(factor, rows, name, low), _at(factor, rows, name, high)
    size = [_range([one, other]) for one, other in zip(left, right, strict=True)]
    for _ in range(_HALVINGS):
        if (_distance(left, right, size) <= _JUMP).all():
            return
        middle = (low + high) / 2
        between = _at(factor, rows, name, middle)
        first = _distance(left, between, size) >= _distance(between, right, size)
        low, high = np.where(first, low, middle), np.where(first, middle, high)
        left = [np.where(first, one, mid) for one, mid in zip(left, between, strict=True)]
        right = [np.where(first, mid, one) for mid, one in zip(between, right, strict=True)]
    if not (jumps := _distance(left, right, size) > _JUMP).any():
        return
    raise EstimateError(
        f"the slope of {name} must be defined, and {factor.text} jumps near {high[jumps][0]:.6g}. Compute the steps into a column of the "
        "data and name that in the formula: its effect is one category against another"
    )


def _refuse_corner(factor: Factor, frame: pd.DataFrame, name: str, spread: float) -> None:
    """Raises EstimateError for a corner: compares the slopes on both sides of each value, over two distances."""
    values = frame[name].to_numpy(dtype=np.float64)
    here = _at(factor, frame, name, values)
    size = [_range([one]) for one in here]
    gaps = []
    far = 10 * _STEP * spread
    if not (inner := (values - far >= values.min()) & (values + far <= values.max())).any():
        return
    values, here = values[inner], [column[inner] for column in here]
    frame = frame[inner].reset_index(drop=True)
    for distance in (far, _STEP * spread):
        over, under = (_at(factor, frame, name, values + sign * distance) for sign in (1, -1))
        bend = [one - 2 * mid + other for one, mid, other in zip(over, here, under, strict=True)]
        gaps.append(_distance(bend, [np.zeros(len(values))] * len(bend), size) * spread / distance)
    if (corner := (gaps[0] > _CORNER) & (gaps[1] > gaps[0] / 2)).any():
        raise EstimateError(
            f"the slope of {name} must be defined at each value, and {factor.text} has a corner at {values[corner][0]:.6g}. "
            "Put it between two values, as 39.5 for whole numbers"
        )


def _at(factor: Factor, frame: pd.DataFrame, name: str, values: FloatArray) -> list[FloatArray]:
    """Returns the factor's columns where the variable has these values; for texts, numbers that differ where they do."""
    with np.errstate(all="ignore"):
        columns = flat(factor.values(frame.assign(**{name: values}))).values()
    return [_numbers(column) for column in columns]


def _numbers(column: NDArray[np.generic]) -> FloatArray:
    if column.dtype.kind in "iufb":
        return column.astype(np.float64)
    return np.array([hash(value) % 1_000_003 for value in column.tolist()], dtype=np.float64)


def _range(columns: Sequence[FloatArray]) -> float:
    finite = [column[np.isfinite(column)] for column in columns]
    low, high = (min(part.min(initial=np.inf) for part in finite), max(part.max(initial=-np.inf) for part in finite))
    return float(high - low) if high > low else 1.0


def _distance(one: Sequence[FloatArray], other: Sequence[FloatArray], size: Sequence[float]) -> FloatArray:
    """Returns the distance of values from each other, in the columns' ranges."""
    each = (np.abs(a - b) / range_ for a, b, range_ in zip(one, other, size, strict=True))
    return np.asarray(np.nan_to_num(sum(each, np.zeros(1)), nan=0.0))
