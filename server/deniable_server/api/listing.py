"""Pagination of the list of surveys: each page continues after the last id of the previous one, even if surveys were added or removed."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from deniable.survey.parse import SURVEY_ID
from deniable_server.store.protocol import Heading, Store
from deniable_server.store.studies import Wave

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
        raise ListingError("cursor", "cursor must be the value of next in an earlier page, or left out")
    return last


def page(store: Store, survey_ids: Sequence[str], last: str, limit: int) -> tuple[dict[str, Any], str | None]:
    """Returns a page of these surveys, whose ids are sorted, with their tags and studies, and the query of the next page, or None."""
    rest = [each for each in survey_ids if each > last]
    following = _cursor(rest[limit - 1]) if len(rest) > limit else None
    ids = rest[:limit]
    tags, waves = store.tags.of_surveys(ids), store.studies.waves_of(ids)
    fields = [_fields(each, tags.get(each.id, ()), waves.get(each.id)) for each in store.surveys.headings(ids)]
    content = {"surveys": fields, "next": following}
    return content, None if following is None else urlencode({"limit": limit, "cursor": following})


def _cursor(survey_id: str) -> str:
    return base64.urlsafe_b64encode(survey_id.encode()).rstrip(b"=").decode()


def _fields(heading: Heading, tags: Sequence[str], wave: Wave | None) -> dict[str, Any]:
    return {
        **heading.summary,
        "tags": list(tags),
        "study": {"id": wave.study, "name": wave.name, "wave": wave.number} if wave else None,
    }
