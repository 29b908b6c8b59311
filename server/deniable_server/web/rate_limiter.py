"""How often somebody may try: submissions in all, and passwords by name, in all, and at the same time.

No address decides, and none is used or kept: whoever sits behind one has others. All of it is in memory, and names as keyed
hashes, because people type passwords into the wrong field. So a restart forgets the delays, which gains a guesser FREE tries a name.
"""

from __future__ import annotations

import hashlib
import math
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from deniable_server.context import current_services

FREE = 5  # wrong passwords in a row for one name before it has to wait
LONGEST = 60.0  # seconds that a name has to wait at most, so that nobody can lock somebody else out for good
FORGET = 3600.0  # seconds after the last wrong password for a name until it is free again
NAMES = 10_000
HASHES_PER_SECOND, HASHES_AT_ONCE, HASHES_WAITING = 2.0, 1, 3
BURST = 10
WRONG_LINKS_PER_MINUTE = 10
LONGEST_FOR_CODES = 900.0  # seconds: who is asked for a code has shown the password, so no stranger can lock somebody out

Clock = Callable[[], float]


class TooManyError(Exception):
    """Not now: after `seconds`, a whole number from 1 up. hint: what need not wait."""

    def __init__(self, seconds: float, hint: str = "") -> None:
        self.seconds = max(1, math.ceil(seconds))
        super().__init__(f"too many at once; try again in {self.seconds} seconds{hint and f'. {hint}'}")


class Rate:
    """A token bucket: `per_second` in the long run, `burst` at once. Safe to call from several threads."""

    def __init__(self, per_second: float, burst: float, clock: Clock = time.monotonic) -> None:
        self._per_second, self._burst, self._clock = per_second, burst, clock
        self._left, self._at = burst, clock()
        self._lock = threading.Lock()

    def take(self) -> None:
        """Counts one. Raises TooManyError, and counts nothing, where there are too many."""
        with self._lock:
            now = self._clock()
            self._left = min(self._burst, self._left + (now - self._at) * self._per_second)
            self._at = now
            if self._left < 1:
                raise TooManyError((1 - self._left) / self._per_second)
            self._left -= 1

    def give_back(self) -> None:
        """Counts one less."""
        with self._lock:
            self._left = min(self._burst, self._left + 1)

    @property
    def policy(self) -> str:
        """What `RateLimit-Policy` says of it. How many are left is for nobody to know: it would tell how many others came."""
        return f'"all";q={self._burst:.0f};w={self._burst / self._per_second:.0f}'


class Delays:
    """Wrong passwords in a row by name: after FREE of them the next must wait 1 second, then 2, 4, up to `longest`."""

    def __init__(self, clock: Clock = time.monotonic, longest: float = LONGEST) -> None:
        self._clock, self._longest = clock, longest
        self._key = secrets.token_bytes(32)
        self._names: OrderedDict[bytes, tuple[int, float]] = OrderedDict()  # how many, and when the last one was; oldest first
        self._lock = threading.Lock()

    def begin(self, name: str) -> None:
        """Counts a try as wrong, until `forgive` says otherwise: many at once gain nothing. Raises TooManyError."""
        key, now = self._hashed(name), self._clock()
        with self._lock:
            failed, last = self._names.get(key, (0, now))
            if now - last > FORGET:
                failed = 0
            free_at = last + (min(self._longest, 2.0 ** min(failed - FREE, 16)) if failed >= FREE else 0)
            if now < free_at:
                raise TooManyError(free_at - now)
            self._names[key] = failed + 1, now
            self._names.move_to_end(key)
            if len(self._names) > NAMES:
                self._names.popitem(last=False)

    def forgive(self, name: str) -> None:
        """The password was right: the name has no delay."""
        with self._lock:
            self._names.pop(self._hashed(name), None)

    def _hashed(self, name: str) -> bytes:
        return hashlib.blake2b(name.encode(errors="surrogatepass"), key=self._key, digest_size=16).digest()


class Lane:
    """Passwords are hashed here, HASHES_AT_ONCE at a time, while HASHES_WAITING wait at most: each takes 64 MiB and all cores."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._places = threading.Semaphore(HASHES_AT_ONCE + HASHES_WAITING)
        self._turn = threading.Semaphore(HASHES_AT_ONCE)
        self._rate = Rate(HASHES_PER_SECOND, BURST, clock)
        self._delays = Delays(clock)

    @contextmanager
    def attempt(self, name: str) -> Iterator[Callable[[], None]]:
        """Room to hash one password that is said to be `name`'s; call what it gives if the password was right.

        Raises TooManyError, before anything is hashed.
        """
        if not self._places.acquire(blocking=False):
            raise TooManyError(1)
        try:
            self._rate.take()
            try:
                self._delays.begin(name)
            except TooManyError:
                self._rate.give_back()
                raise
            with self._turn:
                yield lambda: self._forgive(name)
        finally:
            self._places.release()

    def _forgive(self, name: str) -> None:
        self._delays.forgive(name)
        self._rate.give_back()


@dataclass
class Rates:
    """Rate limits of one application.

    Attributes:
        submissions: Records without an API key.
        invitation_checks: Checks of invitation codes.
        wrong_links: Links that make an account and are wrong; right ones do not count.
        codes: Wrong codes of second factors, by account.
    """

    submissions: Rate
    invitation_checks: Rate
    wrong_links: Rate
    codes: Delays

    @classmethod
    def of(cls, most_per_second: float, clock: Clock = time.monotonic) -> Rates:
        """Returns the limits for a server that takes at most so many submissions a second."""
        each, wrong = most_per_second, WRONG_LINKS_PER_MINUTE
        return cls(Rate(each, each, clock), Rate(each, each, clock), Rate(wrong / 60, wrong, clock), Delays(clock, LONGEST_FOR_CODES))


def current_rates() -> Rates:
    """Returns the rate limits of the application that handles the current request."""
    return current_services().get(Rates)
