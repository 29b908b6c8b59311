"""Pages of surveys and results: list, estimates, groups, charts and downloads."""

from __future__ import annotations

from collections.abc import Mapping

from flask import Response, abort, g, render_template, request
from markupsafe import Markup

from deniable.bundle.report import picture
from deniable.estimate import Results
from deniable_server.context import current_store
from deniable_server.drafts.own_drafts import all_own
from deniable_server.pages import figures
from deniable_server.pages.forms import ActionForm
from deniable_server.pages.paging import Paging, requested
from deniable_server.pages.routes import Page, routes
from deniable_server.researchers import chart_downloads
from deniable_server.researchers.comparison_tables import mean_lines, share_lines
from deniable_server.researchers.dashboard import ORDERS, STATES, ListQuery, all_tags, listing
from deniable_server.researchers.group_tables import mean_blocks, share_blocks
from deniable_server.researchers.groups import Groups, groups_of
from deniable_server.researchers.question_cards import axis_of
from deniable_server.researchers.results_body import PageOptions, ResultsBody, options_of, render_body
from deniable_server.researchers.too_few_records import withheld
from deniable_server.results.result_cache import compute_once
from deniable_server.results.results import OPTIONS, Records, estimates_of, records_of, results_of, sizes_of, waiting_of
from deniable_server.results.simulated import simulated_results
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Published
from deniable_server.store.roles import Role
from deniable_server.trials.first_steps import first_steps
from deniable_server.web.audience import least, seen_headings
from deniable_server.web.errors import WithheldError
from deniable_server.web.offload import computed

bp = routes("researchers", __name__)

SIMULATED = 1_000  # people in the preview of results, before any have answered


@bp.get("/manage")
@computed()
def surveys() -> Page:
    """Lists the researcher's surveys and drafts. Aborts with 400 for an invalid query."""
    try:
        query = ListQuery.of(request.args)
        headings, drafts = seen_headings(query.tag), all_own()
        results = listing(current_store(), headings, drafts, query, len(g.roles))
    except ValueError as error:
        abort(400, str(error))
    context = {"listing": results, "query": results.query, "states": STATES, "orders": ORDERS}
    context["tags"] = all_tags(current_store(), g.roles, results.drafts)
    context["first_steps"] = [] if query.is_narrowed else first_steps(headings, drafts)
    return render_template("researchers/surveys.html", **context, form=ActionForm())


@bp.get("/manage/surveys/<survey_id>")
@least(Role.VIEWER)
@computed()
def survey(survey_id: str) -> Page:
    """Shows the estimates of each question."""
    store, published = current_store(), current_store().surveys.published(survey_id)
    options = dict(request.args)
    if options.get("group") or options.get("target") == "respondents":
        options.pop("clusters", None)  # a single group, or the people who answered, has no clusters
    try:
        selected = records_of(store, survey_id, options)
        results = estimates_of(selected, options)
    except WithheldError as error:
        return withheld(published, error)
    paging = requested(len(published.survey.questions))
    settings = store.life.settings(survey_id)
    simulated = _simulated(published, results, settings, options)
    body = _body(selected, simulated, options, paging)
    results = simulated or results
    context = {"published": published, "settings": settings, "sizes": sizes_of(store, published.survey), "simulated": simulated}
    context |= {"results": results, "body": body, "paging": paging, "options": _page_options(results, options)}
    context["waiting"], context["withdrawn"] = waiting_of(store, published.survey), store.submissions.withdrawn(survey_id)
    context["codes"] = store.invitations.count(survey_id) if published.survey.access == "invited" else None
    needed = figures.needed(published.survey, results.confidence)
    return render_template("researchers/results.html", **context, needed=needed, form=ActionForm())


def _body(selected: Records, simulated: Results | None, options: Mapping[str, str], paging: Paging) -> ResultsBody:
    """Returns the body of a results page, rendered once for the same counts and options."""
    survey, own = selected.survey, {name: value for name, value in options.items() if name in OPTIONS}
    key = "body", tuple(sorted(own.items())), paging

    def render(results: Results) -> ResultsBody:
        return render_body(survey, results, _page_options(results, options), paging, simulated=simulated is not None)

    if simulated:
        return compute_once((survey.digest, simulated.n, *key), lambda: render(simulated))
    return selected.release.compute_once(key, lambda: render(estimates_of(selected, options)))


