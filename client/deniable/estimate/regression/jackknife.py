"""Jackknife errors of a linear model, by leaving out each respondent: they hold with few respondents, too.

With A and psi as in `corrected_score` and J_i = w_i r_i sum over c of U_ic x x', what respondent i adds to A, beta without i is
beta - (A - J_i)^-1 w_i psi_i. The covariance is the sum of the squares of these steps, the jackknife's; of predictors without noise it
is the sandwich HC3 (J. MacKinnon and H. White, J. Econometrics 29 (1985)). A plain sandwich is too small, since a fit is nearest to its
own reports.

The precision of such an error depends on how many respondents decide the coefficient. For a contrast k' beta they have the weights

    D_i = (k' (A - J_i)^-1 w_i sum over c of U_ic x)^2

and it has Student's t with (sum D)^2 / sum D^2 - 1 degrees of freedom, at least 1 and at most n - p; the mean of a group of m has m - 1
(as in F. Satterthwaite, Biometrics Bull. 2 (1946)).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.estimate.arrays import FloatArray
from deniable.estimate.regression import failures
from deniable.estimate.regression.basis import Naming

_AT_ONCE = 1 << 21  # numbers in the largest array
_ALL = 1 - 1e-9  # of what is known in some direction, known by one respondent alone


class Equation(NamedTuple):
    """Equation of a linear model, for R kinds of respondents and C combinations.

    Attributes:
        x: Shape (R, C, p).
        u: Shape (R, C).
        v, r: Shape (R,), as in `corrected_score`.
        a: Shape (p, p).
        beta: Shape (p,).
        naming: The names of its p terms.
    """

    x: FloatArray
    u: FloatArray
    v: FloatArray
    r: FloatArray
    a: FloatArray
    beta: FloatArray
    naming: Naming


@dataclass(frozen=True, eq=False)
class Jackknife:
    """Steps of a fit by leaving out each respondent.

    Attributes:
        count: Respondents of each of m rows, shape (m,).
        steps: The change of beta without one of them, shape (m, p).
        leans: The part of beta by a unit of one respondent's outcome, shape (m, p).
        most: The most degrees of freedom.
    """

    count: FloatArray
    steps: FloatArray
    leans: FloatArray
    most: float

    @property
    def covariance(self) -> FloatArray:
        """The covariance of the coefficients, shape (p, p)."""
        return np.asarray((self.steps * self.count[:, None]).T @ self.steps)

    def carried(self, turn: FloatArray) -> Jackknife:
        """Returns the same of the coefficients `turn @ beta`."""
        return replace(self, steps=self.steps @ turn.T, leans=self.leans @ turn.T)

    def freedom(self, contrasts: FloatArray) -> FloatArray:
        """Returns degrees of freedom of the error of each contrast; contrasts: (k, p)."""
        scaled = contrasts / np.maximum(np.abs(contrasts * np.abs(self.leans).max(axis=0)).max(axis=1, keepdims=True), 1e-300)
        weights = (self.leans @ scaled.T) ** 2
        result = (self.count @ weights) ** 2 / np.maximum(self.count @ weights**2, 1e-300) - 1
        return np.asarray(np.clip(result, 1.0, self.most))


def leave_each_out(of: Equation, which: NDArray[np.int64], weights: FloatArray | None) -> Jackknife:
    """Leaves every respondent out in turn. which: (n,), the kind of each. weights: (n,), or None if all are alike.

    Raises:
        EstimateError: The predictors' second moments would not be positive definite without one of them.
    """
    if weights is None:
        rows, count, weights = np.arange(len(of.x)), np.bincount(which, minlength=len(of.x)).astype(np.float64), np.ones(len(of.x))
    else:
        rows, count = which, np.ones(len(which))
    scale = np.abs(of.x).max(axis=(0, 1))
    white = np.linalg.inv(np.linalg.cholesky(of.a / np.outer(scale, scale))) / scale  # white a white' = 1
    steps, leans = (np.concatenate(part) @ white for part in zip(*_blocks(of, white, rows, weights), strict=True))
    there = int(count[(leans != 0).any(axis=1)].sum())
    return Jackknife(count, steps, leans, float(max(1, there - len(of.beta))))


def _blocks(of: Equation, white: FloatArray, rows: NDArray[np.int64], weights: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yields steps and leans where A is 1, of some respondents at a time."""
    p = len(of.beta)
    size = max(1, _AT_ONCE // (p * max(p, of.x.shape[1])))
    for start in range(0, len(rows), size):
        some, w = rows[start : start + size], weights[start : start + size, None]
        x, u, r = of.x[some], of.u[some] * w, of.r[some, None]
        turned = x @ white.T
        own = np.einsum("rc,rcp,rcq->rpq", u * r, turned, turned, optimize=True)
        _refuse_alone(own, white, of)
        psi = np.einsum("rc,rcp->rp", u * (of.v[some, None] - r * (x @ of.beta)), turned)
        both = np.stack([psi, np.einsum("rc,rcp->rp", u, turned)], axis=2)
        solved = np.linalg.solve(np.eye(p) - own, both)
        yield solved[:, :, 0], solved[:, :, 1]


def _refuse_alone(own: FloatArray, white: FloatArray, of: Equation) -> None:
    """Raises EstimateError if a coefficient depends on one respondent. own: (m, p, p), the part of 1 that each respondent is."""
    much = own[np.linalg.norm(own, axis=(1, 2)) > 0.5]
    if not len(much):
        return
    values, vectors = np.linalg.eigh(much)
    if values[worst := int(values[:, -1].argmax()), -1] >= _ALL:
        named = of.naming.along(vectors[worst, :, -1] @ white, 0.1)
        raise failures.one_respondent(named)
