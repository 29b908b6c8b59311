"""Linearised estimates of shares from a sample, and the covariance of their estimates.

Everything is linear in a report's pseudo-answers u, whose sums each group's tally has. A share is sum w u / sum w, with the weights
w that known sizes and margins give; one report adds z = w (u - fit) / sum w to its error, where the fit is the part explained by the
margins. These parts are added within each cluster, or taken person by person, and their spread within each stratum is the variance (the
"ultimate cluster" of M. Hansen, W. Hurwitz and W. Madow, "Sample Survey Methods and Theory" (1953)). The spread includes the coins. If a
part f of a finite population was drawn, this part of the spread is no error, except for the coins:

    V = sum over strata of (1 - f) m / (m - 1) sum (z - mean z)^2  +  f (the variance by the coins alone)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.moments import pseudo_answers
from deniable.estimate.samples import raking, replicate_weights
from deniable.estimate.samples.design import SampleDesign
from deniable.estimate.samples.totals import Totals
from deniable.wire.tally import Tally

NO_VARIANCE = 1e-24  # of a sum of shares that is known


@dataclass(frozen=True)
class Linear:
    """Linearised shares in one order, shape (m,), with their covariance and the covariance by the coins alone, shape (m, m).

    Attributes:
        n: Reports.
        effective: The number of equally weighted reports with as much information, were weights and answers unrelated (L. Kish (1965),
            section 11.7).
        shares: The shares.
        covariance: Their covariance.
        coins: Their covariance by the coins alone.
        parts: The contribution of each of the design's groups to the errors, shape (G, m); empty without a design.
    """

    n: int
    effective: float
    shares: FloatArray
    covariance: FloatArray
    coins: FloatArray
    parts: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def variances(self) -> FloatArray:
        """The variances of the shares, shape (m,); none less than the coins alone give."""
        return np.maximum(0.0, np.maximum(np.diagonal(self.covariance), np.diagonal(self.coins)))

    def covariance_of(self, weights: FloatArray) -> FloatArray:
        """Returns the covariance of sums of weights times these shares, shape (l, l) for weights of shape (l, m); not below the coins."""
        result = pseudo_answers.at_least(weights @ self.coins @ weights.T, weights @ self.covariance @ weights.T)
        places = np.diag_indices(len(result))
        result[places] = np.maximum(result[places], NO_VARIANCE)
        return result

    def sums(self, weights: FloatArray) -> Linear:
        """Returns sums of weights times these shares, for weights of shape (l, m)."""
        covariance, coins = (weights @ matrix @ weights.T for matrix in (self.covariance, self.coins))
        parts = self.parts @ weights.T if self.parts.size else self.parts
        return replace(self, shares=weights @ self.shares, covariance=covariance, coins=coins, parts=parts)


@dataclass(frozen=True)
class _Weighed:
    """Requested shares of a table's cells, and their weights.

    With b the answers to the question whose shares are known, else 1:

    Attributes:
        outputs: The part of each cell in each of m shares, shape (m, rest, b).
        weights: The weights of the groups.
        factors: The factors by group and such answer, shape (G, b).
        fit: The part that the margins explain, shape (G, b, m).
        total: The sum of all weights.
    """

    outputs: FloatArray
    weights: FloatArray
    factors: FloatArray
    fit: FloatArray
    total: float

    def line(self, group: int) -> FloatArray:
        """Returns what one report's pseudo-answers add to the errors, shape (m, cells)."""
        apart = self.outputs - self.fit[group].T[:, None, :]
        return np.asarray(self.weights[group] / self.total * (self.factors[group] * apart).reshape(len(self.outputs), -1))


def linear(design: SampleDesign, tallies: Sequence[Tally], names: Sequence[str], rounding: float | None = None) -> Linear:
    """Returns the shares of the cells of one question or two, in row-major order, from the tallies of the design's groups.

    rounding: as in `Totals`.

    Raises:
        EstimateError: A question is unknown, the reports cannot have the margins, or a table of three questions is needed.
    """
    table, outputs = _table(design, tallies, names, rounding)
    side = outputs.shape[-1]
    parts = table.sums.reshape(len(table.n), -1, side)
    masses = design.weights[:, None] * (parts.sum(axis=1) if side > 1 else table.n[:, None])  # by group, and answer to what is known
    weighted_sums = design.weights[:, None, None] * np.einsum("mrb,grb->gbm", outputs, parts)
    has_reports = np.repeat(table.n > 0, side)
    margins = [margin.among(has_reports) for margin in design.margins()]
    factors, fit = np.zeros(has_reports.size), np.zeros((has_reports.size, len(outputs)))
    factors[has_reports] = raking.factors(masses.ravel()[has_reports], margins)
    fit[has_reports] = raking.explained(masses.ravel()[has_reports], weighted_sums.reshape(has_reports.size, -1)[has_reports], margins)
    total = float(masses.ravel() @ factors)
    shares = factors @ weighted_sums.reshape(has_reports.size, -1) / total
    by_group = factors.reshape(-1, side)
    weighed = _Weighed(outputs, design.weights, by_group, fit.reshape(*by_group.shape, -1), total)
    squares = float((design.weights[:, None] * masses * by_group**2).sum())
    n = int(table.n.sum())
    parts = np.array(
        [weighed.line(group) @ table.sums[group] if table.n[group] else np.zeros(len(shares)) for group in range(len(table.n))]
    )
    return Linear(n, min(n, total**2 / squares) if squares > 0 else 1.0, shares, *_errors(design, table, weighed, parts), parts)


