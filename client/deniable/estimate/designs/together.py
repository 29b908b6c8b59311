"""Pairs of questions, means and weights of reports that were collected by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.designs.classic import YES_NO, CategoryDesign, Design
from deniable.estimate.designs.reports import codes_of, collected, least_variance
from deniable.estimate.designs.results import Collected
from deniable.estimate.limits import effective_sample_size, normal
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.normal import Estimate, HypothesisTest

_Reports = Sequence[Any] | NDArray[Any]
_KnownDesign = Design | CategoryDesign

AND = " & "


def pair(first: _KnownDesign, second: _KnownDesign) -> CategoryDesign:
    """Returns both questions as one, with the categories "yes & no", ..

    of all pairs; each was randomized by itself, so the chances multiply.
    """
    labels = [a + AND + b for a in _labels(first) for b in _labels(second)]
    matrix = np.asarray(np.kron(first.matrix, second.matrix), dtype=np.float64)
    return CategoryDesign(f"{first.name} and {second.name}", tuple(labels), matrix)


def collected_pair(
    first: tuple[_Reports, _KnownDesign],
    second: tuple[_Reports, _KnownDesign],
    *,
    by: Sequence[Any] | NDArray[Any] | None = None,
    variable: str = "answers",
    confidence: float = 0.95,
) -> Collected:
    """Estimates the cross table of two questions: the share of every pair of categories, a row each.

    Args:
        first: Reports and design of the first question.
        second: Reports and design of the second question, of the same n respondents in the same order.
        by: As in `collected`.
        variable: As in `collected`.
        confidence: As in `collected`.

    Raises:
        EstimateError: As `collected`.
    """
    codes = _both(first, second)
    labels = _labels(first[1]), _labels(second[1])
    reports = [labels[0][a] + AND + labels[1][b] for a, b in zip(*(one.tolist() for one in codes), strict=True)]
    return collected(reports, pair(first[1], second[1]), by=by, variable=variable, confidence=confidence)


def independent_answers(first: tuple[_Reports, _KnownDesign], second: tuple[_Reports, _KnownDesign]) -> HypothesisTest:
    """Tests whether the true answers to two questions are independent; (r - 1)(c - 1) degrees of freedom.

    It is Pearson's test of the reports: devices work question by question and their matrices can be inverted, so reports are independent
    exactly if the true answers are.

    Raises:
        EstimateError: As `collected`, or all reports are of one category.
    """
    a, b = _both(first, second)
    shape = len(_labels(first[1])), len(_labels(second[1]))
    table = np.bincount(a * shape[1] + b, minlength=math.prod(shape)).reshape(shape)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    if not (expected > 0).all():
        raise EstimateError("each category needs at least one report to test independence")
    statistic = float(((table - expected) ** 2 / expected).sum())
    result = normal.chi_squared("the answers are independent", statistic, (shape[0] - 1) * (shape[1] - 1))
    few = "fewer than 5 reports of a pair are expected, so the p-value is rough"
    return replace(result, warning=few if expected.min() < 5 else "")


def collected_mean(
    reports: _Reports,
    design: _KnownDesign,
    scores: Sequence[float] | FloatArray = (1.0, 0.0),
    *,
    weights: Sequence[float] | FloatArray | None = None,
    variable: str = "answer",
    confidence: float = 0.95,
) -> Estimate:
    """Estimates the mean score of the true answers, weighted if need be.

    Every report counts as the pseudo-score scores' P^-1, which is right on average. The error is linearised (C.-E. Sarndal, B. Swensson
    and J. Wretman 1992, section 5.7). Limits are within the scores' range: with two categories by the effective sample size
    (`limits.effective_sample_size`), with more normal ones, whose width comes from z^2 more reports spread over the categories.

    Args:
        reports: As in `collected`.
        design: The design of all reports.
        scores: One number for each category; by default 1 for yes and 0 for no, which gives the share of yes.
        weights: One number a report, not below 0; a weight must not depend on the answer.
        variable: The name of the question.
        confidence: The confidence of the limits.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    interval, values = Interval(confidence), np.asarray(scores, dtype=np.float64)
    k = len(_labels(design))
    if values.shape != (k,) or not np.isfinite(values).all() or np.ptp(values) == 0:
        raise EstimateError(f"scores must be {k} finite numbers, one for each category and not all equal")
    codes = codes_of(reports, design)
    pseudo = values @ np.linalg.inv(design.matrix)
    w = _weights(weights, len(codes))
    rates = np.bincount(codes, weights=w, minlength=k) / w.sum()
    value = float(rates @ pseudo)
    squared = np.bincount(codes, weights=w**2, minlength=k) / w.sum() ** 2
    effective_n = 1 / float(squared.sum())
    plain = float(squared @ (pseudo - value) ** 2)
    variance = max(plain, _with_more(rates, pseudo, effective_n, interval.quantile**2))
    result = normal.limited(
        f"mean of {variable}", int((w > 0).sum()), value, variance, interval, (float(values.min()), float(values.max()))
    )
    if k == 2:
        low, high = _of_two(value, plain if np.ptp(w) else 0.0, effective_n, values, design.matrix, interval)
        result = replace(result, low=low, high=high)
    least = float(squared.sum()) * least_variance(pseudo, design.matrix)
    return replace(result, std_error=math.sqrt(max(plain or variance, least)))


def _with_more(rates: FloatArray, pseudo: FloatArray, n: float, more: float) -> float:
    """Returns the variance of a mean of n pseudo-scores with `more` further reports, spread over all categories, so that it is never 0."""
    smoothed = (n * rates + more / len(rates)) / (n + more)
    return float(smoothed @ (pseudo - smoothed @ pseudo) ** 2) / n


def _of_two(value: float, variance: float, n: float, scores: FloatArray, matrix: FloatArray, interval: Interval) -> tuple[float, float]:
    """Returns limits of a mean of two scores, from the limits of the first one's share.

    n: without weights; variance: 0 if these are equal.
    """
    span = float(scores[0] - scores[1])
    share = (value - float(scores[1])) / span
    _, low, high = effective_sample_size.limits(share, variance / span**2, n + 1e-9, (float(matrix[0, 1]), float(matrix[0, 0])), interval)
    ends = sorted(float(scores[1]) + span * limit for limit in (low, high))
    return ends[0], ends[1]


def _both(first: tuple[_Reports, _KnownDesign], second: tuple[_Reports, _KnownDesign]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    a, b = codes_of(*first), codes_of(*second)
    if len(a) != len(b):
        raise EstimateError(f"both questions must have a report of each respondent, got {len(a):,} and {len(b):,}")
    return a, b


def _labels(design: _KnownDesign) -> tuple[str, ...]:
    return design.categories if isinstance(design, CategoryDesign) else YES_NO


def _weights(weights: Sequence[float] | FloatArray | None, n: int) -> FloatArray:
    """Returns the weights, scaled to a largest of 1. Raises EstimateError."""
    if weights is None:
        return np.ones(n)
    try:
        w = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise EstimateError("weights must be numbers, one a report") from None
    if w.shape != (n,) or not np.isfinite(w).all() or (w < 0).any() or not w.any():
        raise EstimateError(f"weights must be {n:,} finite numbers, one a report, none below 0 and one above")
    return np.asarray(w / w.max())
