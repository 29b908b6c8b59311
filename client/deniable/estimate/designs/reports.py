"""Estimates with intervals from reports collected by hand, or by other software: any classic design, overall or by group."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.designs import out_of_range
from deniable.estimate.designs.classic import YES_NO, CategoryDesign, Design
from deniable.estimate.designs.results import Collected, CollectedRow
from deniable.estimate.designs.varying_designs import Strata
from deniable.estimate.limits.interval import DEFAULT_METHOD, Interval
from deniable.estimate.limits.normal import limits
from deniable.estimate.limits.proportion import Share, proportion

_MEANING = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


@dataclass(frozen=True, eq=False)
class RowDesigns:
    """A yes/no design that varies by respondent: q0 and q1 as in `Design`, shape (n,) each.

    Raises:
        EstimateError: A value breaks its rule; the message has its row from 1.
    """

    q0: FloatArray
    q1: FloatArray
    name: str = "by row"

    def __post_init__(self) -> None:
        for name in ("q0", "q1"):
            try:
                column = np.asarray(getattr(self, name), dtype=np.float64)
            except (TypeError, ValueError):
                raise EstimateError(f"{name} must be a number in every row") from None
            if column.ndim != 1 or (wrong := np.flatnonzero(~((column >= 0) & (column <= 1)))).size:
                where = f"row {wrong[0] + 1:,}: {name}" if column.ndim == 1 else name
                raise EstimateError(f"{where} must be a probability from 0 to 1, and is not; it is not quoted, since it may be an answer")
            object.__setattr__(self, name, column)
        if len(self.q0) != len(self.q1):
            raise EstimateError(f"q0 and q1 must have a value for each respondent, got {len(self.q0):,} and {len(self.q1):,}")
        if (same := np.flatnonzero(self.q0 == self.q1)).size:
            raise EstimateError(f"row {same[0] + 1:,}: q0 must differ from q1: the report says nothing")


def collected(
    reports: Sequence[Any] | NDArray[Any],
    design: Design | RowDesigns | CategoryDesign,
    *,
    by: Sequence[Any] | NDArray[Any] | None = None,
    variable: str = "answer",
    confidence: float = 0.95,
    method: str = DEFAULT_METHOD,
    target: str = "population",
    population: int | None = None,
) -> Collected:
    """Estimates the share of every category from reports that went through a known design.

    Args:
        reports: n reports: yes or no (also true, false, 1, 0) for a `Design` or `RowDesigns`, a category's label for a `CategoryDesign`.
        design: The design of all reports, or of each.
        by: A public label per respondent; each group gets estimates of its own.
        variable: The name of the question.
        confidence: As in `share`.
        method: As in `share`; a design that is no bit with two rates has intervals "normal", within [0, 1].
        target: As in `share`.
        population: The size of the population, if the n were drawn from it at random without replacement; the shares are then its own.

    Raises:
        EstimateError: An argument breaks its rule. A report is named by its row from 1 and never quoted.
    """
    interval = _interval(len(reports), population, design, Interval(confidence, method, target))
    codes = codes_of(reports, design)
    if isinstance(design, RowDesigns) and len(design.q0) != len(codes):
        raise EstimateError(f"q0 and q1 must have a value for each of {len(codes):,} reports, got {len(design.q0):,}")
    if by is not None and population is not None:
        raise EstimateError("population must be left out where there are groups: the size of each group's population is unknown")
    result = [row for group, rows in _groups(by, len(codes)) for row in _rows(group, codes[rows], _of(design, rows), interval)]
    if population is not None:
        result = [replace(row, target=f"the {population:,} drawn from") for row in result]
    return Collected(variable, design.name, len(codes), _epsilon(design), tuple(result))


def _interval(n: int, population: int | None, design: Design | RowDesigns | CategoryDesign, requested: Interval) -> Interval:
    """Returns the interval; with a population of known size it allows for the coins and for the draw of the respondents."""
    if population is None:
        return requested
    if isinstance(population, bool) or not isinstance(population, int | np.integer) or population < n:
        raise EstimateError(f"population must be a whole number of people, at least the {n:,} who reported, got {population!r}")
    if isinstance(design, RowDesigns) or requested.target != "population":
        raise EstimateError("population needs one design for all rows, and the target population")
    return Interval(requested.confidence, requested.method, "respondents", everybody=int(population))


def category_shares(counts: Sequence[int] | NDArray[np.int64], matrix: Any) -> tuple[FloatArray, FloatArray]:
    """Returns the unbiased shares P^-1 f, not clipped, and their covariance P^-1 (diag(f) - f f^T) P^-T / n, shape (k, k).

    Args:
        counts: Reports that name each category; f = counts / n.
        matrix: P[reported, true].

    Raises:
        EstimateError: An argument breaks its rule.
    """
    design = CategoryDesign("matrix", tuple(map(str, range(len(counts)))), matrix)
    ones = np.asarray(counts)
    if ones.ndim != 1 or not np.issubdtype(ones.dtype, np.integer) or (ones < 0).any() or ones.sum() < 1:
        raise EstimateError("counts must be whole numbers from 0, at least 1 report in all")
    return np.linalg.solve(design.matrix, ones / ones.sum()), _covariance(ones / ones.sum(), design.matrix) / ones.sum()


def _covariance(rate: FloatArray, matrix: FloatArray) -> FloatArray:
    """Returns the covariance of one report's pseudo-answer, about its mean: a difference of squares could fall below 0."""
    inverse = np.linalg.inv(matrix)
    apart = inverse - (inverse @ rate)[:, None]
    covariance: FloatArray = (apart * rate) @ apart.T
    return covariance


