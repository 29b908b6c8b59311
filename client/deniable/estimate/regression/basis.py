"""Orthogonal basis of a design matrix: a model is fitted in columns that are centred, scaled and uncorrelated, whatever its terms are.

A term may be far from 0 beside its spread (a month as 202601 .. 202612), in another unit, or nearly a function of others (age and its
square). With X = Q R and T = R^-1, each column of T divided so that the largest number of X T is 1, a model in X T is the model in X:
its coefficients b' give b = T b', with covariance T V' T'. Steps, convergence and what is singular are judged in X T only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.regression import failures

_LARGEST = 1e30  # absolute value of a term: all results stay far below the largest float
_ROUNDING = 1e-13  # of a column's largest number: a remainder below it is rounding
_DIGITS = 1e-8  # of a column's spread: a remainder below it is too small to compute with
_FAR = 1e3  # times its spread: a column so far from 0 should be centred
_AT_ONCE = 1 << 16  # rows


@dataclass(frozen=True, eq=False)
class Basis:
    """The change from a formula's p columns to an orthogonal basis of them.

    Attributes:
        names: The columns' names.
        turn: (p, p), upper triangular: X turn is the basis.
        centre: (p,), the columns' means; 0 without an intercept.
        offset: (p,), the number in each column that is nearest to 0; 0 without an intercept.
        reach: (p,), the largest distance from it.
    """

    names: list[str]
    turn: FloatArray
    centre: FloatArray
    offset: FloatArray
    reach: FloatArray

    @classmethod
    def of(cls, rows: FloatArray, names: list[str]) -> Basis:
        """Returns the basis of a matrix, shape (rows, p).

        Raises:
            EstimateError: There is no column, a number is not finite or too large or small, or a column follows from those before it.
        """
        if not rows.shape[1]:
            raise EstimateError("formula must have at least one term or the intercept")
        largest = _largest(rows, names)
        centre = rows.mean(axis=0) * (1.0 if "Intercept" in names else 0.0)
        if "Intercept" in names:
            centre[names.index("Intercept")] = 0.0
        moved = (rows - centre) / largest
        triangle = _triangle(moved)
        _refuse_collinear(triangle, moved, rows / largest, names)
        signs = np.where(np.diagonal(triangle) < 0, -1.0, 1.0)
        turn = scipy.linalg.solve_triangular(triangle * signs[:, None], np.eye(len(largest)))
        turn = turn / np.abs(moved @ turn).max(axis=0) / largest[:, None]
        low, high = rows.min(axis=0), rows.max(axis=0)
        offset = np.clip(0.0, low, high) * (1.0 if "Intercept" in names else 0.0)
        if "Intercept" in names:
            offset[names.index("Intercept")] = 0.0
        return cls(names, _from_means(names, centre) @ turn, centre, offset, np.maximum(np.abs(low - offset), np.abs(high - offset)))

    def columns(self, x: FloatArray) -> FloatArray:
        """Returns the basis at these values of the formula's columns, shape (.., p)."""
        return np.asarray((x - self.centre) @ np.linalg.inv(_from_means(self.names, self.centre)) @ self.turn)

    def carried(self, constraint: FloatArray | None, outcomes: int) -> FloatArray:
        """Returns the matrix from coefficients of the basis to coefficients of the formula's columns.

        Args:
            constraint: From coefficients to one slope a column and outcome, as in `families`; None where these are the same.
            outcomes: Answers of the outcome; a coefficient for each but one.
        """
        return _within(constraint, _blocks(self.turn, outcomes))

    def naming(self, names: Sequence[str], constraint: FloatArray | None = None, outcomes: int = 2) -> Naming:
        """Returns the names of the coefficients, with how far a direction in the basis moves each."""
        centred = np.eye(len(self.names))
        if "Intercept" in self.names:
            centred[self.names.index("Intercept")] += self.offset
        matrix = _within(constraint, _blocks(centred @ self.turn, outcomes))
        every = np.tile(self.reach, outcomes - 1)
        reach = every if constraint is None else (np.abs(constraint) * every[:, None]).max(axis=0)
        return Naming(tuple(names), matrix * reach[:, None])


