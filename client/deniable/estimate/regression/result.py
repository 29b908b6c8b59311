"""What a regression found, in the habits of statsmodels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from deniable.errors import EstimateError
from deniable.estimate.limits.closed_form import normal_quantile

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Regression:
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

        return pd.Series(2 * ndtr(-np.abs(self.tvalues.to_numpy())), index=self.params.index, name="P>|z|")

    def cov_params(self) -> pd.DataFrame:
        """The covariance of the coefficients."""
        return self.covariance

    def conf_int(self, confidence: float = 0.95) -> pd.DataFrame:
        """Wald intervals, columns low and high."""
        import pandas as pd

        if not 0 < confidence < 1:
            raise EstimateError(f"confidence must be above 0 and below 1, got {confidence!r}")
        half = normal_quantile(1 - confidence) * self.bse
        return pd.DataFrame({"low": self.params - half, "high": self.params + half})

    def to_frame(self) -> pd.DataFrame:
        """One line per coefficient: coef, std err, z, P>|z|, low, high."""
        import pandas as pd

        return pd.concat([self.params, self.bse, self.tvalues, self.pvalues, self.conf_int()], axis=1)

    def summary(self) -> str:
        """The fit in words and a table, for a terminal."""
        llf = "" if self.llf is None else f" · log-likelihood {self.llf:,.2f}"
        head = [
            f"{self.formula}",
            f"{self.model}: {self.outcome}",
            f"{self.nobs:,} respondents{llf} · {self.errors} errors · {self.convergence}",
        ]
        table = self.to_frame().to_string(float_format=lambda value: f"{value:.4f}").splitlines()
        return "\n".join([*head, "", *(line.rstrip() for line in table), ""])

    def __str__(self) -> str:
        return self.summary()
