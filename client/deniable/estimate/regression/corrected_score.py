"""Linear regression of a mean, where the outcome and some of the predictors were perturbed: a corrected score.

With the true answers, least squares solves sum x_i (y_i - x_i' beta) = 0. Here x_i (y_i - x_i' beta) is replaced by

    psi_i = sum over c of  U_ic  x(z_i, c) (v_i - r_i x(z_i, c)' beta)

U_ic: the product of the predictors' pseudo-answers for combination c; v_i: the outcome's pseudo-answer in scores; r_i: the pseudo-answer
for any answer, 1 where everybody answered. They are unbiased given the true answers, and independent between questions, since each has
coins of its own; so psi_i is unbiased too (T. Nakamura, Biometrika 77 (1990)), for any distribution of the answers. It is linear in
beta. With A = sum over i and c of w_i r_i U_ic x x', clusters have the errors of an estimating equation, A^-1 M A^-T with M as in
`sampling`; people drawn alone have the errors of `jackknife`.
"""

from __future__ import annotations

import numpy as np

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.regression import cells, failures, jackknife
from deniable.estimate.regression.basis import Naming
from deniable.estimate.regression.fitted import Coefficients
from deniable.estimate.regression.jackknife import Equation, Jackknife
from deniable.estimate.regression.layout import Terms
from deniable.estimate.regression.request import Request

_NOTHING = 1e-10  # of the largest variance: what is left of one is rounding

FEWEST = 4
"""Respondents beyond the terms: with fewer, 95% intervals held the truth in less than 93%."""
FEWEST_PERTURBED = 15
"""Respondents for each term of a model with perturbed predictors, by the same measure."""


def fit(request: Request) -> Coefficients:
    """Fits a linear model by the corrected score.

    Raises:
        EstimateError: There are too few respondents, the corrected second moments of the predictors are not positive definite with all
            respondents or without one of them, or reports that are all alike leave an error of 0.
    """
    if request.covariates is not None:
        raise EstimateError("covariates must be left out of a linear model, which assumes nothing about the predictors' distribution")
    outcome, v, r = _numbers(request)
    terms = request.terms([v, r])
    variables = [request.perturbed[name] for name in terms.predictors]
    u = cells.product([one.of(terms.rows).pseudo_answers()[:, one.answered] for one in variables], len(terms.rows))
    n_asked = request.count_asked(terms.predictors)
    _refuse_few(n_asked, len(terms.names), bool(variables))
    beta, covariance, a, without = _solve(request, terms, u, (v[terms.rows], r[terms.rows]))
    turn = terms.basis.turn
    _refuse_certain(covariance, beta, a, terms)
    count = terms.count(None)
    answered = min(1.0, float(count @ (u.sum(axis=1) * r[terms.rows])) / n_asked)
    missing = any(request.perturbed[name].missing is not None for name in (request.outcome, *terms.predictors) if name in request.perturbed)
    return Coefficients(
        request=request,
        outcome=f"mean of {outcome}",
        names=[(request.outcome, name) for name in terms.names],
        params=turn @ beta,
        covariance=turn @ covariance @ turn.T,
        layout=terms.layout,
        basis=terms.basis,
        n_asked=n_asked,
        answered=answered if missing else 1.0,
        jackknife=None if without is None else without.carried(turn),
        core=(beta, covariance),
    )


def _refuse_few(n_asked: int, terms: int, perturbed: bool) -> None:
    if n_asked < terms + FEWEST:
        rule = f"a linear model must have at least {FEWEST} respondents more than terms, got {n_asked} and {terms}"
        raise failures.too_few(n_asked, terms + FEWEST, terms, rule)
    if perturbed and n_asked < terms * FEWEST_PERTURBED:
        rule = f"a linear model with perturbed predictors must have at least {FEWEST_PERTURBED} respondents for each of its {terms} terms"
        raise failures.too_few(n_asked, terms * FEWEST_PERTURBED, terms, f"{rule}, got {n_asked}")


