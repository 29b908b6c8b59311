"""Where the marks of a chart of shares stand; a template draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deniable.estimate import Row

WIDTH = 1000.0


@dataclass(frozen=True)
class Bar:
    """One option: positions from 0 to WIDTH of its estimate and of both ends of its interval."""

    row: Row
    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Chart:
    """The bars of one question on a common scale; `ticks` are (position, percent)."""

    bars: tuple[Bar, ...]
    ticks: tuple[tuple[float, int], ...]


def chart(rows: Sequence[Row]) -> Chart | None:
    """A scale from 0 to 100 %, wider where an unbiased estimate lies outside; None where nothing is estimated yet."""
    known = [(row, row.estimate, row.low, row.high) for row in rows if row.estimate is not None]
    if not known:
        return None
    left = min(0.0, *(estimate for _, estimate, _, _ in known))
    right = max(1.0, *(estimate for _, estimate, _, _ in known))

    def place(share: float | None) -> float:
        return 0.0 if share is None else round(WIDTH * (share - left) / (right - left), 1)

    bars = tuple(Bar(row, place(estimate), place(low), place(high)) for row, estimate, low, high in known)
    return Chart(bars, tuple((place(percent / 100), percent) for percent in range(0, 101, 25)))
