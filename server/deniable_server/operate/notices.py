"""Daily events for webhooks: a survey was closed, its target precision was reached, its number of records changed."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Iterator

from deniable.errors import EstimateError
from deniable_server.api.webhooks import receiver_state
from deniable_server.operate import logs
from deniable_server.store.protocol import Store
from deniable_server.store.webhooks import Message, ReceiverState, Webhook

logger = logging.getLogger(logs.OWN)


def note(store: Store, today: str, moment: int) -> None:
    """Queues a message for each event that a receiver does not know yet. A survey that cannot be computed does not block others.

    Args:
        store: The store; after an error of it, the remaining messages wait for the next run.
        today: The day, YYYY-MM-DD.
        moment: Now, in Unix seconds.
    """
    for webhook, before in store.webhooks.all():
        try:
            now = receiver_state(store, webhook.survey, before)
        except EstimateError:
            logger.warning("the events for the webhook %s of %s could not be computed", webhook.id, webhook.survey)
            continue
        if now != before:
            digest = store.surveys.published(webhook.survey).survey.digest
            bodies = (
                _body(event, today, {"survey": webhook.survey, "digest": digest, **data}) for event, data in _news(webhook, before, now)
            )
            messages = [Message(f"msg_{secrets.token_hex(12)}", webhook.id, body, 0, moment) for body in bodies]
            store.webhooks.queue(webhook.id, before, now, messages)


def _news(webhook: Webhook, before: ReceiverState, now: ReceiverState) -> Iterator[tuple[str, dict[str, int]]]:
    """Yields the events that a webhook subscribes to, with their data. Only the daily count contains a number."""
    changes: dict[str, dict[str, int] | None] = {
        "survey.closed": {} if before.is_open and not now.is_open else None,
        "precision.reached": {} if now.reached and not before.reached else None,
        "count.daily": {"n": now.n} if now.n != before.n else None,
    }
    yield from ((event, data) for event, data in changes.items() if data is not None and event in webhook.events)


def _body(event: str, today: str, data: dict[str, str | int]) -> str:
    return json.dumps({"type": event, "timestamp": f"{today}T00:00:00Z", "data": data})
