"""Pagination of the list of surveys: each page continues after the last id of the previous one, even if surveys were added or removed."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from deniable.survey.parse import SURVEY_ID
from deniable_server.store.protocol import Published

MOST = 200
DEFAULT = 50


class ListingError(ValueError):
    """A page was requested with an invalid parameter, `rule`."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule


def limit_of(parameter: str | None) -> int:
    """Parses the number of surveys of a page. Raises ListingError."""
    if parameter is None:
        return DEFAULT
    if not (parameter.isascii() and parameter.isdigit() and len(parameter) <= 3 and 1 <= int(parameter) <= MOST):
        raise ListingError("limit", f"limit must be a whole number from 1 to {MOST}, or left out")
    return int(parameter)


def last_of(cursor: str | None) -> str:
    """Parses the id after which a page begins; "" for the first page. Raises ListingError."""
    if cursor is None:
        return ""
    try:
        last = base64.b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4), b"-_", validate=True).decode("ascii")
    except (binascii.Error, UnicodeError):
        last = ""
    if not SURVEY_ID.fullmatch(last) or _cursor(last) != cursor:
        raise ListingError("cursor", "cursor must be the next of an earlier page, or left out")
    return last


def page(surveys: Sequence[Published], last: str, limit: int) -> tuple[dict[str, Any], str | None]:
    """Returns a page of surveys, sorted by id, and the query of the next page, or None."""
    rest = [each for each in surveys if each.survey.id > last]
    following = _cursor(rest[limit - 1].survey.id) if len(rest) > limit else None
    content = {"surveys": [_fields(each) for each in rest[:limit]], "next": following}
    return content, None if following is None else urlencode({"limit": limit, "cursor": following})


def _cursor(survey_id: str) -> str:
    return base64.urlsafe_b64encode(survey_id.encode()).rstrip(b"=").decode()


def _fields(published: Published) -> dict[str, Any]:
    survey = published.survey
    return {
        "id": survey.id,
        "title": survey.title,
        "state": published.state,
        "published_on": published.published_on,
        "digest": survey.digest,
        "epsilon": survey.epsilon,
    }
