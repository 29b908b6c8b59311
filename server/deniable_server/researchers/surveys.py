"""For researchers: their surveys, the estimates and downloads."""

from __future__ import annotations

from dataclasses import replace

from flask import Response, abort, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from deniable.estimate import Row
from deniable_server.context import current_store
from deniable_server.researchers.chart import Chart, chart
from deniable_server.researchers.forms import ActionForm
from deniable_server.researchers.results import Compared, counted, groups_of, results_of
from deniable_server.store.protocol import by_hand, estimated
from deniable_server.web.audience import Audience, Routes

bp = Routes("researchers", __name__, Audience(login=True, forms=True, csrf=True, translated=False))
Page = str | AnyResponse | tuple[str, int]


@bp.get("/manage")
def surveys() -> Page:
    store = current_store()
    counts = []
    for published in store.surveys.all():
        parts = store.submissions.counts(published.survey.id)
        counts.append((published, counted(parts, estimated(published.survey)), counted(parts, by_hand(published.survey))))
    return render_template("researchers/surveys.html", counts=counts, form=ActionForm())


@bp.get("/manage/surveys/<survey_id>")
def survey(survey_id: str) -> Page:
    store, published = current_store(), current_store().surveys.published(survey_id)
    results = results_of(store, survey_id, request.args)
    questions = [(item, [row for row in results.rows if row.question == item.id]) for item in published.survey.items]
    parts = store.submissions.counts(survey_id)
    sizes = {group: counted(parts, estimated(published.survey, group)) for group in published.survey.groups}
    shown = {"published": published, "results": results, "questions": questions, "means": {row.question: row for row in results.means}}
    return render_template("researchers/results.html", **shown, sizes=sizes, chart=chart, form=ActionForm())


@bp.get("/manage/surveys/<survey_id>/groups")
def groups(survey_id: str) -> Page:
    """All groups side by side, and two of them compared."""
    published = current_store().surveys.published(survey_id)
    if not published.survey.groups:
        abort(404, "this survey has no groups")
    compared = groups_of(current_store(), survey_id, request.args)
    return render_template("researchers/groups.html", published=published, compared=compared, chart_of=_chart_of, form=ActionForm())


@bp.get("/manage/surveys/<survey_id>/results.<any(csv, json):kind>")
def download(survey_id: str, kind: str) -> Page:
    results = results_of(current_store(), survey_id, request.args)
    part = f"-group-{current_store().surveys.published(survey_id).survey.groups.index(results.group) + 1}" if results.group else ""
    name = f"{survey_id}-results{part}{'-by-hand' if results.by_hand else ''}.{kind}"
    body, mimetype = (results.to_csv(), "text/csv") if kind == "csv" else (results.to_json(), "application/json")
    return Response(body, mimetype=mimetype, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _chart_of(question: Compared, option: int) -> tuple[list[Row], Chart | None]:
    """One option's share in every group: a row for each, labelled by the group, and their chart."""
    rows = [replace(rows[option], option=group) for group, rows in question.rows.items()]
    return rows, chart(rows)
