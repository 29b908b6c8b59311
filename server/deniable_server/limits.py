"""How many bytes the body of a request may have: what the survey's largest submission takes, decided before any of it is read.

One function says it for both who ask: the front, before it collects a body, and Flask, before a view reads one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flask import Flask, request
from werkzeug.exceptions import HTTPException

from deniable.survey import Survey
from deniable.wire.submission import MAX_COUNT
from deniable_server import callers, current_store
from deniable_server.store import StoreError

SMALL = 8 << 10  # bytes that any request may have, which nobody can make much work of
REFUSED = "deniable.refused"  # the key of the environ under which the front says why it gave up a request


def register(app: Flask) -> None:
    """Limits every request, before anything reads its body."""
    app.before_request(_limit)


def most_bytes() -> int:
    """The most bytes that the body of the current request may have. Raises StoreError where the database fails."""
    size = _SIZES.get(request.endpoint or "")
    if size is None or 0 < (request.content_length or 0) <= SMALL:
        return SMALL
    return max(SMALL, size(current_store().published((request.view_args or {})["survey_id"]).survey))


def most_bytes_of(app: Flask, environ: Mapping[str, Any]) -> int:
    """The same for a request that is no more than its head yet; 0 where that cannot be said, which the view will tell."""
    with app.request_context({name: value for name, value in environ.items() if name != "HTTP_COOKIE"}):
        try:
            return most_bytes()
        except (StoreError, HTTPException):
            return 0


def _limit() -> None:
    refused: HTTPException | None = request.environ.get(REFUSED)
    if refused is not None:
        raise refused
    request.max_content_length = most_bytes()


def submission_bytes(survey: Survey, count: int) -> int:
    """The most bytes of a submission of `count` records: those, the rest of the envelope, and a label at 12 bytes a character."""
    label = max((len(group) for group in survey.groups), default=0)
    return 1024 + 12 * label + -(-4 * survey.record.bytes * count // 3)


def _submission(survey: Survey) -> int:
    """One record, or with a key for that as many as a submission may have. Aborts with 401 or 403 for another key."""
    return submission_bytes(survey, MAX_COUNT if callers.key_for("submit", survey.id) else 1)


def _form(survey: Survey) -> int:
    """A mark for each question, `mark-16000=yes&`."""
    return SMALL + 16 * len(survey.questions)


_SIZES: Mapping[str, Callable[[Survey], int]] = {"api.submit": _submission, "by_hand.record": _form}
