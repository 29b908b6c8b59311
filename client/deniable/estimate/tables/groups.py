"""Comparison of several groups of people, with each other or with a reference, with limits that allow for multiple comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations

from deniable.errors import EstimateError
from deniable.estimate.limits.interval import DEFAULT_METHOD, Interval
from deniable.estimate.limits.multiple_testing import ADJUSTED, adjusted
from deniable.estimate.limits.normal import Estimate, HypothesisTest
from deniable.estimate.moments import counts
from deniable.estimate.present.figures import p_value, signed
from deniable.estimate.present.table import Table, footnote_lines, footnotes
from deniable.estimate.present.tabular import Tabular
from deniable.estimate.tables.differences import Difference, difference
from deniable.estimate.tables.homogeneity import homogeneity
from deniable.estimate.tables.results import MeanRow, Row
from deniable.estimate.tables.shares import share_rows
from deniable.estimate.tables.survey_means import estimate_of, mean_rows
from deniable.mechanism import Window
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable.wire.tally import Tally


@dataclass(frozen=True)
class GroupDifference:
    """Difference of a group from the group `reference`, in the share of an option or, if `option` is empty, in the mean.

    `difference` is None if one of the two has no estimate.
    """

    group: str
    reference: str
    option: str
    difference: Difference | None

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval of the difference excludes 0."""
        return self.difference is not None and not self.difference.low <= 0 <= self.difference.high


@dataclass(frozen=True)
class GroupDifferences(Tabular):
    """Comparison of several groups in a question: each less the reference, or less every one before it if `reference` is empty.

    The limits of all differences of the question hold together with probability `confidence` (Bonferroni's correction: each alone has an
    error probability `comparisons` times smaller).

    Attributes:
        rows: The differences pair by pair: the mean first, if there is one, then the options; one of two options, and each item of a
            multiple choice.
        test: The test of whether all groups have the same shares; None for a multiple choice, for a number without levels, and for fewer
            than two groups with reports.
    """

    question: str
    reference: str
    confidence: float
    target: str
    comparisons: int
    rows: tuple[GroupDifference, ...]
    test: HypothesisTest | None = None

    def of(self, group: str, option: str = "", reference: str = "") -> Difference | None:
        """Returns the difference of a group in an option, or in the mean; None if it is not known, and for the reference."""
        target = (group, reference or self.reference, option)
        return next((row.difference for row in self.rows if (row.group, row.reference, row.option) == target), None)

    def tables(self) -> tuple[Table, ...]:
        """Returns one row for each difference; the means, in their unit, before the shares, in points; the test of all groups below."""
        title = f"{self.question}: {self._which} ({100 * self.confidence:g}% intervals, all together)"
        marks = footnotes([row.difference.warning for row in self.rows if row.difference])
        chances = dict(zip(map(id, self.rows), self._tests(), strict=True))
        means, shares = [row for row in self.rows if not row.option], [row for row in self.rows if row.option]
        result: list[Table] = []
        for rows, header, unit in ((means, ("mean",), 1), (shares, ("option", "points"), 100)):
            if rows:
                cells = tuple((*self._pair(row), *_cells(row, unit, chances[id(row)], marks)) for row in rows)
                columns = (*(("group",) if self.reference else ("group", "less")), *header, "interval", "p", "p (Holm)", "")
                result.append(Table("" if result else title, columns, cells, footnote_lines(marks), texts=len(columns) - 5))
        if result and self.test:
            result[-1] = replace(result[-1], notes=(*result[-1].notes, str(self.test)))
        return tuple(result)

    def records(self) -> tuple[Table, ...]:
        """Returns one row for each difference; option is empty for a mean. Shares are of 1, means in their unit.

        p_value is of each difference alone, p_bonferroni agrees with the limits, and p_holm and p_bh adjust for all differences here (see
        `limits.multiple_testing`).
        """
        header = ("question", "reference", "group", "option", "estimate", "std_error", "low", "high", *ADJUSTED, "warning")
        rows = tuple(self._record(row, tests) for row, tests in zip(self.rows, self._tests(), strict=True))
        return (Table("difference", header, rows),)

    @property
    def _which(self) -> str:
        return f"each group less {self.reference}" if self.reference else "each pair of groups"

    def _pair(self, row: GroupDifference) -> tuple[str, ...]:
        return (row.group,) if self.reference else (row.group, row.reference)

    def _tests(self) -> list[tuple[float | None, ...]]:
        return adjusted([row.difference.test().p_value if row.difference else None for row in self.rows])

    def _record(self, row: GroupDifference, tests: tuple[float | None, ...]) -> tuple[object, ...]:
        result, head = row.difference, (self.question, row.reference, row.group, row.option)
        if result is None:
            return (*head, None, None, None, None, *tests, "")
        return (*head, result.estimate, result.std_error, result.low, result.high, *tests, result.warning)


@dataclass(frozen=True)
class GroupFigures:
    """One group's estimates of a question, with limits for several comparisons: (option, its row), and the mean if there is one."""

    shares: tuple[tuple[str, Row], ...]
    mean: MeanRow | None


