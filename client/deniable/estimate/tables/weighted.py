"""Weighted shares and means, from whole reports and a weight for each.

The errors are linearised (a ratio of two sums; C.-E. Sarndal, B. Swensson and J. Wretman, "Model Assisted Survey Sampling" (1992),
section 5.7), with people taken as drawn independently. A weight must not depend on the answers or on the coins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.limits import normal
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.normal import Estimate
from deniable.estimate.moments import applicability, counts, pseudo_answers
from deniable.estimate.present.figures import percent, percents
from deniable.estimate.present.table import Table
from deniable.estimate.present.tabular import Tabular
from deniable.mechanism import Channel
from deniable.survey import Survey

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Weighted(Tabular):
    """One question's weighted shares.

    options, shares: one estimate for each option. effective_n: how many unweighted reports would say as much about a share if
    weights and answers were unrelated (L. Kish, "Survey Sampling" (1965), section 11.7): (sum w)^2 / sum w^2.
    """

    question: str
    options: tuple[str, ...]
    shares: tuple[Estimate, ...]
    effective_n: float

    def tables(self) -> tuple[Table, ...]:
        """A row an option."""
        first = self.shares[0]
        title = f"{self.question}, weighted: {first.n:,} reports, worth {self.effective_n:,.0f} without weights"
        about = f"{100 * first.confidence:g}% intervals · target: {first.target}"
        rows = tuple(
            (option, percent(one.estimate), percent(one.std_error), percents(one.low, one.high))
            for option, one in zip(self.options, self.shares, strict=True)
        )
        return (Table(title, ("option", "estimate", "std error", "interval"), rows, about=(about,)),)

    def records(self) -> tuple[Table, ...]:
        """A row an option: question, option, n, effective_n, estimate, std_error, low, high, confidence, target."""
        header = ("question", "option", "n", "effective_n", "estimate", "std_error", "low", "high", "confidence", "target")
        rows = tuple(
            (self.question, option, one.n, self.effective_n, one.estimate, one.std_error, one.low, one.high, one.confidence, one.target)
            for option, one in zip(self.options, self.shares, strict=True)
        )
        return (Table("share", header, rows),)


def effective_size(weights: NDArray[np.floating] | Sequence[float]) -> float:
    """Kish's effective sample size. Raises EstimateError unless the weights are finite, none below 0, one above."""
    w = _checked(weights)
    return float(w.sum() ** 2 / (w**2).sum())


def weighted_shares(
    survey: Survey,
    bits: NDArray[np.bool_],
    weights: NDArray[np.floating] | Sequence[float],
    question: str,
    *,
    confidence: float = 0.95,
    target: str = "population",
) -> Weighted:
    """The weighted share of every option of a question.

    bits: unpacked reports, shape (n, record_bits). weights: one a report, not below 0; only their ratios matter.
    target "respondents": only the coins are random. Raises EstimateError.
    """
    interval = Interval(confidence, target=target)
    applicability.require_of("share", survey, (question,), target)
    (asked,), (set_,) = counts.bits_of(survey, bits, [question])
    w = _checked(weights, len(bits))[counts.asked(survey, bits, [question])]
    scores = np.eye(asked.k)
    shares = tuple(
        _weighted(f"{asked.id} = {option}", set_, asked.channel, w, row, interval, (0.0, 1.0))
        for option, row in zip(asked.categories, scores, strict=True)
    )
    return Weighted(asked.id, asked.categories, shares, effective_size(w))


def weighted_mean(
    survey: Survey,
    bits: NDArray[np.bool_],
    weights: NDArray[np.floating] | Sequence[float],
    question: str,
    scores: Sequence[float] | NDArray[np.float64],
    *,
    confidence: float = 0.95,
    target: str = "population",
) -> Estimate:
    """The weighted mean of a question's scores, one number for each category. Otherwise as `weighted_shares`."""
    interval = Interval(confidence, target=target)
    applicability.require_of("mean", survey, (question,), target)
    (asked,), (set_,) = counts.bits_of(survey, bits, [question])
    w = _checked(weights, len(bits))[counts.asked(survey, bits, [question])]
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != (asked.k,) or not np.isfinite(values).all():
        raise EstimateError(f"scores must be {asked.k} finite numbers for question {asked.id}, one a category, got {scores!r}")
    applicability.require_linear(asked, values)
    bounds = float(values.min()), float(values.max())
    return _weighted(f"mean of {asked.id}", set_, asked.channel, w, values, interval, bounds)


def _weighted(
    what: str,
    set_: NDArray[np.bool_],
    channel: Channel,
    w: _Floats,
    scores: _Floats,
    interval: Interval,
    bounds: tuple[float, float],
) -> Estimate:
    # the score of a report is linear in its bits: sum of scores (b - phi) / (theta - phi)
    answers = (set_ @ scores - float(channel.phi) * scores.sum()) / float(channel.theta - channel.phi)
    value = float(w @ answers / w.sum())
    squared = w**2 / w.sum() ** 2
    typical = pseudo_answers.invert(squared @ set_ / squared.sum(), [channel])
    variance = float(squared.sum()) * pseudo_answers.variance_of(scores, typical, [channel], "respondents")
    if interval.target == "population":
        variance = max(variance, float(squared @ (answers - value) ** 2))
    return normal.limited(what, len(w), value, variance, interval, bounds)


def _checked(weights: NDArray[np.floating] | Sequence[float], n: int | None = None) -> _Floats:
    w = np.asarray(weights, dtype=np.float64)
    if w.ndim != 1 or (n is not None and len(w) != n):
        raise EstimateError(f"weights must be one number a report{'' if n is None else f', {n:,} in all'}, got the shape {w.shape}")
    if not np.isfinite(w).all() or (w < 0).any() or not (w > 0).any():
        raise EstimateError("weights must be finite, none below 0 and at least one above")
    return w
