"""For machines: the definition, submissions and their withdrawal, results as JSON. No cookie is read or set."""

from __future__ import annotations

from flask import Blueprint, Response, abort, jsonify, request
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import Unauthorized

from deniable.codes import submission_id
from deniable.submission import Submission, withdrawal_secret
from deniable_server import current_store
from deniable_server.accounts import password_holds
from deniable_server.compression import compressed
from deniable_server.errors import reply
from deniable_server.results import results_of

bp = Blueprint("api", __name__, url_prefix="/api/v1")


@bp.get("/surveys/<survey_id>")
@compressed
def definition(survey_id: str) -> Response:
    """The bytes that clients hash and pin."""
    return Response(current_store().published(survey_id).survey.definition, mimetype="application/json")


@bp.post("/surveys/<survey_id>/submissions")
def submit(survey_id: str) -> Response:
    """Takes one submission of one or many records. When this says 200, they are on the disk, once."""
    body = _body()
    survey = current_store().published(survey_id).survey
    submission = Submission.from_json(body)
    if submission.digest != survey.digest:
        return reply(409, "digest", f"digest must be that of the published definition, {survey.digest}")
    submission.check(survey)
    current_store().add(survey_id, submission)
    return jsonify(accepted=submission.count)


@bp.post("/surveys/<survey_id>/withdrawals")
def withdraw(survey_id: str) -> Response:
    """Erases the submission of a code. The reply is the same whether or not there was one."""
    current_store().withdraw(survey_id, submission_id(withdrawal_secret(_body())))
    return jsonify(withdrawn=True)


@bp.get("/surveys/<survey_id>/results")
def results(survey_id: str) -> Response:
    """Estimates with intervals, for a researcher's name and password (HTTP Basic)."""
    login = request.authorization
    if login is None or login.type != "basic" or not password_holds(current_store(), login.username or "", login.password or ""):
        raise Unauthorized("a researcher's name and password are needed", www_authenticate=WWWAuthenticate("basic", {"realm": "deniable"}))
    return Response(results_of(current_store(), survey_id, request.args).to_json(), mimetype="application/json")


def _body() -> bytes:
    if request.content_encoding:
        abort(415, "the body must not be compressed: random bits do not shrink")
    return request.get_data(cache=False)
