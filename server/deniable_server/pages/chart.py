"""Chart geometry: positions of marks, bars and ticks in percent of a chart's width, or in pixels of its height. Templates draw them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from deniable.estimate import Row
from deniable.plan.progress import Progress
from deniable_server.pages.figures import Figure, of_share

EDGE = 6.0
"""Margin on either side of the axis, in percent of the width: room for the arrow of an estimate beyond the axis."""

HEIGHT = 120
"""Height of a histogram in pixels."""

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_CHARACTERS = 36  # of small type, across a phone
_SIDE = 18  # percent of the width at either end, where a figure is aligned inwards: half of 929,709 on a phone
_FIGURED = 4  # bars that have room for a figure each, on a phone
_FORECAST = 3  # times the days so far that a forecast may take in the chart
_TALL = 20  # times the records so far that a target may be in the chart
_TICKS = 5  # steps between the ticks of an axis, at most


@dataclass(frozen=True)
class ChartAxis:
    """The range of an axis: shares from 0 to 1, or the scores of a question. high is above low."""

    low: float
    high: float

    def position(self, value: float) -> float:
        """Returns the position of a value, or of the nearer end for a value beyond the axis."""
        inside = min(self.high, max(self.low, value))
        return round(EDGE + (100 - 2 * EDGE) * (inside - self.low) / (self.high - self.low), 2)

    def side_beyond(self, value: float) -> str:
        """Returns `below` or `above` for a value beyond the axis, else an empty text."""
        return "below" if value < self.low else "above" if value > self.high else ""

    @property
    def ticks(self) -> tuple[tuple[float, float], ...]:
        """(position, value) of both ends, and of round values between them if their labels fit on a phone."""
        raw = (self.high - self.low) / _TICKS
        unit = 10.0 ** math.floor(math.log10(raw))
        step = next(unit * step for step in _STEPS if unit * step >= raw * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        room = step / 2  # the label of a round value nearer to an end would overlap the end's
        values = [value for n in range(first, last + 1) if self.low + room <= (value := n * step) <= self.high - room]
        longest = max(len(f"{round(value, 9):,}".removesuffix(".0")) for value in (self.low, *values, self.high))
        between = values if (len(values) + 2) * (longest + 2) <= _CHARACTERS else []
        return tuple((self.position(value), round(value, 9)) for value in (self.low, *between, self.high))


SHARES = ChartAxis(0.0, 1.0)
SHARE_TICKS = tuple((SHARES.position(percent / 100), percent) for percent in range(0, 101, 25))


@dataclass(frozen=True)
class Mark:
    """The positions of an estimate and its interval.

    Attributes:
        estimate: The position of the estimate.
        low: The position of the lower limit.
        high: The position of the upper limit.
        beyond: `below` or `above` if the estimate is beyond the axis: an arrow at that edge shows it.
        anchor: How the figure is aligned with the estimate, as SVG's text-anchor.
        is_low_cut: Whether the lower limit is beyond the axis.
        is_high_cut: Whether the upper limit is beyond the axis.
        recorded: The position of the share of records that name the option; None for a mean.
        chance: The position of the share that chance alone would record; None for a mean.
    """

    estimate: float
    low: float
    high: float
    beyond: str
    anchor: str
    is_low_cut: bool = False
    is_high_cut: bool = False
    recorded: float | None = None
    chance: float | None = None


def mark(axis: ChartAxis, figure: Figure | None) -> Mark | None:
    """Returns the mark of a figure, or None without a figure."""
    if figure is None:
        return None
    beyond = axis.side_beyond(figure.value)
    at = {"below": 0.0, "above": 100.0}.get(beyond, axis.position(figure.value))
    anchor = "start" if at < _SIDE else "end" if at > 100 - _SIDE else "middle"
    cut = axis.side_beyond(figure.low) != "", axis.side_beyond(figure.high) != ""
    return Mark(at, axis.position(figure.low), axis.position(figure.high), beyond, anchor, *cut)


def share_mark(row: Row) -> Mark | None:
    """Returns the mark of an option, with its recorded share and its chance rate, or None without an estimate."""
    estimate = mark(SHARES, of_share(row))
    if estimate is None:
        return None
    return replace(estimate, recorded=SHARES.position(row.ones / row.n), chance=SHARES.position(row.chance_rate))


@dataclass(frozen=True)
class Growth:
    """A chart of the number of records over time, as lines in a box of 100 x HEIGHT.

    Attributes:
        line: The points of the number of records, `x,y x,y`, from the first day to today. It rises within spans of days that a store
            reports together, so it shows no day more finely than these.
        forecast: The points from today to the day on which the target is reached at the current rate; empty without one in the chart.
        target: The height of the target, or None if it is out of the chart.
        today: The position of today.
        first: The first day.
        last: The last day of the chart.
        most: The number of records at the top.
    """

    line: str
    forecast: str
    target: float | None
    today: float
    first: str
    last: str
    most: int


def growth(progress: Progress) -> Growth | None:
    """Returns the chart from the first day with counted records to today, or to the forecast; None without counted records."""
    if not progress.growth:
        return None
    first, today = _ordinal(progress.growth[0][0]), _ordinal(progress.day) + 1
    reached = _ordinal(progress.reached_on) if progress.reached_on else today
    last = reached if today < reached <= today + _FORECAST * (today - first) else today
    near = progress.needed if progress.needed is not None and progress.needed <= _TALL * max(progress.n, 1) else None
    top = max(progress.n, near or 0, 1)

    def point(day: float, n: float) -> str:
        return f"{100 * (day - first) / (last - first):.2f},{HEIGHT * (1 - n / top):.1f}"

    total, points = 0, []
    for since, until, n in progress.growth:
        points += [point(_ordinal(since), total), point(_ordinal(until) + 1, total + n)]
        total += n
    points.append(point(today, progress.n))
    forecast = f"{point(today, progress.n)} {point(last, near)}" if near and last > today else ""
    target = None if near is None else round(HEIGHT * (1 - near / top), 1)
    end = date.fromordinal(last if forecast else last - 1).isoformat()
    return Growth(" ".join(points), forecast, target, round(100 * (today - first) / (last - first), 2), progress.growth[0][0], end, top)


def _ordinal(day: str) -> int:
    return date.fromisoformat(day).toordinal()


@dataclass(frozen=True)
class Bar:
    """A level of a histogram: middle, left and width in percent; top, height and the limits of its interval in pixels."""

    row: Row
    middle: float
    left: float
    width: float
    top: float
    height: float
    low: float
    high: float


@dataclass(frozen=True)
class Histogram:
    """The levels of a number side by side.

    Attributes:
        bars: The bars; estimates below 0 hang from the base line.
        zero: The base line, in pixels from the top.
        label_every: Only every such bar has a label, so that labels do not overlap.
        has_figures: Whether each bar has room for its figure.
    """

    bars: tuple[Bar, ...]
    zero: float
    label_every: int
    has_figures: bool


def histogram(rows: Sequence[Row]) -> Histogram | None:
    """Returns the histogram of evenly spaced levels, or None if a level has no estimate."""
    levels = [(row, figure) for row in rows if (figure := of_share(row))]
    if not levels or len(levels) < len(rows):
        return None
    ends = [end for _, figure in levels for end in (figure.value, figure.low, figure.high)]
    top, bottom = max(0.01, *ends), min(0.0, *ends)

    def y(share: float) -> float:
        return round(HEIGHT * (top - share) / (top - bottom), 1)

    step = (100 - 2 * EDGE) / len(rows)
    width = round(0.8 * step, 2)
    bars = []
    for index, (row, figure) in enumerate(levels):
        middle, over, under = EDGE + step * (index + 0.5), y(max(0.0, figure.value)), y(min(0.0, figure.value))
        left = round(middle - width / 2, 2)
        bars.append(Bar(row, round(middle, 2), left, width, over, round(under - over, 1), y(figure.low), y(figure.high)))
    labels = max(1, _CHARACTERS // (max(len(row.option) for row in rows) + 2))
    return Histogram(tuple(bars), y(0.0), math.ceil(len(rows) / labels), len(rows) <= _FIGURED)
