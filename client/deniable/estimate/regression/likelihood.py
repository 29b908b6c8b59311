"""Likelihood of a regression with a perturbed outcome and perturbed predictors, and its maximum.

A respondent with public values z reports b about the outcome y and a_1 .. a_m about the predictors c = (c_1 .. c_m):

    P(b, a | z) = sum over c and y of  pi(c | z)  P(a_1 | c_1) .. P(a_m | c_m)  mu(y | z, c)  P(b | y)

    mu(y | z, c) = what the family says of x(z, c)' B_y,  B = constraint beta (see `families`)
    pi(c | z)    = multinomial logit of w(z)' gamma_c,    gamma = 0 for the first combination c

The channels P(a | c), P(b | y) are known. beta is wanted; gamma is estimated along with it. Where w is just a constant,
pi is a free (saturated) joint distribution.

Score and observed information are the complete data's, averaged over the latent data given the reports, the
information less the variance of the score (T. Louis, J. R. Stat. Soc. B 44 (1982)). A Newton step is taken where the
observed information is positive definite, else an EM gradient step (K. Lange, J. R. Stat. Soc. B 57 (1995)), which
uses the complete data's; either is halved until the objective grows. Nothing is random.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy

from deniable.errors import EstimateError, ModelError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.regression import failures
from deniable.estimate.regression.basis import Naming
from deniable.estimate.regression.families import OutcomeFamily

MAX_STEPS = 500
TOLERANCE = 1e-8  # the largest change of a coefficient in the last step, where each column's largest value is 1
PSEUDO_RESPONDENTS = 1.0
"""Spread evenly over the combinations of the perturbed predictors, so that none is estimated to be impossible.

