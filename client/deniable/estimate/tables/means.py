"""Means and quantiles of one question whose categories have scores, or an order."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, fields, replace
from numbers import Real

import numpy as np
import scipy
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.checks import few
from deniable.estimate.limits import normal
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.normal import Estimate
from deniable.estimate.limits.origin import Origin
from deniable.estimate.moments import applicability, counts, pseudo_answers
from deniable.estimate.moments.shrinkage import adjusted
from deniable.estimate.present.figures import four_digits
from deniable.estimate.present.table import Table
from deniable.estimate.present.tabular import Tabular
from deniable.estimate.present.text import one_line
from deniable.estimate.tables import interpolated, respondents
from deniable.mechanism import Channel, Window
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable.wire.tally import Tally

_LARGEST = 1e100  # of a score: squares of it are numbers still
_EVEN = "as if people were spread evenly in each bin"


@dataclass(frozen=True)
class Quantile(Tabular):
    """Quantile of an ordered question: the first option at or below which a share q of the people are. It prints as a sentence.

    Attributes:
        option: The option, by the adjusted shares.
        low, high: The confidence limits, options too.
        confidence: The least confidence of both limits together.
        value, value_low, value_high: The same as numbers, for a number with named bins, under the assumption that the people in a bin are
            spread evenly over it; None for other questions, and if all but few reports name one bin, since limits would be too near.
    """

    question: str
    q: float
    n: int
    option: str
    low: str
    high: str
    confidence: float
    target: str
    value: float | None = None
    value_low: float | None = None
    value_high: float | None = None

    @property
    def _what(self) -> str:
        return f"{'median' if self.q == 0.5 else f'{self.q:g}-quantile'} of {self.question}"

    @property
    def _numbers(self) -> tuple[str, str, str] | None:
        if self.value is None or self.value_low is None or self.value_high is None:
            return None
        return four_digits(self.value), four_digits(self.value_low), four_digits(self.value_high)

    def tables(self) -> tuple[Table, ...]:
        """Returns one row for the option, and one for the number, if there is one."""
        result = [(self.option, self.low, self.high), *([self._numbers] if self._numbers else [])]
        rows = tuple((self._what, f"{self.n:,}", value, f"{low} – {high}") for value, low, high in result)
        about = f"{100 * self.confidence:g}% interval · target: {self.target}"
        notes = (f"The number is {_EVEN}.",) if self._numbers else ()
        return (Table("", ("figure", "reports", "quantile", "interval"), rows, notes, (about,)),)

    def records(self) -> tuple[Table, ...]:
        """Returns one row named `quantile`, with the fields above."""
        return (Table("quantile", tuple(field.name for field in fields(self)), (astuple(self),)),)

    def __str__(self) -> str:
        text = f"{self._what}: {self.option}, {100 * self.confidence:g}% {self.low} – {self.high}"
        number = "; {}: {}, {} to {}".format(_EVEN, *self._numbers) if self._numbers else ""
        return one_line(text + number)


def mean(
    survey: Survey,
    tally: Tally,
    question: str,
    scores: Sequence[float | None] | FloatArray,
    *,
    confidence: float = 0.95,
    target: str = "population",
) -> Estimate:
    """Estimates the mean of a question's scores, one number for each category in order.

    None (or nan) as a score leaves a category out ("no answer"): the mean is then among the others, a ratio with Fieller's limits, which
    may be the whole range if their share is not clearly above 0. Limits lie between the least and the largest score. The scores of a
    number's levels must be evenly spaced: answers between them were rounded at random, which keeps no other mean right.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    interval = Interval(confidence, target=target)
    item, n, ones = counts.counts(survey, tally, question)
    values, counted = checked_scores(scores, item)
    shares, channel = pseudo_answers.invert(ones / n, [item.channel]), item.channel
    interval = respondents.about_mean(interval, tally.n, item, np.where(counted, values, np.nan), shares)
    interval = interval.for_reports(n) if interval.sampling(n) == 1 else interval
    bounds = float(values[counted].min()), float(values[counted].max())
    what, warning = f"mean of {item.id}", few.scores(ones, counted, item.channel)
    origin = Origin(counts.people_of(tally), survey.digest, question=item.id)
    if counted.all():
        variance = float(_covariance(values[None, :], shares, ones, n, channel, interval)[0, 0]) / n
        result = normal.limited(what, n, float(values @ shares), variance, interval, bounds)
        low, high = _wider(result, interval, bounds)
        return replace(result, low=low, high=high, warning=warning, origin=origin)
    middle, weights = about_middle(values, counted)
    parts = float(weights[0] @ shares), float(weights[1] @ shares)
    covariance = _covariance(weights, shares, ones, n, channel, interval) / n
    result = ratio_about(middle, what, n, parts, covariance, interval, bounds)
    return replace(result, warning=result.warning or warning, origin=origin)


