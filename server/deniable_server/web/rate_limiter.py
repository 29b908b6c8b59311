"""Rate limits on submissions, and on password attempts: by name, in total, and at the same time.

IP addresses are neither used nor stored, since an attacker has several. All state is in memory, with names as keyed hashes,
because people type passwords into the wrong field. A restart clears the delays, which gives a guesser FREE more attempts for each name.
Several servers on one database divide the limits among them, so that nothing about attempts or arrivals is stored.
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
LONGEST = 60.0  # seconds, the longest delay of a name, so that nobody can lock another person out for good
FORGET = 3600.0  # seconds after the last wrong password for a name until it is free again
NAMES = 10_000
HASHES_PER_SECOND, HASHES_AT_ONCE, HASHES_WAITING = 2.0, 1, 3
BURST = 10
WRONG_LINKS_PER_MINUTE = 10
LONGEST_FOR_CODES = 900.0  # seconds: only people with the password are asked for a code, so no stranger can lock them out

Clock = Callable[[], float]


@dataclass
class ServerShare:
    """The number of servers on one database. Each grants an equal part, so that all together keep the limits."""

    servers: int = 1


class RateLimitError(Exception):
    """The rate limit is exceeded; retry after `seconds`, a whole number from 1. `hint` names a way without this limit."""

    def __init__(self, seconds: float, hint: str = "") -> None:
        self.seconds = max(1, math.ceil(seconds))
        super().__init__(f"too many at once; try again in {self.seconds} seconds{hint and f'. {hint}'}")


class Rate:
    """A token bucket: `per_second` in the long run, `burst` at once. Safe to call from several threads.

    Each of several servers grants its part of both, but one token at once at least.
    """

    def __init__(self, per_second: float, burst: float, clock: Clock = time.monotonic, share: ServerShare | None = None) -> None:
        self._per_second, self._burst, self._clock, self._share = per_second, burst, clock, share or ServerShare()
        self._left, self._at = burst, clock()
        self._lock = threading.Lock()

    def take(self) -> None:
        """Takes a token. Raises RateLimitError if the bucket is empty."""
        with self._lock:
            now, per_second = self._clock(), self._per_second / self._share.servers
            self._left = min(self._most, self._left + (now - self._at) * per_second)
            self._at = now
            if self._left < 1:
                raise RateLimitError((1 - self._left) / per_second)
            self._left -= 1

    def give_back(self) -> None:
        """Returns a token to the bucket."""
        with self._lock:
            self._left = min(self._most, self._left + 1)

    @property
    def _most(self) -> float:
        return max(1.0, self._burst / self._share.servers)

    @property
    def policy(self) -> str:
        """The value of `RateLimit-Policy`, of all servers together. The number left would reveal how many other requests came."""
        return f'"all";q={self._burst:.0f};w={self._burst / self._per_second:.0f}'


class Delays:
    """Delays after wrong passwords in a row, by name: none for the first FREE, then 1 second, 2, 4, up to `longest`.

    Each of several servers has fewer free attempts and longer delays, so that a guesser who asks all of them gains nothing.
    """

    def __init__(self, clock: Clock = time.monotonic, longest: float = LONGEST, share: ServerShare | None = None) -> None:
        self._clock, self._longest, self._share = clock, longest, share or ServerShare()
        self._key = secrets.token_bytes(32)
        self._names: OrderedDict[bytes, tuple[int, float]] = OrderedDict()  # how many, and when the last one was; oldest first
        self._lock = threading.Lock()

    def begin(self, name: str) -> None:
        """Counts an attempt as wrong until `forgive` is called, so that parallel attempts gain nothing. Raises RateLimitError."""
        key, now = self._digest(name), self._clock()
        with self._lock:
            failed, last = self._names.get(key, (0, now))
            if now - last > FORGET:
                failed = 0
            free_at = last + self._delay(failed)
            if now < free_at:
                raise RateLimitError(free_at - now)
            self._names[key] = failed + 1, now
            self._names.move_to_end(key)
            if len(self._names) > NAMES:
                self._names.popitem(last=False)

    def _delay(self, failed: int) -> float:
        """Returns the seconds after so many failures here: each of N servers grants every N-th of the attempts that one would grant."""
        servers = self._share.servers
        beyond = (failed * servers + later - FREE for later in range(servers)) if failed else ()
        return sum(min(self._longest, 2.0 ** min(each, 16)) for each in beyond if each >= 0)

    def forgive(self, name: str) -> None:
        """Clears a name's delay after the right password."""
        with self._lock:
            self._names.pop(self._digest(name), None)

    def _digest(self, name: str) -> bytes:
        return hashlib.blake2b(name.encode(errors="surrogatepass"), key=self._key, digest_size=16).digest()


class HashingQueue:
    """A limit on parallel password hashing: HASHES_AT_ONCE at a time, HASHES_WAITING waiting; each takes 64 MiB and all cores."""

    def __init__(self, clock: Clock = time.monotonic, share: ServerShare | None = None) -> None:
        self._places = threading.Semaphore(HASHES_AT_ONCE + HASHES_WAITING)
        self._turn = threading.Semaphore(HASHES_AT_ONCE)
        self._rate = Rate(HASHES_PER_SECOND, BURST, clock, share)
        self._delays = Delays(clock, share=share)

    @contextmanager
    def attempt(self, name: str) -> Iterator[Callable[[], None]]:
        """Reserves a slot to hash a password for a name, and yields the function to call if it was right.

        Raises:
            RateLimitError: There were too many attempts; nothing is hashed.
        """
        if not self._places.acquire(blocking=False):
            raise RateLimitError(1)
        try:
            self._rate.take()
            try:
                self._delays.begin(name)
            except RateLimitError:
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
        exchanges: Invitation codes that are exchanged for tokens.
        wrong_links: Links that make an account and are wrong; right ones do not count.
        codes: Wrong codes of second factors, by account.
    """

    submissions: Rate
    invitation_checks: Rate
    exchanges: Rate
    wrong_links: Rate
    codes: Delays

    @classmethod
    def of(cls, most_per_second: float, clock: Clock = time.monotonic, share: ServerShare | None = None) -> Rates:
        """Returns the limits for servers with this limit on submissions per second, together."""
        each, wrong = most_per_second, WRONG_LINKS_PER_MINUTE
        submissions, checks, exchanges = (Rate(each, each, clock, share) for _ in range(3))
        return cls(submissions, checks, exchanges, Rate(wrong / 60, wrong, clock, share), Delays(clock, LONGEST_FOR_CODES, share))


def current_rates() -> Rates:
    """Returns the rate limits of the application that handles the current request."""
    return current_services().get(Rates)
