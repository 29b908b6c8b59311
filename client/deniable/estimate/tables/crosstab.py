"""Joint shares of two or more questions, each perturbed by itself: cross tables.

The products of pseudo-answers are unbiased for a cell's share. docs/reference/joint.md has the formulas and what they measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.checks import few
from deniable.estimate.limits import normal
from deniable.estimate.limits.interval import Interval
from deniable.estimate.moments import applicability, counts, pseudo_answers
from deniable.estimate.present.table import Table
from deniable.estimate.present.tabular import Tabular
from deniable.mechanism import Channel
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable.wire.tally import Tally

_Floats = NDArray[np.float64]

MAX_CELLS = 1 << 20
MAX_COVARIANCE = 1 << 12  # cells; their covariance is that squared
_CHUNK = 1 << 22  # numbers held at once while reports are counted


@dataclass(frozen=True)
class Crosstab(Tabular):
    """The joint shares of two or more questions, one axis each.

    questions, options: ids and labels along the axes. n: reports. shares: unbiased and never clipped; they add to 1. std_error,
    low, high: of each cell, same shape; limits in [0, 1] (see `normal.limits`). target: as in `share`. on_grid: which of the
    questions are numbers whose answers were rounded at random to the levels that stand here as options (see `applicability`). together: the
    reports that have the bits of a cell all set, same shape.
    """

    questions: tuple[str, ...]
    options: tuple[tuple[str, ...], ...]
    channels: tuple[Channel, ...]
    n: int
    shares: _Floats
    std_error: _Floats
    low: _Floats
    high: _Floats
    confidence: float
    target: str
    on_grid: tuple[str, ...] = ()
    together: NDArray[np.int64] | None = None

    @property
    def interval(self) -> Interval:
        """Which limits the table was asked for."""
        return Interval(self.confidence, target=self.target)

    @cached_property
    def covariance(self) -> _Floats:
        """Of the cells' estimates, shape (cells, cells), cells in row-major order. Raises EstimateError for too many cells."""
        return self._covariance(self.target)

    @cached_property
    def _coins(self) -> _Floats:
        return self.covariance if self.target == "respondents" else self._covariance("respondents")

    def _covariance(self, target: str) -> _Floats:
        if self.shares.size > MAX_COVARIANCE:
            raise EstimateError(f"a covariance needs a table of at most {MAX_COVARIANCE:,} cells, got {self.shares.size:,}")
        return pseudo_answers.covariance(self.shares, self.channels, target) / self.n

    def covariance_of(self, *weights: _Floats) -> _Floats:
        """The covariance of sums of weights times shares, shape (m, m) for m arrays of weights; not below the coins alone."""
        rows = np.array([w.ravel() for w in weights])
        return pseudo_answers.at_least(rows @ self._coins @ rows.T, rows @ self.covariance @ rows.T)

    def variance_of(self, weights: _Floats) -> float:
        """The variance of the sum of weights times shares, never below what the coins alone give."""
        w = weights.ravel()
        return max(float(w @ matrix @ w) for matrix in (self.covariance, self._coins))

    def cells(self, chosen: Mapping[str, str | Sequence[str]]) -> _Floats:
        """1 in the cells where each named question has (one of) the chosen options, 0 elsewhere. Raises EstimateError."""
        inside = np.ones(self.shares.shape)
        for name, wanted in chosen.items():
            axis = self.axis(name)
            labels = [wanted] if isinstance(wanted, str) else list(wanted)
            if unknown := [label for label in labels if label not in self.options[axis]]:
                raise EstimateError(f"the option must be one of question {name} ({', '.join(self.options[axis][:8])}), got {unknown[0]!r}")
            along = np.array([label in labels for label in self.options[axis]], dtype=np.float64)
            inside *= along.reshape([-1 if i == axis else 1 for i in range(inside.ndim)])
        return inside

    def axis(self, name: str) -> int:
        """Which axis a question is. Raises EstimateError."""
        if name not in self.questions:
            raise EstimateError(f"the question must be one of the table's ({', '.join(self.questions)}), got {name!r}")
        return self.questions.index(name)

    def share(self, chosen: Mapping[str, str | Sequence[str]]) -> normal.Estimate:
        """The share of those who gave (one of) the chosen options to each named question: a cell, a margin, or a sum of cells."""
        weights = self.cells(chosen)
        value, variance = float((weights * self.shares).sum()), self.variance_of(weights)
        found = normal.limited(in_words(chosen), self.n, value, variance, self.interval, (0.0, 1.0))
        return replace(found, warning=self.too_few(weights))

    def too_few(self, *parts: _Floats) -> str:
        """What is to be said of an interval about these cells, weights as `cells` gives them: of the first with hardly any reports."""
        if self.together is None:
            return ""
        return next(filter(None, (few.bits(min(int(part.ravel() @ self.together.ravel()), self.n), self.n) for part in parts)), "")

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is to be said of each cell's interval (see `few`), cells in row-major order; empty for most."""
        set_ = [self.n // 2] * self.shares.size if self.together is None else self.together.ravel().tolist()
        return tuple(few.bits(count, self.n) for count in set_)

    def margin(self, name: str) -> Crosstab:
        """One question's shares from the same reports."""
        axis = self.axis(name)
        others = tuple(i for i in range(self.shares.ndim) if i != axis)
        shares = self.shares.sum(axis=others)
        found = _crosstab([name], [self.options[axis]], [self.channels[axis]], self.n, shares, self.interval)
        set_ = None if self.together is None else self.together.sum(axis=others) // math.prod(self.channels[i].d for i in others)
        return replace(found, on_grid=tuple(n for n in self.on_grid if n == name), together=set_)

    def tables(self) -> tuple[Table, ...]:
        """Percentages with their limits; the last question runs across. * marks a cell with too few reports."""
        marks = ["*" if warning else "" for warning in self.warnings]
        figures = zip(self.shares.ravel(), self.low.ravel(), self.high.ravel(), marks, strict=True)
        texts = [f"{100 * value:.1f} ({100 * low:.1f} – {100 * high:.1f}){mark}" for value, low, high, mark in figures]
        across = self.shares.shape[-1]
        names = [" · ".join(labels) for labels in product(*self.options[:-1])]
        rows = tuple((name, *texts[across * i : across * (i + 1)]) for i, name in enumerate(names))
        title = f"{' by '.join(self.questions)}: % of all {self.n:,} reports ({100 * self.confidence:g}% intervals) · target: {self.target}"
        return (Table(title, ("", *self.options[-1]), rows, (few.NOTE,) if any(marks) else ()),)

    def records(self) -> tuple[Table, ...]:
        """A row for each cell: a column for each question, then n, estimate, std_error, low, high, warning."""
        figures = (part.ravel().tolist() for part in (self.shares, self.std_error, self.low, self.high))
        cells = zip(product(*self.options), *figures, self.warnings, strict=True)
        rows = tuple((*labels, self.n, *values) for labels, *values in cells)
        return (Table("cell", (*self.questions, "n", "estimate", "std_error", "low", "high", "warning"), rows),)


def crosstab(survey: Survey, tally: Tally, a: str, b: str, *, confidence: float = 0.95, target: str = "population") -> Crosstab:
    """The joint shares of two questions from the tally of a survey's reports.

    a, b: question ids; a's options are the rows. Both answers were perturbed, and both are inverted.
    Raises EstimateError where an argument breaks its rule, where there are no reports, and for a target that the questions or the
    survey's design do not allow (see `applicability`).
    """
    interval = Interval(confidence, target=target)
    applicability.require_of("cross table", survey, (a, b), target)
    found, n, together = counts.pair_counts(survey, tally, a, b)
    return _from_counts(found, n, together, interval)


def joint(
    survey: Survey, bits: NDArray[np.bool_], questions: Sequence[str], *, confidence: float = 0.95, target: str = "population"
) -> Crosstab:
    """The joint shares of two or more questions from whole reports, since a tally has pairs only.

    bits: unpacked reports, shape (n, record_bits), as `unpack` gives them. questions: ids. The error grows by a factor of about
    1 / (theta - phi) with each further question. Raises EstimateError, as `crosstab` does.
    """
    interval = Interval(confidence, target=target)
    applicability.require_of("cross table", survey, questions, target)
    if len(set(questions)) != len(questions) or len(questions) < 2:
        raise EstimateError(f"questions must be two or more different ones, got {', '.join(map(repr, questions)) or 'none'}")
    found, parts = counts.bits_of(survey, bits, questions)
    cells = math.prod(question.k for question in found)
    if cells > MAX_CELLS:
        raise EstimateError(f"the table must have at most {MAX_CELLS:,} cells, got {cells:,}")
    return _from_counts(found, len(bits), _count_together(parts), interval)


def in_words(chosen: Mapping[str, str | Sequence[str]]) -> str:
    """A choice of options as a text."""
    return ", ".join(f"{name} = {wanted if isinstance(wanted, str) else ' or '.join(wanted)}" for name, wanted in chosen.items())


def _count_together(parts: Sequence[NDArray[np.bool_]]) -> NDArray[np.int64]:
    """How many reports have bit i of the first question, j of the second, .. all set."""
    shape = tuple(part.shape[1] for part in parts)
    rows = math.prod(shape[:-1])
    total = np.zeros((rows, shape[-1]), dtype=np.int64)
    step = max(1, _CHUNK // rows)
    for start in range(0, len(parts[0]), step):
        chunk = [part[start : start + step].astype(np.float32) for part in parts]
        product_of_bits = chunk[0]
        for part in chunk[1:-1]:
            product_of_bits = (product_of_bits[:, :, None] * part[:, None, :]).reshape(len(part), -1)
        total += (product_of_bits.T @ chunk[-1]).astype(np.int64)
    return total.reshape(shape)


def _from_counts(found: Sequence[Question], n: int, together: NDArray[np.int64], interval: Interval) -> Crosstab:
    channels = [question.channel for question in found]
    shares = pseudo_answers.invert(together / n, channels)
    table = _crosstab([q.id for q in found], [q.categories for q in found], channels, n, shares, interval)
    return replace(table, on_grid=tuple(q.id for q in found if applicability.on_grid(q)), together=together)


def _crosstab(
    names: Sequence[str],
    options: Sequence[tuple[str, ...]],
    channels: Sequence[Channel],
    n: int,
    shares: _Floats,
    interval: Interval,
) -> Crosstab:
    std_error = np.sqrt(pseudo_answers.variances(shares, channels, interval.target) / n)
    low, high = normal.limits(shares, std_error, interval.confidence, 0.0, 1.0)
    return Crosstab(tuple(names), tuple(options), tuple(channels), n, shares, std_error, low, high, interval.confidence, interval.target)
