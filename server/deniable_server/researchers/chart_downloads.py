"""Chart downloads: SVG charts of a question by group, or in two waves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from flask import Response

from deniable.bundle import drawing
from deniable.errors import EstimateError
from deniable.estimate import MeanRow, Row
from deniable.estimate.present.table import Table
from deniable.estimate.tables import Waves
from deniable.estimate.tables.question_results import PANEL
from deniable.survey.question import Question
from deniable_server.researchers.groups import GroupedQuestion

EMPTY_CHART = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="40"><text x="10" y="25" font-family="system-ui, sans-serif">'
    "This question has no estimates yet.</text></svg>"
)

Panels = Mapping[str, Mapping[str, Row | MeanRow]]
"""The rows of each panel of a chart, by the panel's name and the row's label."""


def reply(svg: str, name: str) -> Response:
    """Returns a chart as a file; for an empty text, a chart that says that there are no estimates."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.svg"'}
    return Response(svg or EMPTY_CHART, mimetype="image/svg+xml", headers=headers)


def of_groups(question: GroupedQuestion) -> str:
    """Draws the mean and the shares of a question by group, without the shares of levels. Empty without estimates."""
    panels: dict[str, Mapping[str, Row | MeanRow]] = {"Mean": question.mean.rows} if question.mean else {}
    if not question.levels:
        panels |= {share.name: share.rows for share in question.shares}
    return _svg(question.question, panels)


def of_waves(question: Question, waves: Waves, names: tuple[str, str]) -> str:
    """Draws a question in two surveys of these names. Empty without estimates, and if the surveys do not share the question."""
    labels = {item.id: label for item, label in zip(question.items, question.labels or ("",), strict=True)}
    panels: dict[str, Mapping[str, Row | MeanRow]] = {}
    for change in waves.changes:
        if change.question not in labels or (question.rounds and change.option):
            continue
        name = labels[change.question] or change.option or "Mean"
        panels.setdefault(name, dict(zip(names, (change.first, change.second), strict=True)))  # a label's first change: who chose it
    return _svg(question, panels)


def _svg(question: Question, panels: Panels) -> str:
    tables = [Table(name, PANEL, cells) for name, rows in panels.items() if (cells := tuple(_cells(rows.items())))]
    try:
        return drawing.svg(tables, question.text) if tables else ""
    except EstimateError:
        return ""


def _cells(rows: Iterable[tuple[str, Row | MeanRow]]) -> Iterator[tuple[object, ...]]:
    for label, row in rows:
        if isinstance(row, MeanRow):
            if row.mean is not None:
                yield label, row.mean, row.low, row.high, row.scale_low, row.scale_high, ""
        elif row.estimate is not None:
            yield label, row.estimate, row.low, row.high, 0.0, 1.0, "%"
