"""Sampling weights and clusters of a regression, and the middle of its sandwich covariance.

The scores s_i of an estimating equation vary together within a cluster. The middle of the sandwich, between its two inverses, is

    sum over i of  w_i^2 s_i s_i'     of people drawn one by one,
    G / (G - 1)  sum over clusters g of  S_g S_g',   S_g = sum over i in g of  w_i s_i     of G clusters

(K.-Y. Liang and S. Zeger, Biometrika 73 (1986); D. Binder, Int. Stat. Rev. 51 (1983)). Limits of few clusters use Student's t with G - 1
degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.regression import failures

if TYPE_CHECKING:
    import pandas as pd


_NOTHING = 1e-10  # of the variance among respondents: less between clusters is rounding


@dataclass(frozen=True, eq=False)
class SamplingDesign:
    """Weights and clusters of respondents.

    Attributes:
        weights: Shape (n,), with mean 1; None if all are alike.
        clusters: Shape (n,), numbers from 0; None if all were drawn alone.
    """

    weights: FloatArray | None = None
    clusters: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, table: pd.DataFrame, weights: str | None, clusters: str | None) -> SamplingDesign:
        """Returns the columns of these names. Raises EstimateError for a missing column, wrong weights, and fewer than two clusters."""
        for what, name in (("weights", weights), ("clusters", clusters)):
            if name is not None and name not in table.columns:
                raise EstimateError(f"{what} must be a column of the data, got {name!r}")
        return cls(None if weights is None else _weights(table, weights), None if clusters is None else _clusters(table, clusters))

    @property
    def df(self) -> float:
        """Degrees of freedom of the errors."""
        return math.inf if self.clusters is None else float(self.clusters.max())

    def require_errors(self, scores: FloatArray, which: NDArray[np.int64], names: Sequence[str]) -> None:
        """Requires clusters that leave each coefficient an error; they do not if each has a part of its own in the model.

        Args:
            scores: Of one respondent of each kind, (R, p), of each coefficient.
            which: The kind of each respondent, (n,).
            names: Of the coefficients.

        Raises:
            EstimateError: A coefficient has no error.
        """
        if self.clusters is None:
            return
        between, alone = np.diagonal(self.meat(scores, which)), np.diagonal(SamplingDesign(self.weights).meat(scores, which))
        if certain := [name for name, one, other in zip(names, between, alone, strict=True) if one <= _NOTHING * other]:
            raise failures.within_clusters(certain)

    def meat(self, scores: FloatArray, which: NDArray[np.int64]) -> FloatArray:
        """Returns the middle of the sandwich, shape (p, p).

        scores: of one respondent of each kind, (R, p). which: (n,), each respondent's kind.
        """
        weights = np.ones(len(which)) if self.weights is None else self.weights
        if self.clusters is None:
            squares = np.bincount(which, weights**2, minlength=len(scores))
            return np.asarray((scores * squares[:, None]).T @ scores)
        sums = np.zeros((int(self.clusters.max()) + 1, scores.shape[1]))
        pairs, place = np.unique(self.clusters * len(scores) + which, return_inverse=True)
        total = np.bincount(place.ravel(), weights)
        np.add.at(sums, pairs // len(scores), total[:, None] * scores[pairs % len(scores)])
        return np.asarray(sums.T @ sums * len(sums) / (len(sums) - 1))


def _weights(table: pd.DataFrame, name: str) -> FloatArray:
    try:
        result = table[name].to_numpy(dtype=np.float64)
    except (TypeError, ValueError):
        raise EstimateError(f"the weights {name} must be numbers") from None
    if not (np.isfinite(result) & (result >= 0)).all() or not result.sum() > 0:
        raise EstimateError(f"the weights {name} must be finite numbers of 0 or more, some of them above 0")
    scaled = result / result.max()
    return np.asarray(scaled / scaled.mean())


def _clusters(table: pd.DataFrame, name: str) -> NDArray[np.int64]:
    import pandas as pd

    codes, result = pd.factorize(table[name])
    if (codes < 0).any():
        raise EstimateError(f"the clusters {name} must not be missing in any row, got {int((codes < 0).sum()):,} missing of {len(codes):,}")
    if len(result) < 2:
        raise failures.few_clusters(name, len(result))
    return np.asarray(codes, dtype=np.int64)
