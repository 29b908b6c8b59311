"""What the groups page shows of all groups: a block of rows for each share, or for the mean; each row a mark and texts."""

from __future__ import annotations

from typing import NamedTuple

from deniable.estimate import Estimate
from deniable_server.pages import figures
from deniable_server.pages.chart import SHARES, Mark, mark
from deniable_server.researchers import side_by_side
from deniable_server.researchers.groups import ComparedQuestion
from deniable_server.researchers.question_cards import scale_of


class GroupRow(NamedTuple):
    """One group. apart: how far it is from the first one, the interval of that, and whether 0 is outside; None where that is not known."""

    group: str
    mark: Mark | None
    figure: str
    interval: str
    n: str
    apart: tuple[str, str, bool] | None


Block = tuple[str, list[GroupRow]]
"""What the rows are about, empty for a mean, and the rows."""


def share_blocks(one: ComparedQuestion) -> list[Block]:
    """A block for each share that is shown and that something is estimated of."""
    blocks = []
    for label, compared, place in one.shown:
        rows = []
        for group, found in compared.rows.items():
            row = found[place]
            drawn = mark(SHARES, row.estimate, row.low, row.high)
            away = one.apart.of(group, label)
            cells = figures.percent(row.estimate), figures.interval(row.low, row.high), f"{row.n:,}"
            rows.append(GroupRow(group, drawn, *cells, (*side_by_side.difference(away), _without_0(away)) if away else None))
        if any(row.mark for row in rows):
            blocks.append((label, rows))
    return blocks


def mean_blocks(one: ComparedQuestion) -> list[Block]:
    """One block; none where nothing is estimated of a mean."""
    scale, found = scale_of(one.question), one.mean
    if scale is None or found is None:
        return []
    rows = []
    for group, row in found.rows.items():
        figure, low, high = figures.mean(row)
        away = one.apart.of(group)
        cells = figure or "–", f"{low} to {high}" if figure else "–", f"{row.n:,}"
        drawn = mark(scale, row.mean, row.low, row.high)
        rows.append(GroupRow(group, drawn, *cells, (*side_by_side.mean_difference(away), _without_0(away)) if away else None))
    return [("", rows)] if any(row.mark for row in rows) else []


def _without_0(apart: Estimate) -> bool:
    return apart.low > 0 or apart.high < 0
