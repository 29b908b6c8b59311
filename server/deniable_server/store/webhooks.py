"""Webhooks of surveys and their waiting messages: data types and storage interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

EVENTS = {
    "survey.closed": "the survey was closed",
    "precision.reached": "the target precision was reached",
    "count.daily": "the number of counted records, on days on which three or more were added",
}
"""The events that a webhook can subscribe to."""

MOST = 10
"""The most webhooks of one survey."""


@dataclass(frozen=True)
class ReceiverState:
    """State known to a webhook's receiver: whether the survey is open and its target precision reached, and the number of records."""

    is_open: bool
    reached: bool
    n: int


@dataclass(frozen=True)
class Webhook:
    """A URL that receives events of a survey.

    Attributes:
        id: Its id.
        survey: The survey's id.
        url: The address. It may contain a secret of the receiver's, so no repr shows it.
        events: The subscribed EVENTS.
        made_on: The day on which it was added.
        failing_since: The day since which nothing was delivered; None if the last delivery succeeded.
    """

    id: str
    survey: str
    url: str = field(repr=False)
    events: tuple[str, ...]
    made_on: str  # a day, YYYY-MM-DD
    failing_since: str | None = None


@dataclass(frozen=True)
class Message:
    """A queued message. `tries` is how often it was sent; `due` is when to send it next, in Unix seconds."""

    id: str
    webhook: str
    body: str
    tries: int
    due: int


class Webhooks(Protocol):
    """Storage interface for webhooks. It also stores each receiver's state, so that no event is sent twice.

    Every method is safe to call from several threads and processes.
    Writing raises FullError and UnavailableError, reading UnavailableError.
    """

    def add(self, webhook: Webhook, secret: bytes, receiver: ReceiverState) -> None:
        """Stores a webhook and its secret, encrypted with the server's key.

        Raises:
            UnknownSurveyError: There is no such survey.
            ConflictError: The survey already has MOST webhooks.
        """

    def of_survey(self, survey_id: str) -> list[Webhook]:
        """Returns the webhooks of a survey, sorted by id."""

    def all(self) -> list[tuple[Webhook, ReceiverState]]:
        """Returns all webhooks, sorted by id, each with its receiver's state."""

    def secret(self, webhook_id: str) -> bytes | None:
        """Returns the secret of a webhook, or None if there is no such webhook."""

    def remove(self, survey_id: str, webhook_id: str) -> bool:
        """Removes a webhook of a survey and its queued messages. Returns whether it existed."""

    def queue(self, webhook_id: str, before: ReceiverState, now: ReceiverState, messages: Sequence[Message]) -> bool:
        """Queues messages and stores their receiver's new state, in one transaction.

        Returns:
            False, with nothing stored, if the receiver's state is not `before`: another process was faster.
        """

    def waiting(self) -> list[Message]:
        """Returns all queued messages, the first due first."""

    def attempt(self, message: Message, due: int) -> bool:
        """Reserves a message before it is sent: counts the attempt, and sets when it is due again.

        Returns:
            False if another process sends it, or it is gone.
        """

    def settle(self, message: Message, *, arrived: bool, last: bool, day: str) -> None:
        """Removes a message that arrived or had its last attempt, and updates since which day deliveries fail."""
