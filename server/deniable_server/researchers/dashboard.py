"""The list of surveys: how far each is, and what needs attention, before the links."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from deniable.plan import Progress
from deniable_server.researchers.watching import alarms_of, progress_of, warnings
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Published, Store

SECONDS = 0.5
"""Of computing for one look at the list: a plan takes up to half a second the first time. What is left has rough figures then."""

CHECKED_BITS = 128
"""Of a record: the checks of wider surveys, which take a while, are on their own page only."""


@dataclass(frozen=True)
class Entry:
    """One survey in the list. rough: its figures are, and its checks were not made, since there was no time for them yet."""

    published: Published
    settings: Settings
    progress: Progress
    rough: bool
    warnings: tuple[str, ...]

    @property
    def place(self) -> str:
        """Which list it stands in: open, closed or archived."""
        return "archived" if self.settings.archived else "open" if self.published.is_open else "closed"


ORDERS: MappingProxyType[str, Callable[[Entry], Any]] = MappingProxyType(
    {
        "attention": lambda entry: (-len(entry.progress.alarms), -len(entry.warnings)),
        "answers": lambda entry: -entry.progress.n,
        "title": lambda entry: entry.published.survey.title.casefold(),
    }
)
"""What the lists can be sorted by: those first that need attention, that have the most answers, or by their titles."""


def entries(store: Store, seen: Iterable[Published], order: str = "attention") -> dict[str, list[Entry]]:
    """These surveys by the list they stand in, each sorted by one of ORDERS; of those alike the newest first."""
    settings, newest = store.life.all_settings(), sorted(seen, key=lambda published: published.published_on, reverse=True)
    over = time.thread_time() + SECONDS
    found = [_entry(store, one, settings.get(one.survey.id, Settings()), rough=time.thread_time() > over) for one in newest]
    found.sort(key=lambda entry: entry.published.published_on, reverse=True)
    found.sort(key=ORDERS[order])
    return {place: [entry for entry in found if entry.place == place] for place in ("open", "closed", "archived")}


def _entry(store: Store, published: Published, settings: Settings, *, rough: bool) -> Entry:
    progress = progress_of(store, published, settings, rough=rough)
    if not rough and published.survey.record.bits <= CHECKED_BITS and not settings.archived:
        progress = replace(progress, alarms=alarms_of(store, published.survey))
    return Entry(published, settings, progress, rough, tuple(warnings(published, settings, progress)))