def _table(design: SampleDesign, tallies: Sequence[Tally], names: Sequence[str], rounding: float | None) -> tuple[Totals, FloatArray]:
    """Returns the table of these questions, with the question of known shares last, and the requested sums of its cells.

    The sums have shape (m, rest, b).
    """
    present = design.known_question
    every = [*(name for name in names if present is None or name != present.id), *([present.id] if present else [])]
    if len(every) > 2:
        raise EstimateError(
            f"sample: the shares of {present.id if present else ''} are known, and a tally has pairs of answers: there is no table of "
            f"{' and '.join(names)} that has them too"
        )
    table = Totals.of(design.survey, tallies, every, rounding)
    sizes, side = [channel.k for channel in table.channels], present.k if present else 1
    cells = np.eye(math.prod(sizes))
    if present and present.id not in names:
        cells = cells.reshape(-1, side, len(cells)).sum(axis=1)
    elif every != list(names):
        cells = cells.reshape(*sizes, -1).swapaxes(0, 1).reshape(len(cells), -1)
    return table, cells.reshape(len(cells), -1, side)


def _errors(design: SampleDesign, table: Totals, weighed: _Weighed, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Returns the covariance of the shares, and their covariance by the coins alone. sums: `Linear.parts`."""
    size, strata = len(weighed.outputs), len(design.parts)
    squares, coins = np.zeros((strata, size, size)), np.zeros((strata, size, size))
    for group in np.flatnonzero(table.n).tolist():
        line, stratum = weighed.line(group), design.strata[group]
        coins[stratum] += table.n[group] * line @ table.coins(group) @ line.T
        if design.sample.clusters is None:
            squares[stratum] += table.n[group] * line @ table.moments(group) @ line.T
    if len(design.replicates):
        return _of_replicates(design, table, weighed), coins.sum(axis=0)
    covariance = np.zeros((size, size))
    for stratum in range(strata):
        inside = design.strata == stratum
        if design.sample.clusters is None:
            spread, part = _of_people(sums[inside], squares[stratum], float(table.n[inside].sum()))
            part *= design.parts[stratum] / design.sizes[inside].sum()
        else:
            spread, part = _of_clusters(sums[inside], design.clusters[inside]), design.parts[stratum]
        covariance += (1 - part) * spread + part * coins[stratum]
    return covariance, coins.sum(axis=0)


def _of_replicates(design: SampleDesign, table: Totals, weighed: _Weighed) -> FloatArray:
    """Returns the covariance of the shares that each replicate gives. Raises EstimateError if a replicate is without reports."""
    outputs = weighed.outputs.reshape(len(weighed.outputs), -1)
    reports = design.replicates @ table.n
    if not reports.all():
        raise EstimateError("sample: a replicate must have reports to the question, got 0")
    return replicate_weights.covariance(design.replicates @ table.sums @ outputs.T / reports[:, None], design.sample.scale or 1.0)


def _of_people(sums: FloatArray, squares: FloatArray, people: float) -> tuple[FloatArray, float]:
    """Returns the spread of this many people's parts about their mean, from the sums of them and of their products; and their number."""
    if people < 2:
        raise EstimateError(f"sample: a stratum must have at least 2 reports, got {people:g}: one says nothing of how people differ")
    together = sums.sum(axis=0)
    return (squares - np.outer(together, together) / people) * people / (people - 1), people


def _of_clusters(sums: FloatArray, clusters: NDArray[np.intp]) -> FloatArray:
    """Returns the spread of clusters' parts, each with one or more of the groups."""
    sampled = np.unique(clusters)
    each = np.array([sums[clusters == cluster].sum(axis=0) for cluster in sampled])
    apart = each - each.mean(axis=0)
    return np.asarray(apart.T @ apart * len(sampled) / (len(sampled) - 1))
