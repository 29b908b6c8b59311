"""Contingency table (cross table): the joint shares of two or more questions, each perturbed by itself.

The products of pseudo-answers are unbiased for a cell's share. docs/reference/joint.md has the formulas and measurements.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError, UnknownNameError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.checks import few
from deniable.estimate.limits import effective_sample_size, equivalent, normal
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.origin import Origin
from deniable.estimate.moments import applicability, counts, pseudo_answers, structural_zeros
from deniable.estimate.present.figures import points
from deniable.estimate.present.table import Table
from deniable.estimate.present.tabular import Tabular
from deniable.estimate.samples.linear import NO_VARIANCE, Linear
from deniable.mechanism import Channel
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable.wire.tally import Tally

MAX_CELLS = 1 << 20
MAX_COVARIANCE = 1 << 12  # cells; their covariance is that squared
ENOUGH = 25  # reports that name a cell, and that do not, from which on its share has a normal error


@dataclass(frozen=True)
class Crosstab(Tabular):
    """The joint shares of two or more questions, one axis each.

    Attributes:
        questions, options: Ids and labels along the axes.
        channels: The channel of each question.
        n: Reports.
        shares: Unbiased and never clipped; they add to 1.
        std_error, low, high: Of each cell, same shape; limits in [0, 1]: exact ones of an equivalent design (`limits.equivalent`) for a
            cell that few reports name, or all but few, else by a normal error (`limits.normal`).
        interval: The requested limits.
        on_grid: The questions that are numbers rounded at random to the levels that are the options here (see `applicability`).
        together: The reports with all bits of a cell set, same shape.
        origin: The reports used, if known.
        optional: The questions that need not be answered, and have "no answer" as an option.
    """

    questions: tuple[str, ...]
    options: tuple[tuple[str, ...], ...]
    channels: tuple[Channel, ...]
    n: int
    shares: FloatArray
    std_error: FloatArray
    low: FloatArray
    high: FloatArray
    interval: Interval
    on_grid: tuple[str, ...]
    together: NDArray[np.int64]
    origin: Origin | None = field(default=None, compare=False, repr=False, kw_only=True)
    optional: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def confidence(self) -> float:
        """The probability that a cell's limits enclose the truth."""
        return self.interval.confidence

    @property
    def target(self) -> str:
        """The target of the shares: "population" or "respondents"."""
        return self.interval.target

    @cached_property
    def covariance(self) -> FloatArray:
        """The covariance of the cells' estimates, shape (cells, cells), in row-major order. Raises EstimateError for too many cells."""
        return self._covariance(self.interval.sampling(self.n))

    @cached_property
    def _coins(self) -> FloatArray:
        return self._covariance(0.0) if self.interval.sampling(self.n) else self.covariance

    def _covariance(self, sampling: float) -> FloatArray:
        if self.shares.size > MAX_COVARIANCE:
            raise EstimateError(f"a covariance needs a table of at most {MAX_COVARIANCE:,} cells, got {self.shares.size:,}")
        return pseudo_answers.covariance(self.shares, self.channels, sampling) / self.n

    def covariance_of(self, *weights: FloatArray) -> FloatArray:
        """Returns the covariance of sums of weights times shares, shape (m, m) for m arrays of weights; not below the coins alone."""
        rows = np.array([w.ravel() for w in weights])
        return pseudo_answers.at_least(rows @ self._coins @ rows.T, rows @ self.covariance @ rows.T)

    def variance_of(self, weights: FloatArray) -> float:
        """Returns the variance of the sum of weights times shares, never below what the coins alone give."""
        w = weights.ravel()
        return max(float(w @ matrix @ w) for matrix in (self.covariance, self._coins))

    def cells(self, chosen: Mapping[str, str | Sequence[str]]) -> FloatArray:
        """Returns 1 in the cells where each named question has (one of) the chosen options, 0 elsewhere. Raises EstimateError."""
        inside = np.ones(self.shares.shape)
        for name, target in chosen.items():
            axis = self.axis(name)
            labels = _labels(name, target)
            if unknown := [label for label in labels if label not in self.options[axis]]:
                raise UnknownNameError.of(f"the option must be one of question {name}", unknown[0], self.options[axis])
            along = np.array([label in labels for label in self.options[axis]], dtype=np.float64)
            inside *= along.reshape([-1 if i == axis else 1 for i in range(inside.ndim)])
        return inside

    def axis(self, name: str) -> int:
        """Returns the axis of a question. Raises EstimateError."""
        if name not in self.questions:
            raise EstimateError(f"the question must be one of the table's ({', '.join(self.questions)}), got {name!r}")
        return self.questions.index(name)

    def _axis(self, name: str) -> Axis:
        axis = self.axis(name)
        return Axis(name, self.options[axis], self.channels[axis], name in self.on_grid, name in self.optional)

    def share(self, chosen: Mapping[str, str | Sequence[str]]) -> normal.Estimate:
        """Estimates the share of people with (one of) the chosen options of each named question: a cell, a margin, or a sum of cells.

        Raises:
            EstimateError: A question or option is unknown, or no question is named.
        """
        if not chosen:
            raise EstimateError("name options of at least one of the table's questions")
        return self.share_of(self.cells(chosen), in_words(chosen))

    def share_of(self, inside: FloatArray, what: str) -> normal.Estimate:
        """Returns the share of the cells with `inside` 1, not 0 (see `cells`)."""
        value, variance = float((inside * self.shares).sum()), self.variance_of(inside)
        result = normal.limited(what, self.n, value, variance, self.interval, (0.0, 1.0))
        low, high = result.low, result.high
        if self.few_name(inside):
            moments = self._second_moments(inside)
            low, high = equivalent.limits(value, self.reports(value, variance, moments), moments, self.interval)
        ends = _wider(self.n, self.interval, np.array(low), np.array(high))
        return replace(result, low=float(ends[0]), high=float(ends[1]), origin=self.origin)

    def reports(self, value: float, variance: float, moments: tuple[float, float]) -> int:
        """Returns how many reports a share of this variance is worth; moments: as in `limits.equivalent`."""
        return self.n

    def few_name(self, inside: FloatArray) -> bool:
        """Returns whether so few reports name these cells, or do not, that a normal error does not fit their share."""
        count = min(int(inside.ravel() @ self.together.ravel()), self.n)
        return min(count, self.n - count) < ENOUGH

    def _second_moments(self, inside: FloatArray) -> tuple[float, float]:
        """Returns E[u^2] of a report's pseudo-answer u for these cells, of people in them and of all others; shares of 0 count alike."""
        likely, result = pseudo_answers.possible(self.shares), []
        for part in (inside, 1 - inside):
            weights = likely * part if (likely * part).any() else part
            moments = pseudo_answers.products(weights / weights.sum(), self.channels).reshape(inside.size, inside.size)
            result.append(float(inside.ravel() @ moments @ inside.ravel()))
        return result[0], result[1]

    def too_few(self, *parts: FloatArray) -> str:
        """Returns the warning about the first of these parts that hardly any report names, for figures with a normal error."""
        return next(filter(None, (few.bits(min(int(part.ravel() @ self.together.ravel()), self.n), self.n) for part in parts)), "")

    def margin(self, name: str) -> Crosstab:
        """Returns one question's shares from the same reports."""
        axis = self.axis(name)
        others = tuple(i for i in range(self.shares.ndim) if i != axis)
        together = self.together.sum(axis=others) // math.prod(self.channels[i].d for i in others)
        return _table(
            [self._axis(name)],
            self.n,
            together,
            self.interval,
        )

    def tables(self) -> tuple[Table, ...]:
        """Returns percentages with their limits; the last question runs across."""
        figures = zip(self.shares.ravel(), self.low.ravel(), self.high.ravel(), strict=True)
        texts = [f"{points(value)} ({points(low)} – {points(high)})" for value, low, high in figures]
        across = self.shares.shape[-1]
        names = [" · ".join(labels) for labels in product(*self.options[:-1])]
        rows = tuple((name, *texts[across * i : across * (i + 1)]) for i, name in enumerate(names))
        title = f"{' by '.join(self.questions)}: % of {self._of} ({100 * self.confidence:g}% intervals) · target: {self.target}"
        return (Table(title, ("", *self.options[-1]), rows),)

    @property
    def _of(self) -> str:
        return f"all {self.n:,} reports"

    def records(self) -> tuple[Table, ...]:
        """Returns one row for each cell: a column for each question, then n, estimate, std_error, low, high."""
        figures = (part.ravel().tolist() for part in (self.shares, self.std_error, self.low, self.high))
        cells = zip(product(*self.options), *figures, strict=True)
        rows = tuple((*labels, self.n, *values) for labels, *values in cells)
        return (Table("cell", (*self.questions, "n", "estimate", "std_error", "low", "high"), rows),)


