"""Survey list: the surveys of a server that the caller may see, with pagination, fetched as needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, cast

import httpx

from deniable.delivery.transport import Transport
from deniable.errors import DeliveryError
from deniable.survey.document import strict_json
from deniable.survey.parse import SURVEY_ID
from deniable.survey.types.base import printable
from deniable.wire.link import DIGEST

PAGE = 50
_STATES = ("open", "paused", "closed")


@dataclass(frozen=True)
class SurveySummary:
    """A published survey.

    Attributes:
        id: The id.
        title: The title.
        state: open, paused or closed.
        published_on: The day of publication, YYYY-MM-DD.
        digest: The digest of its definition.
        epsilon: The privacy loss of a submission.
    """

    id: str
    title: str
    state: Literal["open", "paused", "closed"]
    published_on: str
    digest: str
    epsilon: float


def surveys(transport: Transport, auth: httpx.Auth | None) -> Iterator[SurveySummary]:
    """Yields every survey, by id.

    Raises:
        RejectedError: The server rejected the request.
        DeliveryError: The server could not be reached, or its reply is not such a list.
    """
    last, cursor = "", None
    while True:
        raw = transport.get("/api/v1/surveys", {"limit": PAGE, **({"cursor": cursor} if cursor else {})}, auth)
        try:
            reply = strict_json(raw)
            page, cursor = [_summary(each) for each in cast(list[Any], reply["surveys"])], cast(str | None, reply["next"])
            ids = [last, *(each.id for each in page)]
            if type(reply["surveys"]) is not list or ids != sorted(set(ids)) or not (cursor is None or (type(cursor) is str and page)):
                raise ValueError
        except (ValueError, KeyError, TypeError):
            raise DeliveryError(f"{transport.url} did not answer with a list of surveys; is it the right address?") from None
        yield from page
        if cursor is None:
            return
        last = page[-1].id


def _summary(entry: Any) -> SurveySummary:
    """Returns one entry of the list. Raises ValueError, KeyError or TypeError for a malformed one."""
    summary = SurveySummary(**{name: entry[name] for name in SurveySummary.__dataclass_fields__})
    date.fromisoformat(summary.published_on)
    right = SURVEY_ID.fullmatch(summary.id) and DIGEST.fullmatch(summary.digest) and printable(summary.title) and summary.state in _STATES
    if not right or type(summary.epsilon) not in (float, int) or not 0 < summary.epsilon < 2**63:
        raise ValueError
    return summary