def about_middle(values: FloatArray, counted: NDArray[np.bool_]) -> tuple[float, FloatArray]:
    """Returns the middle of the counted scores, and the two weights of the ratio that is their mean less the middle.

    Scores far from 0 would lose their digits in the ratio's squares.
    """
    middle = float(values[counted].min() + values[counted].max()) / 2
    return middle, np.stack([np.where(counted, values - middle, 0.0), counted.astype(np.float64)])


def ratio_about(
    middle: float, what: str, n: int, parts: tuple[float, float], covariance: FloatArray, interval: Interval, bounds: tuple[float, float]
) -> Estimate:
    """Returns `normal.ratio` of scores less the middle by `about_middle`, with the middle added again; bounds: of the whole."""
    result = normal.ratio(what, n, parts, covariance, interval, (bounds[0] - middle, bounds[1] - middle))
    low, high = max(result.low + middle, bounds[0]), min(result.high + middle, bounds[1])  # not beyond them by a rounding
    return replace(result, estimate=result.estimate + middle, low=low, high=high)


def _wider(figures: Estimate, interval: Interval, bounds: tuple[float, float]) -> tuple[float, float]:
    """Returns limits for the respondents themselves, half a report wider on either side, as for a table's cells."""
    half = (bounds[1] - bounds[0]) / 2 / figures.n if interval.sampling(figures.n) < 1 else 0.0
    return max(figures.low - half, bounds[0]), min(figures.high + half, bounds[1])


def _covariance(
    weights: FloatArray, shares: FloatArray, ones: NDArray[np.int64], n: int, channel: Channel, interval: Interval
) -> FloatArray:
    """Returns the covariance of one report's sums of weights times pseudo-answers."""
    if isinstance(channel, Window) and interval.sampling(n) == 1:
        return pseudo_answers.reported_covariance(weights, channel, ones, n)
    return pseudo_answers.covariance_of(weights, shares, [channel], interval.sampling(n))


def quantile(
    survey: Survey,
    tally: Tally,
    question: str,
    q: float = 0.5,
    *,
    leave_out: Sequence[str] = (),
    confidence: float = 0.95,
    target: str = "population",
) -> Quantile:
    """Estimates the q-quantile of a question with ordered options, by default the median.

    Limits invert the one-sided limits of each cumulative share at (1 - confidence) / 2 (R. Woodruff, J. Am. Stat. Assoc. 47 (1952)).

    Args:
        survey: The survey as published.
        tally: The counted reports.
        question: The id of the question.
        q: Above 0 and below 1.
        leave_out: Options without a place in the order ("no answer").
        confidence: The confidence of both limits together.
        target: "population" or "respondents".

    Raises:
        EstimateError: An argument breaks its rule, or the question is a number on a grid.
    """
    interval = Interval(confidence, target=target)
    item, n, ones = counts.counts(survey, tally, question)
    order = order_for(survey, question, q, leave_out)
    sampling = respondents.about(interval, tally.n, [item]).sampling(n)
    fitted = adjusted(ones, n, float(item.channel.phi), float(item.channel.theta))
    shares = pseudo_answers.invert(ones / n, [item.channel])

    def variances(weights: FloatArray) -> list[float]:
        return [pseudo_answers.variance_of(row, shares, [item.channel], sampling) / n for row in weights]

    exact = _exact_limits(item, n, ones, (q, order), interval)
    return without_weak_value(quantile_of(item, n, (fitted, shares, variances), (q, order), interval, exact), item, order, ones)


def without_weak_value(figures: Quantile, item: Question, order: NDArray[np.intp], ones: NDArray[np.int64]) -> Quantile:
    """Returns the quantile, without its number if too few reports name another bin than the most frequent one."""
    if figures.value is None or not few.scores(ones, np.isin(np.arange(item.k), order), item.channel):
        return figures
    return replace(figures, value=None, value_low=None, value_high=None)


def order_for(survey: Survey, question: str, q: float, leave_out: Sequence[str]) -> NDArray[np.intp]:
    """Returns the indices of the options that a quantile orders. Raises EstimateError as `quantile` does."""
    applicability.require_of("quantile", survey, (question,))
    if not isinstance(q, Real) or isinstance(q, bool) or not 0 < q < 1:
        raise EstimateError(f"q must be above 0 and below 1, got {q!r}")
    item, _ = counts.find(survey, question)
    if isinstance(leave_out, str) or not isinstance(leave_out, Iterable):
        raise EstimateError(f"leave_out must be a list of options of question {item.id}, got {leave_out!r}")
    order = np.delete(np.arange(item.k), [counts.option_index(item, option) for option in leave_out])
    if not order.size:
        raise EstimateError(f"leave_out must leave at least one option of question {item.id}")
    return order


