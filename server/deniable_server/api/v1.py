"""API version 1: surveys, definitions, submissions and withdrawals, results, progress, tallies and reports. It uses no cookies.

Anyone may submit one record, as a respondent's device does. Submitting many records, and reading anything about
records, requires a key or a password.
"""

from __future__ import annotations

import base64
import json

from flask import Response, jsonify, request, url_for

from deniable.errors import MissingExtraError
from deniable.survey.compiled import SurveyRules
from deniable.wire.access_codes import invitation_hash, submission_id
from deniable.wire.spare_codes import HEADER
from deniable.wire.submission import MAX_COUNT, secret_of
from deniable_server.api import callers, listing, submissions, webhooks
from deniable_server.api.reports import FORMS, PACKED, download
from deniable_server.context import current_store
from deniable_server.results import bundles
from deniable_server.results.progress import checked_progress
from deniable_server.results.results import records_of, results_of
from deniable_server.store.webhooks import Webhook
from deniable_server.web import lanes, limits, page_cache, sites
from deniable_server.web.audience import Audience, Routes
from deniable_server.web.compression import compressed
from deniable_server.web.errors import reply
from deniable_server.web.offload import computed
from deniable_server.web.rate_limiter import current_rates

bp = Routes("api", __name__, Audience(login=False, forms=False, csrf=False, translated=True), url_prefix="/api/v1")


@bp.before_request
def refuse_foreign_writes() -> None:
    """Refuses writing requests that are not JSON, or come from another site's page, before anything is read."""
    if request.method in ("POST", "DELETE"):
        sites.refuse_other_sites()
    if request.method == "POST":
        callers.refuse_other_types()


@bp.get("/surveys")
def surveys() -> Response:
    """Lists the surveys that the account or the key may see, sorted by id: `limit` at a time, after `cursor`."""
    visible = callers.visible_surveys()
    try:
        limit, last = listing.limit_of(request.args.get("limit")), listing.last_of(request.args.get("cursor"))
    except listing.ListingError as error:
        return reply(400, error.rule, str(error))
    content, following = listing.page(current_store(), visible, last, limit)
    response = jsonify(content)
    if following:
        response.headers["Link"] = f'<{url_for(".surveys")}?{following}>; rel="next"'
    return response


@bp.get("/surveys/<survey_id>")
@lanes.respondents
@page_cache.cacheable(translated=False, codes=True)
@compressed
def definition(survey_id: str) -> Response:
    """Serves the bytes of a definition, which clients hash and pin. A header states spare invitation codes."""
    survey = page_cache.published(survey_id).survey
    response = Response(survey.definition, mimetype="application/json")
    if counts := page_cache.spare_codes_of(survey):
        response.headers[HEADER] = "{}/{}".format(*counts)
    return response


def _largest(survey: SurveyRules) -> int:
    """Returns the largest body: one record, or with a key as many as a submission may have. Aborts with 401 or 403 for another key."""
    return submissions.most_bytes(survey, MAX_COUNT if callers.key_for("submit", survey.id) else 1)


@bp.post("/surveys/<survey_id>/submissions")
@lanes.respondents
@limits.body(_largest)
def submit(survey_id: str) -> Response:
    """Stores a submission of one record, or with a key of many. A reply of 200 means that they are on the disk, once."""
    key = callers.key_for("submit", survey_id)
    if key is None:
        current_rates().submissions.take()
    survey = current_store().surveys.compiled(survey_id)
    submissions.check_length(survey, request.content_length or 0, key)
    submission = submissions.read(survey, limits.whole_body(), key)
    current_store().submissions.add(survey_id, submission)
    return submissions.accepted(submission.count, current_rates().submissions)


@bp.get("/surveys/<survey_id>/groups")
@lanes.respondents
@page_cache.cacheable(translated=False, quotas=True)
def full_groups(survey_id: str) -> Response:
    """Lists the groups that take no more records. The page of a respondent asks for it before the first question."""
    return jsonify(full=page_cache.full_groups_of(survey_id))


@bp.post("/surveys/<survey_id>/withdrawals")
@lanes.respondents
def withdraw(survey_id: str) -> Response:
    """Erases the submission of a code. The reply is the same whether or not there was one."""
    current_store().submissions.withdraw(survey_id, submission_id(secret_of(limits.whole_body())))
    return jsonify(withdrawn=True)


@bp.post("/surveys/<survey_id>/tokens")
@lanes.respondents
def exchange(survey_id: str) -> Response:
    """Exchanges an invitation code for a blind signature on a token, once. The same request again gets the same signature."""
    current_rates().exchanges.take()
    survey = current_store().surveys.compiled(survey_id)
    code_hash, blinded = submissions.read_exchange(survey, limits.whole_body())
    signature = current_store().invitations.exchange(survey_id, code_hash, blinded)
    text = base64.urlsafe_b64encode(signature).rstrip(b"=").decode()
    return submissions.limited(jsonify(signature=text), current_rates().exchanges)


