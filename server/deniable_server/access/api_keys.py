"""API keys for programs: 32 random bytes, shown once; the store has only their hash."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

from deniable_server.identity.names import check_name
from deniable_server.store.accounts import ApiKey
from deniable_server.store.protocol import Store

OF_SURVEYS = {"submit": "submissions of many records", "results": "results and tallies", "reports": "perturbed records"}
"""The scopes of a key for one survey or all surveys, with their descriptions."""
SCOPES = {**OF_SURVEYS, "metrics": "the server's metrics, at /metrics"}
"""All scopes of keys."""
PREFIX = "dk_"


def make(store: Store, name: str, scopes: Sequence[str], survey: str | None = None) -> str:
    """Creates a key and returns its text.

    Args:
        store: Where to save the key's hash.
        name: The name of the key.
        scopes: Some of SCOPES.
        survey: The only survey of the key; None for all surveys.

    Raises:
        ValueError: The name or a scope is invalid.
        ConflictError: Another key has this name.
        UnknownSurveyError: There is no such survey.
    """
    name = check_name("the key's name", name)
    if name.startswith(PREFIX):
        raise ValueError(f"the key's name must not begin with {PREFIX}, as keys do")
    if not scopes or not set(scopes) <= set(SCOPES):
        raise ValueError(f"scope must be {' or '.join(SCOPES)}")
    if survey is not None and not set(scopes) <= set(OF_SURVEYS):
        raise ValueError(f"scope must be {' or '.join(OF_SURVEYS)} for a key of one survey")
    text = PREFIX + base64.urlsafe_b64encode(secrets.token_bytes(32)).rstrip(b"=").decode()
    ordered = tuple(scope for scope in SCOPES if scope in scopes)
    store.accounts.add_key(ApiKey(name, ordered, survey, datetime.now(UTC).date().isoformat()), _hash(text))
    return text


def find(store: Store, text: str) -> ApiKey | None:
    """Returns the key with this text, or None if it does not exist."""
    return store.accounts.key(_hash(text)) if text.startswith(PREFIX) else None


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()
