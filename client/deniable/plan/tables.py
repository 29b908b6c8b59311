"""A plan as tables that a stranger understands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.estimate.present.figures import between
from deniable.estimate.present.table import Table

if TYPE_CHECKING:
    from deniable.plan.survey import Plan, QuestionPlan


def tables_of(plan: Plan) -> tuple[Table, ...]:
    """Who is asked, how well answers will be hidden, how precise each figure will be, what will show, and what the columns mean."""
    head = Table(f"{plan.title} ({plan.survey})", (), (), about=_about(plan))
    return head, _protection(plan), _precision(plan), _other_figures(plan), _what_shows(plan), _legend(plan)


def _about(plan: Plan) -> tuple[str, ...]:
    asked = f"{plan.n:,} respondents"
    if plan.half_width is not None:
        asked = f"ask {plan.n:,} people for ± {points(plan.half_width)} points in every question"
    return (
        f"{asked} · {100 * plan.confidence:g} % confidence · epsilon {plan.epsilon:.4g} for the whole survey",
        f"Whoever is 50 % sure of something about a person can be {100 * plan.belief:.11g}% sure at most "
        "after seeing all that the server has.",
    )


def _protection(plan: Plan) -> Table:
    head = ("question", "part", "recorded, if given", "recorded, if not")
    rows = ((r.question, f"{r.part:.1%}", f"{r.own:,} of {r.people:,}", f"{r.other:,} of {r.people:,}") for r in plan.rows)
    return Table("How well an answer will be hidden, in people", head, tuple(rows))


def _precision(plan: Plan) -> Table:
    head = (
        "question",
        "options",
        "epsilon",
        "respondents",
        "private",
        "no privacy",
        "curator",
        "same without privacy",
        "same with a curator",
    )
    return Table("How precise a share will be, in percentage points", head, tuple(map(_precision_cells, plan.rows)))


def _precision_cells(row: QuestionPlan) -> tuple[str, ...]:
    widths = (row.half_width, row.half_width_no_privacy, row.half_width_curator)
    people = (row.respondents_no_privacy, row.respondents_curator)
    return (
        row.question,
        str(row.options),
        f"{row.epsilon:.4g}",
        f"{row.respondents:,}",
        *(f"± {points(width)}" for width in widths),
        *(f"{count:,}" for count in people),
    )


def _other_figures(plan: Plan) -> Table:
    head = ("question", "mean", "on the scale", "difference", "cell")
    return Table("How precise other figures will be", head, tuple(map(_other_cells, plan.rows)))


def _other_cells(row: QuestionPlan) -> tuple[str, ...]:
    mean = scale = ""
    if row.mean_half_width is not None and row.scale_low is not None and row.scale_high is not None:
        mean, scale = f"± {row.mean_half_width:.2g}", between(row.scale_low, row.scale_high)
    cell = "none" if row.cell_half_width is None else f"± {points(row.cell_half_width)} points"
    return row.question, mean, scale, f"± {points(row.difference_half_width)} points", cell


def _what_shows(plan: Plan) -> Table:
    head = ("question", "smallest share", "smallest difference", "smallest group", f"{100 * plan.rare:g} % shown below 0")
    return Table("What will show", head, tuple(map(_shown_cells, plan.rows)))


def _shown_cells(row: QuestionPlan) -> tuple[str, ...]:
    difference = "none" if row.smallest_difference is None else f"{points(row.smallest_difference)} points"
    return (row.question, _percent(row.smallest_share), difference, f"{row.smallest_group:,}", _percent(row.chance_negative))


def _legend(plan: Plan) -> Table:
    lines = {
        "part": "of the survey's epsilon that the question takes",
        "recorded, if given": "so many of the people who give an answer have it in their record",
        "recorded, if not": "so many of the people who give another answer have that one in their record",
        "private": "half the width of the interval of one option's share, at the share where it is widest or the one you gave",
        "no privacy": "the same people asked openly",
        "curator": "the same people, trusting one party who adds Laplace noise of scale 1/epsilon to each published count",
        "same …": "so many people would be enough for the same precision without privacy, or with a curator",
        "mean": "half the width of the interval of a number's or a scale's mean, in its own unit, at the answers that make it widest",
        "difference": "the same for the difference of one option's shares in two groups, half of the respondents each",
        "cell": "the same for a cell of the cross table with another question that is as private",
        "smallest share": "found to be above 0 in 80 % of surveys (one-sided test, 5 %)",
        "smallest difference": "of two groups, half of the respondents each, found in 80 % of surveys (two-sided test, 5 %)",
        "smallest group": f"people in a subgroup for an estimate of ± {points(plan.group_half_width)} points",
        f"{100 * plan.rare:g} % shown below 0": f"how often the estimate is negative by chance where {100 * plan.rare:g} % hold an option",
    }
    return Table("", ("column", "what it says"), tuple(lines.items()), texts=2)


def points(share: float) -> str:
    """A share in percentage points, with one decimal, or with two digits where it is small."""
    points = 100 * share
    return f"{points:.1f}" if points >= 0.95 else f"{points:.2g}"


def _percent(share: float | None) -> str:
    if share is None:
        return "none"
    return f"{100 * share:.1f} %" if share >= 0.0005 or share == 0 else "< 0.1 %"
