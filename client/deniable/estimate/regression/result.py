"""What a regression found, in the habits of statsmodels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.limits.closed_form import normal_quantile
from deniable.estimate.present.table import Table
from deniable.estimate.present.tabular import Tabular

_COLUMNS = ("coef", "std err", "z", "P>|z|", "low", "high")

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Regression(Tabular):
    """A fitted regression. A fit that did not converge is an error, so `converged` is always True.

    formula, model ("logit" or "linear"); outcome: what is modelled, in words. params: the coefficients, indexed by term, or by outcome and
    term where the outcome has several categories. covariance: theirs. errors: "observed" or "sandwich". nobs: respondents. llf: the
    log-likelihood of the reports, None for a linear model. convergence: what the solver did, in words. latent: the estimated joint
    shares of the perturbed predictors, None where there is none or the model needs none.
    """

    formula: str
    model: str
    outcome: str
    params: pd.Series[float]
    covariance: pd.DataFrame
    errors: str
    nobs: int
    llf: float | None
    convergence: str
    latent: pd.Series[float] | None
    converged: bool = True

    @classmethod
    def build(
        cls, *, index: pd.Index[Any], params: NDArray[np.float64], covariance: NDArray[np.float64], steps: int, **rest: Any
    ) -> Regression:
        """Names the numbers, and says how they were found."""
        import pandas as pd

        how = "in closed form" if rest["model"] == "linear" else f"converged in {steps} Newton steps from fixed starting values"
        return cls(
            params=pd.Series(params, index=index, name="coef"),
            covariance=pd.DataFrame(covariance, index=index, columns=index),
            convergence=how,
            **rest,
        )

    @property
    def bse(self) -> pd.Series[float]:
        """Standard errors."""
        import pandas as pd

        return pd.Series(np.sqrt(np.diagonal(self.covariance)), index=self.params.index, name="std err")

    @property
    def tvalues(self) -> pd.Series[float]:
        """Coefficients over their standard errors; normal for large n."""
        return (self.params / self.bse).rename("z")

    @property
    def pvalues(self) -> pd.Series[float]:
        """Two-sided, of the hypothesis that a coefficient is 0."""
        import pandas as pd

        return pd.Series(2 * scipy.special.ndtr(-np.abs(self.tvalues.to_numpy())), index=self.params.index, name="P>|z|")

    def cov_params(self) -> pd.DataFrame:
        """The covariance of the coefficients."""
        return self.covariance

    def conf_int(self, *, alpha: float = 0.05) -> pd.DataFrame:
        """Wald intervals that miss the truth with the chance alpha, as in statsmodels; columns low and high. Raises EstimateError."""
        import pandas as pd

        if not 0 < alpha < 1:
            raise EstimateError(f"alpha must be above 0 and below 1, got {alpha!r}")
        half = normal_quantile(alpha) * self.bse
        return pd.DataFrame({"low": self.params - half, "high": self.params + half})

    def tables(self) -> tuple[Table, ...]:
        """A row a coefficient, under what was fitted and how."""
        llf = "" if self.llf is None else f" · log-likelihood {self.llf:,.2f}"
        fit = f"{self.nobs:,} respondents{llf} · {self.errors} errors · {self.convergence}"
        names = self.params.index.names
        rows = tuple((*row[: len(names)], *(f"{value:.4f}" for value in row[len(names) :])) for row in self.records()[0].rows)
        columns = (*map(str, names), *_COLUMNS)
        return (Table(self.formula, columns, rows, about=(f"{self.model}: {self.outcome}", fit), texts=len(names)),)

    def records(self) -> tuple[Table, ...]:
        """A row a coefficient: term (and outcome, where it has several categories), coef, std err, z, P>|z|, low, high (of 95%)."""
        names = [label if isinstance(label, tuple) else (label,) for label in self.params.index]
        limits = self.conf_int()
        figures = (part.tolist() for part in (self.params, self.bse, self.tvalues, self.pvalues, limits["low"], limits["high"]))
        rows = tuple((*label, *values) for label, *values in zip(names, *figures, strict=True))
        return (Table("coefficient", (*map(str, self.params.index.names), *_COLUMNS), rows),)

    def to_frame(self, table: str | None = None) -> pd.DataFrame:
        """A pandas DataFrame, a line for each coefficient, indexed as `params`: coef, std err, z, P>|z|, low, high."""
        return super().to_frame(table).set_index(list(self.params.index.names))
