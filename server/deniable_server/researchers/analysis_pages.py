"""Analysis pages: cross tables, models and waves. Their parameters are in the address."""

from __future__ import annotations

import json
from collections.abc import Mapping

from flask import Response, abort, g, render_template, request

from deniable.errors import EstimateError, ModelError
from deniable.estimate.tables import Waves
from deniable_server.context import current_store
from deniable_server.pages.command_lines import command
from deniable_server.pages.forms import ActionForm
from deniable_server.pages.routes import Page, routes
from deniable_server.researchers import chart_downloads
from deniable_server.researchers.crosstabs import PERCENT_OF, cross_of, crosstab_request, table_of
from deniable_server.researchers.models import WayOn, fit_of, model_of, outcomes, predictors, ways_on, words_of
from deniable_server.researchers.too_few_records import withheld
from deniable_server.researchers.waves import changed_questions, comparable, wave_names, waves_of
from deniable_server.results.analysis import NoRecordsError, categorical
from deniable_server.results.results import interval_of
from deniable_server.store.protocol import Published
from deniable_server.store.roles import Role
from deniable_server.web.audience import least, seen_surveys
from deniable_server.web.errors import WithheldError
from deniable_server.web.offload import computed

bp = routes("building", __name__)


@bp.get("/manage/surveys/<survey_id>/crosstab")
@least(Role.VIEWER)
@computed()
def crosstab(survey_id: str) -> Page:
    """Shows a cross table of two or three questions."""
    published = current_store().surveys.published(survey_id)
    cross, problem, no_records = None, "", ""
    try:
        cross = cross_of(current_store(), survey_id, request.args)
    except WithheldError as error:
        return withheld(published, error)
    except NoRecordsError as error:
        no_records = str(error)
    except EstimateError as error:
        problem = str(error)
    line = command("crosstab", survey_id, cross.names, request.args) if cross else ""
    context = {"published": published, "cross": cross, "problem": problem, "percents": PERCENT_OF, "items": categorical(published.survey)}
    context |= {"command": line, "no_records": no_records}
    return _page("researchers/crosstab.html", context, bool(problem and request.args))  # a first visit from the tab is not an error


@bp.get("/manage/surveys/<survey_id>/crosstab.<any(csv, json):kind>")
@least(Role.VIEWER)
@computed()
def download(survey_id: str, kind: str) -> Page:
    """Downloads the table, with each cell's share of all people."""
    table = table_of(current_store(), survey_id, request.args, crosstab_request(current_store(), survey_id, request.args))
    body, mimetype = (table.to_csv(), "text/csv") if kind == "csv" else (table.to_json(), "application/json")
    return _file(body, mimetype, f"{survey_id}-crosstab.{kind}")


@bp.get("/manage/surveys/<survey_id>/model")
@least(Role.VIEWER)
@computed()
def model(survey_id: str) -> Page:
    """Shows a regression model."""
    published = current_store().surveys.published(survey_id)
    fitted, problem, no_records, line, failure, ways = None, "", "", "", None, list[WayOn]()
    try:
        if request_model := model_of(published.survey, request.args):
            line = command("regress", survey_id, words_of(request_model), {"group": request.args.get("group", "")})
        fitted = fit_of(current_store(), survey_id, request.args)
    except WithheldError as error:
        return withheld(published, error)
    except NoRecordsError as error:
        no_records = str(error)
    except ModelError as error:
        problem, failure, ways = str(error), error, ways_on(published.survey, request.args)
    except EstimateError as error:
        problem = str(error)
    context = {
        "published": published,
        "fitted": fitted,
        "problem": problem,
        "no_records": no_records,
        "command": line,
        "failure": failure,
        "ways": ways,
    }
    return _page("researchers/model.html", {**context, **_choices(published)}, bool(problem))


@bp.get("/manage/surveys/<survey_id>/model.json")
@least(Role.VIEWER)
@computed()
def download_model(survey_id: str) -> Page:
    """Downloads the model."""
    fitted = fit_of(current_store(), survey_id, request.args)
    if fitted is None:
        raise EstimateError("outcome and predictor must be given")
    return _file(json.dumps(fitted.fit.regression, ensure_ascii=False, allow_nan=False), "application/json", f"{survey_id}-model.json")


@bp.get("/manage/surveys/<survey_id>/waves")
@least(Role.VIEWER)
@computed()
def waves(survey_id: str) -> Page:
    """Compares this survey with another one; the researcher needs a role in both."""
    store, published = current_store(), current_store().surveys.published(survey_id)
    second, comparison, problem, no_records = None, None, "", ""
    if other := request.args.get("with"):
        store.roles.role(g.user, other)  # raises without a role
        second = store.surveys.published(other)
        try:
            comparison = waves_of(store, survey_id, other, request.args)
        except NoRecordsError as error:
            no_records = str(error)
        except EstimateError as error:  # including too few records in one of them
            problem = str(error)
    context: dict[str, object] = {
        "published": published,
        "second": second,
        "waves": comparison,
        "problem": problem,
        "no_records": no_records,
        "comparable": comparable(published.survey, seen_surveys()),
        "command": command("waves", survey_id, ["--second", second.survey.id], request.args) if second else "",
    }
    if comparison:
        context |= {"questions": list(changed_questions(published.survey, comparison)), "pair": wave_names(comparison)}
    return _page("researchers/waves.html", context, bool(problem))


@bp.get("/manage/surveys/<survey_id>/waves.<any(csv, json):kind>")
@least(Role.VIEWER)
@computed()
def download_waves(survey_id: str, kind: str) -> Page:
    """Downloads the changes between two surveys."""
    comparison = _waves(survey_id)
    body, mimetype = (comparison.to_csv(), "text/csv") if kind == "csv" else (comparison.to_json(), "application/json")
    return _file(body, mimetype, f"{survey_id}-waves.{kind}")


@bp.get("/manage/surveys/<survey_id>/waves/<question>.svg")
@least(Role.VIEWER)
@computed()
def waves_chart(survey_id: str, question: str) -> Page:
    """Downloads the chart of one question in both surveys. Aborts with 404 for an unknown question."""
    questions = {item.id: item for item in current_store().surveys.published(survey_id).survey.questions}
    if question not in questions:
        abort(404, "this survey has no such question")
    comparison = _waves(survey_id)
    chart = chart_downloads.of_waves(questions[question], comparison, wave_names(comparison))
    return chart_downloads.reply(chart, f"{survey_id}-waves-{question}")


def _waves(survey_id: str) -> Waves:
    other = request.args.get("with", "")
    if not other:
        raise EstimateError("with must be the id of another survey")
    current_store().roles.role(g.user, other)  # raises without a role
    return waves_of(current_store(), survey_id, other, request.args)


def _choices(published: Published) -> dict[str, object]:
    return {"outcomes": outcomes(published.survey), "items": predictors(published.survey), "picked": request.args.getlist("predictor")}


def _page(template: str, context: Mapping[str, object], refused: bool) -> tuple[str, int]:
    try:
        interval = interval_of(request.args)
    except EstimateError:
        interval = interval_of({})
    return render_template(template, **context, interval=interval, form=ActionForm()), 400 if refused else 200


def _file(body: str, mimetype: str, name: str) -> Response:
    return Response(body, mimetype=mimetype, headers={"Content-Disposition": f'attachment; filename="{name}"'})
