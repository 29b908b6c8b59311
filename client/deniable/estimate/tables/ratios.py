"""Shares among some of a table's people: ratios of two sums of its cells, with Fieller's limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deniable.estimate.arrays import FloatArray
from deniable.estimate.limits import normal
from deniable.estimate.limits.normal import Estimate
from deniable.estimate.tables.crosstab import Crosstab


def share_among(table: Crosstab, over: FloatArray, under: FloatArray, what: str) -> Estimate:
    """Returns the share of the cells `over` among the cells `under`, which include them; both 1 or 0, of the table's shape.

    Limits are Fieller's, with the errors of a part's own limits if few reports name it.

    Raises:
        EstimateError: The share of the cells `under` is estimated at 0 or less.
    """
    parts = float((over * table.shares).sum()), float((under * table.shares).sum())
    covariance = table.covariance_of(over, under)
    result = normal.ratio(what, table.n, parts, covariance, table.interval, (0.0, 1.0), sides=_sides(table, over, under - over))
    return replace(result, origin=table.origin)


def _sides(table: Crosstab, over: FloatArray, rest: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Returns the covariance of `over` and `over + rest` for the lower and the upper limit of their ratio, shape (2, 2) each.

    MOVER (see `limits.mover`): each part has the error that its own limits show, below it or above it. The lower limit of the ratio is
    reached with less of the one and more of the other. None if enough reports name both, or all but enough do.
    """
    if not (table.few_name(over) or table.few_name(rest)):
        return None
    z = table.interval.quantile
    plain = table.covariance_of(over, rest)
    errors = np.sqrt(np.diagonal(plain))
    correlation = float(plain[0, 1]) / float(errors[0] * errors[1])
    reaches = []
    for one, error in zip((table.share_of(part, "") for part in (over, rest)), errors.tolist(), strict=True):
        middle = min(max(one.estimate, one.low), one.high)
        reaches.append((middle - one.low, one.high - middle) if one.high > one.low else (z * error, z * error))
    result = []
    for below, above in ((reaches[0][0], reaches[1][1]), (reaches[0][1], reaches[1][0])):
        a, b = below / z, above / z
        together = correlation * a * b
        result.append(np.array([[a * a, a * a + together], [a * a + together, a * a + b * b + 2 * together]]))
    return result[0], result[1]
