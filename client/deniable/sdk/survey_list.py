"""Which surveys a server has, as far as whoever asks may see them: fetched page by page, as they are wanted."""

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
class Listed:
    """A published survey. published_on: the day, YYYY-MM-DD; digest: of its definition; epsilon: of the whole survey."""

    id: str
    title: str
    state: Literal["open", "paused", "closed"]
    published_on: str
    digest: str
    epsilon: float


def surveys(transport: Transport, auth: httpx.Auth | None) -> Iterator[Listed]:
    """All of them, by id. Raises RejectedError, DeliveryError, also for a reply that is no such list."""
    last, cursor = "", None
    while True:
        raw = transport.get("/api/v1/surveys", {"limit": PAGE, **({"cursor": cursor} if cursor else {})}, auth)
        try:
            reply = strict_json(raw)
            found, cursor = [_listed(each) for each in cast(list[Any], reply["surveys"])], cast(str | None, reply["next"])
            ids = [last, *(each.id for each in found)]
            if type(reply["surveys"]) is not list or ids != sorted(set(ids)) or not (cursor is None or (type(cursor) is str and found)):
                raise ValueError
        except (ValueError, KeyError, TypeError):
            raise DeliveryError(f"{transport.url} answered with no list of surveys; is it the right address?") from None
        yield from found
        if cursor is None:
            return
        last = found[-1].id


def _listed(told: Any) -> Listed:
    """Raises ValueError, KeyError or TypeError for what is none."""
    found = Listed(**{name: told[name] for name in Listed.__dataclass_fields__})
    date.fromisoformat(found.published_on)
    right = SURVEY_ID.fullmatch(found.id) and DIGEST.fullmatch(found.digest) and printable(found.title) and found.state in _STATES
    if not right or type(found.epsilon) not in (float, int) or not 0 < found.epsilon < 2**63:
        raise ValueError
    return found