def least_variance(pseudo: FloatArray, matrix: FloatArray) -> float:
    """Returns the least variance of one report's pseudo-answers by chance alone, whatever its true category is.

    Args:
        pseudo: The pseudo-answer of each reported category, shape (k,).
        matrix: P[reported, true], shape (k, k).
    """
    apart = pseudo[:, None] - pseudo @ matrix
    return float((matrix * apart**2).sum(axis=0).min())


def codes_of(reports: Sequence[Any] | NDArray[Any], design: Design | RowDesigns | CategoryDesign) -> NDArray[np.int64]:
    """Returns the index of each report among the design's categories, shape (n,).

    Raises:
        EstimateError: There are no reports, or a report is no category.
    """
    labels = design.categories if isinstance(design, CategoryDesign) else YES_NO
    codes = _codes(reports, labels, isinstance(design, CategoryDesign))
    if not len(codes):
        raise EstimateError("there must be at least 1 report, got 0")
    return codes


def _codes(reports: Sequence[Any] | NDArray[Any], labels: tuple[str, ...], exact: bool) -> NDArray[np.int64]:
    places = {label: i for i, label in enumerate(labels)} if exact else {word: int(not yes) for word, yes in _MEANING.items()}

    def place(report: Any) -> int:
        if not exact and isinstance(report, int | float | np.number | np.bool_):
            return 0 if report == 1 else 1 if report == 0 else -1
        return places.get(str(report).strip() if exact else str(report).strip().lower(), -1)

    codes = np.fromiter(map(place, reports), dtype=np.int64, count=len(reports))
    if (unknown := np.flatnonzero(codes < 0)).size:
        raise EstimateError(f"row {unknown[0] + 1:,}: the report must be one of {', '.join(labels)} ({unknown.size:,} rows are not)")
    return codes


