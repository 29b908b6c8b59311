"""Where the marks of a chart stand, in percent of its width; templates draw them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from deniable.estimate import Row
from deniable.plan.progress import Progress

EDGE = 6.0
"""Percent of the width beside the scale at either end: room for the arrow of an estimate that lies beyond."""

HEIGHT = 120
"""Pixels from the foot of a histogram to its top."""

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_CHARACTERS = 36  # of small type, across a phone
_SIDE = 18  # percent of a scale at either end, where a figure stands inwards: half of 929,709 on a phone
_FIGURED = 4  # bars that have room for a figure each, on a phone
_TICKS = 5  # steps between the ticks of a scale, at most


@dataclass(frozen=True)
class Scale:
    """What can be: shares from 0 to 1, or the scores of a question from its least to its greatest. high is above low."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Where a value stands; one beyond an end stands at the end."""
        inside = min(self.high, max(self.low, value))
        return round(EDGE + (100 - 2 * EDGE) * (inside - self.low) / (self.high - self.low), 2)

    def beyond(self, value: float) -> str:
        """`below` or `above` where a value is not on the scale, else empty."""
        return "below" if value < self.low else "above" if value > self.high else ""

    @property
    def ticks(self) -> tuple[tuple[float, float], ...]:
        """(place, value) of both ends, and of round values between them, as many as can be told apart on a phone."""
        raw = (self.high - self.low) / _TICKS
        unit = 10.0 ** math.floor(math.log10(raw))
        step = next(unit * step for step in _STEPS if unit * step >= raw * (1 - 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        room = step / 2  # a round value nearer than this to an end would be written over it
        values = [value for n in range(first, last + 1) if self.low + room <= (value := n * step) <= self.high - room]
        longest = max(len(f"{round(value, 9):,}".removesuffix(".0")) for value in (self.low, *values, self.high))
        shown = values if (len(values) + 2) * (longest + 2) <= _CHARACTERS else []
        return tuple((self.place(value), round(value, 9)) for value in (self.low, *shown, self.high))


SHARES = Scale(0.0, 1.0)
SHARE_TICKS = tuple((SHARES.place(percent / 100), percent) for percent in range(0, 101, 25))


@dataclass(frozen=True)
class Mark:
    """One estimate and its interval. beyond: `below` or `above` where the estimate is not on the scale: an arrow at that edge says so.

    anchor: how the text of the figure stands to `estimate`. cut_low, cut_high: that end of the interval is beyond the scale, too.
    recorded, chance: the share of records that name the option, and what chance alone would give; None for means.
    """

    estimate: float
    low: float
    high: float
    beyond: str
    anchor: str
    cut_low: bool = False
    cut_high: bool = False
    recorded: float | None = None
    chance: float | None = None


def mark(scale: Scale, estimate: float | None, low: float | None, high: float | None) -> Mark | None:
    """The mark of an estimate on a scale; None where there is no estimate."""
    if estimate is None or low is None or high is None:
        return None
    beyond = scale.beyond(estimate)
    at = {"below": 0.0, "above": 100.0}.get(beyond, scale.place(estimate))
    anchor = "start" if at < _SIDE else "end" if at > 100 - _SIDE else "middle"
    return Mark(at, scale.place(low), scale.place(high), beyond, anchor, scale.beyond(low) != "", scale.beyond(high) != "")


def share_mark(row: Row) -> Mark | None:
    """The mark of one option of a question, with what was recorded and what chance alone would record."""
    drawn = mark(SHARES, row.estimate, row.low, row.high)
    if drawn is None:
        return None
    recorded, chance = SHARES.place(row.ones / row.n), SHARES.place(row.chance_rate)
    return Mark(drawn.estimate, drawn.low, drawn.high, drawn.beyond, drawn.anchor, drawn.cut_low, drawn.cut_high, recorded, chance)


@dataclass(frozen=True)
class Step:
    """How the count grew in one span of days: left and width in percent, top and height in pixels. A span's area is its count."""

    left: float
    width: float
    top: float
    height: float


@dataclass(frozen=True)
class Growth:
    """The spans of days side by side, each as wide as its days. most: records a day at the top."""

    steps: tuple[Step, ...]
    most: float


def growth(progress: Progress) -> Growth | None:
    """How a survey's count grew from its first day to today; None where nothing is counted."""
    if not progress.growth:
        return None
    first, whole = _number(progress.growth[0][0]), _number(progress.day)
    days, rates = whole - first + 1, []
    for since, until, n in progress.growth:
        start, length = _number(since) - first, _number(until) - _number(since) + 1
        rates.append((start, length, n / length))
    most = max(rate for _, _, rate in rates)
    room = 100 - 2 * EDGE
    gap = min(0.4, 0.2 * room / days)  # between one day and the next
    steps = []
    for start, length, rate in rates:
        height = round(HEIGHT * rate / most, 1)
        steps.append(Step(round(EDGE + room * start / days, 3), round(room * length / days - gap, 3), round(HEIGHT - height, 1), height))
    return Growth(tuple(steps), most)


def _number(day: str) -> int:
    return date.fromisoformat(day).toordinal()


@dataclass(frozen=True)
class Bar:
    """One level: middle, left and width in percent of the width; top and height of the bar, and the ends of its interval, in pixels."""

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
    """The levels of a number side by side. zero: where the bars stand, in pixels from the top; those of estimates below 0 hang from it.

    labelled: every how many bars one is named, so that the names do not run into each other. figured: whether there is room for the
    figures, too.
    """

    bars: tuple[Bar, ...]
    zero: float
    labelled: int
    figured: bool


def histogram(rows: Sequence[Row]) -> Histogram | None:
    """The bars of levels that are evenly spaced; None where nothing is estimated."""
    known = [(row, row.estimate, row.low, row.high) for row in rows]
    drawn = [(row, estimate, low, high) for row, estimate, low, high in known if None not in (estimate, low, high)]
    if not drawn or len(drawn) < len(rows):
        return None
    ends = [end for _, *three in drawn for end in three if end is not None]
    top, bottom = max(0.01, *ends), min(0.0, *ends)

    def y(share: float) -> float:
        return round(HEIGHT * (top - share) / (top - bottom), 1)

    step = (100 - 2 * EDGE) / len(rows)
    bars = []
    for place, row in enumerate(rows):
        estimate, low, high = row.estimate or 0.0, row.low or 0.0, row.high or 0.0
        middle, over, under = EDGE + step * (place + 0.5), y(max(0.0, estimate)), y(min(0.0, estimate))
        size = round(0.8 * step, 2)
        left = round(middle - size / 2, 2)
        bars.append(Bar(row, round(middle, 2), left, size, over, round(under - over, 1), y(low), y(high)))
    named = max(1, _CHARACTERS // (max(len(row.option) for row in rows) + 2))
    return Histogram(tuple(bars), y(0.0), math.ceil(len(rows) / named), len(rows) <= _FIGURED)