def quantile_of(
    item: Question,
    n: int,
    figures: tuple[FloatArray, FloatArray, Callable[[FloatArray], Sequence[float] | FloatArray]],
    which: tuple[float, NDArray[np.intp]],
    interval: Interval,
    exact: tuple[int, int] | None = None,
) -> Quantile:
    """Returns a quantile from shares.

    figures: adjusted shares, shares, and a function to the variances of weighted sums of these, for weights of shape (m, k). which: q, and
    the order. exact: indices in the order that the limits enclose at least (`_exact_limits`).
    """
    (fitted, shares, variances), (q, order) = figures, which
    reached = np.cumsum(fitted[order]) >= q * fitted[order].sum() * (1 - 1e-12)
    low, high = _limits(shares, variances, order, q, interval)
    if exact is not None:
        low, high = min(low, exact[0]), max(high, exact[1])
    option, first, last = (item.categories[order[place]] for place in (int(reached.argmax()), low, high))
    by_option = Quantile(item.id, q, n, option, first, last, interval.confidence, interval.target)
    edges = interpolated.edges_of(item, order.tolist())
    if edges is None:
        return by_option

    def sums(weights: FloatArray) -> tuple[float, float]:
        return float(weights @ shares), interval.quantile * math.sqrt(max(0.0, float(variances(weights[None, :])[0])))

    value_low, value_high = interpolated.limits(sums, order, item.k, edges, q)
    if exact is not None:
        value_low, value_high = min(value_low, edges[low][1]), max(value_high, edges[high][0])
    return replace(by_option, value=interpolated.point(fitted[order], edges, q), value_low=value_low, value_high=value_high)


def _limits(
    shares: FloatArray,
    variances: Callable[[FloatArray], Sequence[float] | FloatArray],
    order: NDArray[np.intp],
    q: float,
    interval: Interval,
) -> tuple[int, int]:
    """Returns the indices of the limits in the order, by tests of (share up to here) - q (share of all in the order) against 0.

    The low limit is the first index where it may be 0 or more, the high one follows the last index where it may be below 0.
    """
    below = np.zeros((len(order) - 1, len(shares)))
    for place in range(len(order) - 1):
        below[place, order] = -q
        below[place, order[: place + 1]] += 1
    if not len(below):
        return 0, 0
    reach = interval.quantile * np.sqrt(variances(below))
    value = below @ shares
    may_reach, may_miss = np.flatnonzero(value + reach >= 0), np.flatnonzero(value - reach < 0)
    low = int(may_reach[0]) if may_reach.size else len(order) - 1
    return low, max(low, int(may_miss[-1]) + 1 if may_miss.size else 0)


def _exact_limits(
    item: Question, n: int, ones: NDArray[np.int64], which: tuple[float, NDArray[np.intp]], interval: Interval
) -> tuple[int, int] | None:
    """Returns the indices of the limits by exact binomial tests of each cumulative share; None if its reports are no binomial count.

    They are one where a report names a single option, all options are in the order and people are a sample of a population. Few reports
    that are alike have too small an error by the normal distribution: of 3 people in 3 options, 87% of limits held the truth.
    """
    q, order = which
    channel = item.channel
    if channel.d != 1 or len(order) != item.k or interval.target != "population" or isinstance(channel, Window):
        return None
    phi, theta = float(channel.phi), float(channel.theta)
    count, among = np.cumsum(ones[order])[:-1], np.arange(1, item.k)
    rate = q * (theta + (among - 1) * phi) + (1 - q) * among * phi  # where the share up to here is q
    tail = interval.alpha / 2
    may_reach = np.flatnonzero(scipy.special.bdtr(count, n, rate) >= tail)
    may_miss = np.flatnonzero(np.where(count > 0, scipy.special.bdtrc(count - 1, n, rate), 1.0) >= tail)
    low = int(may_reach[0]) if may_reach.size else item.k - 1
    return low, int(may_miss[-1]) + 1 if may_miss.size else 0


def checked_scores(scores: Sequence[float | None] | FloatArray, question: Question) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Returns the scores with 0 for categories that are left out, and whether each counts. Raises EstimateError."""
    k, name = question.k, question.id
    try:
        values = np.array([math.nan if score is None else float(score) for score in scores])
    except (TypeError, ValueError, OverflowError):
        raise EstimateError(f"scores must be numbers, or None for a category that does not count, got {reprlib.repr(scores)}") from None
    counted = ~np.isnan(values)
    if len(values) != k or not counted.any() or np.isinf(values).any():
        raise EstimateError(f"scores must be {k} finite numbers for question {name}, one a category, at least one not None, got {scores!r}")
    if np.abs(values[counted]).max() > _LARGEST or (counted.all() and np.ptp(values) < 1 / _LARGEST):
        raise EstimateError(f"scores must be from -{_LARGEST:g} to {_LARGEST:g} and not all alike, got {scores!r} for question {name}")
    applicability.require_linear(question, np.where(counted, values, np.nan))
    return np.where(counted, values, 0.0), counted
