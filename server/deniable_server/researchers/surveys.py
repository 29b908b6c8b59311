"""For researchers: their surveys, the estimates and downloads."""

from __future__ import annotations

from flask import Response, abort, render_template, request

from deniable.bundle.report import picture
from deniable_server.context import current_store
from deniable_server.drafts.own_drafts import all_own
from deniable_server.pages import figures
from deniable_server.pages.forms import ActionForm
from deniable_server.pages.routes import Page, routes
from deniable_server.researchers import chart_downloads
from deniable_server.researchers.by_group import mean_blocks, share_blocks
from deniable_server.researchers.dashboard import ORDERS, STATES, Choice, listing
from deniable_server.researchers.groups import groups_of
from deniable_server.researchers.question_cards import cards, scale_of, widest_half
from deniable_server.researchers.side_by_side import mean_lines, share_lines
from deniable_server.researchers.too_few_records import withheld
from deniable_server.results.results import results_of, sizes_of
from deniable_server.store.roles import Role
from deniable_server.web.audience import least, seen_headings
from deniable_server.web.errors import WithheldError
from deniable_server.web.offload import computed

bp = routes("researchers", __name__)


@bp.get("/manage")
@computed()
def surveys() -> Page:
    """All surveys in which one has a role, and one's drafts, or those that are looked for. Aborts with 400 for a choice that is none."""
    try:
        found = listing(current_store(), seen_headings(), all_own(), Choice.of(request.args))
    except ValueError as error:
        abort(400, str(error))
    return render_template("researchers/surveys.html", found=found, choice=found.choice, states=STATES, orders=ORDERS, form=ActionForm())


@bp.get("/manage/surveys/<survey_id>")
@least(Role.VIEWER)
@computed()
def survey(survey_id: str) -> Page:
    store, published = current_store(), current_store().surveys.published(survey_id)
    asked = dict(request.args)
    if asked.get("group") or asked.get("target") == "respondents":
        asked.pop("clusters", None)  # ticked before one group, or those who answered, were chosen: of these nothing is clusters
    try:
        results = results_of(store, survey_id, asked)
    except WithheldError as error:
        return withheld(published, error)
    shown = {"published": published, "settings": store.life.settings(survey_id), "sizes": sizes_of(store, published.survey)}
    figured = {"results": results, "cards": cards(published.survey, results), "widest_half": widest_half}
    needed = figures.needed(published.survey, (results.rows or results.means)[0].confidence)
    clusters = asked.get("clusters") or None
    return render_template("researchers/results.html", **shown, **figured, needed=needed, clusters=clusters, form=ActionForm())


@bp.get("/manage/surveys/<survey_id>/groups")
@least(Role.VIEWER)
@computed()
def groups(survey_id: str) -> Page:
    """All groups side by side, and two of them compared."""
    published = current_store().surveys.published(survey_id)
    if not published.survey.groups:
        abort(404, "this survey has no groups")
    try:
        compared = groups_of(current_store(), survey_id, request.args)
    except WithheldError as error:
        return withheld(published, error)
    needed = figures.needed(published.survey, compared.interval.confidence)
    blocks = {"scale_of": scale_of, "share_blocks": share_blocks, "mean_blocks": mean_blocks}
    ways = {**blocks, "share_lines": share_lines, "mean_lines": mean_lines}
    return render_template("researchers/groups.html", published=published, compared=compared, needed=needed, **ways, form=ActionForm())


@bp.get("/manage/surveys/<survey_id>/results.<any(csv, json):kind>")
@least(Role.VIEWER)
@computed()
def download(survey_id: str, kind: str) -> Page:
    results = results_of(current_store(), survey_id, request.args)
    part = f"-group-{current_store().surveys.published(survey_id).survey.groups.index(results.group) + 1}" if results.group else ""
    name = f"{survey_id}-results{part}{'-by-hand' if results.by_hand else ''}.{kind}"
    body, mimetype = (results.to_csv(), "text/csv") if kind == "csv" else (results.to_json(), "application/json")
    return Response(body, mimetype=mimetype, headers={"Content-Disposition": f'attachment; filename="{name}"'})


@bp.get("/manage/surveys/<survey_id>/chart/<question>.svg")
@least(Role.VIEWER)
@computed()
def chart(survey_id: str, question: str) -> Page:
    """The chart of one question, for a text or a poster. Aborts with 404 for a question that is none of the survey's."""
    published = current_store().surveys.published(survey_id)
    texts = {one.id: one.text for one in published.survey.questions}
    if question not in texts:
        abort(404, "this survey has no such question")
    drawn = picture(results_of(current_store(), survey_id, request.args)[question], texts[question])
    return chart_downloads.reply(drawn, f"{survey_id}-{question}")


@bp.get("/manage/surveys/<survey_id>/groups/<question>.<any(csv, json, svg):kind>")
@least(Role.VIEWER)
@computed()
def group_file(survey_id: str, question: str, kind: str) -> Page:
    """One question among the groups: how far each is from the first, or the chart of all. Aborts with 404 for one that is not there."""
    survey = current_store().surveys.published(survey_id).survey
    if not survey.groups or question not in [one.id for one in survey.questions]:
        abort(404, "this survey has no such question among groups")
    found = groups_of(current_store(), survey_id, {**request.args, "question": question})
    one = next(one for one in found.questions if one.question.id == question)
    name = f"{survey_id}-groups-{question}"
    if kind == "svg":
        return chart_downloads.reply(chart_downloads.of_groups(one), name)
    body, mimetype = (one.apart.to_csv(), "text/csv") if kind == "csv" else (one.apart.to_json(), "application/json")
    return Response(body, mimetype=mimetype, headers={"Content-Disposition": f'attachment; filename="{name}.{kind}"'})
