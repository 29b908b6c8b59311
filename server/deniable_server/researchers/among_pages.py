"""Page of results among people with one true answer, with downloads. The selection is in the address."""

from __future__ import annotations

from functools import partial

from flask import Response, abort, render_template, request

from deniable.bundle import drawing
from deniable.errors import EstimateError
from deniable.estimate.tables.subpopulation import SmallSubpopulationError
from deniable_server.context import current_store
from deniable_server.pages.chart import SHARES
from deniable_server.pages.command_lines import command
from deniable_server.pages.forms import ActionForm
from deniable_server.pages.paging import requested
from deniable_server.pages.routes import Page, routes
from deniable_server.researchers import chart_downloads
from deniable_server.researchers.among import (
    among_page,
    answer_filter,
    choices,
    filter_questions,
    people_of,
    shared_refusals,
)
from deniable_server.researchers.question_menu import question_menu
from deniable_server.researchers.too_few_records import withheld
from deniable_server.results.analysis import NoRecordsError
from deniable_server.results.results import interval_of
from deniable_server.store.roles import Role
from deniable_server.web.audience import least
from deniable_server.web.errors import WithheldError
from deniable_server.web.offload import computed

bp = routes("among", __name__)

OPTIONS = ("among", "answer", "of", "group", "by_hand", "target", "confidence")
"""The options in the address of the page, without the number of the page."""


@bp.get("/manage/surveys/<survey_id>/among")
@least(Role.VIEWER)
@computed()
def page(survey_id: str) -> Page:
    """Shows the questions of a survey among people with one true answer."""
    store, published = current_store(), current_store().surveys.published(survey_id)
    survey, paging = published.survey, requested(len(published.survey.questions))
    among, view, too_few, problem, no_records, status = None, None, None, "", "", 200
    try:
        interval = interval_of(request.args)
    except EstimateError:
        interval = interval_of({})
    try:
        among = answer_filter(survey, request.args)
        view = among_page(store, survey_id, request.args, among, paging) if among else None
    except WithheldError as error:
        return withheld(published, error)
    except NoRecordsError as error:
        no_records = str(error)
    except SmallSubpopulationError as error:
        too_few = error.part
    except EstimateError as error:
        problem, status = str(error), 400
    options = {name: value for name in OPTIONS if (value := request.args.get(name))}
    if among:
        options |= {"among": among.question, "answer": among.option}
        options.pop("of", None)
    chosen = next((one for one in filter_questions(survey) if among and one.id == among.question), None)
    context: dict[str, object] = {"published": published, "among": among, "view": view, "problem": problem, "no_records": no_records}
    context |= {"too_few": too_few}
    context |= {"paging": paging, "options": options, "chosen": chosen, "choices": choices(chosen) if chosen else ()}
    context |= {
        "interval": interval,
        "has_questions": bool(filter_questions(survey)),
        "question_menu": partial(question_menu, survey, filter_questions),
    }
    context |= {"share_axis": SHARES, "refusals": shared_refusals(view.cards) if view else ()}
    context["command"] = command("results", survey_id, ["--among", among.words], request.args) if among else ""
    return render_template("researchers/among.html", **context, form=ActionForm()), status


@bp.get("/manage/surveys/<survey_id>/among.<any(csv, json):kind>")
@least(Role.VIEWER)
@computed()
def download(survey_id: str, kind: str) -> Page:
    """Downloads the figures of the page as CSV or JSON."""
    store, survey = current_store(), current_store().surveys.published(survey_id).survey
    among, paging = answer_filter(survey, request.args), requested(len(survey.questions))
    if among is None:
        raise EstimateError("among must be given: the id of a question")
    people = among_page(store, survey_id, request.args, among, paging).people
    body, mimetype = (people.to_csv(), "text/csv") if kind == "csv" else (people.to_json(), "application/json")
    return Response(body, mimetype=mimetype, headers={"Content-Disposition": f'attachment; filename="{survey_id}-among.{kind}"'})


@bp.get("/manage/surveys/<survey_id>/among/<question>.svg")
@least(Role.VIEWER)
@computed()
def chart(survey_id: str, question: str) -> Page:
    """Downloads the chart of one question. Aborts with 404 for an unknown question."""
    store, survey = current_store(), current_store().surveys.published(survey_id).survey
    texts = {item.id: item.text for item in survey.questions}
    if question not in texts:
        abort(404, "this survey has no such question")
    among = answer_filter(survey, request.args)
    if among is None:
        raise EstimateError("among must be given: the id of a question")
    people = people_of(store, survey_id, request.args, among, question)
    try:
        svg = drawing.svg(people.panels(), f"{texts[question]} Among {texts[among.question]}: {among.option}")
    except EstimateError:  # nothing is estimated
        svg = ""
    return chart_downloads.reply(svg, f"{survey_id}-among-{question}")
