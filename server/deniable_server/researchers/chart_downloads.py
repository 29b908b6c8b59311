"""The charts of groups and of waves, drawn for a text or a poster: what is counted of a question, and below it whom it is of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from flask import Response

from deniable.bundle import drawing
from deniable.errors import EstimateError
from deniable.estimate import MeanRow, Row
from deniable.estimate.present.table import Table
from deniable.estimate.tables import Waves
from deniable.survey.question import Question
from deniable_server.researchers.groups import ComparedQuestion

NO_PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="40"><text x="10" y="25" font-family="system-ui, sans-serif">'
    "Nothing is estimated of this question yet.</text></svg>"
)
_PANEL = ("label", "estimate", "low", "high", "lowest", "highest", "unit")


def reply(drawn: str, name: str) -> Response:
    """A picture as a file of this name; empty: one that says that there is none."""
    heads = {"Content-Disposition": f'attachment; filename="{name}.svg"'}
    return Response(drawn or NO_PICTURE, mimetype="image/svg+xml", headers=heads)


def of_groups(one: ComparedQuestion) -> str:
    """A question in every group: its mean, and the shares that are shown; empty where nothing is estimated. Levels have no shares here."""
    panels: dict[str, Mapping[str, Row | MeanRow]] = {"Mean": one.mean.rows} if one.mean else {}
    if not one.levels:
        for label, compared, place in one.shown:
            panels[label] = {group: rows[place] for group, rows in compared.rows.items()}
    return _drawn(one.question, panels)


def of_waves(question: Question, waves: Waves, pair: tuple[str, str]) -> str:
    """A question in two surveys, which are called what the pair says; empty where nothing is estimated, or one has it otherwise."""
    chosen = {item.id: label for item, label in zip(question.items, question.labels or ("",), strict=True)}
    panels: dict[str, Mapping[str, Row | MeanRow]] = {}
    for change in waves.changes:
        if change.question not in chosen or (question.rounds and change.option):
            continue
        label = chosen[change.question] or change.option or "Mean"
        panels.setdefault(label, {pair[0]: change.first, pair[1]: change.second})  # of a multiple choice who chose it comes first
    return _drawn(question, panels)


def _drawn(question: Question, panels: Mapping[str, Mapping[str, Row | MeanRow]]) -> str:
    made = [Table(name, _PANEL, rows) for name, found in panels.items() if (rows := tuple(_rows(found.items())))]
    try:
        return drawing.svg(made, question.text) if made else ""
    except EstimateError:
        return ""


def _rows(found: Iterable[tuple[str, Row | MeanRow]]) -> Iterator[tuple[object, ...]]:
    for label, row in found:
        if isinstance(row, MeanRow):
            if row.mean is not None:
                yield label, row.mean, row.low, row.high, row.scale_low, row.scale_high, ""
        elif row.estimate is not None:
            yield label, row.estimate, row.low, row.high, 0.0, 1.0, "%"
