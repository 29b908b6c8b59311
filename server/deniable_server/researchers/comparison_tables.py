"""Comparison tables: a line for each option, or for the mean, with the figures of two groups or waves and their difference."""

from __future__ import annotations

from dataclasses import dataclass

from deniable.survey.question import Question
from deniable_server.pages.figures import Figure, Unit, level_names, of_difference, of_mean, of_share
from deniable_server.researchers.groups import GroupedItem, GroupedMean, GroupedQuestion


@dataclass(frozen=True)
class ComparisonLine:
    """One line: an option or the mean. A figure is None without an estimate; difference: the second less the first."""

    name: str
    first: Figure | None
    second: Figure | None
    difference: Figure | None


def share_lines(question: GroupedQuestion, first: str, second: str) -> list[ComparisonLine]:
    """Returns a line for each option that both groups have estimates of; of a multiple choice, for each option that can be chosen."""
    return [line for item in question.items for line in _share_lines(item, question.question, (first, second))]


def _share_lines(item: GroupedItem, question: Question, pair: tuple[str, str]) -> list[ComparisonLine]:
    if item.comparison is None:
        return []
    names = level_names(question)
    options = (item.label,) if question.labels else tuple(names.get(option, option) for option in item.categories)
    first, second = (item.rows[group] for group in pair)
    return [
        ComparisonLine(option, of_share(row), of_share(second_row), of_difference(difference, Unit.POINTS))
        for option, row, second_row, difference in zip(options, first, second, item.comparison.differences, strict=False)
    ]


def mean_lines(mean: GroupedMean, first: str, second: str) -> list[ComparisonLine]:
    """Returns the line of a mean, or no line if one of the groups has no estimate."""
    if mean.difference is None:
        return []
    difference = of_difference(mean.difference, Unit.SCORE_DIFFERENCE)
    return [ComparisonLine("Mean", of_mean(mean.rows[first]), of_mean(mean.rows[second]), difference)]
