"""Differences: between two options of one question, and between two groups of people or two waves."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Protocol

import numpy as np

from deniable.errors import EstimateError
from deniable.estimate.checks import few
from deniable.estimate.limits import mover, normal
from deniable.estimate.limits.closed_form import normal_quantile
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.multiple_testing import ADJUSTED, adjusted
from deniable.estimate.limits.normal import Estimate, HypothesisTest
from deniable.estimate.limits.origin import Origin, require_independent, together
from deniable.estimate.limits.proportion import Share, proportion
from deniable.estimate.moments import applicability, counts, pseudo_answers
from deniable.estimate.present.figures import points
from deniable.estimate.present.table import Table, footnote_lines, footnotes
from deniable.estimate.present.tabular import Tabular
from deniable.estimate.tables import respondents
from deniable.estimate.tables.homogeneity import GroupCounts, same_shares
from deniable.mechanism import Channel
from deniable.survey import Survey
from deniable.wire.tally import Tally

LARGEST = 1e15
"""Of a weight or a time, milliseconds since 1970 included: squares of such are numbers still."""


class Estimated(Protocol):
    """A `Share`, an `Estimate`, or a `Row` with reports."""

    @property
    def n(self) -> int:
        """The number of reports."""

    @property
    def estimate(self) -> float | None:
        """The estimate, or None."""

    @property
    def std_error(self) -> float | None:
        """Its standard error, or None."""

    @property
    def low(self) -> float | None:
        """The lower limit, or None."""

    @property
    def high(self) -> float | None:
        """The upper limit, or None."""

    @property
    def confidence(self) -> float:
        """The confidence of the limits."""

    @property
    def target(self) -> str:
        """The people that the limits are about: the population or the respondents."""


@dataclass(frozen=True)
class Difference(Estimate):
    """An estimate whose limits come from the limits of its two sides (see `limits.mover`).

    Attributes:
        middle: The center of the limits: the estimate, unless a side's estimate was outside its own limits.
        level: The confidence of the limits by themselves, if they hold together with others at `confidence`.
    """

    middle: float = 0.0
    level: float | None = field(default=None, compare=False, repr=False, kw_only=True)

    def test(self, value: float = 0.0) -> HypothesisTest:
        """Tests whether the truth is `value`, from both sides, by its distance in standard errors on that side of the limits.

        So the p-value is below 1 - confidence exactly if `value` is outside the limits; if the limits hold together with others, below
        1 - level.
        """
        reach = self.middle - self.low if value < self.middle else self.high - self.middle
        off = normal_quantile(1 - (self.level or self.confidence)) * abs(self.middle - value)
        statistic = (off / reach) ** 2 if reach else math.inf if off else 0.0
        return replace(normal.chi_squared(f"{self.what} is {value:g}", statistic, 1), warning=self.warning)


@dataclass(frozen=True)
class Comparison(Tabular):
    """Two groups' shares of every option of a question.

    Attributes:
        options: The options.
        differences: The second group less the first, option by option.
        test: The test of whether the groups have the same shares.
    """

    question: str
    options: tuple[str, ...]
    differences: tuple[Estimate, ...]
    test: HypothesisTest

    def tables(self) -> tuple[Table, ...]:
        """Returns one row an option, with the test below."""
        marks = footnotes([one.warning for one in self.differences])
        rows = tuple(
            (option, points(one.estimate), points(one.std_error), f"{points(one.low)} – {points(one.high)}", marks.get(one.warning, ""))
            for option, one in zip(self.options, self.differences, strict=True)
        )
        first = self.differences[0]
        title = f"{self.question}: the second group less the first, in percentage points ({100 * first.confidence:g}% intervals)"
        return (Table(title, ("option", "difference", "std error", "interval", ""), rows, (*footnote_lines(marks), str(self.test))),)

    def records(self) -> tuple[Table, ...]:
        """Returns one row an option: question, option, estimate, std_error, low, high, p-values of 0, warning."""
        header = ("question", "option", "estimate", "std_error", "low", "high", *ADJUSTED, "warning")
        tests = adjusted([one.test().p_value for one in self.differences], [0, 0] if len(self.options) == 2 else None)
        rows = tuple(
            (self.question, option, one.estimate, one.std_error, one.low, one.high, *tested, one.warning)
            for option, one, tested in zip(self.options, self.differences, tests, strict=True)
        )
        return (Table("difference", header, rows),)


def between_options(
    survey: Survey, tally: Tally, question: str, one: str, other: str, *, confidence: float = 0.95, target: str = "population"
) -> Estimate:
    """Returns the share of option `one` less the share of option `other`; both are of the same people, and the error allows for it.

    Raises:
        EstimateError: The question or an option is unknown, or the two are the same.
    """
    interval = Interval(confidence, target=target)
    item, n, ones = counts.counts(survey, tally, question)
    applicability.require_shares("difference of two options", item)
    i, j = counts.option_index(item, one), counts.option_index(item, other)
    if i == j:
        raise EstimateError(f"the two options must differ, got {one!r} twice")
    weights = np.zeros(item.k)
    weights[i], weights[j] = 1.0, -1.0
    shares = pseudo_answers.invert(ones / n, [item.channel])
    sampling = respondents.about(interval, tally.n, [item]).sampling(n)
    variance = pseudo_answers.variance_of(weights, shares, [item.channel], sampling) / n
    result = normal.limited(f"{item.id}: {one} less {other}", n, float(weights @ shares), variance, interval, (-1.0, 1.0))
    return replace(result, warning=few.bits(int(min(ones[i], ones[j])), n), origin=Origin(counts.people_of(tally), survey.digest))


def difference(one: Estimated, other: Estimated, *, what: str = "the difference") -> Difference:
    """Returns `one` less `other`, estimates from disjoint people: two groups, two waves with other people, two surveys.

    The limits come from the limits of the two estimates, and have their confidence (see `limits.mover`).

    Raises:
        EstimateError: An estimate is missing, targets or confidences differ, or the two figures share people or clusters.
    """
    return contrast([one, other], [1.0, -1.0], what=what)


def difference_in_differences(
    first: tuple[Estimated, Estimated], second: tuple[Estimated, Estimated], *, what: str = "the difference in differences"
) -> Difference:
    """Returns the change in the second group less the change in the first; each (before, after), all four of different people.

    Raises:
        EstimateError: As `difference`.
    """
    return contrast([second[1], second[0], first[1], first[0]], [1.0, -1.0, -1.0, 1.0], what=what)


def contrast(estimates: Sequence[Estimated], weights: Sequence[float], *, what: str = "the contrast") -> Difference:
    """Returns a contrast: the sum of weights times estimates, all from different people, with limits from theirs (see `limits.mover`).

    Raises:
        EstimateError: An estimate is missing, targets or confidences differ, figures share people or clusters, or a weight is not a finite
            number up to LARGEST.
    """
    weights = checked_numbers("weights", weights)
    if len(estimates) != len(weights) or len(estimates) < 2:
        raise EstimateError(f"there must be a weight for each of two estimates or more, got {len(weights)} for {len(estimates)}")
    first = estimates[0]
    for other in estimates:
        if first.target != other.target:
            raise EstimateError(f"both estimates must have one target, got {first.target} and {other.target}")
        if first.confidence != other.confidence:
            raise EstimateError(f"both estimates must have one confidence, got {first.confidence:g} and {other.confidence:g}")
    origins: list[Origin | None] = [getattr(one, "origin", None) for one in estimates]
    require_independent(origins)
    levels = {_level(one) for one in estimates}
    sides = [_side(one) for one in estimates]
    low, high = mover.contrast(sides, weights)
    std_error = math.hypot(*(weight * (one.std_error or 0.0) for one, weight in zip(estimates, weights, strict=True)))
    value, middle = (
        sum(weight * one for one, weight in zip(ones, weights, strict=True))
        for ones in ([side.estimate for side in sides], [side.inside for side in sides])
    )
    warnings = [str(getattr(one, "warning", "")) for one in estimates] if _by_normal_errors(*estimates) else []
    warning, n = next(filter(None, warnings), ""), sum(one.n for one in estimates)
    level, ends = levels.pop() if len(levels) == 1 else None, (low, high, first.confidence, first.target)
    return Difference(what, n, value, std_error, *ends, warning, middle, origin=together(origins), level=level)


def checked_numbers(name: str, values: Any) -> list[float]:
    """Returns finite numbers from -LARGEST to LARGEST; true and false are not numbers. Raises EstimateError."""
    try:
        result = [float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan for value in values]
    except (TypeError, OverflowError):  # TypeError: of what is no sequence
        result = [math.nan]
    if not all(abs(value) <= LARGEST for value in result):  # which nan is not either
        raise EstimateError(f"{name} must be finite numbers from {-LARGEST:g} to {LARGEST:g}, got {reprlib.repr(values)}")
    return result


def _side(one: Estimated) -> mover.Side:
    if one.estimate is None or one.low is None or one.high is None:
        raise EstimateError("both estimates must have a figure, got one without")
    side, reach = mover.Side(one.estimate, one.low, one.high), _reach(one)
    if isinstance(one, Difference):  # which allowed for what was cut of its own sides
        return side
    cut = (one.low <= 0, one.high >= 1) if hasattr(one, "ones") else (True, True)
    return side._replace(cut=(reach * cut[0], reach * cut[1]))


def _reach(one: Estimated) -> float:
    """Returns how far the error reaches, which tells clipped limits: nearer ones are clipped, for single shares at 0 and 1 only."""
    interval = Interval(_level(one), df=getattr(one, "df", math.inf), wider=getattr(one, "wider", 1.0))
    return interval.quantile * (one.std_error or 0.0)


def _level(one: Estimated) -> float:
    """Returns the confidence of the estimate's limits by themselves."""
    origin: Origin | None = getattr(one, "origin", None)
    return getattr(one, "level", None) or (origin.level if origin else None) or one.confidence


