"""Comparison of two survey waves: the change of each share and mean of the shared questions, asked of other people or at another time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from deniable.errors import EstimateError
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.multiple_testing import ADJUSTED, adjusted
from deniable.estimate.limits.normal import Estimate
from deniable.estimate.present.figures import percent, percents, signed
from deniable.estimate.present.table import Table, footnote_lines, footnotes
from deniable.estimate.present.tabular import Tabular
from deniable.estimate.samples.sampled_reports import SampledReports
from deniable.estimate.tables import clustered_waves
from deniable.estimate.tables.differences import difference
from deniable.estimate.tables.results import MeanRow, Results, Row
from deniable.estimate.tables.survey_means import estimate_of
from deniable.survey import Survey
from deniable.survey.comparability import mismatch
from deniable.survey.question import Question

_TINY = 1e-9
"""Of a percentage point: what an error of computing may add to a whole number, so that it is not rounded to the next."""


@dataclass(frozen=True)
class Change:
    """Change of one option's share, or of one question's mean if `option` is empty, between two waves.

    `difference` is the second wave less the first, None if one of them has no estimate.
    """

    question: str
    option: str
    first: Row | MeanRow
    second: Row | MeanRow
    difference: Estimate | None

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval of the difference excludes 0."""
        return self.difference is not None and not self.difference.low <= 0 <= self.difference.high

    @property
    def words(self) -> str:
        """The change in words: `from 23 to 18 of 100: a fall of 5, between 1 and 9`, limits rounded outwards; empty for a mean.

        A limit beside 0 has as many decimals as it takes not to read as 0, since "no change" is then outside the interval. If the rounded
        shares differ by another number than the rounded difference, that number is left out.
        """
        if self.difference is None or not isinstance(self.first, Row) or not isinstance(self.second, Row):
            return ""
        before, after = (100 * (row.estimate or 0.0) for row in (self.first, self.second))
        low, high = 100 * self.difference.low, 100 * self.difference.high
        if not self.excludes_zero:
            possible = f"{_or_none('a fall of', -low)} to {_or_none('a rise of', high)}"
            return f"{_from_to(before, after)}: no change is shown; from {possible} is possible"
        least, most = sorted((abs(low), abs(high)))
        places = _places(least)
        kind, size = "rise" if low > 0 else "fall", abs(round(100 * self.difference.estimate))
        agree = 0 < size == abs(round(after) - round(before)) and (size <= most or not places)  # else rounding makes them disagree
        text = _from_to(before, after, places if round(before) == round(after) else 0)
        return f"{text}: a {kind}{f' of {size},' if agree else ''} between {_inwards(least, places)} and {_outwards(most, places)}"


@dataclass(frozen=True)
class Waves(Tabular):
    """Comparison of two waves of a survey: the same questions, asked of independent samples.

    Attributes:
        first, second: The results of the waves.
        changes: The changes of the shared questions, in the first one's order, each with its mean first, if it has one, and then its
            options.
        left_out: (question, reason) of questions that only one of them has, or that differ.
        paired: The number of clusters in both waves; the differences are then within each cluster.
    """

    first: Results
    second: Results
    changes: tuple[Change, ...]
    left_out: tuple[tuple[str, str], ...]
    paired: int = 0

    def tables(self) -> tuple[Table, ...]:
        """Returns the means, if there are any, then the shares; a row for each, with the left-out questions below."""
        level = f"{100 * self.first.confidence:g}% intervals"
        about: tuple[str, ...] = (
            f"first: {self.first.heading}, {self.first.caption}",
            f"second: {self.second.heading}, {self.second.caption}",
        )
        about += (f"changes within clusters; {self.paired} clusters were asked in both waves",) if self.paired else ()
        means = [change for change in self.changes if isinstance(change.first, MeanRow)]
        shares = [change for change in self.changes if isinstance(change.first, Row)]
        marks = footnotes([change.difference.warning for change in self.changes if change.difference])
        out = tuple(f"{question} is left out: {why}" for question, why in self.left_out)
        share_table = Table("", _SHARES, tuple(map(_share_cells, shares)), out, texts=2)
        mean_table = Table("", _MEANS, tuple(_mean_cells(change, marks) for change in means), footnote_lines(marks))
        if not shares:
            mean_table = replace(mean_table, notes=(*mean_table.notes, *out))
        result = [table for table in (mean_table, share_table) if table.rows]
        title = f"From the first to the second wave, second less first ({level})"
        return Table(title, result[0].columns, result[0].rows, result[0].notes, about, result[0].texts), *result[1:]

    def records(self) -> tuple[Table, ...]:
        """Returns `change`: a row for each share and mean; option is empty for a mean. Shares are of 1, means in their unit.

        p_value is of no change, of each alone; p_bonferroni, p_holm and p_bh adjust for all changes here (see `limits.multiple_testing`).
        """
        sides = (f"{side}{end}" for side in ("first", "second") for end in ("", "_low", "_high", "_n"))
        header = ("question", "option", "figure", *sides, "estimate", "std_error", "low", "high", *ADJUSTED, "warning")
        return (Table("change", header, tuple(map(_record, self.changes, _tests(self.changes)))),)


