"""The list of surveys: how far each is, and what needs attention, before the links."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from deniable.plan import Progress
from deniable_server.researchers.watching import alarms_of, progress_of, warnings
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Published, Store

CHECKED_BITS = 128
"""Of a record: the checks of wider surveys, which take a while, are on their own page only."""


@dataclass(frozen=True)
class Entry:
    """One survey in the list."""

    published: Published
    settings: Settings
    progress: Progress
    warnings: tuple[str, ...]

    @property
    def place(self) -> str:
        """Which list it stands in: open, closed or archived."""
        return "archived" if self.settings.archived else "open" if self.published.is_open else "closed"


def entries(store: Store, seen: Iterable[Published]) -> dict[str, list[Entry]]:
    """These surveys by the list they stand in; in each, those first that need attention, and of those alike the newest."""
    settings = store.life.all_settings()
    found = [_entry(store, published, settings.get(published.survey.id, Settings())) for published in seen]
    found.sort(key=lambda entry: entry.published.published_on, reverse=True)
    found.sort(key=lambda entry: (-len(entry.progress.alarms), -len(entry.warnings)))
    return {place: [entry for entry in found if entry.place == place] for place in ("open", "closed", "archived")}


def _entry(store: Store, published: Published, settings: Settings) -> Entry:
    progress = progress_of(store, published, settings)
    if published.survey.record.bits <= CHECKED_BITS and not settings.archived:
        progress = replace(progress, alarms=alarms_of(store, published.survey))
    return Entry(published, settings, progress, tuple(warnings(published, settings, progress)))