def _by_normal_errors(*sides: Estimated) -> bool:
    """Returns whether the warnings of the sides apply to the difference: not of single shares, whose limits are exact."""
    return not any(hasattr(one, "ones") for one in sides)


def compare(
    survey: Survey, first: Tally, second: Tally, question: str, *, confidence: float = 0.95, target: str = "population"
) -> Comparison:
    """Estimates the shares of a question among the second tally's people less the shares among the first's, who must be other people.

    For k = 2 the difference is tested; for more a score test has k - 1 degrees of freedom, with a p-value by a parametric bootstrap if
    expected counts are small (see `bootstrap`).

    Raises:
        EstimateError: An argument breaks its rule.
    """
    interval = Interval(confidence, target=target)
    groups = [GroupCounts.of(survey, tally, question, interval) for tally in (first, second)]
    item, _ = counts.find(survey, question)
    pairs = zip(item.categories, *(_shares(item.channel, group) for group in groups), strict=True)
    differences = tuple(difference(b, a, what=f"{item.id} = {option}: second less first") for option, a, b in pairs)
    what = f"both groups have the same shares of {item.id}"
    test = replace(differences[0].test(), what=what) if item.k == 2 else same_shares(what, item.channel, groups)
    return Comparison(item.id, item.categories, differences, test)


def _shares(channel: Channel, group: GroupCounts) -> list[Share]:
    phi, theta = float(channel.phi), float(channel.theta)
    return [proportion(count, group.n, phi, theta, group.interval) for count in group.ones.tolist()]
