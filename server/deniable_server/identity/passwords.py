"""Password hashing and verification: argon2id, a few at a time, and equally slow for a name that does not exist."""

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
from deniable_server.identity.names import check_name
from deniable_server.store.accounts import Accounts
from deniable_server.web.rate_limiter import Clock, HashingQueue, ServerShare

LENGTHS = range(10, 257)
REMEMBERED = 300.0  # seconds: a program that sends its password with each request costs argon2 only once in this time
_MOST_REMEMBERED = 1000
_hasher = PasswordHasher()


def set_password(accounts: Accounts, user: str, password: str) -> None:
    """Creates an account or changes its password, which ends its sessions. Raises ValueError with the broken rule."""
    check_new_name(accounts, user)
    accounts.set_password(user, hash_password(user, password))


def check_new_name(accounts: Accounts, user: str) -> None:
    """Raises ValueError if a new account's name can be confused with another one. Existing accounts keep their names."""
    users = accounts.users()
    if user in users:
        return
    if user != " ".join(unicodedata.normalize("NFC", user).split()):
        raise ValueError("the name must be of composed characters (NFC), with single spaces and none at its ends")
    if hidden := lookalikes.first_invisible(user):
        raise ValueError(f"the name must have no invisible characters, got {hidden}")
    if any(lookalikes.skeletons(user) & lookalikes.skeletons(other) for other in users):
        raise ValueError("the name must not look like the name of another account")


def hash_password(user: str, password: str) -> str:
    """Returns the argon2id hash of a new password. Raises ValueError with the rule that the name or the password breaks."""
    if check_name("the name", user) != user:
        raise ValueError("the name must not begin or end with a blank")
    if len(password) not in LENGTHS:
        raise ValueError(f"the password must be {LENGTHS[0]} to {LENGTHS[-1]} characters, got {len(password)}")
    return _hasher.hash(password)


class Passwords:
    """Password verification of one application.

    Devices on which a researcher has logged in before have a queue of their own, so that guessers cannot lock them out.
    """

    def __init__(self, accounts: Accounts, clock: Clock = time.monotonic, share: ServerShare | None = None) -> None:
        self._accounts = accounts
        self._strangers, self._known_devices = HashingQueue(clock, share), HashingQueue(clock, share)
        self._cache = _VerifiedCache(clock)

    def verify(self, user: str, password: str, device: str | None = None) -> bool:
        """Returns whether this is the user's password.

        Args:
            user: The name of an account, which may not exist.
            password: The password to check.
            device: The id of a device on which the user has logged in before.

        Raises:
            RateLimitError: There were too many attempts, whether or not the account exists.
        """
        stored = self._accounts.password_hash(user)
        if stored and self._cache.has(user, password, stored):
            return True
        queue, name = (self._strangers, user) if device is None else (self._known_devices, device)
        with queue.attempt(name) as forgive:
            if not _matches(stored or _dummy_hash(), password) or not stored:  # an account of single sign-on may have no password
                return False
            forgive()
        self._cache.add(user, password, stored)
        return True


class _VerifiedCache:
    """Recently verified passwords, as hashes under a key of this process.

    The hashes include the stored hash, so that a password change ends them at once.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock, self._key = clock, secrets.token_bytes(32)
        self._until: OrderedDict[bytes, float] = OrderedDict()
        self._lock = threading.Lock()

    def has(self, user: str, password: str, stored: str) -> bool:
        with self._lock:
            return self._until.get(self._digest(user, password, stored), 0.0) > self._clock()

    def add(self, user: str, password: str, stored: str) -> None:
        with self._lock:
            self._until[self._digest(user, password, stored)] = self._clock() + REMEMBERED
            while len(self._until) > _MOST_REMEMBERED or next(iter(self._until.values())) <= self._clock():
                self._until.popitem(last=False)

    def _digest(self, *parts: str) -> bytes:
        text = "".join(f"{len(part)}:{part}" for part in parts)
        return hashlib.blake2b(text.encode(errors="surrogatepass"), key=self._key, digest_size=32).digest()


def _matches(stored: str, password: str) -> bool:
    try:
        return _hasher.verify(stored, password[: LENGTHS[-1] + 1])
    except (Argon2Error, InvalidHashError):
        return False


@cache
def _dummy_hash() -> str:
    """Returns a hash to compare with if the account does not exist."""
    return _hasher.hash("no such account")


def current_passwords() -> Passwords:
    """Returns the password verification of the application that handles the current request."""
    return current_services().get(Passwords)
