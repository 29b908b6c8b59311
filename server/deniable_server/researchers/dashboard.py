"""List of surveys and drafts: search, filter, sort order and pages, with progress and warnings."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from types import MappingProxyType
from typing import Any, NamedTuple

from deniable.plan.progress import Progress
from deniable_server.drafts.own_drafts import ListedDraft
from deniable_server.results.progress import alarms_of, progress_of, warnings
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Heading, Published, Store

SECONDS = 0.5
"""Computing time for one view of the list: a plan takes up to half a second at first. Later surveys get approximate figures."""

CHECKED_BITS = 128
"""Largest record that the list checks: the checks of larger ones are slow, and on their own page only."""

PAGE = 50
"""Surveys and drafts on a page."""

STATES = ("draft", "open", "closed", "archived")
"""Filter values; a paused survey is open. Without a filter, the list has all but archived surveys."""


@dataclass(frozen=True)
class SurveyStatus:
    """Progress of a survey. approximate: for lack of time the figures are approximate, and the checks were not run."""

    published: Published
    settings: Settings
    progress: Progress
    approximate: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class ListRow:
    """A survey or a draft in the list. id: of a draft, the id of its future survey, empty without one.

    counted_on: the published day of its last batch, which is not a day of an answer. status: only for a survey on the page.
    """

    id: str
    title: str
    state: str
    begun_on: str  # day of publishing, or of a draft's last change, YYYY-MM-DD
    counted_on: str = ""
    draft: ListedDraft | None = None
    status: SurveyStatus | None = None

    @property
    def active_on(self) -> str:
        """The last day with known activity, YYYY-MM-DD."""
        return max(self.begun_on, self.counted_on)


class Order(NamedTuple):
    """A sort order. key: the smallest comes first. computed: whether it needs the status of all surveys."""

    words: str
    key: Callable[[ListRow], Any]
    computed: bool = False


ORDERS: MappingProxyType[str, Order] = MappingProxyType(
    {
        "activity": Order("newest activity first", lambda row: -date.fromisoformat(row.active_on).toordinal()),
        "attention": Order(
            "surveys that need attention first",
            lambda row: (-len(row.status.progress.alarms), -len(row.status.warnings)) if row.status else (0, 0),
            computed=True,
        ),
        "answers": Order("most records first", lambda row: -row.status.progress.n if row.status else 1, computed=True),
        "title": Order("by title", lambda row: 0),
    }
)
"""Sort orders; ties are sorted by title."""


@dataclass(frozen=True)
class ListQuery:
    """Selection of the list. search: words that must all be in the title or the id; state: one of STATES, or empty.

    order: one of ORDERS. page: from 1.
    """

    search: str = ""
    state: str = ""
    order: str = "activity"
    page: int = 1

    @classmethod
    def of(cls, arguments: Mapping[str, str]) -> ListQuery:
        """Reads `search`, `state`, `sort` and `page`, all optional. Raises ValueError with the broken rule."""
        state, order, page = arguments.get("state", ""), arguments.get("sort", "activity"), arguments.get("page", "1")
        if state not in ("", *STATES):
            raise ValueError(f"state must be {', '.join(STATES)}, or left out")
        if order not in ORDERS:
            raise ValueError(f"sort must be {', '.join(ORDERS)}, or left out")
        if not (page.isascii() and page.isdecimal() and len(page) < 7 and int(page)):
            raise ValueError("page must be a whole number from 1, or left out")
        return cls(" ".join(arguments.get("search", "").split()), state, order, int(page))

    @property
    def is_narrowed(self) -> bool:
        """Whether there is a search or a filter."""
        return bool(self.search or self.state)

    def matches(self, row: ListRow) -> bool:
        """Returns whether all words are in the row, ignoring case."""
        text = f"{row.title} {row.id}".casefold()
        return all(word in text for word in self.search.casefold().split())

    def address(self, page: int) -> dict[str, str | int | None]:
        """Returns the arguments of another page of the same list."""
        return {
            "search": self.search or None,
            "state": self.state or None,
            "sort": self.order if self.order != "activity" else None,
            "page": page if page > 1 else None,
        }


@dataclass(frozen=True)
class Listing:
    """One page of the list. matches: rows on all pages; total: all surveys and drafts; pages: 1 or more.

    archived: matches among archived surveys, which are listed only with that filter.
    """

    query: ListQuery
    rows: tuple[ListRow, ...]
    matches: int
    total: int
    archived: int
    pages: int


def listing(store: Store, headings: Iterable[Heading], drafts: Iterable[ListedDraft], query: ListQuery) -> Listing:
    """Returns a page of these surveys and drafts. Raises ValueError for a page that does not exist."""
    settings, counted = store.life.all_settings(), store.life.last_counted()
    every = [_row_of(heading, settings.get(heading.id, Settings()), counted.get(heading.id, "")) for heading in headings]
    every += [ListRow(draft.survey_id, draft.title, "draft", draft.draft.changed_on, draft=draft) for draft in drafts]
    matching = [row for row in every if query.matches(row)]
    selected = [row for row in matching if (row.state == query.state if query.state else row.state != "archived")]
    pages = max(1, -(-len(selected) // PAGE))
    if query.page > pages:
        raise ValueError(f"page must be a whole number from 1 to {pages}, or left out")
    order = ORDERS[query.order]
    if order.computed:
        selected = _computed(store, selected, settings)
    selected.sort(key=lambda row: (order.key(row), row.title.casefold(), row.id))
    rows = selected[PAGE * (query.page - 1) : PAGE * query.page]
    archived = 0 if query.state else len(matching) - len(selected)
    return Listing(query, tuple(_computed(store, rows, settings)), len(selected), len(every), archived, pages)


def _row_of(heading: Heading, settings: Settings, counted_on: str) -> ListRow:
    state = "archived" if settings.archived else "open" if heading.is_open else "closed"
    return ListRow(heading.id, heading.title, state, heading.published_on, counted_on)


def _computed(store: Store, rows: Sequence[ListRow], settings: Mapping[str, Settings]) -> list[ListRow]:
    """Adds the status of each survey without one: exact while there is time, then approximate."""
    over = time.thread_time() + SECONDS
    return [
        row
        if row.draft or row.status
        else replace(row, status=_status(store, row.id, settings.get(row.id, Settings()), approximate=time.thread_time() > over))
        for row in rows
    ]


def _status(store: Store, survey_id: str, settings: Settings, *, approximate: bool) -> SurveyStatus:
    published = store.surveys.published(survey_id)
    progress = progress_of(store, published, settings, rough=approximate)
    if not approximate and published.survey.record.bits <= CHECKED_BITS and not settings.archived:
        progress = replace(progress, alarms=alarms_of(store, published.survey))
    return SurveyStatus(published, settings, progress, approximate, tuple(warnings(published, settings, progress)))
