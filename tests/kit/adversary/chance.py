"""The day, and what the server draws at random: given from outside, so that the game can be played twice alike."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from deniable_server.results import progress
from deniable_server.store.blind_signing import SigningKey
from deniable_server.store.sql import arrivals, batches, clock, vacuum

BEGINNING = datetime(2030, 1, 7, 12, tzinfo=UTC)


class Chance:
    """The clock of the game, and the order in which waiting entries are drawn: by a hash, or as `last` says.

    A draw that leaves those behind that another play left behind is as likely as any other, since every order is.

    Attributes:
        last: When an entry left in another play, by id or hash. Those that left later stay longer.
    """

    def __init__(self) -> None:
        self.now = BEGINNING
        self.last: Mapping[bytes, int] = {}
        self.number = 0

    def begin(self, number: int) -> None:
        """A new game, with coins that follow from a number."""
        self.now, self.last, self.number = BEGINNING, {}, number

    def repeat(self, last: Mapping[bytes, int]) -> None:
        """The same game again, with other cards."""
        self.now, self.last = BEGINNING, last

    def pass_time(self, hours: int) -> datetime:
        self.now += timedelta(hours=hours)
        return self.now

    def below(self, most: int) -> int:
        """The second of a day at which a release is due: another one on each day."""
        return (int(self.now.strftime("%j")) + self.number) * 7919 * 60 % most

    @property
    def today(self) -> str:
        return self.now.date().isoformat()

    def order(self, entries: Sequence[Any]) -> list[Any]:
        return sorted(entries, key=self._rank)

    def _rank(self, entry: Any) -> tuple[int, bytes]:
        name = entry[0] if isinstance(entry, tuple) else entry
        return -self.last.get(name, 1 << 30), hashlib.sha256(b"%d %s" % (self.number, name)).digest()


@contextmanager
def controlled(chance: Chance) -> Iterator[None]:
    """Puts the game's clock and draws in the place of the server's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "now", lambda: chance.now)
        patch.setattr(clock, "today", lambda: chance.today)
        patch.setattr(progress, "today", lambda: chance.today)
        patch.setattr(batches, "in_random_order", chance.order)
        patch.setattr(arrivals, "secrets", SimpleNamespace(randbelow=chance.below))
        patch.setattr(SigningKey, "sign", cache(SigningKey.sign))  # the same each time, and slow
        patch.setattr(vacuum, "PAUSE_SECONDS", 3600)  # rewriting the file changes nothing that is looked at
        yield
