"""Links that make accounts: 32 random bytes, shown once; the store has their hash."""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from datetime import timedelta

from deniable_server.store.people import Invitation
from deniable_server.store.protocol import Store

LASTS = timedelta(days=7)


def make(store: Store, address: str, operator: bool, made_by: str | None = None) -> str:
    """A new link for one account. address: of this server, without a slash at its end; operator: whether it is an operator's."""
    token, now = base64.urlsafe_b64encode(secrets.token_bytes(32)).rstrip(b"=").decode(), int(time.time())
    store.people.invite(Invitation(hash_of(token), operator, now + int(LASTS.total_seconds()), made_by), now)
    return f"{address}/join/{token}"


def hash_of(token: str) -> bytes:
    """What the store has of a token."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).digest()
