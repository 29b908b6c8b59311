"""What the groups page shows of two groups: for each option, or for the mean, both figures and their difference, as texts."""

from __future__ import annotations

from deniable.estimate import Estimate, MeanRow, Row
from deniable_server.pages import figures
from deniable_server.researchers.groups import Compared, ComparedMean, ComparedQuestion

Cell = tuple[str, str]
"""A figure and its interval."""

Line = tuple[str, tuple[Cell, Cell, Cell]]
"""An option; the first group, the second, and the second less the first."""


def share_lines(question: ComparedQuestion, first: str, second: str) -> list[Line]:
    """A line for each option of which both groups have an estimate; of a multiple choice, for each that can be chosen."""
    compared = [item for item in question.items if item.comparison]
    if question.question.labels:
        return [_line(item, 0, item.label, (first, second)) for item in compared]
    names = figures.level_names(question.question)
    return [
        _line(item, place, names.get(option, option), (first, second))
        for item in compared
        for place, option in enumerate(item.item.categories)
    ]


def mean_lines(compared: ComparedMean, first: str, second: str) -> list[Line]:
    """One line; none where there is no difference to tell."""
    if compared.difference is None:
        return []
    return [("Mean", (_mean(compared.rows[first]), _mean(compared.rows[second]), mean_difference(compared.difference)))]


def _line(compared: Compared, place: int, option: str, pair: tuple[str, str]) -> Line:
    first, second = (_share(compared.rows[group][place]) for group in pair)
    assert compared.comparison is not None
    return option, (first, second, difference(compared.comparison.differences[place]))


def _share(row: Row) -> Cell:
    return figures.percent(row.estimate), f"{figures.number(row.low)} to {figures.number(row.high)}"


def difference(apart: Estimate) -> Cell:
    """A difference of shares, in points."""
    return figures.points(apart.estimate, apart.low, apart.high)


def _mean(row: MeanRow) -> Cell:
    one, low, high = figures.mean(row)
    return one, f"{low} to {high}"


def mean_difference(apart: Estimate) -> Cell:
    """A difference of means, in their unit, with the digits that its interval bears out."""
    return figures.signed(apart.estimate, apart.low, apart.high, figures.decimals(apart.low, apart.high))
