"""The likelihood of a logistic regression whose outcome and some of whose predictors were perturbed, and its maximum.

A respondent with public values z reports b about the outcome y and a_1 .. a_m about the predictors c = (c_1 .. c_m):

    P(b, a | z) = sum over c and y of  pi(c | z)  P(a_1 | c_1) .. P(a_m | c_m)  mu(y | z, c)  P(b | y)

    mu(y | z, c) = multinomial logit of x(z, c)' beta_y,  beta = 0 for the reference outcome
    pi(c | z)    = multinomial logit of w(z)' gamma_c,    gamma = 0 for the first combination c

The channels P(a | c), P(b | y) are known. beta is wanted; gamma is estimated along with it. Where w is just a constant,
pi is a free (saturated) joint distribution.

Score and observed information are those of the complete data, averaged over what is latent given the reports, the
information less the variance of the score (T. Louis, J. R. Stat. Soc. B 44 (1982)). A Newton step is taken where the
observed information is positive definite, else an EM gradient step (K. Lange, J. R. Stat. Soc. B 57 (1995)), which
uses the complete data's; either is halved until the objective grows. Nothing is random.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from deniable.errors import EstimateError

_Floats = NDArray[np.float64]

MAX_STEPS = 500
TOLERANCE = 1e-8  # the largest change of a coefficient in the last step, where each column's largest value is 1
PSEUDO_RESPONDENTS = 1.0
"""Spread evenly over the combinations of the perturbed predictors, so that none is estimated to be impossible.

