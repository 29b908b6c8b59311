"""Cross tables among those who answered all of their questions ("valid per cent"): ratios of the cells of the whole table.

With p the cells of the whole table, P the sum over the cells of answers, and s = p / P, a cell of this table varies as the sum of
D = (cell - s) / P over the whole one (delta method). Limits are as for a ratio (`association.conditional_share`).

The test of independence compares the excesses e = s_ij - s_i. s_.j with the covariance that they would have, were the answers independent
among those who answered: with V0 that covariance, e' V0^-1 e is chi-squared. Of a sample, and without the noise of impossible pairs, it
has the correction of Rao and Scott (see `sampled.independence`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.checks import few
from deniable.estimate.limits import normal
from deniable.estimate.limits.normal import Estimate, HypothesisTest
from deniable.estimate.moments import applicability, pseudo_answers
from deniable.estimate.tables import bootstrap
from deniable.estimate.tables.crosstab import Crosstab, LinearTable
from deniable.estimate.tables.ratios import share_among
from deniable.survey.types.base import NO_ANSWER


@dataclass(frozen=True)
class AnsweredTable(Crosstab):
    """Joint shares of some questions among people who answered all of them; n counts all reports.

    Attributes:
        whole: The table of everybody.
        places: 1 where a cell of the whole table, in row-major order, is part of a cell of this one, shape (cells, cells of the whole).
    """

    whole: Crosstab
    places: FloatArray

    @cached_property
    def derivatives(self) -> FloatArray:
        """The derivatives of this table's cells by the whole table's, same shape as places."""
        every = self.places.sum(axis=0)
        return np.asarray((self.places - np.outer(self.shares.ravel(), every)) / float(every @ self.whole.shares.ravel()))

    @cached_property
    def covariance(self) -> FloatArray:
        """The covariance of the cells' estimates, shape (cells, cells). Raises EstimateError for too many cells."""
        return self.whole.covariance_of(*self.weights(self.derivatives))

    def weights(self, rows: FloatArray) -> list[FloatArray]:
        """Returns sums of the whole table's cells, a row each, in that table's shape."""
        return [row.reshape(self.whole.shares.shape) for row in rows]

    def covariance_of(self, *weights: FloatArray) -> FloatArray:
        """Returns the covariance of weighted sums of cells, as any table does."""
        return self.whole.covariance_of(*self.weights(np.array([w.ravel() for w in weights]) @ self.derivatives))

    def variance_of(self, weights: FloatArray) -> float:
        """Returns the variance of a weighted sum of cells, as any table does."""
        return float(self.covariance_of(weights)[0, 0])

    def share_of(self, inside: FloatArray, what: str) -> Estimate:
        """Returns the share of the cells where `inside` is 1, not 0, among people who answered."""
        return share_among(self.whole, *self._parts(inside), f"{what} among those who answered")

    def _parts(self, inside: FloatArray) -> tuple[FloatArray, FloatArray]:
        over, under = self.weights(np.array([inside.ravel() @ self.places, self.places.sum(axis=0)]))
        return over, under

    def margin(self, name: str) -> Crosstab:
        """Returns one question's shares among people who answered all."""
        axis = self.axis(name)
        others = tuple(i for i in range(self.shares.ndim) if i != axis)
        places = self.places.reshape(*self.shares.shape, -1).sum(axis=others)
        return _table(self.whole, (name,), (self.options[axis],), places)

    @property
    def _of(self) -> str:
        return f"those who answered, of {self.n:,} reports"


def among_answered(whole: Crosstab) -> AnsweredTable:
    """Returns a table restricted to people who answered all of its questions.

    Raises:
        EstimateError: A question is a number on a grid, or too few people are estimated to have answered.
    """
    applicability.require("conditional share", whole.on_grid)
    chosen, options = np.ones(whole.shares.shape, dtype=bool), []
    for axis, (name, labels) in enumerate(zip(whole.questions, whole.options, strict=True)):
        retained = np.array([not (name in whole.optional and label == NO_ANSWER) for label in labels])
        chosen &= retained.reshape([-1 if i == axis else 1 for i in range(chosen.ndim)])
        options.append(tuple(label for label, keep in zip(labels, retained.tolist(), strict=True) if keep))
    return _table(whole, whole.questions, tuple(options), np.eye(chosen.size)[np.flatnonzero(chosen.ravel())])