@bp.post("/surveys/<survey_id>/invitations/check")
@lanes.respondents
def check_invitation(survey_id: str) -> Response:
    """Replies whether a code belongs to the survey, before the questions. Does not spend it, and does not say whether it is spent."""
    current_rates().invitation_checks.take()
    code_hash = invitation_hash(survey_id, secret_of(limits.whole_body()))
    return submissions.limited(jsonify(valid=current_store().invitations.has(survey_id, code_hash)), current_rates().invitation_checks)


@bp.get("/surveys/<survey_id>/results")
@lanes.computing
def results(survey_id: str) -> Response:
    """Serves estimates with intervals, for a researcher's name and password (HTTP Basic), or a key with the scope results."""
    callers.require("results", survey_id)
    return _results(survey_id)


@computed()
def _results(survey_id: str) -> Response:
    return Response(results_of(current_store(), survey_id, request.args).to_json(), mimetype="application/json")


@bp.get("/surveys/<survey_id>/progress")
@lanes.computing
def progress(survey_id: str) -> Response:
    """Serves a survey's progress and the checks' findings, with the same rights as its results."""
    callers.require("results", survey_id)
    return _progress(survey_id)


@computed()
def _progress(survey_id: str) -> Response:
    store = current_store()
    published = store.surveys.published(survey_id)
    return jsonify({**checked_progress(store, survey_id).to_dict(), "survey": survey_id, "digest": published.survey.digest})


@bp.get("/surveys/<survey_id>/tally")
@lanes.computing
def tally(survey_id: str) -> Response:
    """Serves the tally behind the results, with the same rights: the selected records, their number n, and how often bits are set."""
    callers.require("results", survey_id)
    return _tally(survey_id)


@computed()
def _tally(survey_id: str) -> Response:
    chosen = records_of(current_store(), survey_id, request.args)
    counts = chosen.tally()
    pairs = base64.b64encode(counts.to_bytes()).decode()
    return jsonify({**chosen.described, "survey": survey_id, "digest": chosen.survey.digest, "n": counts.n, "pairs": pairs})


@bp.get("/surveys/<survey_id>/reports")
@lanes.computing
def reports(survey_id: str) -> Response:
    """Serves the counted perturbed records, sorted by their bytes and without ids: packed, or as Arrow or Parquet.

    Requires a name and password, or a key with the scope reports.
    """
    callers.require("reports", survey_id)
    store, options = current_store(), request.args
    form = options.get("form", PACKED)
    if form not in FORMS:
        return reply(400, "form", f"form must be {', '.join(FORMS)}, or left out")
    try:
        return download(store, survey_id, form, options)
    except MissingExtraError as error:
        return reply(501, "form", str(error))


@bp.get("/surveys/<survey_id>/bundle")
@lanes.computing
def bundle(survey_id: str) -> Response:
    """Serves a zip with the perturbed records and all files that are needed to use and publish them. Rights as for the reports.

    The parameter `licence` may be one of those that a researcher can choose.
    """
    return _bundle(survey_id, bundles.ALL)


@bp.get("/surveys/<survey_id>/bundle/<path:name>")
@lanes.computing
def bundle_file(survey_id: str, name: str) -> Response:
    """Serves one file of the bundle."""
    return _bundle(survey_id, name)


@bp.get("/surveys/<survey_id>/webhooks")
def list_webhooks(survey_id: str) -> Response:
    """Lists the webhooks of a survey, for its owners, by name and password."""
    callers.require(callers.OWN, survey_id)
    return jsonify(webhooks=[_webhook(each) for each in current_store().webhooks.of_survey(survey_id)])


@bp.post("/surveys/<survey_id>/webhooks")
def make_webhook(survey_id: str) -> tuple[Response, int] | Response:
    """Creates a webhook and replies with its secret, once. Rights as for the list."""
    callers.require(callers.OWN, survey_id)
    try:
        values = json.loads(limits.whole_body())
        url, events = values["url"], values["events"]
        if (
            set(values) != {"url", "events"}
            or type(url) is not str
            or type(events) is not list
            or not all(type(each) is str for each in events)
        ):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        return reply(400, "webhook", "the body must be an object with url, a text, and events, a list of words; and nothing else")
    try:
        webhook, secret = webhooks.make(current_store(), survey_id, url, events)
    except ValueError as error:
        return reply(400, "webhook", str(error))
    return jsonify({**_webhook(webhook), "secret": secret}), 201


@bp.delete("/surveys/<survey_id>/webhooks/<webhook_id>")
def remove_webhook(survey_id: str, webhook_id: str) -> Response:
    """Removes a webhook and its queued messages."""
    callers.require(callers.OWN, survey_id)
    if not current_store().webhooks.remove(survey_id, webhook_id):
        return reply(404, "webhook", "this survey has no webhook with this id")
    return jsonify(removed=True)


def _webhook(webhook: Webhook) -> dict[str, str | list[str] | None]:
    """Returns a webhook's JSON, without its survey and its secret."""
    content = {name: getattr(webhook, name) for name in ("id", "url", "made_on", "failing_since")}
    return {**content, "events": list(webhook.events)}


def _bundle(survey_id: str, name: str) -> Response:
    callers.require("reports", survey_id)
    return bundles.reply(current_store(), survey_id, name, request.args.get("licence", bundles.PROPOSED))
