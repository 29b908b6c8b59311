"""Fitted model as numbers: coefficients, covariance and likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimate.arrays import FloatArray
from deniable.estimate.regression.basis import Basis
from deniable.estimate.regression.jackknife import Jackknife
from deniable.estimate.regression.layout import ModelLayout, Terms
from deniable.estimate.regression.likelihood import Maximum, Reports
from deniable.estimate.regression.request import Request
from deniable.estimate.regression.sampling import SamplingDesign
from deniable.estimate.regression.variable import PerturbedVariable

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Likelihood:
    """A likelihood model's numbers besides its coefficients. Its parameters belong to the terms' basis.

    Attributes:
        terms: The right-hand side.
        reports: The kinds of respondents.
        maximum: The maximum of the likelihood.
        covariance: The covariance of all parameters, gamma among them.
        carried: The matrix from the basis to the coefficients.
        outcome: The outcome.
        outcomes: Its K answers in the family's order.
        sampling: Weights and clusters.
        complete: The number of cells, the first ones, that are combinations of answers.
        start: The starting coefficients.
        latent: The estimated joint shares of the perturbed predictors, or None.
    """

    terms: Terms
    reports: Reports
    maximum: Maximum
    covariance: FloatArray
    carried: FloatArray
    outcome: PerturbedVariable
    outcomes: tuple[str, ...]
    sampling: SamplingDesign
    complete: int
    start: FloatArray
    latent: pd.Series[float] | None


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Coefficients of a fitted model.

    Attributes:
        request: The checked request.
        outcome: The modelled quantity, in words.
        names: (category of the outcome, term) of each coefficient.
        params: The coefficients, shape (p,).
        covariance: Their covariance, shape (p, p).
        layout: The right-hand side.
        basis: The columns used for fitting.
        n_asked: Respondents who were asked all questions.
        answered: The estimated part of them who answered all.
        likelihood: None for a linear model.
        jackknife: For a linear model of people drawn alone; None for others.
        core: For a linear model, coefficients and covariance in the basis.
    """

    request: Request
    outcome: str
    names: list[tuple[str, str]]
    params: FloatArray
    covariance: FloatArray
    layout: ModelLayout
    basis: Basis
    n_asked: int
    answered: float
    likelihood: Likelihood | None = None
    jackknife: Jackknife | None = None
    core: tuple[FloatArray, FloatArray] | None = None

    @property
    def df(self) -> float:
        """Degrees of freedom of the errors: of clusters, the most of a linear model, and infinite for others."""
        return self.request.sampling.df if self.jackknife is None else self.jackknife.most

    def freedom(self, contrasts: FloatArray) -> FloatArray:
        """Returns degrees of freedom of the error of each linear combination of the coefficients; contrasts: (k, p). Shape (k,)."""
        return np.full(len(contrasts), self.df) if self.jackknife is None else self.jackknife.freedom(contrasts)

    @property
    def nobs(self) -> int:
        """Respondents."""
        return len(self.request.table)

    @property
    def weighted(self) -> bool:
        """Whether respondents have weights."""
        return self.request.sampling.weights is not None
