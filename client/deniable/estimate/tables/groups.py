"""Several groups of people, each set against one of them, with limits that allow for how many differences there are."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from deniable.errors import EstimateError
from deniable.estimate.limits.interval import DEFAULT_METHOD, Interval
from deniable.estimate.limits.normal import Estimate
from deniable.estimate.moments import counts
from deniable.estimate.present.table import Table, footnotes, told
from deniable.estimate.present.tabular import Tabular
from deniable.estimate.tables.differences import Difference, difference
from deniable.estimate.tables.results import MeanRow, Row
from deniable.estimate.tables.shares import share_rows
from deniable.estimate.tables.survey_means import estimate_of, mean_rows
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable.wire.tally import Tally


@dataclass(frozen=True)
class GroupDifference:
    """One group's share of an option, or its mean where `option` is empty, less that of the reference.

    difference: None where one of the two has no estimate.
    """

    group: str
    option: str
    difference: Difference | None

    @property
    def shown(self) -> bool:
        """Whether a difference is shown: its interval has no 0."""
        return self.difference is not None and not self.difference.low <= 0 <= self.difference.high


@dataclass(frozen=True)
class GroupDifferences(Tabular):
    """A question among several groups, each less the reference.

    The limits of all differences of the question hold together with probability `confidence` (Bonferroni's correction: each alone has an
    error probability `comparisons` times smaller). rows: group by group, each with its mean first where it has one, then the options that
    are counted: of two options one, of a multiple choice who chose each.
    """

    question: str
    reference: str
    confidence: float
    target: str
    comparisons: int
    rows: tuple[GroupDifference, ...]

    def of(self, group: str, option: str = "") -> Difference | None:
        """How far a group is from the reference in an option, or in the mean; None where that is not known, and for the reference."""
        return next((row.difference for row in self.rows if (row.group, row.option) == (group, option)), None)

    def tables(self) -> tuple[Table, ...]:
        """A row for each difference; the means, in their unit, before the shares, in points."""
        title = f"{self.question}: each group less {self.reference} ({100 * self.confidence:g}% intervals, all together)"
        marks = footnotes([row.difference.warning for row in self.rows if row.difference])
        means = [row for row in self.rows if not row.option]
        shares = [row for row in self.rows if row.option]
        made = []
        if means:
            made.append(Table(title, ("group", "mean", "interval", ""), tuple(_cells(row, 1, marks) for row in means), told(marks)))
        if shares:
            header = ("group", "option", "points", "interval", "")
            made.append(Table("" if means else title, header, tuple(_cells(row, 100, marks) for row in shares), told(marks), texts=2))
        return tuple(made)

    def records(self) -> tuple[Table, ...]:
        """A row for each difference; option is empty for a mean. Shares are of 1, means in their unit; p_value is corrected, too."""
        header = ("question", "reference", "group", "option", "estimate", "std_error", "low", "high", "p_value", "warning")
        return (Table("difference", header, tuple(self._record(row) for row in self.rows)),)

    def _record(self, row: GroupDifference) -> tuple[object, ...]:
        found, head = row.difference, (self.question, self.reference, row.group, row.option)
        if found is None:
            return (*head, None, None, None, None, None, "")
        p_value = min(1.0, self.comparisons * found.test().p_value)
        return (*head, found.estimate, found.std_error, found.low, found.high, p_value, found.warning)


@dataclass(frozen=True)
class GroupFigures:
    """What one group says of a question, with limits for so many differences: (option, its row), and the mean where there is one."""

    shares: tuple[tuple[str, Row], ...]
    mean: MeanRow | None


def compare_groups(
    survey: Survey,
    tallies: Mapping[str, Tally],
    question: str,
    *,
    reference: str | None = None,
    confidence: float = 0.95,
    method: str = DEFAULT_METHOD,
    target: str = "population",
) -> GroupDifferences:
    """Each group's shares of a question, and its mean, less those of the reference, by default the first one.

    tallies: of other people each, by the group's name. question: the id of a question, or of one option of a multiple choice.
    confidence: of all differences together. Raises EstimateError, also for fewer than two groups.
    """
    interval = Interval(confidence, method, target)
    first = next(iter(tallies), "") if reference is None else reference
    if first not in tallies or len(tallies) < 2:
        raise EstimateError("there must be two groups or more, and the reference one of them")
    asked = next((one for one in survey.questions if one.id == question), None) or counts.find(survey, question)[0]
    others = sum(tally.n > 0 for group, tally in tallies.items() if group != first)
    found = {group: figures_of(survey, tally, asked, interval, others) for group, tally in tallies.items()}
    return against(first, asked, interval, others, found)


def figures_of(survey: Survey, tally: Tally, question: Question, interval: Interval, others: int) -> GroupFigures:
    """One group's part in a comparison of `others` groups with a reference. Raises EstimateError."""
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
    """How many differences there are of a question when so many groups are set against one."""
    return max(1, others) * ((len(question.items) if question.labels else _counted(question)) + (question.scores is not None))


def against(reference: str, question: Question, interval: Interval, others: int, found: Mapping[str, GroupFigures]) -> GroupDifferences:
    """The differences of the figures that `figures_of` gave of each group."""
    first, rows = found[reference], []
    for group, figures in found.items():
        if group == reference:
            continue
        if figures.mean and first.mean:
            rows.append(GroupDifference(group, "", _apart(estimate_of(figures.mean), estimate_of(first.mean))))
        pairs = zip(figures.shares, first.shares, strict=True)
        rows += [GroupDifference(group, option, _apart(row, other)) for (option, row), (_, other) in pairs]
    return GroupDifferences(question.id, reference, interval.confidence, interval.target, comparisons(question, others), tuple(rows))


def _counted(question: Question) -> int:
    """How many options have a figure of their own: of two, the second is the first one's mirror image."""
    return len(question.shared) - (len(question.shared) == 2)


def _apart(one: Row | Estimate | None, reference: Row | Estimate | None) -> Difference | None:
    if one is None or reference is None or one.estimate is None or reference.estimate is None:
        return None
    with suppress(EstimateError):  # no error in either: too few reports
        return difference(one, reference)
    return None


def _cells(row: GroupDifference, unit: int, marks: Mapping[str, str]) -> tuple[str, ...]:
    head = (row.group, row.option) if row.option else (row.group,)
    found = row.difference
    if found is None:
        return (*head, "", "", "")
    one, low, high = ((f"{unit * value:+,.1f}" if unit > 1 else f"{value:+,.4g}") for value in (found.estimate, found.low, found.high))
    return (*head, one, f"{low} – {high}", marks.get(found.warning, ""))
