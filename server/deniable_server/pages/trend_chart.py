"""Line chart of a figure over the waves of a study: horizontal positions in percent, so that it fits every width, vertical in pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from deniable_server.pages.chart import ChartAxis, Mark, mark
from deniable_server.pages.figures import Figure, plain, text

PLOT = 150
"""Height of the area between the lowest and the highest position in pixels."""

_TOP, _BELOW = 20, 40  # pixels above the area, for a figure, and below it, for the labels of the waves
_RIGHT, _INSET = 98.0, 8.0  # percent: the end of the grid, and its distance from the first and the last wave
_CHARACTER = 2.3  # percent of the width that a character of a label takes on a phone
_FIGURED = 4  # waves that have room for a figure each, on a phone
_LABELLED = 12  # the same of their labels
_LONG = 5  # characters of a figure that fits beside the neighbouring figures


@dataclass(frozen=True)
class WavePoint:
    """A wave in the chart: its label, and its mark, or None if it has no estimate.

    Attributes:
        x: The position of the wave in percent.
        y, low, high: The positions of the estimate and its limits in pixels from the top.
        figure: The figure beside the mark; empty without room for it.
    """

    label: str
    x: float
    mark: Mark | None = None
    y: float = 0.0
    low: float = 0.0
    high: float = 0.0
    figure: str = ""


@dataclass(frozen=True)
class TrendChart:
    """A line chart with a point for each wave.

    Attributes:
        points: The waves, in order.
        lines: (x, y, x, y) between neighbouring waves that both have an estimate.
        grid: (y, label) of each grid line.
        left: The start of the grid lines in percent, after their labels.
    """

    points: tuple[WavePoint, ...]
    lines: tuple[tuple[float, float, float, float], ...]
    grid: tuple[tuple[float, str], ...]
    left: float
    right: float = _RIGHT
    top: int = _TOP
    bottom: int = _TOP + PLOT
    height: int = _TOP + PLOT + _BELOW


def trend_chart(
    figures: Sequence[tuple[int, Figure | None]], axis: ChartAxis, ticks: Sequence[tuple[float, float]], unit: str
) -> TrendChart:
    """Returns the chart of a figure in each wave.

    Args:
        figures: The number of each wave, in order, with its figure.
        axis: The axis of the figures.
        ticks: (position, value) of the grid lines, as of `ChartAxis.ticks`.
        unit: The unit of the values.
    """
    grid = tuple((_y(position), f"{plain(value)}{unit}") for position, value in ticks)
    left = round(2 + _CHARACTER * max(len(label) for _, label in grid), 2)
    numbers = [number for number, _ in figures]
    every = math.ceil(len(figures) / _LABELLED)
    labels = [text(figure).value for _, figure in figures]
    is_figured = len(figures) <= (_FIGURED if max(map(len, labels)) <= _LONG else _FIGURED - 1)
    points = []
    for place, (number, figure) in enumerate(figures):
        span = max(1, numbers[-1] - numbers[0])
        x = round(left + _INSET + (_RIGHT - left - 2 * _INSET) * (number - numbers[0]) / span, 2)
        label = "" if place % every else str(number)
        points.append(_point(label, x, mark(axis, figure), labels[place] if is_figured else ""))
    lines = tuple((one.x, one.y, other.x, other.y) for one, other in pairwise(points) if one.mark and other.mark)
    return TrendChart(tuple(points), lines, grid, left)


def _point(label: str, x: float, placed: Mark | None, figure: str) -> WavePoint:
    if placed is None:
        return WavePoint(label, x)
    return WavePoint(label, x, placed, _y(placed.estimate), _y(placed.low), _y(placed.high), figure)


def _y(position: float) -> float:
    """Returns the height of a position on an axis, which is in percent of its length."""
    return round(_TOP + PLOT * (1 - position / 100), 1)
