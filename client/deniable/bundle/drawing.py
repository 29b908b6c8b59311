"""Chart of a question's estimates with their intervals (SVG), drawn from the panels of `Results` without other packages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from typing import Any

from deniable.estimate.present.figures import fixed, four_digits
from deniable.estimate.present.table import Table
from deniable.estimate.present.text import one_line

_LABELS, _SCALE, _FIGURES = 240, 380, 190  # pixels across: the labels, the scale, the figures
_TOP, _ROW, _AXIS, _GAP = 34, 28, 26, 18  # pixels down: a panel's title, an option, the scale's numbers, between panels
_EDGE = 12
_LONGEST = 34  # characters of a label
WIDTH = _LABELS + _SCALE + _FIGURES
_INK, _QUIET, _LINE, _MARK = "#1b1b1b", "#595959", "#d0d0d0", "#0072b2"


def svg(panels: Sequence[Table], title: str) -> str:
    """Returns a chart on white, in system fonts. Its label has the figures in words, for screen readers."""
    groups, height = [], 0.0
    for panel in panels:
        groups.append(f'<g transform="translate(0 {height:g})">{_panel(panel)}</g>')
        height += _TOP + _ROW * len(panel.rows) + _AXIS + _GAP
    words = escape(" ".join([f"{one_line(title)}.", *(_sentence(row) for panel in panels for row in panel.dicts())]), quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}" role="img" '
        f'aria-label="{words}" font-family="system-ui, sans-serif" font-size="13" fill="{_INK}">'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(groups)}</svg>\n'
    )


def split(panels: Sequence[Table], most: int) -> list[list[Table]]:
    """Returns the panels as charts of at most so many rows each."""
    charts: list[list[Table]] = []
    room = 0
    for panel in panels:
        for start in range(0, len(panel.rows), most):
            piece = replace(panel, rows=panel.rows[start : start + most])
            if not charts or len(piece.rows) > room:
                charts.append([])
                room = most
            charts[-1].append(piece)
            room -= len(piece.rows) + 2  # the panel's title and scale take the place of rows
    return charts


def _panel(panel: Table) -> str:
    rows = panel.dicts()
    low = min(*(row["lowest"] for row in rows), *(row["estimate"] for row in rows))
    high = max(*(row["highest"] for row in rows), *(row["estimate"] for row in rows))

    def x(value: float) -> str:
        clipped = min(max(value, low), high)
        return f"{_LABELS + _EDGE + (_SCALE - 2 * _EDGE) * (clipped - low) / (high - low):.2f}"

    foot = _TOP + _ROW * len(rows)
    ticks = [rows[0]["lowest"] + (rows[0]["highest"] - rows[0]["lowest"]) * quarter / 4 for quarter in range(5)]
    grid = [f'<line x1="{x(tick)}" x2="{x(tick)}" y1="{_TOP - 4}" y2="{foot}" stroke="{_LINE}"/>' for tick in ticks]
    axis = [
        f'<text x="{x(tick)}" y="{foot + 16}" text-anchor="middle" fill="{_QUIET}" font-size="11">'
        f"{_figure(tick, rows[0]['unit'], 0)}</text>"
        for tick in ticks
    ]
    heading = f'<text x="0" y="18" font-weight="600">{_safe(panel.title, 90)}</text>'
    return "".join([heading, *grid, *axis, *(_row(row, _TOP + _ROW * (i + 0.5), x) for i, row in enumerate(rows))])


def _row(row: dict[str, Any], y: float, x: Callable[[float], str]) -> str:
    low, high, middle = x(row["low"]), x(row["high"]), x(row["estimate"])
    ends = "".join(f'<line x1="{end}" x2="{end}" y1="{y - 5:g}" y2="{y + 5:g}" stroke="{_MARK}" stroke-width="2"/>' for end in (low, high))
    return (
        f'<text x="{_LABELS - 8}" y="{y + 4:g}" text-anchor="end">{_safe(row["label"], _LONGEST)}</text>'
        f'<line x1="{low}" x2="{high}" y1="{y:g}" y2="{y:g}" stroke="{_MARK}" stroke-width="2"/>{ends}'
        f'<circle cx="{middle}" cy="{y:g}" r="5" fill="{_MARK}"/>'
        f'<text x="{_LABELS + _SCALE + 8}" y="{y + 4:g}" fill="{_QUIET}">{_estimate(row)}</text>'
    )


def _estimate(row: dict[str, Any]) -> str:
    estimate, low, high = (_figure(row[name], row["unit"], 1) for name in ("estimate", "low", "high"))
    return f"{estimate} ({low} to {high})"


def _figure(value: float, unit: str, places: int) -> str:
    return f"{fixed(100 * value, places)}%" if unit == "%" else four_digits(value)


def _sentence(row: dict[str, Any]) -> str:
    return f"{one_line(row['label'])}: {_estimate(row)}."


def _safe(text: str, most: int) -> str:
    line = one_line(text)
    return escape(line if len(line) <= most else f"{line[: most - 1]}…", quote=False)
