"""The list of surveys and drafts: found by title and state, and of those on the page how far each is and what needs attention."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from types import MappingProxyType
from typing import Any, NamedTuple

from deniable.plan import Progress
from deniable_server.drafts.own_drafts import Kept
from deniable_server.results.progress import alarms_of, progress_of, warnings
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Heading, Published, Store

SECONDS = 0.5
"""Of computing for one look at the list: a plan takes up to half a second the first time. What is left has rough figures then."""

CHECKED_BITS = 128
"""Of a record: the checks of wider surveys, which take a while, are on their own page only."""

PAGE = 50
"""Surveys and drafts that one page lists."""

STATES = ("draft", "open", "closed", "archived")
"""What the list can be narrowed to; one that is paused is open. Without a choice it has all but what is archived."""


@dataclass(frozen=True)
class Entry:
    """How far one survey is. rough: its figures are, and its checks were not made, since there was no time for them yet."""

    published: Published
    settings: Settings
    progress: Progress
    rough: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Row:
    """One survey, or one draft, in the list. id: of a draft, the one that its survey is to have, empty where it has none yet.

    counted_on: the day of which its last records are told to be, never one on which anybody answered. entry: of a survey on the page.
    """

    id: str
    title: str
    state: str
    begun_on: str  # a day, YYYY-MM-DD: on which it was published, or the draft last changed
    counted_on: str = ""
    draft: Kept | None = None
    entry: Entry | None = None

    @property
    def active_on(self) -> str:
        """The last day on which anything is known to have happened, YYYY-MM-DD."""
        return max(self.begun_on, self.counted_on)


class Order(NamedTuple):
    """A way to sort the list. key: the least comes first. computed: whether it takes the entries of all."""

    words: str
    key: Callable[[Row], Any]
    computed: bool = False


ORDERS: MappingProxyType[str, Order] = MappingProxyType(
    {
        "activity": Order("newest activity first", lambda row: -date.fromisoformat(row.active_on).toordinal()),
        "attention": Order(
            "those that need attention first",
            lambda row: (-len(row.entry.progress.alarms), -len(row.entry.warnings)) if row.entry else (0, 0),
            computed=True,
        ),
        "answers": Order("most records first", lambda row: -row.entry.progress.n if row.entry else 1, computed=True),
        "title": Order("by title", lambda row: 0),
    }
)
"""What the list can be sorted by; those alike stand by their titles."""


@dataclass(frozen=True)
class Choice:
    """What of the list is asked for. search: words that must all be in the title or the id; state: one of STATES, or empty.

    order: one of ORDERS. page: from 1.
    """

    search: str = ""
    state: str = ""
    order: str = "activity"
    page: int = 1

    @classmethod
    def of(cls, asked: Mapping[str, str]) -> Choice:
        """Of an address: `search`, `state`, `sort` and `page`, each of which may be left out. Raises ValueError naming what is wrong."""
        state, order, page = asked.get("state", ""), asked.get("sort", "activity"), asked.get("page", "1")
        if state not in ("", *STATES):
            raise ValueError(f"state must be {', '.join(STATES)}, or left out")
        if order not in ORDERS:
            raise ValueError(f"sort must be {', '.join(ORDERS)}, or left out")
        if not (page.isascii() and page.isdecimal() and len(page) < 7 and int(page)):
            raise ValueError("page must be a whole number from 1, or left out")
        return cls(" ".join(asked.get("search", "").split()), state, order, int(page))

    @property
    def narrows(self) -> bool:
        """Whether something is looked for."""
        return bool(self.search or self.state)

    def finds(self, row: Row) -> bool:
        """Whether the words are in it, in whatever case."""
        text = f"{row.title} {row.id}".casefold()
        return all(word in text for word in self.search.casefold().split())

    def address(self, page: int) -> dict[str, str | int | None]:
        """What the address of another page of the same list has in it."""
        return {
            "search": self.search or None,
            "state": self.state or None,
            "sort": self.order if self.order != "activity" else None,
            "page": page if page > 1 else None,
        }


@dataclass(frozen=True)
class Listing:
    """One page of the list. found: how many are listed on all pages; total: how many there are; pages: 1 or more.

    archived: how many more would be found among what is archived, which is listed only where it is asked for.
    """

    choice: Choice
    rows: tuple[Row, ...]
    found: int
    total: int
    archived: int
    pages: int


def listing(store: Store, headings: Iterable[Heading], drafts: Iterable[Kept], choice: Choice) -> Listing:
    """What is asked for of these surveys and drafts. Raises ValueError for a page that the list does not have."""
    settings, counted = store.life.all_settings(), store.life.last_counted()
    every = [_row_of(heading, settings.get(heading.id, Settings()), counted.get(heading.id, "")) for heading in headings]
    every += [Row(one.name, one.title, "draft", one.draft.changed_on, draft=one) for one in drafts]
    matching = [row for row in every if choice.finds(row)]
    shown = [row for row in matching if (row.state == choice.state if choice.state else row.state != "archived")]
    pages = max(1, -(-len(shown) // PAGE))
    if choice.page > pages:
        raise ValueError(f"page must be a whole number from 1 to {pages}, or left out")
    order = ORDERS[choice.order]
    if order.computed:
        shown = _computed(store, shown, settings)
    shown.sort(key=lambda row: (order.key(row), row.title.casefold(), row.id))
    rows = shown[PAGE * (choice.page - 1) : PAGE * choice.page]
    archived = 0 if choice.state else len(matching) - len(shown)
    return Listing(choice, tuple(_computed(store, rows, settings)), len(shown), len(every), archived, pages)


def _row_of(heading: Heading, settings: Settings, counted_on: str) -> Row:
    state = "archived" if settings.archived else "open" if heading.is_open else "closed"
    return Row(heading.id, heading.title, state, heading.published_on, counted_on)


def _computed(store: Store, rows: Sequence[Row], settings: Mapping[str, Settings]) -> list[Row]:
    """The same with an entry for each survey that has none yet, and as many of these exact as there is time for."""
    over = time.thread_time() + SECONDS
    return [
        row
        if row.draft or row.entry
        else replace(row, entry=_entry(store, row.id, settings.get(row.id, Settings()), rough=time.thread_time() > over))
        for row in rows
    ]


def _entry(store: Store, survey_id: str, settings: Settings, *, rough: bool) -> Entry:
    published = store.surveys.published(survey_id)
    progress = progress_of(store, published, settings, rough=rough)
    if not rough and published.survey.record.bits <= CHECKED_BITS and not settings.archived:
        progress = replace(progress, alarms=alarms_of(store, published.survey))
    return Entry(published, settings, progress, rough, tuple(warnings(published, settings, progress)))
