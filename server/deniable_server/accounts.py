"""Researchers' passwords: argon2id, and the same time for a name that does not exist."""

from __future__ import annotations

from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from deniable_server.store import Store

LENGTHS = range(10, 257)
_hasher = PasswordHasher()


def set_password(store: Store, user: str, password: str) -> None:
    """Makes an account or changes its password. Raises ValueError naming the rule."""
    if not 1 <= len(user) <= 64 or not user.isprintable():
        raise ValueError("the name must be 1 to 64 printable characters")
    if len(password) not in LENGTHS:
        raise ValueError(f"the password must be {LENGTHS[0]} to {LENGTHS[-1]} characters, got {len(password)}")
    store.set_password(user, _hasher.hash(password))


def password_holds(store: Store, user: str, password: str) -> bool:
    """Whether this is the user's password."""
    known = store.password_hash(user)
    try:
        held = _hasher.verify(known or _nobody(), password[: LENGTHS[-1] + 1])
    except (Argon2Error, InvalidHashError):
        return False
    return held and known is not None


@cache
def _nobody() -> str:
    """A hash to compare with when there is no such account."""
    return _hasher.hash("no such account")
