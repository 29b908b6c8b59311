"""Weighted shares and means, from whole reports and a weight for each.

The errors are linearised (a ratio of two sums; C.-E. Sarndal, B. Swensson and J. Wretman, "Model Assisted Survey Sampling" (1992),
section 5.7), with people taken as drawn independently. A weight must not depend on the answers or on the coins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.checks import few
from deniable.estimate.limits import effective_sample_size, normal
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.normal import Estimate
from deniable.estimate.moments import applicability, counts, pseudo_answers
from deniable.estimate.present.figures import percent, percents
from deniable.estimate.present.table import Table, footnote_lines, footnotes
from deniable.estimate.present.tabular import Tabular
from deniable.estimate.tables import respondents
from deniable.estimate.tables.means import checked_scores
from deniable.mechanism import Window
from deniable.survey import Survey
from deniable.survey.question import Question

_SKEWED = 0.2  # skewness of a mean's error from which on limits of a normal error may miss too often


@dataclass(frozen=True)
class Weighted(Tabular):
    """One question's weighted shares.

    Attributes:
        options, shares: One estimate for each option.
        effective_n: The number of unweighted reports with the same information about a share, were weights and answers unrelated (L. Kish,
            "Survey Sampling" (1965), section 11.7): (sum w)^2 / sum w^2.
    """

    question: str
    options: tuple[str, ...]
    shares: tuple[Estimate, ...]
    effective_n: float

    def tables(self) -> tuple[Table, ...]:
        """Returns one row an option."""
        first = self.shares[0]
        title = f"{self.question}, weighted: {first.n:,} reports, worth {self.effective_n:,.0f} without weights"
        about = f"{100 * first.confidence:g}% intervals · target: {first.target}"
        marks = footnotes([one.warning for one in self.shares])
        rows = tuple(
            (option, percent(one.estimate), percent(one.std_error), percents(one.low, one.high), marks.get(one.warning, ""))
            for option, one in zip(self.options, self.shares, strict=True)
        )
        return (Table(title, ("option", "estimate", "std error", "interval", ""), rows, footnote_lines(marks), about=(about,)),)

    def records(self) -> tuple[Table, ...]:
        """Returns one row an option: question, option, n, effective_n, estimate, std_error, low, high, confidence, target, warning."""
        header = ("question", "option", "n", "effective_n", "estimate", "std_error", "low", "high", "confidence", "target", "warning")
        rows = tuple(
            (self.question, option, one.n, self.effective_n, *(getattr(one, name) for name in header[4:]))
            for option, one in zip(self.options, self.shares, strict=True)
        )
        return (Table("share", header, rows),)


def effective_size(weights: NDArray[np.floating] | Sequence[float]) -> float:
    """Returns Kish's effective sample size.

    Raises:
        EstimateError: A weight is not a finite number, or is below 0, or all are 0.
    """
    w = _checked_weights(weights)
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
    """Estimates the weighted share of every option of a question.

    Args:
        survey: The survey as published.
        bits: Unpacked reports, shape (n, record_bits).
        weights: One a report, not below 0; only their ratios matter, and a report of weight 0 does not count in n.
        question: The id of the question.
        confidence: The confidence of the limits.
        target: "population", or "respondents": only the coins are random, and the draw of the questions, if there is one.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    interval = Interval(confidence, target=target)
    result = _Weighed.of(survey, bits, weights, question)
    applicability.require_shares("weighted share", result.question)
    item, interval = result.question, respondents.about(interval, result.everybody, [result.question])
    shares = tuple(result.share(f"{item.id} = {option}", place, interval) for place, option in enumerate(item.categories))
    return Weighted(item.id, item.categories, shares, effective_size(result.weights))


def weighted_mean(
    survey: Survey,
    bits: NDArray[np.bool_],
    weights: NDArray[np.floating] | Sequence[float],
    question: str,
    scores: Sequence[float] | FloatArray,
    *,
    confidence: float = 0.95,
    target: str = "population",
) -> Estimate:
    """Estimates the weighted mean of a question's scores, one number for each category. Otherwise as `weighted_shares`."""
    interval = Interval(confidence, target=target)
    result = _Weighed.of(survey, bits, weights, question)
    item = result.question
    values, counted = checked_scores(scores, item)
    if not counted.all():
        raise EstimateError(f"scores must be {item.k} finite numbers for question {item.id}, one a category, got {scores!r}")
    interval = respondents.about_mean(interval, result.everybody, item, values, result.typical)
    one = result.mean(f"mean of {item.id}", values, interval, (float(values.min()), float(values.max())))
    return replace(one, warning=result.few_scores(values, one.estimate))


