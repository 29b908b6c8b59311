"""Chart of a plan: precision against respondents, for the coins, no privacy and a trusted curator."""

from __future__ import annotations

from typing import Any

import altair as alt

from deniable.estimate.present.table import Table

_COLOURS = {"private": "#0072b2", "trusted curator": "#d55e00", "no privacy": "#555555"}  # distinct for colour-blind people too
_DASHES = {"private": [1, 0], "trusted curator": [6, 3], "no privacy": [2, 2]}


def chart(table: Table, planned: int) -> alt.LayerChart:
    """Returns the lines of a table with the columns design, n and points, both axes logarithmic, with a rule at the planned n.

    The table's title is the chart's, its first line below the title the subtitle, the second the meaning of the points, and its note the
    rule's label.
    """
    subtitle, unit = table.about
    x = alt.X("n:Q", scale=alt.Scale(type="log", nice=False), title="respondents", axis=alt.Axis(format=",d", tickCount=6))
    y = alt.Y("points:Q", scale=alt.Scale(type="log"), title=unit)
    design: dict[str, Any] = {"domain": list(_COLOURS)}
    colour = alt.Color("design:N", scale=alt.Scale(**design, range=list(_COLOURS.values())), title=None)
    dash = alt.StrokeDash("design:N", scale=alt.Scale(**design, range=list(_DASHES.values())), title=None)
    lines = alt.Chart({"values": table.dicts()}).mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, strokeDash=dash)
    marked = {"values": [{"n": planned, "text": table.notes[0]}]}
    rule = alt.Chart(marked).mark_rule(color="#999999").encode(x="n:Q")
    label = alt.Chart(marked).mark_text(align="left", dx=5, baseline="top").encode(x="n:Q", y=alt.value(5), text="text:N")
    return alt.LayerChart(layer=[lines, rule, label], width=520, height=320, title=alt.Title(table.title, subtitle=subtitle))