@dataclass(frozen=True)
class LinearTable(Crosstab):
    """A cross table of linear estimates: of a sample, or without the noise of impossible pairs.

    Attributes:
        linear: The cells' shares in one line, with their covariance.
        impossible: Whether each cell is impossible, same shape as shares.
    """

    linear: Linear
    impossible: NDArray[np.bool_]

    def _covariance(self, sampling: float) -> FloatArray:
        return self.linear.covariance if sampling else self.linear.coins

    def reports(self, value: float, variance: float, moments: tuple[float, float]) -> int:
        """Returns the effective sample size: the number of people drawn alone with the same error."""
        return int(effective_sample_size.size(value, variance, self.linear.effective, moments, self.interval))

    def share_of(self, inside: FloatArray, what: str) -> normal.Estimate:
        """Returns a share as any table does. Raises EstimateError for impossible cells, and for all others together."""
        self.require_possible(inside, what)
        return super().share_of(inside, what)

    def require_possible(self, inside: FloatArray, what: str) -> None:
        """Requires cells that some respondents may be in and others not.

        Raises:
            EstimateError: By design, all people or none are in these cells.
        """
        if (self.impossible.any() and not ((1 - inside) * ~self.impossible).any()) or not (inside * ~self.impossible).any():
            raise EstimateError(f"{what}: cannot be estimated, since one question is only shown after some answers to the other")

    def few_name(self, inside: FloatArray) -> bool:
        """Returns whether few reports name these cells, or all but few; or clusters, which are always few, determine the error."""
        return math.isfinite(self.interval.df) or super().few_name(inside)

    def margin(self, name: str) -> Crosstab:
        """Returns one question's shares from the same reports."""
        axis = self.axis(name)
        other = 1 - axis
        ones = [np.eye(size) if i == axis else np.ones((1, size)) for i, size in enumerate(self.shares.shape)]
        summed = np.asarray(np.kron(*ones), dtype=np.float64)
        together = self.together.sum(axis=other) // self.channels[other].d
        return linear_table(
            [self._axis(name)], (self.n, together, np.zeros(len(together), dtype=bool)), self.linear.sums(summed), self.interval
        )

    def covariance_of(self, *weights: FloatArray) -> FloatArray:
        """Returns the covariance as any table does; next to nothing for a known sum of cells."""
        return self.linear.covariance_of(np.array([w.ravel() for w in weights]))

    def variance_of(self, weights: FloatArray) -> float:
        """Returns the variance as any table does; next to nothing for a known sum of cells."""
        return max(super().variance_of(weights), NO_VARIANCE)


