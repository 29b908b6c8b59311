"""Analysis pages: cross tables, models and waves. Their parameters are in the address."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial

from flask import Response, abort, g, render_template, request

from deniable.errors import EstimateError, ModelError
from deniable.estimate.tables import Waves
from deniable_server.context import current_store
from deniable_server.pages.command_lines import command
from deniable_server.pages.forms import ActionForm
from deniable_server.pages.paging import requested
from deniable_server.pages.routes import Page, routes
from deniable_server.researchers import chart_downloads
from deniable_server.researchers.crosstabs import PERCENT_OF, cross_of, crosstab_request, table_of
from deniable_server.researchers.models import WayOn, fit_of, model_of, outcomes, predictors, ways_on, words_of
from deniable_server.researchers.question_menu import question_menu
from deniable_server.researchers.study_waves import ListedWave, in_order, neighbour, study_waves
from deniable_server.researchers.too_few_records import withheld
from deniable_server.researchers.wave_cards import change_cards, trend_cards
from deniable_server.researchers.wave_trends import StudyTrends, study_trends
from deniable_server.researchers.waves import wave_names, waves_of
from deniable_server.results.analysis import NoRecordsError, categorical
from deniable_server.results.results import interval_of
from deniable_server.store.protocol import Heading, Published
from deniable_server.store.roles import Role
from deniable_server.web.audience import least
from deniable_server.web.errors import RETRY, ModelBusyError, WithheldError
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
    context: dict[str, object] = {"published": published, "cross": cross, "problem": problem, "percents": PERCENT_OF}
    context |= {"items": categorical(published.survey), "item_options": partial(question_menu, published.survey, categorical)}
    context |= {"command": line, "no_records": no_records}
    refused = problem and request.args  # a first visit from the tab is not an error
    return _page("researchers/crosstab.html", context, 400 if refused else 200)


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
    fitted, problem, no_records, line, failure, ways, status = None, "", "", "", None, list[WayOn](), 400
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
    except ModelBusyError as error:
        problem, status = str(error), 503
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
    return _page("researchers/model.html", {**context, **_choices(published)}, status if problem else 200)


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
    """Shows the trends of this survey's study, and compares it with another survey, by default with the neighbouring wave.

    The researcher needs a role in both.
    """
    store, published = current_store(), current_store().surveys.published(survey_id)
    study = study_waves(store, survey_id, store.roles.seen_by(g.user))
    first, second, comparison, trends, problem, no_records = published, None, None, None, "", ""
    cards: dict[str, object] = {}
    try:
        trends = study_trends(store, published.survey, study, request.args)
    except EstimateError as error:
        problem = str(error)
    if other := request.args.get("with", neighbour(study, survey_id)):
        store.roles.role(g.user, other)  # raises without a role
        first, second = (store.surveys.published(one) for one in in_order(study, survey_id, other))
        try:
            comparison = waves_of(store, first.survey.id, second.survey.id, request.args)
        except NoRecordsError as error:
            no_records = str(error)
        except EstimateError as error:  # including too few records in one of them
            problem = str(error)
    paging = requested(max(len(one.survey.questions) for one in (published, first)))
    if trends:
        cards["trend_cards"] = trend_cards(store, published.survey, study, trends, request.args, paging)
    if comparison and second:
        pair = first.survey, second.survey
        cards |= {"cards": change_cards(store, survey_id, pair, request.args, paging), "pair": wave_names(comparison)}
    context: dict[str, object] = {
        **cards,
        "paging": paging,
        "published": published,
        "first": first,
        "second": second,
        "other": other,
        "study": study,
        "has_all": not study or "all" in request.args,
        "waves": comparison,
        "trends": trends,
        "trend_command": _trend_command(study, trends) if trends else "",
        "problem": problem,
        "no_records": no_records,
        "comparable": _choices_of(published, study),
        "command": command("waves", first.survey.id, ["--second", second.survey.id], request.args) if second else "",
    }
    return _page("researchers/waves.html", context, 400 if problem else 200)


@bp.get("/manage/surveys/<survey_id>/waves.<any(csv, json):kind>")
@least(Role.VIEWER)
@computed()
def download_waves(survey_id: str, kind: str) -> Page:
    """Downloads the changes between two surveys."""
    comparison = _waves(survey_id)
    body, mimetype = (comparison.to_csv(), "text/csv") if kind == "csv" else (comparison.to_json(), "application/json")
    return _file(body, mimetype, f"{survey_id}-waves.{kind}")


@bp.get("/manage/surveys/<survey_id>/trends.<any(csv, json):kind>")
@least(Role.VIEWER)
@computed()
def download_trends(survey_id: str, kind: str) -> Page:
    """Downloads the trends over the waves of the survey's study that the researcher may see."""
    store = current_store()
    study = study_waves(store, survey_id, store.roles.seen_by(g.user))
    trends = study_trends(store, store.surveys.published(survey_id).survey, study, request.args)
    if trends is None:
        raise EstimateError("a trend needs three waves of a study with results")
    body, mimetype = (trends.table.to_csv(), "text/csv") if kind == "csv" else (trends.table.to_json(), "application/json")
    return _file(body, mimetype, f"{survey_id}-trends.{kind}")


