"""Where the marks of a chart of shares stand; a template draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deniable.estimate import Row

MAX_LABEL = 40  # characters that fit over a bar on a phone; the table beside the chart has the whole text


@dataclass(frozen=True)
class Bar:
    """One option: its label, and where its estimate and the ends of its interval stand, in percent of the chart's width."""

    label: str
    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Chart:
    """The bars of one question on a common scale; `ticks` are (position, share), both in percent."""

    bars: tuple[Bar, ...]
    ticks: tuple[tuple[float, int], ...]


def chart(rows: Sequence[Row]) -> Chart | None:
    """A scale from 0 to 100 %, wider where an unbiased estimate lies outside; None where nothing is estimated yet."""
    estimated = [(row.option, row.estimate, row.low, row.high) for row in rows]
    known = [(o, e, low, high) for o, e, low, high in estimated if e is not None and low is not None and high is not None]
    if not known:
        return None
    left = min(0.0, *(estimate for _, estimate, _, _ in known))
    right = max(1.0, *(estimate for _, estimate, _, _ in known))

    def place(share: float) -> float:
        return round(100 * (share - left) / (right - left), 2)

    bars = tuple(Bar(_shortened(option), place(estimate), place(low), place(high)) for option, estimate, low, high in known)
    return Chart(bars, tuple((place(percent / 100), percent) for percent in range(0, 101, 25)))


def _shortened(label: str) -> str:
    line = " ".join(label.split())
    return line if len(line) <= MAX_LABEL else line[: MAX_LABEL - 1].rstrip() + "…"
