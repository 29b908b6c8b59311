"""Error replies: the rule that was broken, or an id under which the log has the details."""

from __future__ import annotations

import secrets

from flask import Flask, Response, current_app, g, jsonify, make_response, render_template, request
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException
from werkzeug.http import HTTP_STATUS_CODES

from deniable.errors import DeniableError, EstimateError, SubmissionError
from deniable_server.store.errors import (
    ClosedError,
    ConflictError,
    FullError,
    InvitationError,
    LastError,
    OpenError,
    PausedError,
    QuotaError,
    StoreError,
    TooManyDraftsError,
    TooManyQuestionsError,
    UnavailableError,
    UnknownAccountError,
    UnknownDraftError,
    UnknownSurveyError,
    UnknownTeamError,
)
from deniable_server.web.audience import current_audience
from deniable_server.web.offload import GoneError, TooMuchError
from deniable_server.web.rate_limiter import RateLimitError


class WithheldError(EstimateError):
    """There are records, but fewer than the survey's owner wants before estimates are shown."""


class ModelBusyError(EstimateError):
    """The server is too busy to compute a model. The same request may succeed later."""


class DigestError(DeniableError):
    """A submission is for another definition than the published one."""


_STATUS: dict[type[StoreError], tuple[int, str]] = {
    UnknownSurveyError: (404, "survey"),
    UnknownDraftError: (404, "draft"),
    TooManyDraftsError: (409, "drafts"),
    TooManyQuestionsError: (409, "questions"),
    ClosedError: (403, "closed"),
    PausedError: (503, "paused"),
    QuotaError: (409, "quota"),
    ConflictError: (409, "conflict"),
    InvitationError: (403, "invitation"),
    LastError: (409, "last"),
    OpenError: (409, "open"),
    UnknownAccountError: (404, "account"),
    UnknownTeamError: (404, "team"),
    FullError: (507, "full"),
    UnavailableError: (503, "unavailable"),
}


RETRY = {"Retry-After": "2"}
"""The header of replies of 503."""

_FOR_PROGRAMS = ("/healthz", "/readyz")


def register(app: Flask) -> None:
    """Registers the error handlers of all routes."""
    app.register_error_handler(SubmissionError, lambda error: reply(400, error.rule, str(error)))
    app.register_error_handler(DigestError, lambda error: reply(409, "digest", str(error)))
    app.register_error_handler(WithheldError, lambda error: reply(403, "withheld", str(error)))
    app.register_error_handler(TooMuchError, lambda error: reply(422, "computing", str(error)))
    app.register_error_handler(GoneError, lambda error: reply(499, "gone", "the client has disconnected"))
    app.register_error_handler(ModelBusyError, lambda error: reply(503, "busy", str(error)))
    app.register_error_handler(EstimateError, lambda error: reply(400, "estimate", str(error)))
    app.register_error_handler(StoreError, _store_error)
    app.register_error_handler(RateLimitError, _too_many)
    app.register_error_handler(CSRFError, out_of_date)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Exception, _unexpected)


def reply(status: int, rule: str, message: str) -> Response:
    """Returns an error as a JSON problem for programs (RFC 9457) or as a page for people."""
    if request.path.startswith("/api/") or request.path in _FOR_PROGRAMS:
        response = jsonify(type="about:blank", title=HTTP_STATUS_CODES.get(status, "Error"), status=status, rule=rule, detail=message)
        response.mimetype = "application/problem+json"
    else:
        problem_fields = {"status": status, "rule": rule, "message": message}
        if current_audience().csrf:
            page = render_template("pages/error.html", **problem_fields, user=g.get("user"), operator=g.get("operator", False))
        else:
            page = render_template("error.html", **problem_fields)
        response = make_response(page)
    response.status_code = status
    if status == 503:
        response.headers.update(RETRY)
    return response


def status_of(error: StoreError) -> tuple[int, str]:
    """Returns the HTTP status of a store's error, and its rule in one word."""
    return next(_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS)


def _store_error(error: StoreError) -> Response:
    status, rule = status_of(error)
    return reply(status, rule, str(error))


def _too_many(error: RateLimitError) -> Response:
    response = reply(429, "later", str(error))
    response.retry_after = error.seconds
    return response


def out_of_date(_: CSRFError) -> Response:
    """Returns the reply to a form without a valid CSRF token."""
    return reply(400, "out of date", without_token())


def without_token() -> str:
    """Returns why a form has no valid token, and what to do: its cookie is missing, or it was opened before a login or a logout."""
    if current_app.config["SESSION_COOKIE_NAME"] not in request.cookies:
        return (
            "Your browser sent no cookie with this form, so nothing was changed. A restart of the browser deletes cookies: try again. "
            "If you read this again, your browser blocks cookies: allow them for this site."
        )
    return (
        "This page is out of date: you have logged in or out since you opened it. Nothing was changed. Open the page again, then try again."
    )


def _http_error(error: HTTPException) -> Response:
    """Returns the reply to an HTTP error. Werkzeug's texts are used unless they would repeat what was sent."""
    response = reply(error.code or 500, (error.name or "error").lower(), error.description or "")
    for challenge in getattr(error, "www_authenticate", None) or ():
        response.headers.add("WWW-Authenticate", challenge.to_header())
    return response


def _unexpected(error: Exception) -> Response:
    reference = secrets.token_hex(4)
    current_app.logger.error("error %s in %s", reference, request.endpoint, exc_info=error)
    return reply(500, "internal", f"something went wrong. The server's log has the details of error {reference}.")
