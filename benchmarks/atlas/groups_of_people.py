"""Lines of several groups of people: differences, many groups at once, two waves, and samples of clusters."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from benchmarks.atlas.cell import Cell, Line, Outcome, Scene, interval, silent, together
from benchmarks.atlas.grid import PAIRS, scale, share
from benchmarks.atlas.one_question import FIVE, YES_NO
from benchmarks.atlas.source import Reports, Source, survey_of

from deniable.estimate import Analysis, compare
from deniable.estimate.tables import compare_changes, compare_groups, contrast, difference_in_differences, homogeneity


def _two(cell: Cell, alike: bool) -> tuple[list[Source], list[float]]:
    """Two groups' sources, and their shares of yes. alike: both the same."""
    survey, first = survey_of([YES_NO], cell.epsilon), share(cell)
    shares = [first, first if alike else 2 * first]
    return [Source(survey, np.array([p, 1 - p])) for p in shares], shares


def _difference(alike: bool, cell: Cell) -> Scene:
    sources, shares = _two(cell, alike)

    def judge(one: Reports, other: Reports) -> Outcome:
        comparison = compare(one.source.survey, one.tally, other.tally, "a")
        return interval(shares[1] - shares[0], lambda: comparison.differences[0])

    return Scene(list(zip(sources, cell.sizes, strict=True)), judge)


def _alike(k: int, cell: Cell) -> Scene:
    question, shares = (YES_NO, np.array([share(cell), 1 - share(cell)])) if k == 2 else (FIVE, scale(cell))
    source = Source(survey_of([question], cell.epsilon), shares)
    parts = [(source, n) for n in cell.sizes]
    return Scene(parts, lambda one, other: silent(lambda: compare(source.survey, one.tally, other.tally, "a").test))


def _four_groups(cell: Cell) -> Scene:
    """Three groups of the second size against one of the first: all differences of five options and the mean at once, none of which is."""
    source, (reference, n) = Source(survey_of([FIVE], cell.epsilon), scale(cell)), cell.sizes
    parts = [(source, reference), *[(source, n)] * 3]

    def judge(*groups: Reports) -> Outcome:
        comparison = compare_groups(source.survey, {name: group.tally for name, group in zip("wxyz", groups, strict=True)}, "a")
        return together((0.0, lambda row=row: row.difference) for row in comparison.rows if row.difference)  # type: ignore[misc]

    return Scene(parts, judge)


def _waves(cell: Cell) -> Scene:
    sources, shares = _two(cell, alike=False)

    def judge(one: Reports, other: Reports) -> Outcome:
        survey = one.source.survey
        comparison = Analysis(survey, one.tally).compare_waves(Analysis(survey, other.tally))
        return interval(shares[1] - shares[0], lambda: comparison.changes[0].difference)

    return Scene(list(zip(sources, cell.sizes, strict=True)), judge)


def _several(cell: Cell, factors: tuple[float, ...]) -> tuple[list[tuple[Source, int]], list[float]]:
    """Groups, of the two sizes in turn, whose shares of yes are so many times the cell's; and these shares."""
    survey, shares = survey_of([YES_NO], cell.epsilon), [factor * share(cell) for factor in factors]
    sources = [Source(survey, np.array([p, 1 - p])) for p in shares]
    return [(source, cell.sizes[index % 2]) for index, source in enumerate(sources)], shares


def _contrast(cell: Cell) -> Scene:
    """One group less the mean of two others."""
    parts, (p, q, r) = _several(cell, (2.0, 1.0, 1.0))

    def judge(*groups: Reports) -> Outcome:
        rows = [Analysis(one.source.survey, one.tally).results.rows[0] for one in groups]
        return interval(p - q / 2 - r / 2, lambda: contrast(rows, (1.0, -0.5, -0.5)))

    return Scene(parts, judge)


def _trend(cell: Cell) -> Scene:
    """Three waves, the slope of whose least-squares line is half the last less the first."""
    parts, shares = _several(cell, (1.0, 1.2, 2.0))

    def judge(*waves: Reports) -> Outcome:
        first, *later = (Analysis(one.source.survey, one.tally) for one in waves)
        return interval((shares[2] - shares[0]) / 2, lambda: first.trend(*later).rows[0].slope)

    return Scene(parts, judge)


def _changes(cell: Cell) -> Scene:
    """Two waves of two groups; the share grows in the second alone."""
    parts, shares = _several(cell, (1.0, 1.0, 1.0, 2.0))

    def judge(*samples: Reports) -> Outcome:
        a, b, c, d = (Analysis(one.source.survey, one.tally) for one in samples)
        return interval(shares[3] - shares[2], lambda: compare_changes(a.compare_waves(b), c.compare_waves(d)).rows[0].difference)

    return Scene(parts, judge)


def _difference_in_differences(cell: Cell) -> Scene:
    """Shares before and after in two groups, each of other people; the share grows more in the second."""
    parts, (a, b, c, d) = _several(cell, (1.0, 1.5, 1.0, 2.0))

    def judge(*samples: Reports) -> Outcome:
        rows = [Analysis(one.source.survey, one.tally).results.rows[0] for one in samples]
        return interval((d - c) - (b - a), lambda: difference_in_differences((rows[0], rows[1]), (rows[2], rows[3])))

    return Scene(parts, judge)


def _homogeneous(k: int, cell: Cell) -> Scene:
    """Three groups that are alike: one of the first size, two of the second."""
    question, shares = (YES_NO, np.array([share(cell), 1 - share(cell)])) if k == 2 else (FIVE, scale(cell))
    source, (first, second) = Source(survey_of([question], cell.epsilon), shares), cell.sizes

    def judge(*groups: Reports) -> Outcome:
        tallies = {name: group.tally for name, group in zip("xyz", groups, strict=True)}
        return silent(lambda: homogeneity(source.survey, tallies, "a"))

    return Scene([(source, n) for n in (first, second, second)], judge)


def lines() -> Iterator[Line]:
    """Yields every line of several groups."""
    two = ("compare", "difference", "Analysis.compare")
    yield Line("difference of two groups that are alike", two, PAIRS, partial(_difference, True))
    yield Line("difference of two groups", two, PAIRS, partial(_difference, False))
    yield Line("test of two groups, two options", ("compare",), PAIRS, partial(_alike, 2), test=True)
    yield Line("test of two groups, five options", ("compare",), PAIRS, partial(_alike, 5), test=True, cost=5)
    yield Line("differences of four groups, all at once", ("compare_groups", "Analysis.compare_groups"), PAIRS, _four_groups, cost=4)
    yield Line("change between two waves", ("compare_waves", "Analysis.compare_waves"), PAIRS, _waves, cost=2)
    yield Line("one group less the mean of two", ("contrast",), PAIRS, _contrast, cost=4)
    yield Line("trend over three waves", ("trend", "Analysis.trend"), PAIRS, _trend, cost=4)
    yield Line("difference of two groups' changes", ("compare_changes",), PAIRS, _changes, cost=4)
    yield Line("difference in differences", ("difference_in_differences",), PAIRS, _difference_in_differences, cost=4)
    yield Line("test of three groups, two options", ("homogeneity",), PAIRS, partial(_homogeneous, 2), test=True, cost=2)
    yield Line("test of three groups, five options", ("homogeneity",), PAIRS, partial(_homogeneous, 5), test=True, cost=5)