def _groups(by: Sequence[Any] | NDArray[Any] | None, n: int) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yields everybody, or each group with its respondents, in the order of the labels."""
    if by is None:
        yield "", np.arange(n)
        return
    if len(by) != n:
        raise EstimateError(f"by must have a label for each of {n:,} reports, got {len(by):,}")
    names, which = np.unique([str(label) for label in by], return_inverse=True)
    for i, name in enumerate(names.tolist()):
        yield name, np.flatnonzero(which == i)


def _of(design: Design | RowDesigns | CategoryDesign, rows: NDArray[np.int64]) -> Design | RowDesigns | CategoryDesign:
    if not isinstance(design, RowDesigns):
        return design
    return RowDesigns(design.q0[rows], design.q1[rows], design.name)


def _epsilon(design: Design | RowDesigns | CategoryDesign) -> float | None:
    """Returns the privacy loss of the design, of designs by row the largest; None if infinite."""
    if isinstance(design, RowDesigns):
        pairs = np.unique(np.column_stack([design.q0, design.q1]), axis=0).tolist()
        loss = max(Design("row", q0, q1).epsilon for q0, q1 in pairs)
    else:
        loss = design.epsilon
    return loss if math.isfinite(loss) else None


def _rows(group: str, codes: NDArray[np.int64], design: Design | RowDesigns | CategoryDesign, interval: Interval) -> Iterator[CollectedRow]:
    if isinstance(design, CategoryDesign):
        ones = np.bincount(codes, minlength=len(design.categories))
        for category, result in zip(design.categories, _category_rows(ones, design.matrix, interval), strict=True):
            yield _row(group, category, *result)
        return
    n = len(codes)
    q0 = design.q0 if isinstance(design, RowDesigns) else np.full(n, design.q0)
    q1 = design.q1 if isinstance(design, RowDesigns) else np.full(n, design.q1)
    strata = Strata.count(codes == 0, q0, q1)
    yes = strata.share(interval)
    warning = _binary_warning(strata, yes)
    yield _row(group, "yes", yes, warning)
    no = Share(n - yes.ones, n, 1 - yes.estimate, yes.std_error, 1 - yes.high, 1 - yes.low, yes.confidence, yes.method, yes.target)
    yield _row(group, "no", no, "")


def _row(group: str, category: str, one: Share, warning: str) -> CollectedRow:
    values = (one.n, one.ones, one.estimate, one.std_error, one.low, one.high, one.confidence, one.method, one.target)
    return CollectedRow(group, category, *values, warning)


def _category_rows(ones: NDArray[np.int64], matrix: FloatArray, interval: Interval) -> Iterator[tuple[Share, str]]:
    """Yields the share of each category, with its warning.

    A category whose report is equally likely under all other answers is a bit with two rates; the others have normal intervals.
    """
    for i, count in enumerate(ones.tolist()):
        others = np.delete(matrix[i], i)
        if np.ptp(others) < 1e-12 and others[0] != matrix[i, i]:
            n, q0, q1 = int(ones.sum()), float(others[0]), float(matrix[i, i])
            one = proportion(count, n, q0, q1, interval)
            yield one, _binary_warning(Strata(np.array([count]), np.array([n]), np.array([q0]), np.array([q1])), one)
        else:
            one = _normal(i, ones, matrix, interval)
            yield one, out_of_range.warning(one.estimate, out_of_range.tail(one.estimate, one.std_error))


def _normal(i: int, ones: NDArray[np.int64], matrix: FloatArray, interval: Interval) -> Share:
    """Returns category i with limits that are normal and within [0, 1].

    Their width comes from counts with half a report added to each category: with few reports, all of one kind, it would be 0. So would the
    standard error, which then uses these counts, too; and it is never below the error by chance alone.
    """
    if interval.target == "respondents":
        raise EstimateError("target must be population where a report's chances differ between the other answers")
    n = int(ones.sum())
    estimates, covariance = category_shares(ones, matrix)
    smoothed = np.asarray((ones + 0.5) / (n + len(ones) / 2), dtype=np.float64)
    width = math.sqrt(_covariance(smoothed, matrix)[i, i] / n)
    low, high = limits(estimates[i : i + 1], np.array([width]), interval.confidence, 0.0, 1.0)
    variance = float(covariance[i, i]) if np.count_nonzero(ones) > 1 else width**2
    std_error = math.sqrt(max(variance, least_variance(np.linalg.inv(matrix)[i], matrix) / n))
    value, ends = float(estimates[i]), (float(low[0]), float(high[0]))
    return Share(int(ones[i]), n, value, std_error, *ends, interval.confidence, "normal", interval.target)


def _binary_warning(strata: Strata, one: Share) -> str:
    """Returns the warning about an estimate outside [0, 1]; its chance is binomial, or normal if designs vary."""
    if len(strata.n) > 1:
        return out_of_range.warning(one.estimate, out_of_range.tail(one.estimate, one.std_error))
    rate = float(strata.q0[0] if one.estimate < 0 else strata.q1[0])
    more = (one.estimate < 0) == bool(strata.q1[0] < strata.q0[0])
    chance = float(scipy.special.bdtrc(one.ones - 1, one.n, rate) if more else scipy.special.bdtr(one.ones, one.n, rate))
    return out_of_range.warning(one.estimate, chance)