@dataclass(frozen=True)
class _Weighed:
    """The reports to one question whose weight is above 0, and how many answered the survey with such a weight."""

    question: Question
    bits: NDArray[np.bool_]
    weights: FloatArray
    everybody: int

    @classmethod
    def of(cls, survey: Survey, bits: NDArray[np.bool_], weights: NDArray[np.floating] | Sequence[float], name: str) -> _Weighed:
        counts.place_of(survey, name)
        w = _checked_weights(weights, len(bits))
        counted = w > 0
        bits, w = bits[counted], w[counted]
        (question,), (set_,) = counts.bits_of(survey, bits, [name])
        return cls(question, set_, w[counts.was_asked(survey, bits, [name])], len(bits))

    @property
    def typical(self) -> FloatArray:
        """The shares among the reports by the squares of their weights: the part of each in the error."""
        squared = self.weights**2
        return pseudo_answers.invert(squared @ self.bits / squared.sum(), [self.question.channel])

    def worth(self, bits: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Returns the effective sample size (Kish) of the reports with each bit set, rounded down."""
        squares = self.weights**2 @ bits
        return np.asarray((self.weights @ bits) ** 2 / np.where(squares > 0, squares, 1.0), dtype=np.int64)

    def few(self, place: int) -> str:
        """Returns the warning if hardly any weight is on reports that name an option, or on reports that do not."""
        set_, unset = (int(self.worth(part[:, None])[0]) for part in (self.bits[:, place], ~self.bits[:, place]))
        text = few.bits(set_, set_ + unset)
        return f"by their weights, {text}" if text else ""

    def few_scores(self, scores: FloatArray, mean: float) -> str:
        """Returns the warning of a mean; also if the largest weights, of reports off the most frequent option, decide which way it errs."""
        text = few.scores(self.worth(self.bits), np.ones(self.question.k, dtype=bool), self.question.channel)
        if text:
            return f"by their weights, {text}"
        errors = self.weights * (self.bits @ pseudo_answers.score_of_bits(scores, self.question.channel) - mean)
        skewness, others = (errors**3).sum() / (errors**2).sum() ** 1.5, self._others
        decided = abs(skewness) > _SKEWED and (others**2).sum() ** 3 < few.FEW * (others**3).sum() ** 2
        return few.of_weights() if decided else ""

    @property
    def _others(self) -> FloatArray:
        """The weights of the reports outside the option, or the window of a number, that weighs most."""
        channel = self.question.channel
        width, apart = (channel.width, channel.apart) if isinstance(channel, Window) else (1, False)
        sums = np.convolve((self.weights @ self.bits)[: self.bits.shape[1] - apart], np.ones(width), "valid")
        most = int(sums.argmax())
        return np.asarray(self.weights[~self.bits[:, most : most + width].any(axis=1)])

    def share(self, what: str, place: int, interval: Interval) -> Estimate:
        """Returns an option's share. For a population its limits use the effective number of equally weighted reports."""
        one = self.mean(what, np.eye(self.question.k)[place], interval, (0.0, 1.0))
        if not isinstance(one, normal.ClusterEstimate):
            return replace(one, warning=self.few(place))
        channel, weighted = self.question.channel, interval.for_weights(self.weights)
        q = float(channel.phi), float(channel.theta)
        _, low, high = effective_sample_size.limits(one.estimate, one.std_error**2, effective_size(self.weights), q, weighted)
        return replace(one, low=low, high=high)

    def mean(self, what: str, scores: FloatArray, interval: Interval, bounds: tuple[float, float]) -> Estimate:
        channel, w = self.question.channel, self.weights
        answers = self.bits @ pseudo_answers.score_of_bits(scores, channel)
        value = float(w @ answers / w.sum())
        squared = w**2 / w.sum() ** 2
        coins = float(squared.sum()) * pseudo_answers.variance_of(scores, self.typical, [channel], 0.0)
        sampling = interval.sampling(len(w))
        interval = interval.for_weights(w) if sampling == 1 else interval
        variance = (1 - sampling) * coins + sampling * max(coins, float(squared @ (answers - value) ** 2))
        return normal.limited(what, len(w), value, variance, interval, bounds)


def _checked_weights(weights: NDArray[np.floating] | Sequence[float], n: int | None = None) -> FloatArray:
    """Returns the weights, the largest 1: only their ratios matter, and the squares of very large ones would be infinite."""
    try:
        result = np.asarray(weights)
    except ValueError:
        result = np.empty(0, dtype=object)
    if result.dtype.kind not in "biuf":
        raise EstimateError("weights must be numbers, one a report, in one list; these are not")
    w = result.astype(np.float64)
    if w.ndim != 1 or (n is not None and len(w) != n):
        raise EstimateError(f"weights must be one number a report{'' if n is None else f', {n:,} in all'}, got the shape {w.shape}")
    if not np.isfinite(w).all() or (w < 0).any() or not (w > 0).any():
        raise EstimateError("weights must be finite, none below 0 and at least one above")
    return np.asarray(w / w.max())
