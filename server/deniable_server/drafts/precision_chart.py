"""Chart of precision against the number of respondents: a line for each level of protection, on logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from deniable.plan.levels import PrecisionCurve

SIZES = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
"""The numbers of respondents of the chart and its table."""

HEIGHT = 300  # pixels; horizontal positions are in percent, so that a chart fits every width
_LEFT, _RIGHT = 13.0, 98.0
_TOP, _BOTTOM = 14, HEIGHT - 44
_LEAST, _MOST = 0.005, 0.5  # half-widths at the ends of the axis
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_LABEL = 18  # pixels between the labels of two lines, at least


@dataclass(frozen=True)
class Tick:
    """A tick of an axis: its position, in percent or pixels, and its label."""

    at: float
    label: str


@dataclass(frozen=True)
class Line:
    """A line of the chart.

    Attributes:
        level: The level of protection.
        segments: Its parts: x and y of both ends.
        y: The position of its label, at the right end.
    """

    level: str
    segments: tuple[tuple[float, float, float, float], ...]
    y: float


@dataclass(frozen=True)
class PrecisionChart:
    """Lines, ticks, and the planned number of respondents as a position on the axis, or None beyond it."""

    lines: tuple[Line, ...]
    sizes: tuple[Tick, ...]
    widths: tuple[Tick, ...]
    planned: float | None
    height: int = HEIGHT
    left: float = _LEFT
    right: float = _RIGHT
    top: int = _TOP
    bottom: int = _BOTTOM


def precision_chart(curves: Sequence[PrecisionCurve], n: int) -> PrecisionChart:
    """Returns the chart of some curves, the least precise first, with a mark at the planned number of respondents."""
    lines: list[Line] = []
    for curve in curves:
        places = [(_x(size), _y(width)) for size, width in curve.points]
        y = places[-1][1] - 8
        lines.append(
            Line(curve.level, tuple((*one, *other) for one, other in pairwise(places)), max(y, lines[-1].y + _LABEL) if lines else y)
        )
    return PrecisionChart(
        lines=tuple(lines),
        sizes=tuple(Tick(_x(size), f"{size:,}") for size in SIZES if str(size)[0] == "1"),
        widths=tuple(Tick(_y(width), f"±\N{NO-BREAK SPACE}{100 * width:g}") for width in _TICKS),
        planned=_x(n) if SIZES[0] <= n <= SIZES[-1] else None,
    )


def _x(size: float) -> float:
    share = math.log(size / SIZES[0]) / math.log(SIZES[-1] / SIZES[0])
    return round(_LEFT + share * (_RIGHT - _LEFT), 2)


def _y(width: float) -> float:
    share = math.log(_MOST / min(_MOST, max(_LEAST, width))) / math.log(_MOST / _LEAST)
    return round(_TOP + share * (_BOTTOM - _TOP), 1)
