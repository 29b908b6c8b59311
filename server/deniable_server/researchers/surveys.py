"""For researchers: their surveys, the estimates and downloads."""

from __future__ import annotations

from flask import Response, abort, render_template, request

from deniable_server.context import current_store
from deniable_server.researchers import figures
from deniable_server.researchers.cards import cards, scale_of
from deniable_server.researchers.forms import ActionForm
from deniable_server.researchers.groups import groups_of
from deniable_server.researchers.pages import Page, routes
from deniable_server.researchers.results import counted, results_of
from deniable_server.researchers.side_by_side import mean_lines, share_lines
from deniable_server.store.protocol import by_hand, estimated
from deniable_server.store.roles import Role
from deniable_server.web.audience import least, seen_surveys

bp = routes("researchers", __name__)


@bp.get("/manage")
def surveys() -> Page:
    store = current_store()
    counts = []
    for published in seen_surveys():
        parts = store.submissions.counts(published.survey.id)
        counts.append((published, counted(parts, estimated(published.survey)), counted(parts, by_hand(published.survey))))
    return render_template("researchers/surveys.html", counts=counts, form=ActionForm())


@bp.get("/manage/surveys/<survey_id>")
@least(Role.VIEWER)
def survey(survey_id: str) -> Page:
    store, published = current_store(), current_store().surveys.published(survey_id)
    results = results_of(store, survey_id, request.args)
    parts = store.submissions.counts(survey_id)
    sizes = {group: counted(parts, estimated(published.survey, group)) for group in published.survey.groups}
    needed = figures.needed(published.survey, results.rows[0].confidence)
    shown = {"published": published, "results": results, "cards": cards(published.survey, results), "sizes": sizes}
    return render_template("researchers/results.html", **shown, needed=needed, form=ActionForm())


@bp.get("/manage/surveys/<survey_id>/groups")
@least(Role.VIEWER)
def groups(survey_id: str) -> Page:
    """All groups side by side, and two of them compared."""
    published = current_store().surveys.published(survey_id)
    if not published.survey.groups:
        abort(404, "this survey has no groups")
    compared = groups_of(current_store(), survey_id, request.args)
    needed = figures.needed(published.survey, compared.interval.confidence)
    ways = {"scale_of": scale_of, "share_lines": share_lines, "mean_lines": mean_lines}
    return render_template("researchers/groups.html", published=published, compared=compared, needed=needed, **ways, form=ActionForm())


@bp.get("/manage/surveys/<survey_id>/results.<any(csv, json):kind>")
@least(Role.VIEWER)
def download(survey_id: str, kind: str) -> Page:
    results = results_of(current_store(), survey_id, request.args)
    part = f"-group-{current_store().surveys.published(survey_id).survey.groups.index(results.group) + 1}" if results.group else ""
    name = f"{survey_id}-results{part}{'-by-hand' if results.by_hand else ''}.{kind}"
    body, mimetype = (results.to_csv(), "text/csv") if kind == "csv" else (results.to_json(), "application/json")
    return Response(body, mimetype=mimetype, headers={"Content-Disposition": f'attachment; filename="{name}"'})