def _page_options(results: Results, options: Mapping[str, str]) -> PageOptions:
    return options_of(results, options.get("method"), options.get("clusters") or None)


def _simulated(published: Published, results: Results, settings: Settings, options: Mapping[str, str]) -> Results | None:
    """Returns results of as many simulated people as have answered, or are expected, while no record of an open survey is released."""
    if results.n or results.by_hand or results.group or not published.is_open:
        return None
    return simulated_results(published.survey, results.waiting or settings.expected or SIMULATED, options)


@bp.get("/manage/surveys/<survey_id>/groups")
@least(Role.VIEWER)
@computed()
def groups(survey_id: str) -> Page:
    """Shows all groups side by side, and compares two of them."""
    published = current_store().surveys.published(survey_id)
    if not published.survey.groups:
        abort(404, "this survey has no groups")
    try:
        comparison = groups_of(current_store(), survey_id, request.args)
    except WithheldError as error:
        return withheld(published, error)
    needed = figures.needed(published.survey, comparison.interval.confidence)
    context = {"published": published, "groups": comparison, "needed": needed, "cards": _group_cards(comparison, request.args)}
    return render_template("researchers/groups.html", **context, form=ActionForm())


def _group_cards(comparison: Groups, options: Mapping[str, str]) -> Markup:
    """Returns the cards of a page of groups, rendered once for the same counts and options. Nothing in them depends on the researcher."""
    store, survey = current_store(), comparison.release.survey
    tables = {"share_blocks": share_blocks, "mean_blocks": mean_blocks, "share_lines": share_lines, "mean_lines": mean_lines}

    def render() -> Markup:
        context = {"survey": survey, "groups": groups_of(store, survey.id, options), "axis_of": axis_of, **tables}
        return Markup(render_template("researchers/group_cards.html", **context))  # noqa: S704 - our own template

    ids = tuple(grouped.question.id for grouped in comparison.questions)
    key = "group cards", comparison.first, comparison.second, comparison.interval, ids
    return comparison.release.compute_once(key, render)


@bp.get("/manage/surveys/<survey_id>/results.<any(csv, json):kind>")
@least(Role.VIEWER)
@computed()
def download(survey_id: str, kind: str) -> Page:
    """Downloads the results as CSV or JSON."""
    results = results_of(current_store(), survey_id, request.args)
    groups = current_store().surveys.published(survey_id).survey.groups
    group = f"-group-{groups.index(results.group) + 1}" if results.group else ""
    name = f"{survey_id}-results{group}{'-by-hand' if results.by_hand else ''}.{kind}"
    body, mimetype = (results.to_csv(), "text/csv") if kind == "csv" else (results.to_json(), "application/json")
    return Response(body, mimetype=mimetype, headers={"Content-Disposition": f'attachment; filename="{name}"'})


@bp.get("/manage/surveys/<survey_id>/chart/<question>.svg")
@least(Role.VIEWER)
@computed()
def chart(survey_id: str, question: str) -> Page:
    """Downloads the chart of one question. Aborts with 404 for an unknown question."""
    published = current_store().surveys.published(survey_id)
    texts = {item.id: item.text for item in published.survey.questions}
    if question not in texts:
        abort(404, "this survey has no such question")
    svg = picture(results_of(current_store(), survey_id, request.args)[question], texts[question])
    return chart_downloads.reply(svg, f"{survey_id}-{question}")


@bp.get("/manage/surveys/<survey_id>/groups/<question>.<any(csv, json, svg):kind>")
@least(Role.VIEWER)
@computed()
def group_file(survey_id: str, question: str, kind: str) -> Page:
    """Downloads the group differences of one question, or their chart. Aborts with 404 for an unknown question."""
    survey = current_store().surveys.published(survey_id).survey
    if not survey.groups or question not in [item.id for item in survey.questions]:
        abort(404, "this survey has no such question among groups")
    comparison = groups_of(current_store(), survey_id, {**request.args, "question": question})
    grouped = next(grouped for grouped in comparison.questions if grouped.question.id == question)
    name = f"{survey_id}-groups-{question}"
    if kind == "svg":
        return chart_downloads.reply(chart_downloads.of_groups(grouped), name)
    body, mimetype = (grouped.differences.to_csv(), "text/csv") if kind == "csv" else (grouped.differences.to_json(), "application/json")
    return Response(body, mimetype=mimetype, headers={"Content-Disposition": f'attachment; filename="{name}.{kind}"'})
