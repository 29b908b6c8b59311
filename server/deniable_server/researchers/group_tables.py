"""Group tables: a block of rows for each share, or for the mean, with a row for each group."""

from __future__ import annotations

from dataclasses import dataclass

from deniable_server.pages.chart import SHARES, Mark, mark
from deniable_server.pages.figures import Figure, Unit, of_difference, of_mean, of_share
from deniable_server.researchers.groups import GroupedQuestion
from deniable_server.researchers.question_cards import axis_of


@dataclass(frozen=True)
class GroupRow:
    """One group. figure, mark: None without an estimate; difference: from the reference, None if it is unknown."""

    group: str
    mark: Mark | None
    figure: Figure | None
    n: int
    difference: Figure | None


@dataclass(frozen=True)
class GroupBlock:
    """The rows of one share, or of the mean. name: empty for a mean."""

    name: str
    rows: tuple[GroupRow, ...]


def share_blocks(question: GroupedQuestion) -> list[GroupBlock]:
    """Returns a block for each share of the page that a group has an estimate of."""
    blocks = []
    for share in question.shares:
        rows = []
        for group, row in share.rows.items():
            figure, difference = of_share(row), question.differences.of(group, share.option)
            distance = of_difference(difference, Unit.POINTS) if difference else None
            rows.append(GroupRow(group, mark(SHARES, figure), figure, row.n, distance))
        blocks.append(GroupBlock(share.name, tuple(rows)))
    return _with_estimates(blocks)


def mean_blocks(question: GroupedQuestion) -> list[GroupBlock]:
    """Returns the block of the mean, or no block without estimates of it."""
    axis, mean = axis_of(question.question), question.mean
    if axis is None or mean is None:
        return []
    rows = []
    for group, row in mean.rows.items():
        figure, difference = of_mean(row), question.differences.of(group)
        distance = of_difference(difference, Unit.SCORE_DIFFERENCE) if difference else None
        rows.append(GroupRow(group, mark(axis, figure), figure, row.n, distance))
    return _with_estimates([GroupBlock("", tuple(rows))])


def _with_estimates(blocks: list[GroupBlock]) -> list[GroupBlock]:
    return [block for block in blocks if any(row.figure for row in block.rows)]
