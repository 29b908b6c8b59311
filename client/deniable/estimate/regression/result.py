"""Regression results, with the names and habits of statsmodels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from deniable.estimate.arrays import FloatArray
from deniable.estimate.limits.interval import confidence_of
from deniable.estimate.limits.normal import HypothesisTest
from deniable.estimate.present.figures import fixed, p_value, with_error
from deniable.estimate.present.table import Table
from deniable.estimate.present.tabular import Tabular
from deniable.estimate.regression import effects, hypotheses
from deniable.estimate.regression.effects import Effects
from deniable.estimate.regression.fitted import Coefficients

_COLUMNS = ("coef", "std err", "z", "P>|z|", "low", "high")

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Regression(Tabular):
    """Fitted regression. A fit that did not converge is an error, so `converged` is always True.

    Attributes:
        formula: The formula.
        model: The model, as in `regress`.
        outcome: The modelled quantity, in words.
        params: The coefficients, indexed by term, or by outcome and term if several categories of the outcome have coefficients.
        covariance: The covariance of the coefficients.
        errors: "observed", "sandwich" or "clusters".
        df: Degrees of freedom of the errors: the most of a coefficient of a linear model (see `freedom`), clusters less one, or infinite.
        nobs: Respondents.
        n_asked: Respondents who were asked all questions of the model.
        answered: The estimated part of them who answered all.
        llf: The log-likelihood of the reports, None for a linear model.
        convergence: The work of the solver, in words.
        latent: The estimated joint shares of the perturbed predictors among people who answered all, or None.
        weighted: Whether respondents have weights.
        fitted: The numbers that tests and predictions are computed from.
        converged: True.
    """

    formula: str
    model: str
    outcome: str
    params: pd.Series[float]
    covariance: pd.DataFrame
    errors: str
    df: float
    nobs: int
    n_asked: int
    answered: float
    llf: float | None
    convergence: str
    latent: pd.Series[float] | None
    weighted: bool
    fitted: Coefficients
    converged: bool = True

    @classmethod
    def build(cls, figures: Coefficients) -> Regression:
        """Returns a fitted model with names for its numbers."""
        request, index, fit = figures.request, _index(figures.names), figures.likelihood
        return cls(
            formula=request.formula,
            model=request.model,
            outcome=figures.outcome,
            params=_series(figures.params, index, "coef"),
            covariance=_frame(figures.covariance, index),
            errors=request.errors,
            df=figures.df,
            nobs=figures.nobs,
            n_asked=figures.n_asked,
            answered=figures.answered,
            llf=None if fit is None else fit.maximum.at.llf,
            convergence=f"converged in {fit.maximum.steps} Newton steps from fixed starting values" if fit else "in closed form",
            latent=None if fit is None else fit.latent,
            weighted=figures.weighted,
            fitted=figures,
        )

    @property
    def bse(self) -> pd.Series[float]:
        """Standard errors."""
        import pandas as pd

        return pd.Series(np.sqrt(np.diagonal(self.covariance)), index=self.params.index, name="std err")

    @property
    def tvalues(self) -> pd.Series[float]:
        """Coefficients over their standard errors: normal for large n, Student's t for clusters and linear models."""
        return (self.params / self.bse).rename("z")

    @property
    def freedom(self) -> pd.Series[float]:
        """Degrees of freedom of each coefficient's Student's t; infinite if the error is treated as known."""
        return _series(self.fitted.freedom(np.eye(len(self.params))), self.params.index, "df")

    @property
    def pvalues(self) -> pd.Series[float]:
        """Two-sided p-values of the hypothesis that a coefficient is 0."""
        import pandas as pd

        return pd.Series(
            2 * scipy.special.stdtr(self.freedom.to_numpy(), -np.abs(self.tvalues.to_numpy())), index=self.params.index, name="P>|z|"
        )

    def cov_params(self) -> pd.DataFrame:
        """Returns the covariance of the coefficients."""
        return self.covariance

    def conf_int(self, *, alpha: float | None = None, confidence: float | None = None) -> pd.DataFrame:
        """Returns Wald intervals, columns low and high.

        Args:
            alpha: The chance to miss the truth, as in statsmodels.
            confidence: 1 - alpha, instead; by default 0.95.

        Raises:
            EstimateError: Both are given, or one is not above 0 and below 1.
        """
        import pandas as pd

        error = 1 - confidence_of(alpha, confidence, 0.95)
        half = -scipy.special.stdtrit(self.freedom.to_numpy(), error / 2) * self.bse
        return pd.DataFrame({"low": self.params - half, "high": self.params + half})

    def wald_test(self, *terms: str) -> HypothesisTest:
        """Tests whether all coefficients of these terms are 0.

        Args:
            terms: Names of coefficients, or terms of the formula.

        Raises:
            EstimateError: A term is unknown, or there are too few degrees of freedom.
        """
        return hypotheses.wald(self.fitted, terms)

    def likelihood_ratio_test(self, *terms: str) -> HypothesisTest:
        """Tests whether all coefficients of these terms are 0 by the likelihood ratio.

        Raises:
            EstimateError: A term is unknown, or the model is linear or has weights or clusters.
        """
        return hypotheses.likelihood_ratio(self.fitted, terms)

    def goodness_of_fit(self) -> HypothesisTest:
        """Tests the model against one that gives every report a chance of its own (see `hypotheses`).

        Raises:
            EstimateError: Predictors are not few and discrete, the model has weights or clusters, or not everybody was asked.
        """
        return hypotheses.goodness(self.fitted)

    def predict(self, rows: pd.DataFrame | Mapping[str, Any], *, confidence: float = 0.95) -> Effects:
        """Returns the chance of each answer, or the mean of a linear model, at these values of the formula's variables (see `effects`).

        Values that the formula learned from the respondents, such as the mean in center(age), are kept.

        Args:
            rows: A column for each variable, or a mapping of columns or of single values; for a perturbed variable its answers, or numbers
                if it has scores.
            confidence: The confidence of the limits.

        Raises:
            EstimateError: A variable is missing or has another category, a factor looks at all rows together (as age.rank() does), or a
                chance is 0 or 1 to nine digits there.
        """
        return effects.predictions(self.fitted, rows, confidence)

    def average_marginal_effects(self, *, confidence: float = 0.95) -> Effects:
        """Returns the average marginal effect of each variable on the chance of each answer (see `effects`).

        Raises:
            EstimateError: The model is linear.
        """
        return effects.average_marginal_effects(self.fitted, confidence)

    @property
    def population_notes(self) -> tuple[str, ...]:
        """Notes on the population of the model, if it is not everybody."""
        sampled = (
            ()
            if self.n_asked == self.nobs
            else (f"{self.n_asked:,} were asked all questions of the model; the others count by what they were asked",)
        )
        if sampled and self.model == "linear":
            sampled = (f"of the {self.n_asked:,} who were asked all questions of the model",)
        answered = f"of those who answered all questions of the model, about {100 * self.answered:.0f}% of those asked"
        return sampled if self.answered == 1 else (*sampled, answered)

    def tables(self) -> tuple[Table, ...]:
        """Returns one row a coefficient, with the model and method above."""
        llf = "" if self.llf is None else f" · log-likelihood {self.llf:,.2f}"
        most = "" if self.fitted.jackknife is None else "at most "
        student = f", t with {most}{self.df:,g} degrees of freedom" if math.isfinite(self.df) else ""
        weights = " · weighted" if self.weighted else ""
        fit = f"{self.nobs:,} respondents{llf}{weights} · {self.errors} errors{student} · {self.convergence}"
        names = self.params.index.names
        rows = tuple((*row[: len(names)], *_cells(*row[len(names) :])) for row in self.records()[0].rows)
        columns = (*map(str, names), *_COLUMNS)
        return (Table(self.formula, columns, rows, about=(f"{self.model}: {self.outcome}", fit, *self.population_notes), texts=len(names)),)

    def records(self) -> tuple[Table, ...]:
        """Returns one row a coefficient: term (and outcome, if it has several categories), coef, std err, z, P>|z|, low, high (of 95%)."""
        names = [label if isinstance(label, tuple) else (label,) for label in self.params.index]
        limits = self.conf_int()
        figures = (part.tolist() for part in (self.params, self.bse, self.tvalues, self.pvalues, limits["low"], limits["high"]))
        rows = tuple((*label, *values) for label, *values in zip(names, *figures, strict=True))
        return (Table("coefficient", (*map(str, self.params.index.names), *_COLUMNS), rows),)

    def to_frame(self, table: str | None = None) -> pd.DataFrame:
        """Returns a pandas DataFrame, a line for each coefficient, indexed as `params`: coef, std err, z, P>|z|, low, high."""
        return super().to_frame(table).set_index(list(self.params.index.names))


def _cells(coefficient: float, error: float, z: float, p: float, low: float, high: float) -> tuple[str, ...]:
    value, spread, bottom, top = with_error((coefficient, error, low, high), error, 4)
    return value, spread, fixed(z, 4), p_value(p, 4), bottom, top


def _index(names: list[tuple[str, str]]) -> pd.Index[Any]:
    """Returns an index by term, or by outcome and term if there are several."""
    import pandas as pd

    if len({outcome for outcome, _ in names}) == 1:
        return pd.Index([term for _, term in names], name="term")
    return pd.MultiIndex.from_tuples(names, names=["outcome", "term"])


def _series(values: FloatArray, index: pd.Index[Any], name: str) -> pd.Series[float]:
    import pandas as pd

    return pd.Series(values, index=index, name=name)


def _frame(values: FloatArray, index: pd.Index[Any]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(values, index=index, columns=index)