def crosstab(
    survey: Survey, tally: Tally, a: str, b: str, *, confidence: float = 0.95, target: str = "population", complete: bool = False
) -> Crosstab:
    """Estimates the joint shares of two questions from the tally of a survey's reports.

    Both answers were perturbed, and both are inverted. If one question is shown only after some answers to the other, impossible pairs
    are 0, which reduces the noise of the others (for the target population). For the target "respondents", if devices drew the questions, n
    counts the people who were asked both, and the draw is a part of the error.

    Args:
        survey: The survey as published.
        tally: The counted reports.
        a: The id of the question in the rows.
        b: The id of the question in the columns.
        confidence: The confidence of each cell's limits.
        target: "population" or "respondents".
        complete: Whether to assume that everybody answered what they were shown: more pairs are then impossible.

    Raises:
        EstimateError: An argument breaks its rule, or there are no reports.
    """
    interval = Interval(confidence, target=target)
    result, n, together = counts.pair_counts(survey, tally, a, b)
    axes, zeros = [Axis.of(question) for question in result], structural_zeros.impossible(survey, a, b, complete)
    if target == "population" and zeros.any() and zeros.size <= MAX_COVARIANCE:
        output = _without_impossible(axes, n, together, zeros, interval)
    else:
        output = _table(axes, n, together, replace(interval, everybody=tally.n))
    return replace(output, origin=Origin(counts.people_of(tally), survey.digest))


def joint(
    survey: Survey, bits: NDArray[np.bool_], questions: Sequence[str], *, confidence: float = 0.95, target: str = "population"
) -> Crosstab:
    """Estimates the joint shares of two or more questions from whole reports, since a tally has pairs only.

    The error grows by a factor of about 1 / (theta - phi) with each further question.

    Args:
        survey: The survey as published.
        bits: Unpacked reports, shape (n, record_bits), as `unpack` returns them.
        questions: The ids of the questions.
        confidence: The confidence of each cell's limits.
        target: "population" or "respondents".

    Raises:
        EstimateError: As `crosstab`.
    """
    interval = Interval(confidence, target=target)
    if len(set(questions)) != len(questions) or len(questions) < 2:
        raise EstimateError(f"questions must be two or more different ones, got {', '.join(map(repr, questions)) or 'none'}")
    result, parts = counts.bits_of(survey, bits, questions)
    cells = math.prod(question.k for question in result)
    if cells > MAX_CELLS:
        raise EstimateError(f"the table must have at most {MAX_CELLS:,} cells, got {cells:,}")
    axes = [Axis.of(question) for question in result]
    return _table(axes, len(parts[0]), counts.count_together(parts), replace(interval, everybody=len(bits)))


def _labels(name: str, options: str | Sequence[str]) -> list[str]:
    labels = [options] if isinstance(options, str) else list(options) if isinstance(options, Iterable) else []
    if not labels:
        raise EstimateError(f"the options of question {name} must be one or several, as text, got {options!r}")
    return labels


