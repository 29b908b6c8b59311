"""A plan as a picture: precision against respondents, for the coins, no privacy and a trusted curator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from deniable.plan.precision import NO_PRIVACY, Mechanism, curator, planned_half_width

if TYPE_CHECKING:
    from deniable.plan.survey import Plan, QuestionPlan

_COLOURS = {"private": "#0072b2", "trusted curator": "#d55e00", "no privacy": "#555555"}  # told apart by colour-blind people too
_DASHES = {"private": [1, 0], "trusted curator": [6, 3], "no privacy": [2, 2]}
_POINTS = 24  # along each line
_SPAN = 30  # times fewer and times more respondents than planned


def chart(plan: Plan) -> alt.LayerChart:
    """The least precise question of a plan, both axes logarithmic; a rule marks the planned number of respondents."""
    row = plan.least_precise
    x = alt.X("n:Q", scale=alt.Scale(type="log", nice=False), title="respondents", axis=alt.Axis(format=",d", tickCount=6))
    y = alt.Y("points:Q", scale=alt.Scale(type="log"), title=f"± percentage points ({100 * plan.confidence:g} % confidence)")
    design: dict[str, Any] = {"domain": list(_COLOURS)}
    colour = alt.Color("design:N", scale=alt.Scale(**design, range=list(_COLOURS.values())), title=None)
    dash = alt.StrokeDash("design:N", scale=alt.Scale(**design, range=list(_DASHES.values())), title=None)
    lines = alt.Chart({"values": _values(plan, row)}).mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, strokeDash=dash)
    planned = {"values": [{"n": row.respondents, "text": f"{row.respondents:,} respondents: ± {100 * row.half_width:.2g} points"}]}
    rule = alt.Chart(planned).mark_rule(color="#999999").encode(x="n:Q")
    label = alt.Chart(planned).mark_text(align="left", dx=5, baseline="top").encode(x="n:Q", y=alt.value(5), text="text:N")
    title = alt.Title(f"How precise {row.question} will be", subtitle=f"epsilon {row.epsilon:.4g}, {row.options} options")
    return alt.LayerChart(layer=[lines, rule, label], width=520, height=320, title=title)


def _values(plan: Plan, row: QuestionPlan) -> list[dict[str, Any]]:
    """One point for each design and number of respondents; widths above 100 points are left out."""
    designs = {"private": Mechanism(row.phi, row.theta), "trusted curator": curator(row.epsilon), "no privacy": NO_PRIVACY}
    spread = np.geomspace(max(10, row.respondents / _SPAN), row.respondents * _SPAN, _POINTS)
    numbers = np.unique(np.append(spread.round().astype(int), row.respondents))
    points = []
    for name, design in designs.items():
        for n in numbers.tolist():
            if (width := planned_half_width(design, n, confidence=plan.confidence, share=plan.share)) <= 1:
                points.append({"design": name, "n": n, "points": 100 * width})
    return points