def _solve(
    request: Request, terms: Terms, u: FloatArray, outcome: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray, FloatArray, Jackknife | None]:
    """Returns beta in the basis, shape (p,), its covariance and A, shape (p, p) both, and the left-out fits; None of clusters."""
    (v, r), x, count = outcome, terms.x, terms.count(request.sampling.weights)
    weighted = np.einsum("r,rc,rcp->rp", count, u, x)
    a = np.einsum("r,rc,rcp,rcq->pq", count * r, u, x, x, optimize=True)
    naming = terms.basis.naming(terms.names)
    _refuse_indefinite(a, x, naming)
    beta = np.linalg.solve(a, v @ weighted)
    if request.sampling.clusters is None:
        without = jackknife.leave_each_out(Equation(x, u, v, r, a, beta, naming), terms.which, request.sampling.weights)
        return beta, without.covariance, a, without
    psi = np.einsum("rc,rcp,rc->rp", u, x, v[:, None] - r[:, None] * (x @ beta), optimize=True)
    request.sampling.require_errors(psi @ np.linalg.inv(terms.basis.turn), terms.which, terms.names)
    half = np.linalg.solve(a, request.sampling.meat(psi, terms.which))
    return beta, np.linalg.solve(a, half.T), a, None


def _numbers(request: Request) -> tuple[str, FloatArray, FloatArray]:
    """Returns a numeric outcome: its name in words; an unbiased number for every respondent, 0 without an answer; and one for answering.

    The numbers have shape (n,) each.
    """
    name = request.outcome
    if name not in request.perturbed:
        try:
            values = request.table[name].to_numpy(dtype=np.float64)
        except (TypeError, ValueError):
            raise EstimateError(f"the outcome {name} of a linear model must be numbers") from None
        if not np.isfinite(values).all():
            raise EstimateError(f"the outcome {name} of a linear model must be finite numbers in every row")
        return name, values, np.ones(len(values))
    variable = request.perturbed[name]
    u = variable.pseudo_answers()[:, variable.answered]
    everybody = variable.missing is None and variable.was_asked is None
    answered = np.ones(variable.n) if everybody else u.sum(axis=1)
    if (scores := variable.answer_scores) is not None:
        return f"{name}'s scores", u @ scores, answered
    if len(variable.answers) != 2:
        raise EstimateError(f"the outcome {name} of a linear model must have scores, a number for each of its categories")
    scores = np.array([category != variable.reference for category in variable.answers], dtype=np.float64)
    return f"{name} (1 for {variable.answers[int(scores.argmax())]}, else 0)", u @ scores, answered


def _refuse_certain(covariance: FloatArray, beta: FloatArray, a: FloatArray, terms: Terms) -> None:
    """Raises EstimateError for an error of 0, which comes from a few respondents whose reports are alike.

    a: as in `jackknife`, shape (p, p).
    """
    rows, turn = terms.x.reshape(-1, len(beta)), terms.basis.turn
    usual = np.linalg.inv(a)

    def shares(of: FloatArray) -> FloatArray:
        """Returns variances as parts of the variances that outcomes with a variance of 1 everywhere would give."""
        return np.asarray(np.einsum("ip,pq,iq->i", of, covariance, of) / np.einsum("ip,pq,iq->i", of, usual, of))

    each = shares(rows)
    nothing = max(_NOTHING * float(each.max()), (1e-12 * float(np.abs(rows @ beta).max())) ** 2)
    if not (certain := np.flatnonzero(each <= nothing)).size:
        return
    own, there = shares(turn) <= nothing, np.abs(np.linalg.solve(turn.T, rows[certain[0]])) > 1e-9 * terms.basis.reach
    named = [name for name, one in zip(terms.names, own if own.any() else there, strict=True) if one]
    raise failures.alike(named)


def _refuse_indefinite(a: FloatArray, x: FloatArray, naming: Naming) -> None:
    scale = np.abs(x).max(axis=(0, 1))
    values, vectors = np.linalg.eigh(a / np.outer(scale, scale))
    if values[0] <= 1e-10 * values[-1]:
        raise failures.indistinct(
            naming.along(vectors[:, 0] / scale, 0.1),
            "the predictors' estimated second moments must be positive definite, "
            f"got a smallest eigenvalue of {values[0]:.1e} beside a largest of {values[-1]:.1e}",
        )