def compare_waves(
    surveys: tuple[Survey, Survey], results: tuple[Results, Results], reports: tuple[SampledReports, SampledReports] | None = None
) -> Waves:
    """Estimates the changes in the questions that two surveys share: the same id, type, options in order and scores.

    The people of the two must be independent samples; epsilons may differ. The limits come from the limits of both estimates
    (`limits.mover`).

    Args:
        surveys: The two surveys.
        results: The results of each.
        reports: Both waves as samples, if they are. If these have clusters in common, each change is within the clusters.

    Raises:
        EstimateError: The results have different confidences or targets, or no question is shared.
    """
    first, second = surveys
    before, after = ({item.id: item for item in survey.items} for survey in surveys)
    left_out = [(name, _why(before.get(name), after.get(name))) for name in dict.fromkeys([*before, *after])]
    unlike = {name: why for name, why in left_out if why}
    shared = [name for name in before if name not in unlike]
    if not shared:
        raise EstimateError(f"surveys {first.id} and {second.id} share no question: none has the same id, type and options in both")
    paired = clustered_waves.common(*reports) if reports else 0
    changes = tuple(_changes(shared, results, reports if paired else None))
    return Waves(*results, changes, tuple(unlike.items()), paired)


def _why(one: Question | None, other: Question | None) -> str:
    if one is None or other is None:
        return "only the second survey has it" if one is None else "only the first survey has it"
    match mismatch(one, other):
        case None:
            return ""
        case "type":
            return f"it is a {one.type} in the first survey and a {other.type} in the second"
        case "options":
            return "its options are not the same"
        case "scale":
            return "its scale is not the same"


def _changes(shared: list[str], results: tuple[Results, Results], paired: tuple[SampledReports, SampledReports] | None) -> Iterator[Change]:
    rows, others = ({name: list(result) for name, result in groupby(one.rows, lambda row: row.question)} for one in results)
    means, other_means = ({row.question: row for row in one.means} for one in results)
    for name in shared:
        if name in means:
            mean, other = means[name], other_means[name]
            yield Change(name, "", mean, other, _difference(estimate_of(other), estimate_of(mean), (name, ""), paired))
        for row, second in zip(rows.get(name, ()), others.get(name, ()), strict=True):
            yield Change(name, row.option, row, second, _difference(second, row, (name, row.option), paired))


def _difference(
    second: Row | Estimate | None,
    first: Row | Estimate | None,
    figure: tuple[str, str],
    paired: tuple[SampledReports, SampledReports] | None,
) -> Estimate | None:
    if second is None or first is None or second.estimate is None or first.estimate is None:
        return None
    if paired:
        level = first.origin.level if first.origin and first.origin.level else first.confidence
        result = clustered_waves.change(*paired, *figure, Interval(level, target=first.target))
        return replace(result, confidence=first.confidence)
    return difference(second, first, what="second wave less first")


_SHARES = ("question", "option", "first", "interval", "second", "interval", "change", "interval")
_MEANS = ("question", "first mean", "interval", "second mean", "interval", "change", "interval", "")


def _share_cells(change: Change) -> tuple[str, ...]:
    sides = [change.first, change.second]
    cells = [text for row in sides if isinstance(row, Row) for text in (percent(row.estimate), percents(row.low, row.high))]
    result = change.difference
    apart = ("", "") if result is None else (signed(result.estimate, 100), f"{signed(result.low, 100)} – {signed(result.high, 100)}")
    return change.question, change.option, *cells, *apart


def _mean_cells(change: Change, marks: dict[str, str]) -> tuple[str, ...]:
    sides = [row.figures for row in (change.first, change.second) if isinstance(row, MeanRow)]
    cells = [text for mean, _, low, high in sides for text in (mean, f"{low} – {high}" if mean else "")]
    result = change.difference
    apart = ("", "") if result is None else (signed(result.estimate), f"{signed(result.low)} – {signed(result.high)}")
    return change.question, *cells, *apart, marks.get(result.warning, "") if result else ""


def mirror_images(rows: Sequence[tuple[str, str]]) -> list[int]:
    """Returns the index of each (question, option) row; for the second of two options the index of the first, its mirror image."""
    options = Counter(question for question, option in rows if option)
    places = []
    for place, (question, option) in enumerate(rows):
        second = options[question] == 2 and bool(option) and rows[place - 1][0] == question and bool(rows[place - 1][1])
        places.append(place - 1 if second and place else place)
    return places


def sides_of(change: Change) -> tuple[Row | Estimate | None, Row | Estimate | None]:
    """Returns both sides of a change: shares, or means."""
    first, second = (estimate_of(side) if isinstance(side, MeanRow) else side for side in (change.first, change.second))
    return first, second


def _tests(changes: Sequence[Change]) -> list[tuple[float | None, ...]]:
    p_values = [change.difference.test().p_value if change.difference else None for change in changes]
    return adjusted(p_values, mirror_images([(change.question, change.option) for change in changes]))


def _record(change: Change, tests: tuple[float | None, ...]) -> tuple[object, ...]:
    sides: list[object] = []
    for row in (change.first, change.second):
        sides += [row.estimate if isinstance(row, Row) else row.mean, row.low, row.high, row.n]
    result, figure = change.difference, "share" if isinstance(change.first, Row) else "mean"
    figures = (result.estimate, result.std_error, result.low, result.high) if result else (None,) * 4
    return change.question, change.option, figure, *sides, *figures, *tests, result.warning if result else ""


def _from_to(before: float, after: float, places: int = 0) -> str:
    return f"from {before:z.{places}f} to {after:z.{places}f} of 100".replace("-", "−")


def _or_none(kind: str, points: float) -> str:
    size = _outwards(points)
    return "no change" if size == "0" else f"{kind} {size}"


def _places(least: float) -> int:
    """Returns how many decimals this limit, above 0, needs to not read as 0 when it is rounded down."""
    return max(0, math.ceil(-math.log10(least + _TINY)))


def _outwards(points: float, places: int = 0) -> str:
    return f"{math.ceil((points - _TINY) * 10**places) / 10**places:z.{places}f}"


def _inwards(points: float, places: int) -> str:
    return f"{math.floor((points + _TINY) * 10**places) / 10**places:z.{places}f}"
