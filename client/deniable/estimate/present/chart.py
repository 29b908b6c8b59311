"""Charts of estimates with their intervals: a panel for each table."""

from __future__ import annotations

import io
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import altair as alt

from deniable.estimate.present.figures import four_digits, percent
from deniable.estimate.present.table import Table
from deniable.estimate.present.text import one_line

_COLOUR = "#0072b2"
_WIDTH = 420  # pixels, of the scale
_STEP = 28  # pixels an option
_LABEL = 220  # pixels that an option's label may take
_NUMBERS = ("estimate", "low", "high")
_TICKS = [0, 0.25, 0.5, 0.75, 1]


def chart(panels: Sequence[Table], title: str, subtitle: str) -> alt.VConcatChart:
    """Returns a chart with a panel for each table: columns label, estimate, low, high, lowest, highest (the ends of the scale), unit.

    The scale is wider if an unbiased estimate lies outside. unit: "%" for shares of 1, else the unit of the figures.
    """
    heading, words = alt.Title(title, subtitle=subtitle, anchor="start"), in_words(panels, title, subtitle)
    return alt.VConcatChart(vconcat=[_panel(one) for one in panels], title=heading, description=words, spacing=24)


def save(panels: Sequence[Table], title: str, subtitle: str, path: Path) -> None:
    """Writes the chart as SVG, with its description for screen readers, or as PNG in double size; no browser is needed."""
    picture = chart(panels, title, subtitle)
    if path.suffix.lower() == ".png":
        picture.save(str(path), scale_factor=2)
        return
    text = io.StringIO()
    picture.save(text, format="svg")
    opening = f'<svg role="img" aria-label="{escape(in_words(panels, title, subtitle), quote=True)}" '
    path.write_text(text.getvalue().replace("<svg ", opening, 1), encoding="utf-8")


def in_words(panels: Sequence[Table], title: str, subtitle: str) -> str:
    """Returns the content of the chart in words, for people who cannot see it."""
    sentences = [_sentence(one.title, row) for one in panels for row in one.dicts()]
    return " ".join([f"Estimates with intervals. {title}: {subtitle}.", *sentences])


def _sentence(name: str, row: dict[str, Any]) -> str:
    estimate, low, high = (percent(row[key]) if row["unit"] == "%" else four_digits(row[key]) for key in _NUMBERS)
    scale = "" if row["unit"] == "%" else f" on a scale of {row['lowest']:,g} to {row['highest']:,g}"
    return f"{one_line(name)}, {one_line(row['label'])}: {estimate}{scale}, interval {low} to {high}."


def _panel(table: Table) -> alt.LayerChart:
    rows = table.dicts()
    shares = rows[0]["unit"] == "%"
    ends = [min(row["lowest"] for row in rows), max(row["highest"] for row in rows)]
    scale = alt.Scale(domain=[min(ends[0], *(r["estimate"] for r in rows)), max(ends[1], *(r["estimate"] for r in rows))], nice=False)
    values = [{**row, "label": one_line(row["label"]), "words": _sentence(table.title, row)} for row in rows]
    y = alt.Y("label:N", sort=[value["label"] for value in values], title=None, axis=alt.Axis(labelLimit=_LABEL))
    form = ".1%" if shares else ",.4~g"
    tooltip = [alt.Tooltip("label:N"), *(alt.Tooltip(f"{name}:Q", format=form) for name in _NUMBERS)]
    base = alt.Chart({"values": values}).encode(y=y, tooltip=tooltip)
    axis = alt.Axis(format="%", values=_TICKS) if shares else alt.Axis(format=",~g", tickCount=5)
    along = alt.X("low:Q", scale=scale, title=None, axis=axis)
    # only the points speak to a screen reader, so that each option is read once
    intervals = base.mark_rule(color=_COLOUR, strokeWidth=2, aria=False).encode(x=along, x2="high:Q")
    tick = base.mark_tick(color=_COLOUR, opacity=1, size=10, thickness=2, aria=False)
    caps = [tick.encode(x=alt.X(f"{end}:Q", scale=scale)) for end in ("low", "high")]
    points = base.mark_point(color=_COLOUR, filled=True, opacity=1, size=70).encode(
        x=alt.X("estimate:Q", scale=scale), description=alt.Description("words:N")
    )
    title = alt.Title(one_line(table.title), subtitle=list(table.notes), anchor="start", frame="group", fontWeight="normal")
    return alt.LayerChart(layer=[intervals, *caps, points], width=_WIDTH, height=alt.Step(_STEP), title=title)