@bp.get("/manage/surveys/<survey_id>/waves/<question>.svg")
@least(Role.VIEWER)
@computed()
def waves_chart(survey_id: str, question: str) -> Page:
    """Downloads the chart of one question in both surveys. Aborts with 404 for an unknown question."""
    comparison = _waves(survey_id)
    questions = {item.id: item for item in current_store().surveys.published(comparison.first.survey).survey.questions}
    if question not in questions:
        abort(404, "this survey has no such question")
    chart = chart_downloads.of_waves(questions[question], comparison, wave_names(comparison))
    return chart_downloads.reply(chart, f"{survey_id}-waves-{question}")


def _waves(survey_id: str) -> Waves:
    other = request.args.get("with", "")
    if not other:
        raise EstimateError("with must be the id of another survey")
    store = current_store()
    store.roles.role(g.user, other)  # raises without a role
    study = study_waves(store, survey_id, store.roles.seen_by(g.user))
    return waves_of(store, *in_order(study, survey_id, other), request.args)


def _trend_command(study: Sequence[ListedWave], trends: StudyTrends) -> str:
    """Returns the command that prints the trends of the questions that all waves with results share."""
    first, *others = [listed.wave for listed in study if listed.wave.survey in trends.results]
    words = [word for wave in others for word in ("--second", wave.survey)]
    times = ",".join(str(wave.number) for wave in (first, *others))
    return command("waves", first.survey, [*words, "--times", times], request.args)


def _choices_of(published: Published, study: Sequence[ListedWave]) -> list[Heading]:
    """Returns the surveys to compare with: the other waves of the study, and on request every survey with a question in common."""
    surveys, own = current_store().surveys, published.survey
    ids = [listed.wave.survey for listed in study if listed.wave.survey != own.id]
    if not study or "all" in request.args:
        ids += [other for other in surveys.sharing(own, current_store().roles.seen_by(g.user)) if other not in ids]
    headings = {heading.id: heading for heading in surveys.headings(ids)}
    return [headings[survey_id] for survey_id in ids]


def _choices(published: Published) -> dict[str, object]:
    return {"outcomes": outcomes(published.survey), "items": predictors(published.survey), "picked": request.args.getlist("predictor")}


def _page(template: str, context: Mapping[str, object], status: int) -> Response:
    try:
        interval = interval_of(request.args)
    except EstimateError:
        interval = interval_of({})
    page = render_template(template, **context, interval=interval, form=ActionForm())
    return Response(page, status, RETRY if status == 503 else {})


def _file(body: str, mimetype: str, name: str) -> Response:
    return Response(body, mimetype=mimetype, headers={"Content-Disposition": f'attachment; filename="{name}"'})