@dataclass(frozen=True, eq=False)
class Naming:
    """Names of coefficients in messages.

    Attributes:
        names: The names.
        matrix: From a solver's direction to how far each coefficient's part of a row moves.
    """

    names: tuple[str, ...]
    matrix: FloatArray

    def along(self, direction: FloatArray, part: float) -> tuple[str, ...]:
        """Returns the names of coefficients that move at least this part of the largest move."""
        moved = np.abs(self.matrix @ direction)
        return tuple(name for name, size in zip(self.names, moved, strict=True) if size > part * moved.max())


def orthogonal(columns: FloatArray) -> FloatArray:
    """Returns an orthogonal basis of the columns' span, the largest number of each 1; columns that follow from others add nothing."""
    scaled = columns / 2.0 ** np.ceil(np.log2(np.maximum(np.abs(columns).max(axis=0), 1e-300)))  # a power of 2 rounds nothing
    keep: list[FloatArray] = []
    for column in scaled.T:
        spread = max(float(np.abs(column - column.mean()).max()), _ROUNDING)
        rest = column
        for _ in range(2):  # twice is enough
            for one in keep:
                rest = rest - one * (one @ rest) / (one @ one)
        if np.abs(rest).max() > max(_ROUNDING, _DIGITS * spread):
            keep.append(rest / np.abs(rest).max())
    return np.ascontiguousarray(np.column_stack(keep))


def _within(constraint: FloatArray | None, every: FloatArray) -> FloatArray:
    if constraint is None:
        return every
    return np.asarray(np.linalg.solve(constraint.T @ constraint, constraint.T @ every @ constraint), dtype=np.float64)


def _blocks(turn: FloatArray, outcomes: int) -> FloatArray:
    """Returns the same matrix for each outcome but one."""
    return np.asarray(np.kron(np.eye(outcomes - 1), turn), dtype=np.float64)


def _from_means(names: Sequence[str], centre: FloatArray) -> FloatArray:
    """Returns the matrix that subtracts each column's mean by the intercept's, shape (p, p)."""
    result = np.eye(len(names))
    if "Intercept" in names:
        result[names.index("Intercept")] -= centre
    return result


def _largest(rows: FloatArray, names: list[str]) -> FloatArray:
    if not np.isfinite(rows).all():
        raise EstimateError("the terms must be finite numbers in every row")
    largest = np.abs(rows).max(axis=0)
    if empty := [name for name, size in zip(names, largest, strict=True) if not size]:
        raise failures.empty(empty)
    if ((largest > _LARGEST) | (largest < 1 / _LARGEST)).any():
        name = names[int(np.abs(np.log(largest)).argmax())]
        raise EstimateError(f"the largest number of each term must be from {1 / _LARGEST:g} to {_LARGEST:g}: use another unit for {name}")
    return np.asarray(largest)


def _triangle(rows: FloatArray) -> FloatArray:
    """Returns R of the rows' QR decomposition, of some rows at a time."""
    triangle = np.zeros((0, rows.shape[1]))
    for start in range(0, len(rows), _AT_ONCE):
        triangle = np.asarray(np.linalg.qr(np.vstack([triangle, rows[start : start + _AT_ONCE]]), mode="r"), dtype=np.float64)
    return np.vstack([triangle, np.zeros((max(0, rows.shape[1] - len(triangle)), rows.shape[1]))])


def _refuse_collinear(triangle: FloatArray, moved: FloatArray, rows: FloatArray, names: list[str]) -> None:
    """Refuses a column that follows from the columns before it.

    triangle: R of the rows, moved by their means if there is an intercept. rows: the columns with a largest number of 1.

    Raises:
        EstimateError: There is such a column.
    """
    spread, size = np.sqrt(((moved - moved.mean(axis=0)) ** 2).sum(axis=0)), np.sqrt((rows**2).sum(axis=0))
    for j, left in enumerate(np.abs(np.diagonal(triangle))):
        if left > max(_DIGITS * spread[j], _ROUNDING * size[j]):
            continue
        before = scipy.linalg.solve_triangular(triangle[:j, :j], triangle[:j, j]) if j else np.zeros(0)
        share = np.abs(before) * np.where(spread[:j] > _ROUNDING * size[:j], spread[:j], size[:j])
        if "Intercept" in names and spread[j] <= _ROUNDING * size[j]:
            share = np.array([float(name == "Intercept") for name in names[:j]])
        named = [name for name, part in zip(names, share, strict=False) if part > 1e-3 * share.max(initial=0)]
        far = any(0 < _FAR * one < whole for one, whole in zip(spread[1 : j + 1], size[1 : j + 1], strict=True))
        raise failures.collinear([*named, names[j]], far)
