"""Researchers' passwords: argon2id, a few at a time, and the same time for a name that does not exist."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
import unicodedata
from collections import OrderedDict
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from deniable.survey import lookalikes
from deniable_server.context import current_services
from deniable_server.identity.names import readable
from deniable_server.store.accounts import Accounts
from deniable_server.web.rate_limiter import Clock, HashingQueue

LENGTHS = range(10, 257)
REMEMBERED = 300.0  # seconds for which a program that sends its password with each request costs no argon2
_MOST_REMEMBERED = 1000
_hasher = PasswordHasher()


def set_password(accounts: Accounts, user: str, password: str) -> None:
    """Makes an account or changes its password, which ends its sessions. Raises ValueError naming the rule."""
    check_new_name(accounts, user)
    accounts.set_password(user, hashed(user, password))


def check_new_name(accounts: Accounts, user: str) -> None:
    """Raises ValueError where no account can get this name: nobody could tell it from another one. One that is there may keep its name."""
    users = accounts.users()
    if user in users:
        return
    if user != " ".join(unicodedata.normalize("NFC", user).split()):
        raise ValueError("the name must be of composed characters (NFC), with single spaces and none around")
    if hidden := lookalikes.first_invisible(user):
        raise ValueError(f"the name must have no characters that do not show, got {hidden}")
    if any(lookalikes.skeletons(user) & lookalikes.skeletons(other) for other in users):
        raise ValueError("the name must not look like that of another account")


def hashed(user: str, password: str) -> str:
    """The argon2id hash of a password that an account of this name may have. Raises ValueError naming the rule."""
    if readable("the name", user) != user:
        raise ValueError("the name must not begin or end with a blank")
    if len(password) not in LENGTHS:
        raise ValueError(f"the password must be {LENGTHS[0]} to {LENGTHS[-1]} characters, got {len(password)}")
    return _hasher.hash(password)


class Passwords:
    """Checks passwords for one application.

    Devices that a researcher logged in from before have a lane of their own, so that guessers keep nobody out there.
    """

    def __init__(self, accounts: Accounts, clock: Clock = time.monotonic) -> None:
        self._accounts = accounts
        self._strangers, self._known_devices = HashingQueue(clock), HashingQueue(clock)
        self._lately = _Lately(clock)

    def hold(self, user: str, password: str, device: str | None = None) -> bool:
        """Whether this is the user's password. device: the id of one that the user logged in from before.

        Raises RateLimitError where too many tried, in the same way for a name that does not exist.
        """
        stored = self._accounts.password_hash(user)
        if stored is not None and self._lately.held(user, password, stored):
            return True
        lane, name = (self._strangers, user) if device is None else (self._known_devices, device)
        with lane.attempt(name) as forgive:
            if not _verified(stored or _nobody(), password) or stored is None:
                return False
            forgive()
        self._lately.remember(user, password, stored)
        return True


class _Lately:
    """Passwords that held lately, as hashes under a key of this process; with the stored hash, so that a change of it ends them at once."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self._key = clock, secrets.token_bytes(32)
        self._until: OrderedDict[bytes, float] = OrderedDict()
        self._lock = threading.Lock()

    def held(self, user: str, password: str, stored: str) -> bool:
        with self._lock:
            return self._until.get(self._hashed(user, password, stored), 0.0) > self._clock()

    def remember(self, user: str, password: str, stored: str) -> None:
        with self._lock:
            self._until[self._hashed(user, password, stored)] = self._clock() + REMEMBERED
            while len(self._until) > _MOST_REMEMBERED or next(iter(self._until.values())) <= self._clock():
                self._until.popitem(last=False)

    def _hashed(self, *parts: str) -> bytes:
        text = "".join(f"{len(part)}:{part}" for part in parts)
        return hashlib.blake2b(text.encode(errors="surrogatepass"), key=self._key, digest_size=32).digest()


def _verified(stored: str, password: str) -> bool:
    try:
        return _hasher.verify(stored, password[: LENGTHS[-1] + 1])
    except (Argon2Error, InvalidHashError):
        return False


@cache
def _nobody() -> str:
    """A hash to compare with when there is no such account."""
    return _hasher.hash("no such account")


def current_passwords() -> Passwords:
    """Returns the check of passwords of the application that handles the current request."""
    return current_services().get(Passwords)