def compare_groups(
    survey: Survey,
    tallies: Mapping[str, Tally],
    question: str,
    *,
    reference: str | None = None,
    pairs: bool = False,
    confidence: float = 0.95,
    method: str = DEFAULT_METHOD,
    target: str = "population",
) -> GroupDifferences:
    """Estimates each group's differences from the reference, by default the first group: shares of a question, and its mean.

    Args:
        survey: The survey as published.
        tallies: The tally of each group, by name; each of other people.
        question: The id of a question, or of one option of a multiple choice.
        reference: The name of the reference.
        pairs: Whether to compare each group with every one before it instead.
        confidence: The confidence of all differences together.
        method: As in `share`.
        target: As in `share`.

    Raises:
        EstimateError: An argument breaks its rule, or there are fewer than two groups.
    """
    interval = Interval(confidence, method, target)
    first = next(iter(tallies), "") if reference is None else reference
    if first not in tallies or len(tallies) < 2:
        raise EstimateError("there must be two groups or more, and the reference one of them")
    if pairs and reference is not None:
        raise EstimateError("reference must be left out where every pair of groups is compared")
    item = next((one for one in survey.questions if one.id == question), None) or counts.find(survey, question)[0]
    there = sum(tally.n > 0 for tally in tallies.values())
    differences = there * (there - 1) // 2 if pairs else sum(tally.n > 0 for group, tally in tallies.items() if group != first)
    result = {group: figures_of(survey, tally, item, interval, differences) for group, tally in tallies.items()}
    output = every_pair(item, interval, result) if pairs else against(first, item, interval, differences, result)
    if item.labels or isinstance(item.channel, Window) or there < 2:
        return output
    return replace(output, test=homogeneity(survey, tallies, question, confidence=confidence, target=target))


def figures_of(survey: Survey, tally: Tally, question: Question, interval: Interval, others: int) -> GroupFigures:
    """Returns one group's estimates for a comparison of `others` groups with a reference. Raises EstimateError."""
    strict = replace(interval, confidence=1 - interval.alpha / comparisons(question, others))
    rows = share_rows(survey, tally, question.items, strict)
    if question.labels:
        chosen = {item.id: label for item, label in zip(question.items, question.labels, strict=True)}
        first = {item.id: item.categories[0] for item in question.items}
        shares = tuple((chosen[row.question], row) for row in rows if row.option == first[row.question])
    else:
        shares = tuple((row.option, row) for row in rows[: _counted(question)])
    means = mean_rows(survey, tally, items=question.items, confidence=strict.confidence, target=strict.target)
    return GroupFigures(shares, means[0] if means else None)


def comparisons(question: Question, others: int) -> int:
    """Returns the number of differences of a question when this many groups are compared with one."""
    return max(1, others) * ((len(question.items) if question.labels else _counted(question)) + (question.scores is not None))


def against(reference: str, question: Question, interval: Interval, others: int, figures: Mapping[str, GroupFigures]) -> GroupDifferences:
    """Returns the differences of the figures that `figures_of` gave for each group."""
    pairs = [(group, reference) for group in figures if group != reference]
    return _differences(reference, question, interval, comparisons(question, others), _rows(pairs, figures))


def every_pair(question: Question, interval: Interval, figures: Mapping[str, GroupFigures]) -> GroupDifferences:
    """Returns the differences of each group from every one before it."""
    pairs = [(group, before) for before, group in combinations(figures, 2)]
    rows = _rows(pairs, figures)
    return _differences("", question, interval, max(1, sum(row.difference is not None for row in rows)), rows)


def _differences(reference: str, question: Question, interval: Interval, size: int, rows: list[GroupDifference]) -> GroupDifferences:
    return GroupDifferences(question.id, reference, interval.confidence, interval.target, size, tuple(rows))


def _rows(pairs: Iterable[tuple[str, str]], figures_by_group: Mapping[str, GroupFigures]) -> list[GroupDifference]:
    rows = []
    for group, reference in pairs:
        figures, first = figures_by_group[group], figures_by_group[reference]
        if figures.mean and first.mean:
            rows.append(GroupDifference(group, reference, "", _apart(estimate_of(figures.mean), estimate_of(first.mean))))
        both = zip(figures.shares, first.shares, strict=True)
        rows += [GroupDifference(group, reference, option, _apart(row, other)) for (option, row), (_, other) in both]
    return rows


def _counted(question: Question) -> int:
    """Returns how many options have a figure of their own: the second of two mirrors the first."""
    return len(question.shared) - (len(question.shared) == 2)


def _apart(one: Row | Estimate | None, reference: Row | Estimate | None) -> Difference | None:
    if one is None or reference is None or one.estimate is None or reference.estimate is None:
        return None
    with suppress(EstimateError):  # no error in either: too few reports
        return difference(one, reference)
    return None


def _cells(row: GroupDifference, unit: int, tests: tuple[float | None, ...], marks: Mapping[str, str]) -> tuple[str, ...]:
    head = (row.option,) if row.option else ()
    result = row.difference
    if result is None:
        return (*head, "", "", "", "", "")
    one, low, high = (signed(value, unit) for value in (result.estimate, result.low, result.high))
    chances = dict(zip(ADJUSTED, tests, strict=True))
    return (*head, one, f"{low} – {high}", p_value(chances["p_value"], 3), p_value(chances["p_holm"], 3), marks.get(result.warning, ""))