def _table(whole: Crosstab, questions: tuple[str, ...], options: tuple[tuple[str, ...], ...], places: FloatArray) -> AnsweredTable:
    shape = tuple(map(len, options))
    parts = (places.reshape(-1, whole.shares.size) @ whole.shares.ravel()).reshape(shape)
    if parts.sum() <= 0:
        raise EstimateError(f"too few are estimated to have answered {' and '.join(whole.questions)}")
    places = places.reshape(parts.size, -1)
    together = np.minimum(places @ whole.together.ravel(), whole.n).astype(np.int64).reshape(shape)
    channels = tuple(whole.channels[whole.questions.index(name)] for name in questions)
    shares, empty = parts / parts.sum(), np.zeros(shape)
    figures = (whole.n, shares, empty, empty, empty, whole.interval, whole.on_grid, together)
    result = AnsweredTable(questions, options, channels, *figures, whole, places, origin=whole.origin)
    cells = [result.share_of(np.eye(parts.size)[cell].reshape(shape), "") for cell in range(parts.size)]
    error, low, high = (np.array([getattr(one, name) for one in cells]).reshape(shape) for name in ("std_error", "low", "high"))
    return replace(result, std_error=error, low=low, high=high)


def independence(table: AnsweredTable, what: str) -> HypothesisTest:
    """Tests whether the answers to a table's two questions are independent among people who answered both; (r - 1)(c - 1) df.

    If fewer than 5 reports are expected to name a pair of options, the p-value is by a parametric bootstrap (see `bootstrap`); for a sample
    a warning says that it may be wrong.
    """
    whole, m = table.whole, (table.shares.shape[0] - 1) * (table.shares.shape[1] - 1)
    slopes, null = _under_independence(table)
    spread = slopes @ pseudo_answers.covariance(null, whole.channels, 1.0) @ slopes.T / whole.n
    statistic = float(_distances(whole.shares[None], spread, table)[0])
    if isinstance(whole, LinearTable):
        effects = np.linalg.solve(spread, whole.covariance_of(*table.weights(slopes)))
        trace, squares = float(np.trace(effects)), float((effects * effects.T).sum())
        first, interval = trace**2 / squares, table.interval
        result = HypothesisTest(what, m * statistic / trace, m, 1.0, few.test(int(table.together.min()) < 1))
        return normal.by_f(result, statistic / trace / interval.wider**2, first, first * interval.df)
    result = normal.chi_squared(what, statistic, m)
    rows, cols = (table.together.sum(axis=axis) for axis in (1, 0))
    if rows.min() * cols.min() / max(1, table.together.sum()) >= bootstrap.SMALL:
        return result
    if not bootstrap.few_kinds(whole.channels):
        return replace(result, warning=few.test(int(table.together.min()) < 1))
    draws = bootstrap.joint_tables(null, whole.channels, whole.n, bootstrap.generator())
    p_value = bootstrap.p_value(
        statistic, lambda sampled: _distances(pseudo_answers.invert(sampled / whole.n, whole.channels), spread, table), draws
    )
    return replace(result, p_value=p_value, reference=bootstrap.REFERENCE)


def _under_independence(table: AnsweredTable) -> tuple[FloatArray, FloatArray]:
    """Returns the derivatives of the excesses by the whole table's cells, and its shares under independence, none below 0."""
    (rows, cols), p, q = table.shares.shape, table.shares.sum(axis=1), table.shares.sum(axis=0)
    inner = np.arange(rows * cols).reshape(rows, cols)[:-1, :-1].ravel()
    change = np.eye(rows * cols) - np.kron(np.eye(rows), np.outer(q, np.ones(cols))) - np.kron(np.outer(p, np.ones(rows)), np.eye(cols))
    null, answered = pseudo_answers.possible(table.whole.shares).ravel(), table.places.sum(axis=0) > 0
    margins = [pseudo_answers.possible(margin) for margin in (p, q)]
    null[answered] = null[answered].sum() * np.outer(*margins).ravel()
    return change[inner] @ table.derivatives, null.reshape(table.whole.shares.shape)


def _distances(wholes: FloatArray, spread: FloatArray, table: AnsweredTable) -> FloatArray:
    """Returns the statistics of whole tables of several surveys, shape (surveys, k_a, k_b); infinite where hardly anybody answered both."""
    parts = (wholes.reshape(len(wholes), -1) @ table.places.T).reshape(-1, *table.shares.shape)
    answered = parts.sum(axis=(1, 2))
    shares = parts / np.where(answered > 0, answered, 1.0)[:, None, None]
    excess = (shares - shares.sum(axis=2)[:, :, None] * shares.sum(axis=1)[:, None, :])[:, :-1, :-1].reshape(len(wholes), -1)
    return np.where(answered > 0, np.einsum("si,si->s", excess, np.linalg.solve(spread, excess.T).T), np.inf)
