"""Differences: between two options of one question, and between two groups of people or two waves."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from deniable.errors import EstimateError
from deniable.estimate.checks import few
from deniable.estimate.limits import normal
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.normal import Estimate, HypothesisTest
from deniable.estimate.moments import applicability, counts, pseudo_answers
from deniable.estimate.present.table import Table, footnotes, told
from deniable.estimate.present.tabular import Tabular
from deniable.survey import Survey
from deniable.wire.tally import Tally


class Estimated(Protocol):
    """A `Share`, an `Estimate`, or a `Row` with reports."""

    @property
    def n(self) -> int: ...
    @property
    def estimate(self) -> float | None: ...
    @property
    def std_error(self) -> float | None: ...
    @property
    def target(self) -> str: ...


@dataclass(frozen=True)
class Comparison(Tabular):
    """Two groups' shares of every option of a question.

    options, differences: the second group less the first, option by option. test: whether the groups have the same shares. Each has a
    warning where a group is too small for it.
    """

    question: str
    options: tuple[str, ...]
    differences: tuple[Estimate, ...]
    test: HypothesisTest

    def tables(self) -> tuple[Table, ...]:
        """A row an option; the test below."""
        marks = footnotes([one.warning for one in self.differences])
        rows = tuple(
            (option, _points(one.estimate), _points(one.std_error), f"{_points(one.low)} – {_points(one.high)}", marks.get(one.warning, ""))
            for option, one in zip(self.options, self.differences, strict=True)
        )
        first = self.differences[0]
        title = f"{self.question}: the second group less the first, in percentage points ({100 * first.confidence:g}% intervals)"
        return (Table(title, ("option", "difference", "std error", "interval", ""), rows, (*told(marks), str(self.test))),)

    def records(self) -> tuple[Table, ...]:
        """A row an option: question, option, estimate, std_error, low, high, p_value (of 0), warning."""
        header = ("question", "option", "estimate", "std_error", "low", "high", "p_value", "warning")
        rows = tuple(
            (self.question, option, one.estimate, one.std_error, one.low, one.high, one.test().p_value, one.warning)
            for option, one in zip(self.options, self.differences, strict=True)
        )
        return (Table("difference", header, rows),)


def _points(share: float) -> str:
    return f"{100 * share:.1f}"


def between_options(
    survey: Survey, tally: Tally, question: str, one: str, other: str, *, confidence: float = 0.95, target: str = "population"
) -> Estimate:
    """The share of option `one` less that of option `other`; both come from the same reports, which the error allows for.

    Raises EstimateError.
    """
    interval = Interval(confidence, target=target)
    applicability.require_of("difference", survey, (question,), target)
    asked, n, ones = counts.counts(survey, tally, question)
    i, j = counts.option_index(asked, one), counts.option_index(asked, other)
    if i == j:
        raise EstimateError(f"the two options must differ, got {one!r} twice")
    weights = np.zeros(asked.k)
    weights[i], weights[j] = 1.0, -1.0
    shares = pseudo_answers.invert(ones / n, [asked.channel])
    variance = pseudo_answers.variance_of(weights, shares, [asked.channel], target) / n
    found = normal.limited(f"{asked.id}: {one} less {other}", n, float(weights @ shares), variance, interval, (-1.0, 1.0))
    return replace(found, warning=few.bits(int(min(ones[i], ones[j])), n))


def difference(
    one: Estimated,
    other: Estimated,
    *,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    what: str = "the difference",
) -> Estimate:
    """`one` less `other`, estimates from disjoint people: two groups, two waves with other people, two surveys.

    bounds: what the difference can be, such as (-1, 1) for two shares; the limits stay within. Raises EstimateError where
    an estimate is missing, and where the targets differ.
    """
    interval = Interval(confidence, target=one.target)
    if one.target != other.target:
        raise EstimateError(f"both estimates must have one target, got {one.target} and {other.target}")
    if one.estimate is None or one.std_error is None or other.estimate is None or other.std_error is None:
        raise EstimateError("both estimates must have a figure, got one without")
    if (variance := one.std_error**2 + other.std_error**2) == 0:
        raise EstimateError("one of the two standard errors must be above 0, got 0 for both: too few reports")
    found = normal.limited(what, one.n + other.n, one.estimate - other.estimate, variance, interval, bounds)
    return replace(found, warning=_too_few(one) or _too_few(other))


def _too_few(one: Estimated) -> str:
    """What is said of one side of a difference: by its count of set bits, or what was said of it already."""
    ones = getattr(one, "ones", None)
    return str(getattr(one, "warning", "")) if ones is None else few.bits(ones, one.n)


def compare(
    survey: Survey, first: Tally, second: Tally, question: str, *, confidence: float = 0.95, target: str = "population"
) -> Comparison:
    """The shares of a question among the second tally's people less those among the first one's, who must be other people.

    The test is a Wald test with k - 1 degrees of freedom. Raises EstimateError.
    """
    interval = Interval(confidence, target=target)
    applicability.require_of("difference", survey, (question,), target)
    asked, _ = counts.find(survey, question)
    channel = asked.channel
    groups, warnings = [], [""] * asked.k
    for tally in (first, second):
        _, n, ones = counts.counts(survey, tally, question)
        groups.append((n, pseudo_answers.invert(ones / n, [channel])))
        warnings = [before or few.bits(count, n) for before, count in zip(warnings, ones.tolist(), strict=True)]
    n = sum(size for size, _ in groups)
    gap = groups[1][1] - groups[0][1]
    variances = sum(pseudo_answers.variances(shares, [channel], target) / size for size, shares in groups)
    each = zip(asked.categories, gap.tolist(), np.asarray(variances).tolist(), warnings, strict=True)
    differences = (
        replace(
            normal.limited(f"{asked.id} = {option}: second less first", n, value, variance, interval, (-1.0, 1.0)),
            warning=warning,
        )
        for option, value, variance, warning in each
    )
    # at possible shares, so that the matrix is a covariance for certain
    covariance = sum(pseudo_answers.covariance(pseudo_answers.possible(shares), [channel], target) / size for size, shares in groups)
    statistic = gap[:-1] @ np.linalg.solve(np.asarray(covariance)[:-1, :-1], gap[:-1])
    test = normal.chi_squared(f"both groups have the same shares of {asked.id}", float(statistic), asked.k - 1)
    return Comparison(asked.id, asked.categories, tuple(differences), replace(test, warning=few.test(any(warnings))))