Without it a rare combination is often estimated as 0, at the end of its range, where no information exists.
"""
_CHUNK = 1 << 21  # scores held at a time
_CERTAIN = 30.0  # log odds, beyond which a share is 0 or 1 to the last bit of a report
_SINGULAR = 1e-11  # smallest eigenvalue of the information, scaled to a diagonal of 1


@dataclass(frozen=True)
class Reports:
    """R distinct kinds of respondent, C combinations of the perturbed predictors, K outcomes (the reference last).

    count: (R,), respondents of each kind. x: (R, C, p), the terms. w: (R, q), what pi depends on. a: (R, C), P(predictors' reports | c).
    b: (R, K), P(outcome's report | y).
    """

    count: _Floats
    x: _Floats
    w: _Floats
    a: _Floats
    b: _Floats

    @property
    def coefficients(self) -> int:
        """How many of the parameters are beta: (K - 1) p; beta comes first, outcome by outcome."""
        return int((self.b.shape[1] - 1) * self.x.shape[2])

    @property
    def parameters(self) -> int:
        """beta, then gamma: (C - 1) q."""
        return int(self.coefficients + (self.x.shape[1] - 1) * self.w.shape[1])

    def chunks(self) -> Iterator[Reports]:
        """The same kinds, some at a time."""
        size = max(1, _CHUNK // (self.x.shape[1] * self.b.shape[1] * self.parameters))
        for start in range(0, len(self.count), size):
            part = slice(start, start + size)
            yield Reports(self.count[part], self.x[part], self.w[part], self.a[part], self.b[part])


class Derivatives(NamedTuple):
    """At some parameters: the log-likelihood; the objective, which has the pseudo-respondents too; its score, observed information and
    complete data's information; and the sum of the outer products of the respondents' scores."""

    llf: float
    objective: float
    score: _Floats
    observed: _Floats
    complete: _Floats
    outer: _Floats


class Maximum(NamedTuple):
    """beta and gamma at the maximum, in one vector, after so many steps, of which the last changed nothing above TOLERANCE."""

    parameters: _Floats
    at: Derivatives
    steps: int


def maximize(reports: Reports, names: list[str]) -> Maximum:
    """The maximum from fixed starting values (all 0). names: of the coefficients, for messages.

    Raises EstimateError where there is no interior maximum or the information is singular there.
    """
    parameters, at, before = np.zeros(reports.parameters), None, np.inf
    for steps in range(1, MAX_STEPS + 1):
        at = at or derivatives(reports, parameters)
        step = _solve(at.observed, at.score)
        if newton := step is not None:
            gain = float(step @ at.score)
        else:
            step = _em_step(at, names)
            gain = float(step @ at.score)
        change = float(np.abs(step).max())
        if change < TOLERANCE:
            if not newton:
                raise EstimateError(_singular(at.observed, names))
            return Maximum(parameters, at, steps)
        if newton and gain < 1e-9 and change > before / 2:
            raise EstimateError(_runaway(step, parameters, names))
        before = change if newton else np.inf
        parameters, at = _uphill(reports, parameters, step, at)
    if (
        step is not None and float(np.abs(parameters[: reports.coefficients]).max()) > _CERTAIN
    ):  # where all is explained, no step is a Newton step
        raise EstimateError(_runaway(step, parameters, names))
    raise EstimateError(f"the fit did not converge in {MAX_STEPS} steps: the reports say too little about the model")


def derivatives(reports: Reports, parameters: _Floats) -> Derivatives:
    """All that `Derivatives` names, at some parameters."""
    size = reports.parameters
    llf, penalty = 0.0, 0.0
    score, parts = np.zeros(size), [np.zeros((size, size)) for _ in range(3)]
    share = PSEUDO_RESPONDENTS / reports.count.sum()
    for part in reports.chunks():
        mu, log_pi = _outcomes(part, parameters), _log_combinations(part, parameters)
        pi = np.exp(log_pi)
        joint = (pi * part.a)[:, :, None] * mu * part.b[:, None, :]
        total = joint.sum(axis=(1, 2))
        if not (total > 0).all():
            return Derivatives(-np.inf, -np.inf, score, *parts)
        latent = joint / total[:, None, None]
        each = _scores(part, mu, pi)
        mean = np.einsum("rcy,rcyp->rp", latent, each)
        weight = part.count[:, None, None]
        observed, complete, outer = parts
        made = _information(part, each, latent, mu, pi, share)
        scores = np.sqrt(part.count)[:, None] * mean
        outer += scores.T @ scores
        complete += made
        observed += made - _gram(each, weight * latent) + scores.T @ scores
        score += part.count @ mean + _pseudo_score(part, pi, share, size)
        llf += float(part.count @ np.log(total))
        penalty += float(part.count @ log_pi.mean(axis=1)) * share
    return Derivatives(llf, llf + penalty, score, *parts)


def combinations(reports: Reports, parameters: _Floats) -> _Floats:
    """The estimated joint shares of the perturbed predictors' combinations, shape (C,), over all respondents."""
    pi = np.exp(_log_combinations(reports, parameters))
    return np.asarray(reports.count @ pi / reports.count.sum())


def _outcomes(part: Reports, parameters: _Floats) -> _Floats:
    """mu, shape (R, C, K)."""
    kinds, cells, p = part.x.shape
    eta = np.zeros((kinds, cells, part.b.shape[1]))
    eta[:, :, :-1] = part.x @ parameters[: part.coefficients].reshape(-1, p).T
    eta = np.exp(eta - eta.max(axis=2, keepdims=True))
    return np.asarray(eta / eta.sum(axis=2, keepdims=True))


def _log_combinations(part: Reports, parameters: _Floats) -> _Floats:
    """log pi, shape (R, C)."""
    eta = np.zeros((len(part.count), part.x.shape[1]))
    eta[:, 1:] = part.w @ parameters[part.coefficients :].reshape(-1, part.w.shape[1]).T
    top = eta.max(axis=1, keepdims=True)
    return np.asarray(eta - top - np.log(np.exp(eta - top).sum(axis=1, keepdims=True)))


def _scores(part: Reports, mu: _Floats, pi: _Floats) -> _Floats:
    """The complete data's score of each latent (c, y), shape (R, C, K, parameters)."""
    kinds, cells, p = part.x.shape
    outcomes, q = part.b.shape[1], part.w.shape[1]
    each = np.empty((kinds, cells, outcomes, part.parameters))
    off = np.eye(outcomes)[:, :-1] - mu[:, :, None, :-1]
    each[..., : part.coefficients] = (off[..., None] * part.x[:, :, None, None, :]).reshape(kinds, cells, outcomes, (outcomes - 1) * p)
    moved = np.eye(cells)[:, 1:] - pi[:, None, 1:]
    gamma = (moved[..., None] * part.w[:, None, None, :]).reshape(kinds, cells, 1, (cells - 1) * q)
    each[..., part.coefficients :] = gamma
    return each


def _information(part: Reports, each: _Floats, latent: _Floats, mu: _Floats, pi: _Floats, share: float) -> _Floats:
    """The complete data's information given the reports, pseudo-respondents included: blocks for beta and gamma."""
    made = np.zeros((part.parameters, part.parameters))
    b = part.coefficients
    weight = part.count[:, None, None]
    made[:b, :b] = _gram(each[..., :b], weight * latent.sum(axis=2, keepdims=True) * mu)
    made[b:, b:] = _gram(each[:, :, :1, b:], (1 + share) * weight * pi[:, :, None])
    return made


def _pseudo_score(part: Reports, pi: _Floats, share: float, size: int) -> _Floats:
    """The pseudo-respondents' score: they are like everybody in w, and evenly spread over the combinations."""
    score = np.zeros(size)
    cells = part.x.shape[1]
    score[part.coefficients :] = share * ((part.count[:, None] * (1 / cells - pi[:, 1:])).T @ part.w).ravel()
    return score


def _gram(each: _Floats, weight: _Floats) -> _Floats:
    """Sum of weight times s s' over all but the last axis."""
    rows = (each * np.sqrt(weight)[..., None]).reshape(math.prod(each.shape[:-1]), each.shape[-1])
    return rows.T @ rows


def _solve(information: _Floats, score: _Floats) -> _Floats | None:
    """information^-1 score, or None unless it is positive definite, with its scales taken out."""
    scale = np.sqrt(np.maximum(np.diagonal(information), 0))
    if not (np.isfinite(scale) & (scale > 0)).all():
        return None
    try:
        factor = scipy.linalg.cho_factor(information / np.outer(scale, scale))
    except (np.linalg.LinAlgError, ValueError):
        return None
    if np.diagonal(factor[0]).min() ** 2 < _SINGULAR:
        return None
    return np.asarray(scipy.linalg.cho_solve(factor, score / scale) / scale)


def _em_step(at: Derivatives, names: list[str]) -> _Floats:
    step = _solve(at.complete, at.score)
    if step is None:
        raise EstimateError(_singular(at.complete, names))
    return step


def _uphill(reports: Reports, parameters: _Floats, step: _Floats, at: Derivatives) -> tuple[_Floats, Derivatives]:
    """The step, halved until the objective does not fall by more than rounding."""
    slack = 1e-12 * abs(at.objective)
    step = step * min(1.0, 5.0 / float(np.abs(step).max()))
    for _ in range(40):
        there = derivatives(reports, parameters + step)
        if there.objective >= at.objective - slack:
            return parameters + step, there
        step = step / 2
    raise EstimateError("the fit did not converge: no step makes the reports more likely, though the slope is not zero")


def _runaway(step: _Floats, parameters: _Floats, names: list[str]) -> str:
    moving = np.abs(step[: len(names)])
    named = [name for name, size in zip(names, moving, strict=True) if size > moving.max() / 10]
    return (
        f"no interior maximum: the likelihood keeps growing as {', '.join(named)} runs to infinity, "
        "since the reports of some group are best explained by a share of 0 or 1 there (separation). "
        "Leave the term out, join categories, or collect more reports"
    )


def _singular(information: _Floats, names: list[str]) -> str:
    scale = np.sqrt(np.maximum(np.diagonal(information), 1e-300))
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    weights = np.abs(vectors[: len(names), 0])
    named = [name for name, weight in zip(names, weights, strict=True) if weight > weights.max() / 3]
    return (
        f"the information must not be singular, got a smallest eigenvalue of {values[0]:.1e} (scaled): "
        f"the reports cannot tell {', '.join(named)} apart from the rest. Leave a term out, or collect more reports"
    )
