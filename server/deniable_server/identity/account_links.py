"""Account links, which create an account: 32 random bytes, shown once; the store has only their hash."""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from datetime import timedelta

from deniable_server.store.people import AccountLink
from deniable_server.store.protocol import Store

LASTS = timedelta(days=7)


def make(store: Store, address: str, operator: bool, made_by: str | None = None) -> str:
    """Returns a new link, which creates one account.

    Args:
        store: Where to save the link's hash.
        address: The server's address, without a trailing slash.
        operator: Whether the account is an operator's.
        made_by: The operator who made the link; None for the command line.
    """
    token, now = base64.urlsafe_b64encode(secrets.token_bytes(32)).rstrip(b"=").decode(), int(time.time())
    store.people.add_link(AccountLink(hash_of(token), operator, now + int(LASTS.total_seconds()), made_by), now)
    return f"{address}/join/{token}"


def hash_of(token: str) -> bytes:
    """Returns the stored hash of a link's token."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).digest()
