"""Linear regression of a mean, where the outcome and some of the predictors were perturbed: a corrected score.

With the true answers, least squares solves sum x_i (y_i - x_i' beta) = 0. Here x_i (y_i - x_i' beta) is replaced by

    psi_i = sum over c of  U_ic  x(z_i, c) (v_i - x(z_i, c)' beta)

U_ic: the product of the predictors' pseudo-answers for combination c; v_i: the outcome's pseudo-answer in scores. Both are
unbiased given the true answers, and independent, since each question has coins of its own; so psi_i is unbiased too
(T. Nakamura, Biometrika 77 (1990)), whatever the distribution of the answers. It is linear in beta. Errors are those of
an estimating equation (sandwich): A^-1 (sum psi psi') A^-T with A = sum over i and c of U_ic x x'.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError

_Floats = NDArray[np.float64]


def solve(count: _Floats, x: _Floats, u: _Floats, v: _Floats, names: list[str]) -> tuple[_Floats, _Floats]:
    """beta, shape (p,), and its covariance, shape (p, p).

    count: (R,), respondents of each kind. x: (R, C, p). u: (R, C). v: (R,). Raises EstimateError where A is not positive definite.
    """
    weighted = np.einsum("r,rc,rcp->rp", count, u, x)
    a = np.einsum("r,rc,rcp,rcq->pq", count, u, x, x, optimize=True)
    _refuse_indefinite(a, x, names)
    beta = np.linalg.solve(a, v @ weighted)
    psi = np.einsum("rc,rcp,rc->rp", u, x, v[:, None] - x @ beta, optimize=True)
    half = np.linalg.solve(a, (np.sqrt(count)[:, None] * psi).T)
    return beta, half @ half.T


def _refuse_indefinite(a: _Floats, x: _Floats, names: list[str]) -> None:
    scale = np.abs(x).max(axis=(0, 1))
    values, vectors = np.linalg.eigh(a / np.outer(scale, scale))
    if values[0] <= 1e-10 * values[-1]:
        named = [name for name, weight in zip(names, np.abs(vectors[:, 0]), strict=True) if weight > 0.1]
        raise EstimateError(
            f"the reports say too little about {', '.join(named)}: the predictors' estimated second moments must be positive definite, "
            f"got a smallest eigenvalue of {values[0]:.1e} beside a largest of {values[-1]:.1e}. Leave a term out, or collect more reports"
        )