Without it a rare combination is often estimated as 0, at the end of its range, where no information exists.
"""
_CHUNK = 1 << 21  # scores held at a time
_CERTAIN = 30.0  # log odds, beyond which a share is 0 or 1 to the last bit of a report
_SINGULAR = 1e-11  # smallest eigenvalue of the information, scaled to a diagonal of 1


class NoMaximumError(EstimateError):
    """The likelihood has no interior maximum.

    Attributes:
        terms: The coefficients that run to infinity.
        step: Their direction, in the basis.
    """

    def __init__(self, terms: Sequence[str], step: FloatArray) -> None:
        self.terms, self.step = tuple(terms), step
        super().__init__(f"no interior maximum: the likelihood keeps growing as {', '.join(terms)} runs to infinity (separation)")


@dataclass(frozen=True)
class Reports:
    """Reports of R distinct kinds of respondents, with C combinations of the perturbed predictors and K outcomes.

    Attributes:
        count: Respondents of each kind, or the sum of their weights, shape (R,).
        x: The terms, shape (R, C, p).
        w: The covariates of pi, shape (R, q).
        a: P(predictors' reports | c), shape (R, C).
        b: P(outcome's report | y), shape (R, C, K), or (R, 1, K) if it is the same for all c.
        family: The outcome family.
        constraint: From beta to B, shape ((K - 1) p, coefficients); None if B is beta, outcome by outcome.
    """

    count: FloatArray
    x: FloatArray
    w: FloatArray
    a: FloatArray
    b: FloatArray
    family: OutcomeFamily
    constraint: FloatArray | None = None

    @property
    def coefficients(self) -> int:
        """How many of the parameters are beta, which come first."""
        return int((self.b.shape[2] - 1) * self.x.shape[2] if self.constraint is None else self.constraint.shape[1])

    def slopes(self, parameters: FloatArray) -> FloatArray:
        """Returns B, shape (K - 1, p)."""
        beta = parameters[: self.coefficients]
        return (beta if self.constraint is None else self.constraint @ beta).reshape(-1, self.x.shape[2])

    @property
    def parameters(self) -> int:
        """The parameters: beta, then gamma: (C - 1) q."""
        return int(self.coefficients + (self.x.shape[1] - 1) * self.w.shape[1])

    def chunks(self) -> Iterator[Reports]:
        """Yields the same kinds, some at a time."""
        outcomes = self.b.shape[2]
        size = max(1, _CHUNK // (self.x.shape[1] * outcomes * (self.parameters + outcomes)))
        for start in range(0, len(self.count), size):
            part = slice(start, start + size)
            yield replace(self, count=self.count[part], x=self.x[part], w=self.w[part], a=self.a[part], b=self.b[part])


class Derivatives(NamedTuple):
    """The derivatives at some parameters.

    The log-likelihood; the objective, which has the pseudo-respondents too; its score, observed information and complete data's
    information.
    """

    llf: float
    objective: float
    score: FloatArray
    observed: FloatArray
    complete: FloatArray


class Maximum(NamedTuple):
    """Maximum of the likelihood: beta and gamma in one vector, and the steps to it, the last with no change above TOLERANCE."""

    parameters: FloatArray
    at: Derivatives
    steps: int


def maximize(reports: Reports, naming: Naming, start: FloatArray) -> Maximum:
    """Maximizes the likelihood from fixed starting values: beta = start, gamma = 0. naming: of the coefficients, for messages.

    Raises:
        NoMaximumError: The likelihood has no interior maximum.
        ModelError: The information is singular, or the search does not end.
    """
    parameters, at, before = np.append(start, np.zeros(reports.parameters - len(start))), None, np.inf
    for steps in range(1, MAX_STEPS + 1):
        at = at or derivatives(reports, parameters)
        step = _solve(at.observed, at.score)
        if newton := step is not None:
            gain = float(step @ at.score)
        else:
            step = _em_step(at, naming)
            gain = float(step @ at.score)
        change = float(np.abs(step).max())
        if change < TOLERANCE:
            if not newton:
                raise _singular(at.observed, naming)
            return Maximum(parameters, at, steps)
        if newton and gain < 1e-9 and change > before / 2:
            raise NoMaximumError(naming.along(step[: reports.coefficients], 0.1), step)
        before = change if newton else np.inf
        parameters, at = _uphill(reports, parameters, step, at)
    if (
        step is not None and float(np.abs(parameters[: reports.coefficients]).max()) > _CERTAIN
    ):  # where all is explained, no step is a Newton step
        raise NoMaximumError(naming.along(step[: reports.coefficients], 0.1), step)
    raise failures.unfinished(f"the fit did not converge in {MAX_STEPS} steps")


def derivatives(reports: Reports, parameters: FloatArray) -> Derivatives:
    """Returns the fields of `Derivatives` at some parameters; an objective of -inf where the family's chances are undefined."""
    size = reports.parameters
    llf, penalty = 0.0, 0.0
    score, (observed, complete) = np.zeros(size), [np.zeros((size, size)) for _ in range(2)]
    share = PSEUDO_RESPONDENTS / reports.count.sum()
    for part in reports.chunks():
        at = _Point.of(part, parameters)
        if not (at.total > 0).all() or (at.mu < 0).any():
            return Derivatives(-np.inf, -np.inf, score, observed, complete)
        each, weight = _scores(at), part.count[:, None, None]
        mean = np.einsum("rcy,rcyp->rp", at.latent, each)
        scores = np.sqrt(part.count)[:, None] * mean
        gamma = _gram(each[:, :, :1, part.coefficients :], (1 + share) * weight * at.pi[:, :, None])
        likely = at.latent.sum(axis=2, keepdims=True) * at.mu
        complete += _blocks(_curvature(at, likely), gamma)
        observed += _blocks(_curvature(at, at.latent), gamma) - _gram(each, weight * at.latent) + scores.T @ scores
        score += part.count @ mean + _pseudo_score(part, at.pi, share, size)
        llf += float(part.count @ np.log(at.total))
        penalty += float(part.count @ at.log_pi.mean(axis=1)) * share
    return Derivatives(llf, llf + penalty, score, observed, complete)


def scores(reports: Reports, parameters: FloatArray) -> FloatArray:
    """Returns the score of one respondent of each kind, shape (R, parameters), without the pseudo-respondents'."""
    points = (_Point.of(part, parameters) for part in reports.chunks())
    return np.concatenate([np.einsum("rcy,rcyp->rp", at.latent, _scores(at)) for at in points])


def reported(reports: Reports, parameters: FloatArray) -> FloatArray:
    """Returns the chance of each kind's reports, given their public values, shape (R,)."""
    return np.concatenate([_Point.of(part, parameters).total for part in reports.chunks()])


def distribution(reports: Reports, parameters: FloatArray) -> FloatArray:
    """Returns pi, the distribution of the perturbed predictors' combinations for each kind's public values, shape (R, C)."""
    return np.asarray(np.exp(_log_combinations(reports, parameters)))


def combinations(reports: Reports, parameters: FloatArray) -> FloatArray:
    """Returns the estimated joint shares of the perturbed predictors' combinations, shape (C,), over all respondents."""
    return np.asarray(reports.count @ distribution(reports, parameters) / reports.count.sum())


@dataclass(frozen=True)
class _Point:
    """Some kinds of respondents at some parameters.

    Attributes:
        eta: Shape (R, C, K - 1).
        mu: Shape (R, C, K).
        log_pi, pi: Shape (R, C).
        total: The likelihood of a report, shape (R,).
        latent: The chance of each (c, y), given the reports, shape (R, C, K).
    """

    part: Reports
    eta: FloatArray
    mu: FloatArray
    log_pi: FloatArray
    pi: FloatArray
    total: FloatArray
    latent: FloatArray

    @classmethod
    def of(cls, part: Reports, parameters: FloatArray) -> _Point:
        eta = part.x @ part.slopes(parameters).T
        mu, log_pi = part.family.chances(eta), _log_combinations(part, parameters)
        pi = np.exp(log_pi)
        joint = (pi * part.a)[:, :, None] * mu * part.b
        total = joint.sum(axis=(1, 2))
        return cls(part, eta, mu, log_pi, pi, total, joint / np.where(total > 0, total, 1.0)[:, None, None])


def _log_combinations(part: Reports, parameters: FloatArray) -> FloatArray:
    """Returns log pi, shape (R, C)."""
    eta = np.zeros((len(part.count), part.x.shape[1]))
    eta[:, 1:] = part.w @ parameters[part.coefficients :].reshape(-1, part.w.shape[1]).T
    top = eta.max(axis=1, keepdims=True)
    return np.asarray(eta - top - np.log(np.exp(eta - top).sum(axis=1, keepdims=True)))


def _scores(at: _Point) -> FloatArray:
    """Returns the complete data's score of each latent (c, y), shape (R, C, K, parameters)."""
    part = at.part
    kinds, cells, p = part.x.shape
    outcomes, q = part.b.shape[2], part.w.shape[1]
    each = np.empty((kinds, cells, outcomes, part.parameters))
    off = part.family.scores(at.eta, at.mu)
    slopes = (off[..., None] * part.x[:, :, None, None, :]).reshape(kinds, cells, outcomes, (outcomes - 1) * p)
    each[..., : part.coefficients] = slopes if part.constraint is None else slopes @ part.constraint
    moved = np.eye(cells)[:, 1:] - at.pi[:, None, 1:]
    each[..., part.coefficients :] = (moved[..., None] * part.w[:, None, None, :]).reshape(kinds, cells, 1, (cells - 1) * q)
    return each


def _curvature(at: _Point, weight: FloatArray) -> FloatArray:
    """Returns the weighted sum of the second derivatives of -log mu for beta; weight: (R, C, K), of one respondent of each kind."""
    part, p = at.part, at.part.x.shape[2]
    bend = part.family.bend(at.eta, at.mu, weight) * part.count[:, None, None, None]
    m = bend.shape[-1]
    squares = (part.x[..., :, None] * part.x[..., None, :]).reshape(-1, p * p)
    result = (bend.reshape(-1, m * m).T @ squares).reshape(m, m, p, p).transpose(0, 2, 1, 3).reshape(m * p, m * p)
    return np.asarray(result if part.constraint is None else part.constraint.T @ result @ part.constraint)


def _blocks(beta: FloatArray, gamma: FloatArray) -> FloatArray:
    b = len(beta)
    result = np.zeros((b + len(gamma), b + len(gamma)))
    result[:b, :b], result[b:, b:] = beta, gamma
    return result


def _pseudo_score(part: Reports, pi: FloatArray, share: float, size: int) -> FloatArray:
    """Returns the pseudo-respondents' score: they are like everybody in w, and evenly spread over the combinations."""
    score = np.zeros(size)
    cells = part.x.shape[1]
    score[part.coefficients :] = share * ((part.count[:, None] * (1 / cells - pi[:, 1:])).T @ part.w).ravel()
    return score


def _gram(each: FloatArray, weight: FloatArray) -> FloatArray:
    """Returns the sum of weight times s s' over all but the last axis."""
    rows = (each * np.sqrt(weight)[..., None]).reshape(math.prod(each.shape[:-1]), each.shape[-1])
    return rows.T @ rows


def _solve(information: FloatArray, score: FloatArray) -> FloatArray | None:
    """Returns information^-1 score, or None unless it is positive definite, after scaling."""
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


def _em_step(at: Derivatives, naming: Naming) -> FloatArray:
    step = _solve(at.complete, at.score)
    if step is None:
        raise _singular(at.complete, naming)
    return step


def _uphill(reports: Reports, parameters: FloatArray, step: FloatArray, at: Derivatives) -> tuple[FloatArray, Derivatives]:
    """Returns the step, halved until the objective does not fall by more than rounding."""
    slack = 1e-12 * abs(at.objective)
    step = step * min(1.0, 5.0 / float(np.abs(step).max()))
    for _ in range(40):
        there = derivatives(reports, parameters + step)
        if there.objective >= at.objective - slack:
            return parameters + step, there
        step = step / 2
    raise failures.unfinished("the fit did not converge: no step makes the reports more likely, though the slope is not zero")


def _singular(information: FloatArray, naming: Naming) -> ModelError:
    scale = np.sqrt(np.maximum(np.diagonal(information), 1e-300))
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    direction = (vectors[:, 0] / scale)[: naming.matrix.shape[1]]
    return failures.indistinct(
        naming.along(direction, 1 / 3),
        f"the information must not be singular, got a smallest eigenvalue of {values[0]:.1e} (scaled)",
    )
