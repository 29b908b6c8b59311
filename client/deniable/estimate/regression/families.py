"""Outcome families and link functions: the chances of an outcome, and their derivatives, for linear predictors eta.

    logit     multinomial: log P(y) / P(reference) = eta_y; of two outcomes the logistic model
    probit    P(y) = Phi(eta), Phi the normal distribution function; two outcomes
    cloglog   P(y) = 1 - exp(-exp(eta)); two outcomes
    ordinal   proportional odds: logit P(y is the j-th or below) = alpha_j - x' beta, so eta_j = alpha_j - x' beta

(P. McCullagh, J. R. Stat. Soc. B 42 (1980) for the last; P. McCullagh and J. Nelder, "Generalized Linear Models" (1989).) All but the first
are cumulative: P(y is the j-th or below) = F(eta_j). A family has m = K - 1 predictors eta for K outcomes, and eta_j = x' B_j; B is a
constraint matrix times the coefficients (T. Yee, "Vector Generalized Linear and Additive Models" (2015), section 3.3), the identity but for
the ordinal model.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy

from deniable.estimate.arrays import FloatArray

_LEAST = 1e-300  # what a chance is divided by at least


class OutcomeFamily(NamedTuple):
    """Family of outcomes.

    Attributes:
        chances: eta (.., m) -> (.., K).
        scores: (eta, chances) -> (.., K, m), d log chance_y / d eta.
        bend: (eta, chances, latent) -> (.., m, m), the sum over y of latent_y times the second derivatives of -log chance_y.
    """

    chances: Callable[[FloatArray], FloatArray]
    scores: Callable[[FloatArray, FloatArray], FloatArray]
    bend: Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


class LinkFunction(NamedTuple):
    """A distribution function, one less it, its density and the density's slope."""

    below: Callable[[FloatArray], FloatArray]
    above: Callable[[FloatArray], FloatArray]
    density: Callable[[FloatArray], FloatArray]
    slope: Callable[[FloatArray], FloatArray]


def _softmax(eta: FloatArray) -> FloatArray:
    full = np.concatenate([eta, np.zeros((*eta.shape[:-1], 1))], axis=-1)
    full = np.exp(full - full.max(axis=-1, keepdims=True))
    return np.asarray(full / full.sum(axis=-1, keepdims=True))


def _softmax_scores(eta: FloatArray, chances: FloatArray) -> FloatArray:
    return np.asarray(np.eye(chances.shape[-1])[:, :-1] - chances[..., None, :-1])


def _softmax_bend(eta: FloatArray, chances: FloatArray, latent: FloatArray) -> FloatArray:
    own = chances[..., :-1]
    spread = own[..., None] * (np.eye(own.shape[-1]) - own[..., None, :])
    return np.asarray(latent.sum(axis=-1)[..., None, None] * spread)


def cumulative(link: LinkFunction) -> OutcomeFamily:
    """Returns the family whose chances up to the j-th outcome are link.below(eta_j)."""

    def chances(eta: FloatArray) -> FloatArray:
        first, last = link.below(eta[..., :1]), link.above(eta[..., -1:])
        return np.concatenate([first, np.diff(link.below(eta), axis=-1), last], axis=-1)

    def scores(eta: FloatArray, chances: FloatArray) -> FloatArray:
        return np.asarray(_steps(eta.shape[-1]) * link.density(eta)[..., None, :] / np.maximum(chances, _LEAST)[..., None])

    def bend(eta: FloatArray, chances: FloatArray, latent: FloatArray) -> FloatArray:
        each = scores(eta, chances)
        weighted = latent / np.maximum(chances, _LEAST)
        slopes = (weighted[..., :-1] - weighted[..., 1:]) * link.slope(eta)
        squares = np.swapaxes(each * latent[..., None], -1, -2) @ each
        return np.asarray(squares - slopes[..., None] * np.eye(eta.shape[-1]))

    return OutcomeFamily(chances, scores, bend)


def _steps(m: int) -> FloatArray:
    """Returns how the chance of each of m + 1 outcomes changes with the chances up to each of m, shape (m + 1, m)."""
    steps = np.zeros((m + 1, m))
    steps[:-1] += np.eye(m)
    steps[1:] -= np.eye(m)
    return steps


def _normal(eta: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-eta * eta / 2) / math.sqrt(2 * math.pi))


def _hazard(eta: FloatArray) -> FloatArray:
    return np.exp(np.minimum(eta, 700.0))


def _extreme(eta: FloatArray) -> FloatArray:
    return np.exp(np.minimum(eta, 700.0) - _hazard(eta))


def _ndtr(eta: FloatArray) -> FloatArray:
    return np.asarray(scipy.special.ndtr(eta))


def _expit(eta: FloatArray) -> FloatArray:
    return np.asarray(scipy.special.expit(eta))


LINKS = {
    "probit": LinkFunction(_ndtr, lambda eta: _ndtr(-eta), _normal, lambda eta: -eta * _normal(eta)),
    "cloglog": LinkFunction(
        lambda eta: -np.expm1(-_hazard(eta)), lambda eta: np.exp(-_hazard(eta)), _extreme, lambda eta: _extreme(eta) * (1 - _hazard(eta))
    ),
    "ordinal": LinkFunction(
        _expit,
        lambda eta: _expit(-eta),
        lambda eta: _expit(eta) * _expit(-eta),
        lambda eta: _expit(eta) * _expit(-eta) * (_expit(-eta) - _expit(eta)),
    ),
}

FAMILIES = {"logit": OutcomeFamily(_softmax, _softmax_scores, _softmax_bend), **{name: cumulative(link) for name, link in LINKS.items()}}
"""Every model that has a likelihood, by its name."""


def proportional(outcomes: int, columns: int, intercept: int) -> FloatArray:
    """Returns the constraint matrix of the ordinal model, shape ((outcomes - 1) columns, columns - 1 + outcomes - 1).

    The coefficients are the slopes, in the columns' order without the intercept's, and then the thresholds alpha.
    """
    slopes = [column for column in range(columns) if column != intercept]
    result = np.zeros((outcomes - 1, columns, len(slopes) + outcomes - 1))
    for place, column in enumerate(slopes):
        result[:, column, place] = -1.0
    for j in range(outcomes - 1):
        result[j, intercept, len(slopes) + j] = 1.0
    return result.reshape((outcomes - 1) * columns, -1)
