"""Webhook creation, and the state of a survey that a receiver may know.

Receivers learn about whole days, since a survey that closes with its last record closes in the second of a respondent's answer.
Counts follow the rule of spans (`store.life`): a change of fewer than three records is reported together with later ones.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Collection
from datetime import UTC, datetime
from ipaddress import ip_address
from urllib.parse import urlsplit

from deniable_server.results.progress import progress_of
from deniable_server.store.life import LEAST
from deniable_server.store.protocol import Store
from deniable_server.store.webhooks import EVENTS, ReceiverState, Webhook

LONGEST = 1000
_PREFIX = "whsec_"


def make(store: Store, survey_id: str, url: str, events: Collection[str]) -> tuple[Webhook, str]:
    """Creates a webhook. Returns it with the text of its secret, for the receiver.

    Raises:
        ValueError: The URL or an event is invalid.
        UnknownSurveyError: There is no such survey.
        ConflictError: The survey has too many webhooks.
    """
    url = url.strip(" ")
    check_url(url)
    if not events or not set(events) <= set(EVENTS):
        raise ValueError(f"events must be some of {', '.join(EVENTS)}")
    receiver = receiver_state(store, survey_id, ReceiverState(True, False, 0))
    secret = secrets.token_bytes(32)
    ordered = tuple(event for event in EVENTS if event in events)
    webhook = Webhook(f"wh_{secrets.token_hex(8)}", survey_id, url, ordered, datetime.now(UTC).date().isoformat())
    store.webhooks.add(webhook, secret, receiver)
    return webhook, _PREFIX + base64.b64encode(secret).decode()


def check_url(url: str) -> None:
    """Raises ValueError for an invalid address. Whether its host is public is checked when a message is sent."""
    try:
        parts = urlsplit(url)
        is_valid = bool(parts.hostname) and parts.port != 0 and parts.username is None and not parts.fragment
    except ValueError:  # such as [::1 without its end, or a port that is not a number
        is_valid = False
    if not is_valid or len(url) > LONGEST or not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError(f"url must be an address of at most {LONGEST:,} ASCII characters, without a name, a password or a fragment")
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_this_machine(parts.hostname or "")):
        raise ValueError("url must begin with https://, or with http:// for this machine itself")


def receiver_state(store: Store, survey_id: str, before: ReceiverState) -> ReceiverState:
    """Returns the state that a receiver may know now, after `before`. Raises UnknownSurveyError."""
    published = store.surveys.published(survey_id)
    result = progress_of(store, published, store.life.settings(survey_id))
    n = sum(span.n for span in store.life.spans(survey_id))
    return ReceiverState(published.is_open, result.reached, n if abs(n - before.n) >= LEAST else before.n)


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
