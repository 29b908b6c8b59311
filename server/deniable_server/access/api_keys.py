"""Keys for programs: 32 random bytes, printed once; the store has their hash."""

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
"""What a key may be for, in one survey or in all."""
SCOPES = {**OF_SURVEYS, "metrics": "how the server does, at /metrics"}
"""What a key may be for."""
PREFIX = "dk_"


def make(store: Store, name: str, scopes: Sequence[str], survey: str | None = None) -> str:
    """A new key as its holder writes it. Raises ValueError naming the rule, ConflictError for a name taken, UnknownSurveyError."""
    name = check_name("the key's name", name)
    if name.startswith(PREFIX):
        raise ValueError(f"the key's name must not begin with {PREFIX}, as keys do")
    if not scopes or not set(scopes) <= set(SCOPES):
        raise ValueError(f"scope must be {' or '.join(SCOPES)}")
    if survey is not None and not set(scopes) <= set(OF_SURVEYS):
        raise ValueError(f"scope must be {' or '.join(OF_SURVEYS)} for a key of one survey")
    written = PREFIX + base64.urlsafe_b64encode(secrets.token_bytes(32)).rstrip(b"=").decode()
    ordered = tuple(scope for scope in SCOPES if scope in scopes)
    store.accounts.add_key(ApiKey(name, ordered, survey, datetime.now(UTC).date().isoformat()), _hash(written))
    return written


def find(store: Store, written: str) -> ApiKey | None:
    """The key that somebody sent, or None if there is no such key."""
    return store.accounts.key(_hash(written)) if written.startswith(PREFIX) else None


def _hash(written: str) -> bytes:
    return hashlib.sha256(written.encode(errors="surrogatepass")).digest()
