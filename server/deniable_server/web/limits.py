"""Request size limits: the size of a survey's largest submission, decided before any of a body is read.

The front, before it collects a body, and Flask, before a view reads one, use the same function.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from flask import Flask, current_app, request
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from deniable.survey.compiled import SurveyRules
from deniable_server.context import current_store
from deniable_server.store.errors import StoreError
from deniable_server.web.audience import may_send_forms

SMALL = 8 << 10  # bytes: every request may have so many, since nobody can do harm with them
View = TypeVar("View", bound=Callable[..., Any])
_SIZES: dict[Callable[..., Any] | None, Callable[[SurveyRules], int] | int] = {}
BODY = "deniable.body"  # the key of the environ with the only copy of a body that the front has read
REFUSED = "deniable.refused"  # the key of the environ with the error of a request that the front refused


def register(app: Flask) -> None:
    """Limits every request, before anything reads its body."""
    app.before_request(_limit)


def body(size: Callable[[SurveyRules], int] | int) -> Callable[[View], View]:
    """Marks a view whose bodies may be larger than the default.

    Args:
        size: The most bytes, or a function that returns them for a survey and may abort with 401 or 403.
    """

    def mark(view: View) -> View:
        _SIZES[view] = size
        return view

    return mark


def whole_body() -> bytes:
    """Returns the body of the current request and releases it. Raises RequestEntityTooLarge if it is too long."""
    stored: bytes | None = request.environ.pop(BODY, None)
    if stored is None:
        return request.get_data(cache=False)
    request.environ["wsgi.input"] = io.BytesIO()
    if len(stored) > (request.max_content_length or 0):
        raise RequestEntityTooLarge
    return stored


def most_bytes() -> int:
    """Returns the most bytes that the current request's body may have. Raises StoreError if the database fails."""
    size = _SIZES.get(current_app.view_functions.get(request.endpoint or ""))
    if size is None or 0 < (request.content_length or 0) <= SMALL or not may_send_forms():
        return SMALL  # for strangers, too: large bodies share memory that callers with a key need
    if isinstance(size, int):
        return size
    return max(SMALL, size(current_store().surveys.compiled((request.view_args or {})["survey_id"])))


def most_bytes_of(app: Flask, environ: Mapping[str, Any]) -> int:
    """Returns the most bytes for a request whose body has not arrived; 0 if its view will refuse it."""
    with app.request_context(dict(environ)):
        try:
            return most_bytes()
        except (StoreError, HTTPException):
            return 0


def _limit() -> None:
    refused: Exception | None = request.environ.get(REFUSED)
    if refused is not None:
        raise refused
    request.max_content_length = most_bytes()
