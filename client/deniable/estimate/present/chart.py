"""Results as a picture: estimates with their intervals, a panel a question."""

from __future__ import annotations

import io
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import altair as alt

from deniable.errors import EstimateError
from deniable.estimate.tables.results import one_line

if TYPE_CHECKING:
    from deniable.estimate.tables.results import Results, Row

_COLOUR = "#0072b2"
_WIDTH = 420  # pixels, of the scale
_STEP = 28  # pixels an option
_LABEL = 220  # pixels that an option's label may take
_NUMBERS = ("estimate", "low", "high")
_TICKS = [0, 0.25, 0.5, 0.75, 1]


def chart(results: Results, question: str | None) -> alt.VConcatChart:
    """One panel a question on a scale of 0 to 100 %, wider where an unbiased estimate lies outside. Raises EstimateError."""
    asked = list(dict.fromkeys(row.question for row in results.rows))
    if question is not None and question not in asked:
        raise EstimateError(f"the question must be one of {', '.join(asked[:8])}, got {question!r}")
    panels = [
        _panel(rows)
        for name in asked
        if question in (None, name) and (rows := [row for row in results.rows if row.question == name and row.estimate is not None])
    ]
    if not panels:
        raise EstimateError("a chart needs at least 1 estimate, got 0")
    title = alt.Title(one_line(results.title), subtitle=results.caption, anchor="start")
    return alt.VConcatChart(vconcat=panels, title=title, description=in_words(results, question), spacing=24)


def save(results: Results, path: Path, question: str | None) -> None:
    """Writes the chart as SVG, with its description for screen readers, or as PNG in double size; no browser is needed."""
    drawn = chart(results, question)
    if path.suffix.lower() == ".png":
        drawn.save(str(path), scale_factor=2)
        return
    text = io.StringIO()
    drawn.save(text, format="svg")
    described = f'<svg role="img" aria-label="{escape(in_words(results, question), quote=True)}" '
    path.write_text(text.getvalue().replace("<svg ", described, 1), encoding="utf-8")


def in_words(results: Results, question: str | None) -> str:
    """What the chart shows, for people who cannot see it."""
    shown = [row for row in results.rows if question in (None, row.question) and row.estimate is not None]
    return " ".join([f"Estimated shares with intervals. {one_line(results.title)}: {results.caption}.", *map(_sentence, shown)])


def _sentence(row: Row) -> str:
    estimate, low, high = (f"{100 * (value or 0.0):.1f} %" for value in (row.estimate, row.low, row.high))
    return f"{one_line(row.question)}, {one_line(row.option)}: {estimate}, interval {low} to {high}."


def _panel(rows: Sequence[Row]) -> alt.LayerChart:
    shares = [row.estimate or 0.0 for row in rows]
    scale = alt.Scale(domain=[min(0.0, *shares), max(1.0, *shares)], nice=False)
    options = [one_line(row.option) for row in rows]
    values = [
        {"option": o, "words": _sentence(row), **{end: getattr(row, end) for end in _NUMBERS}} for o, row in zip(options, rows, strict=True)
    ]
    y = alt.Y("option:N", sort=options, title=None, axis=alt.Axis(labelLimit=_LABEL))
    tooltip = [alt.Tooltip("option:N"), *(alt.Tooltip(f"{name}:Q", format=".1%") for name in _NUMBERS)]
    base = alt.Chart({"values": values}).encode(y=y, tooltip=tooltip)
    along = alt.X("low:Q", scale=scale, title=None, axis=alt.Axis(format="%", values=_TICKS))
    # only the points speak to a screen reader, so that each option is told once
    intervals = base.mark_rule(color=_COLOUR, strokeWidth=2, aria=False).encode(x=along, x2="high:Q")
    tick = base.mark_tick(color=_COLOUR, opacity=1, size=10, thickness=2, aria=False)
    ends = [tick.encode(x=alt.X(f"{end}:Q", scale=scale)) for end in ("low", "high")]
    points = base.mark_point(color=_COLOUR, filled=True, opacity=1, size=70).encode(
        x=alt.X("estimate:Q", scale=scale), description=alt.Description("words:N")
    )
    title = alt.Title(one_line(rows[0].question), anchor="start", frame="group", fontWeight="normal")
    return alt.LayerChart(layer=[intervals, *ends, points], width=_WIDTH, height=alt.Step(_STEP), title=title)
