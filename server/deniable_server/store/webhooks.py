"""Addresses that are told of a survey by themselves, what waits to be told; and what any database must do for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

EVENTS = {
    "survey.closed": "the survey was closed",
    "precision.reached": "it is as precise as was wanted",
    "count.daily": "how many records are counted, on days on which three or more came",
}
"""What a webhook may be told."""

MOST = 10
"""Webhooks of one survey, at most."""


@dataclass(frozen=True)
class Told:
    """What the receiver of a webhook knows: whether the survey is open, whether it is as precise as was wanted, and how many records."""

    is_open: bool
    reached: bool
    n: int


@dataclass(frozen=True)
class Webhook:
    """url: may have a secret of the receiver's, so it is in no repr. failing_since: the day since which nothing arrived, if so."""

    id: str
    survey: str
    url: str = field(repr=False)
    events: tuple[str, ...]
    made_on: str  # a day, YYYY-MM-DD
    failing_since: str | None = None


@dataclass(frozen=True)
class Message:
    """What waits to be told. tries: how often it was sent; due: when it is to be sent next, in Unix seconds."""

    id: str
    webhook: str
    body: str
    tries: int
    due: int


class Webhooks(Protocol):
    """The shelf of webhooks. What their receivers are told is kept with them, so that nothing is told twice.

    Every method is safe to call from several threads and processes; what writes raises FullError, UnavailableError; what reads
    UnavailableError.
    """

    def add(self, webhook: Webhook, secret: bytes, told: Told) -> None:
        """Keeps a webhook; its secret sealed with the server's key. Raises UnknownSurveyError, ConflictError above MOST of a survey."""

    def of_survey(self, survey_id: str) -> list[Webhook]:
        """The webhooks of a survey, by id."""

    def all(self) -> list[tuple[Webhook, Told]]:
        """All webhooks by id, each with what its receiver knows."""

    def secret(self, webhook_id: str) -> bytes | None:
        """The secret of a webhook, or None if there is no such webhook."""

    def remove(self, survey_id: str, webhook_id: str) -> bool:
        """Removes a webhook of a survey, and what waits for it. False if there is none."""

    def tell(self, webhook_id: str, before: Told, now: Told, messages: Sequence[Message]) -> bool:
        """Keeps messages, and that their receiver knows them, in one transaction.

        False, and nothing is kept, if the receiver knew something else than `before`: another process was faster.
        """

    def waiting(self) -> list[Message]:
        """All messages that wait, the first to be sent first."""

    def attempt(self, message: Message, due: int) -> bool:
        """Before a message is sent: it has one try more, and is due again then. False if another process sends it, or it is gone."""

    def settle(self, message: Message, *, arrived: bool, last: bool, day: str) -> None:
        """After it was sent: forgets it where it arrived or was tried for the last time, and notes since which day nothing arrives."""