def in_words(chosen: Mapping[str, str | Sequence[str]]) -> str:
    """Returns a choice of options as a text."""
    return ", ".join(f"{name} = {target if isinstance(target, str) else ' or '.join(target)}" for name, target in chosen.items())


class Axis(NamedTuple):
    """A question of a table."""

    name: str
    options: tuple[str, ...]
    channel: Channel
    on_grid: bool
    optional: bool = False

    @classmethod
    def of(cls, question: Question) -> Axis:
        """Returns the axis of a question. Raises EstimateError for a number whose reports hold its mean only."""
        applicability.require_shares("cross table", question)
        return cls(question.id, question.categories, question.channel, applicability.on_grid(question), not question.required)


def _table(axes: Sequence[Axis], n: int, together: NDArray[np.int64], interval: Interval) -> Crosstab:
    channels, on_grid = [axis.channel for axis in axes], tuple(axis.name for axis in axes if axis.on_grid)
    interval = replace(interval, rounding=float(bool(on_grid)))
    shares = pseudo_answers.invert(together / n, channels)
    std_error = np.sqrt(pseudo_answers.variances(shares, channels, interval.sampling(n)) / n)
    low, high = normal.limits(shares, std_error, interval.confidence, 0.0, 1.0)
    if shares.size <= MAX_COVARIANCE:
        inside, outside = pseudo_answers.cell_moments(shares, channels)
        for cell in zip(*np.nonzero(np.minimum(together, n - together) < ENOUGH), strict=True):
            low[cell], high[cell] = equivalent.limits(float(shares[cell]), n, (inside, float(outside[cell])), interval)
    low, high = _wider(n, interval, low, high)
    names, options = tuple(axis.name for axis in axes), tuple(axis.options for axis in axes)
    optional = tuple(axis.name for axis in axes if axis.optional)
    return Crosstab(names, options, tuple(channels), n, shares, std_error, low, high, interval, on_grid, together, optional=optional)


def _wider(n: int, interval: Interval, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Returns limits for the respondents themselves, half a report wider on either side (a continuity correction).

    At a large epsilon hardly a coin lies, and the count of lies is a whole number.
    """
    half = 0.5 / n if interval.sampling(n) < 1 else 0.0
    return np.maximum(low - half, 0.0), np.minimum(high + half, 1.0)


def linear_table(
    axes: Sequence[Axis], counted: tuple[int, NDArray[np.int64], NDArray[np.bool_]], linear: Linear, interval: Interval
) -> LinearTable:
    """Returns a table of these shares. counted: the reports, their number with all bits of a cell set, and which cells are impossible."""
    (n, together, zeros), channels = counted, tuple(axis.channel for axis in axes)
    cells = linear.shares.reshape(together.shape)
    error = np.sqrt(np.maximum(linear.variances, NO_VARIANCE)).reshape(together.shape)
    low, high = normal.limits(cells, error * normal.stretch(interval), interval.confidence, 0.0, 1.0)
    inside, outside = pseudo_answers.cell_moments(cells, channels)
    few = np.minimum(together, n - together) < ENOUGH
    for cell in zip(*np.nonzero((few | math.isfinite(interval.df)) & ~zeros), strict=True):
        moments = inside, float(outside[cell])
        size = effective_sample_size.size(float(cells[cell]), float(error[cell] ** 2), linear.effective, moments, interval)
        low[cell], high[cell] = equivalent.limits(float(cells[cell]), int(size), moments, interval)
    for part in (error, low, high):
        part[zeros] = 0.0
    names, on_grid = tuple(axis.name for axis in axes), tuple(axis.name for axis in axes if axis.on_grid)
    options = tuple(axis.options for axis in axes)
    figures, optional = (n, cells, error, low, high, interval, on_grid, together), tuple(axis.name for axis in axes if axis.optional)
    return LinearTable(names, options, channels, *figures, linear, zeros, optional=optional)


def _without_impossible(
    axes: Sequence[Axis], n: int, together: NDArray[np.int64], zeros: NDArray[np.bool_], interval: Interval
) -> Crosstab:
    channels = [axis.channel for axis in axes]
    shares = pseudo_answers.invert(together / n, channels)
    matrices = (pseudo_answers.covariance(shares, channels, sampling) / n for sampling in (1.0, 0.0))
    plain = Linear(n, float(n), shares.ravel(), *matrices)
    changed = structural_zeros.removal(shares, channels, zeros)
    first = plain.sums(changed)
    matrices = (pseudo_answers.covariance(first.shares.reshape(shares.shape), channels, sampling) / n for sampling in (1.0, 0.0))
    return linear_table(axes, (n, together, zeros), Linear(n, float(n), shares.ravel(), *matrices).sums(changed), interval)
