"""Releases of people's records, for tests that do not wait for a day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from deniable_server.store.protocol import Store
from deniable_server.store.sql import clock

_DAYS = count(2, 2)


def release_people(store: Store) -> list[str]:
    """Performs the daily release of every survey in which records of people wait. Returns the ids of surveys with new records.

    Each call is on a later day than the one before, since a survey has one release a day. A batch stays behind in each part of an open
    survey, unless its batch is 1. For a server in another process: call it with a second store on the same database and key.
    """
    return store.submissions.release_due(clock.now() + timedelta(days=next(_DAYS)))


class Days:
    """The store's clock, set to a day from 2026-12-01 on: it is noon until the next `set`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.set(1)

    def set(self, number: int) -> None:
        self._monkeypatch.setattr(clock, "now", lambda: self.end(number) - timedelta(hours=12))

    def end(self, number: int) -> datetime:
        """Returns the last moment of a day, when every release that was drawn for that day is due."""
        return datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC) + timedelta(days=number)
