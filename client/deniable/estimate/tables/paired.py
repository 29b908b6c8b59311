"""Differences between two questions of the same people, from their cross table.

The share of an option of one question less the share of an option of another is the sum of the cells with the first option alone, less the
sum of the cells with the second alone. Both come from one table, so the covariance of its cells has the error, for any association.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deniable.estimate.checks import few
from deniable.estimate.limits import normal
from deniable.estimate.limits.normal import Estimate
from deniable.estimate.moments import applicability
from deniable.estimate.tables.correlation import Scores
from deniable.estimate.tables.crosstab import Crosstab


def between(table: Crosstab, one: str, other: str) -> Estimate:
    """Returns the share of option `one` of a table's first question less the share of option `other` of its second one.

    Both are shares of all people of the table, with or without an answer, as in the results.

    Raises:
        EstimateError: An option is unknown.
    """
    a, b = table.questions
    first, second = table.cells({a: one}), table.cells({b: other})
    weights = first - second
    value, variance = float((weights * table.shares).sum()), table.variance_of(weights)
    result = normal.limited(f"{a} = {one} less {b} = {other}", table.n, value, variance, table.interval, (-1.0, 1.0))
    apart = [int((part * table.together).sum()) for part in (first * (1 - second), second * (1 - first))]
    observed = min(min(apart), table.n)
    return replace(result, warning=few.bits(observed, table.n) if observed < few.FEW else "", origin=table.origin)


def between_means(table: Crosstab, rows: Scores, columns: Scores) -> Estimate:
    """Returns the mean score of a table's first question less the mean score of its second, among people who answered both.

    Args:
        table: The cross table of the two questions.
        rows: A score for each option of the first question; None (or nan) leaves an option out, such as "no answer".
        columns: The same of the second question.

    Raises:
        EstimateError: A number on a grid has uneven scores, or too few are estimated to have answered both.
    """
    x, y = (np.array([np.nan if score is None else score for score in scores]) for scores in (rows, columns))
    known_x, known_y = (~np.isnan(scores) for scores in (x, y))
    for name, scores, present in zip(table.questions, (x, y), (known_x, known_y), strict=True):
        if name in table.on_grid:
            applicability.require_even(name, scores[present])
    counted = np.outer(known_x, known_y)
    apart = np.where(counted, x[:, None] - y[None, :], 0.0)
    ends = float(np.nanmin(x) - np.nanmax(y)), float(np.nanmax(x) - np.nanmin(y))
    what = f"mean of {table.questions[0]} less mean of {table.questions[1]}"
    over, under = float((apart * table.shares).sum()), float((counted * table.shares).sum())
    if counted.all():
        result = normal.limited(what, table.n, over, table.variance_of(apart), table.interval, ends)
    else:
        parts = table.covariance_of(apart, counted.astype(np.float64))
        result = normal.ratio(what, table.n, (over, under), parts, table.interval, ends)
    return replace(result, warning=result.warning or _few(table), origin=table.origin)


def _few(table: Crosstab) -> str:
    """Returns the warning if hardly any report names answers other than the most frequent pair."""
    most = np.unravel_index(int(table.together.argmax()), table.together.shape)
    rest = table.n - int(table.together[most])
    return few.bits(max(0, rest), table.n) if rest < few.FEW else ""
