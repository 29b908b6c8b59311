"""Pearson's correlation of scores, without the noise of the coins.

    r = (E[xy] - E[x] E[y]) / sqrt((E[x^2] - E[x]^2) (E[y^2] - E[y]^2))

Every moment is a mean of pseudo-answers, which is unbiased for the true answers: E[x^2] is the sum of squared scores times shares. The
variances of the reports would include the coins' variance, and make r too small. The error is by the delta method. It takes a question
with scores and another one, or a public number. A number that is rounded at random has no correlation: E[x^2] would be of the levels,
larger by the variance of rounding, which depends on the numbers' places between two levels, and reports do not have these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.checks import few
from deniable.estimate.limits import normal
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.normal import Estimate
from deniable.estimate.moments import applicability, counts, pseudo_answers
from deniable.estimate.tables.association import two_dimensional
from deniable.estimate.tables.crosstab import Crosstab
from deniable.survey import Survey

Scores = Sequence[float | None] | FloatArray


def correlation(table: Crosstab, rows: Scores, columns: Scores) -> Estimate:
    """Estimates the correlation of the scores of a table's two questions.

    Args:
        table: The cross table of the two questions.
        rows: A score for each option of the first question; None (or nan) leaves an option out, such as "no answer".
        columns: The same for the second question.

    Raises:
        EstimateError: A question is a number on a grid, the scores do not fit, or a variance is not clearly above 0.
    """
    applicability.require("correlation", table.on_grid)
    two_dimensional(table)
    (x, known_x), (y, known_y) = (_scores(values, options) for values, options in zip((rows, columns), table.options, strict=True))
    one, x, y = np.outer(known_x, known_y), np.outer(x, known_y), np.outer(known_x, y)
    weights = np.array([one, x, y, x * x, y * y, x * y])
    sums = (weights * table.shares).sum(axis=(1, 2))
    what = f"correlation of {' and '.join(table.questions)}"
    result = _pearson(what, table.n, sums, lambda gradient: table.variance_of(np.tensordot(gradient, weights, 1)), table.interval)
    return replace(result, warning=_few(table, one > 0), origin=table.origin)


def _few(table: Crosstab, counted: NDArray[np.bool_]) -> str:
    """Returns the warning if hardly any counted report lies off the most frequent option of both questions."""
    row, column = (int(table.together.sum(axis=1 - i).argmax()) for i in (0, 1))
    off = counted.copy()
    off[row], off[:, column] = False, False
    observed = int(table.together[off].sum())
    return few.bits(observed, table.n) if observed < few.FEW else ""


def correlation_with(
    survey: Survey,
    bits: NDArray[np.bool_],
    question: str,
    scores: Scores,
    numbers: Sequence[float] | FloatArray,
    *,
    confidence: float = 0.95,
) -> Estimate:
    """Estimates the correlation of a question's scores and a public number of every respondent, in a population.

    Args:
        survey: The survey as published.
        bits: Unpacked reports, shape (n, record_bits), as `unpack` returns them.
        question: The id of the question.
        scores: A score for each option; None (or nan) leaves an option out.
        numbers: Shape (n,), in the order of the reports.
        confidence: The confidence of the limits.

    Raises:
        EstimateError: As `correlation`.
    """
    applicability.require_of("correlation", survey, (question,))
    (item,), (reported,) = counts.bits_of(survey, bits, [question])
    try:
        z = np.asarray(numbers, dtype=np.float64)
    except (TypeError, ValueError):
        raise EstimateError("the public numbers must be numbers") from None
    if z.shape != (len(bits),) or not np.isfinite(z).all():
        raise EstimateError(f"the public numbers must be {len(bits):,} finite ones, one for each report, got the shape {z.shape}")
    z = z[counts.was_asked(survey, bits, [question])]
    z = (z - z.mean()) / (z.std() or 1.0)
    x, present = _scores(scores, item.categories)
    r, v, w = (reported @ pseudo_answers.score_of_bits(each, item.channel) for each in (present, x, x * x))
    each = np.column_stack([r, v, r * z, w, r * z * z, v * z])
    covariance = np.cov(each, rowvar=False) / len(each)

    def variance(gradient: FloatArray) -> float:
        return float(gradient @ covariance @ gradient)

    return _pearson(f"correlation of {question} and a public number", len(each), each.mean(axis=0), variance, Interval(confidence))


def _scores(values: Scores, options: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Returns scores about their middle, 0 for options without one, and 1 for each option with a score."""
    try:
        scores = np.array([math.nan if score is None else float(score) for score in values])
    except (TypeError, ValueError):
        raise EstimateError("scores must be numbers, or None for an option that is left out") from None
    present = ~np.isnan(scores)
    if len(scores) != len(options) or np.isinf(scores).any() or len(set(scores[present].tolist())) < 2:
        raise EstimateError(f"scores must be {len(options)} finite numbers, one for each option, at least two different ones")
    return np.where(present, scores - (np.nanmin(scores) + np.nanmax(scores)) / 2, 0.0), present.astype(np.float64)


def _pearson(what: str, n: int, sums: FloatArray, variance: Callable[[FloatArray], float], interval: Interval) -> Estimate:
    """Returns the correlation from the sums of 1, x, y, x^2, y^2 and xy over people with both, shape (6,).

    `variance` returns the variance of a linear combination of these six sums. It is called once for each figure, so that the coins'
    variance is a lower bound of each. A bound on the whole covariance matrix would depend on the units of the scores.
    """
    if not sums[0] > 0:
        raise EstimateError(f"{what}: too few are estimated to have answered")
    _, mx, my, mxx, myy, mxy = (sums / sums[0]).tolist()
    vx, vy = mxx - mx * mx, myy - my * my
    for spread, by in ((vx, [-2 * mx, 0.0, 1.0, 0.0, 0.0]), (vy, [0.0, -2 * my, 0.0, 1.0, 0.0])):
        error = math.sqrt(max(0.0, variance(_gradient(by, sums))))
        if not spread > interval.quantile * error:
            raise EstimateError(
                f"{what}: both variances must be clearly above 0, got {spread:.4g} with a standard error of {error:.4g}; more reports, "
                "or a larger epsilon, are needed"
            )
    scale = 1 / math.sqrt(vx * vy)
    value = (mxy - mx * my) * scale
    by = [value * mx / vx - my * scale, value * my / vy - mx * scale, -value / (2 * vx), -value / (2 * vy), scale]
    return normal.limited(what, n, value, max(variance(_gradient(by, sums)), 1e-24), interval, (-1.0, 1.0))


def _gradient(by: Sequence[float], sums: FloatArray) -> FloatArray:
    """Returns the gradient in the six sums, shape (6,), of a function of the five means, which are sums over the first one."""
    gradient: FloatArray = np.array([-float(np.dot(by, sums[1:] / sums[0])), *by]) / sums[0]
    return gradient
