"""List of surveys and drafts: search, filter, sort order and pages, with progress and warnings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from types import MappingProxyType
from typing import Any, NamedTuple

from deniable.plan.progress import Progress
from deniable_server.drafts.own_drafts import ListedDraft
from deniable_server.results import result_cache
from deniable_server.results.progress import alarms_of, progress_of, warnings
from deniable_server.store.life import Settings
from deniable_server.store.protocol import ESTIMATED, Heading, Published, Store

COMPUTED = 10
"""Surveys that one view of the list computes for the first time: each takes up to half a second. Further ones get approximate figures."""

CHECKED_BITS = 128
"""Largest record that the list checks: the checks of larger ones are slow, and on their own page only."""

MOST_CHECKED = 250
"""Surveys that are checked to sort the list by their need of attention."""

PAGE = 50
"""Surveys and drafts on a page."""

STATES = ("draft", "open", "closed", "archived")
"""Filter values; a paused survey is open. Without a filter, the list has all but archived surveys."""


@dataclass(frozen=True)
class SurveyStatus:
    """Progress of a survey. approximate: the figures are approximate, and the checks were not run, since others were computed first."""

    published: Published
    settings: Settings
    progress: Progress
    approximate: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class ListRow:
    """A survey or a draft in the list. id: of a draft, the id of its future survey, empty without one.

    counted_on: the published day of its last batch, which is not a day of an answer. status: only for a survey on the page.
    study: the key of its study, empty without one; study_name: the study's name. wave: its number, 0 for a draft. tags: sorted.
    n: the number of records that estimates use, if the list is sorted by it.
    """

    id: str
    title: str
    state: str
    begun_on: str  # day of publishing, or of a draft's last change, YYYY-MM-DD
    counted_on: str = ""
    draft: ListedDraft | None = None
    status: SurveyStatus | None = None
    study: str = ""
    study_name: str = ""
    wave: int = 0
    tags: tuple[str, ...] = ()
    n: int = 0

    @property
    def active_on(self) -> str:
        """The last day with known activity, YYYY-MM-DD."""
        return max(self.begun_on, self.counted_on)


class Order(NamedTuple):
    """A sort order. key: the smallest comes first."""

    words: str
    key: Callable[[ListRow], Any]


ORDERS: MappingProxyType[str, Order] = MappingProxyType(
    {
        "activity": Order("newest activity first", lambda row: -date.fromisoformat(row.active_on).toordinal()),
        "attention": Order(
            "surveys that need attention first",
            lambda row: (-len(row.status.progress.alarms), -len(row.status.warnings)) if row.status else (0, 0),
        ),
        "answers": Order("most records first", lambda row: 1 if row.draft else -row.n),
        "title": Order("by title", lambda row: 0),
    }
)
"""Sort orders; ties are sorted by title."""


@dataclass(frozen=True)
class ListQuery:
    """Selection of the list. search: words that must all be in the title or the id; state: one of STATES, or empty.

    order: one of ORDERS. page: from 1. tag: a tag that rows must have, or empty.
    """

    search: str = ""
    state: str = ""
    order: str = "activity"
    page: int = 1
    tag: str = ""

    @classmethod
    def of(cls, arguments: Mapping[str, str]) -> ListQuery:
        """Reads `search`, `state`, `sort`, `page` and `tag`, all optional. Raises ValueError with the broken rule."""
        state, order, page = arguments.get("state", ""), arguments.get("sort", "activity"), arguments.get("page", "1")
        if state not in ("", *STATES):
            raise ValueError(f"state must be {', '.join(STATES)}, or left out")
        if order not in ORDERS:
            raise ValueError(f"sort must be {', '.join(ORDERS)}, or left out")
        if not (page.isascii() and page.isdecimal() and len(page) < 7 and int(page)):
            raise ValueError("page must be a whole number from 1, or left out")
        return cls(" ".join(arguments.get("search", "").split()), state, order, int(page), arguments.get("tag", ""))

    @property
    def is_narrowed(self) -> bool:
        """Whether there is a search or a filter."""
        return bool(self.search or self.state or self.tag)

    def matches(self, row: ListRow) -> bool:
        """Returns whether all words are in the row, ignoring case."""
        text = f"{row.title} {row.id}".casefold()
        return all(word in text for word in self.search.casefold().split())

    def address(self, page: int) -> dict[str, str | int | None]:
        """Returns the arguments of another page of the same list."""
        return {
            "search": self.search or None,
            "state": self.state or None,
            "tag": self.tag or None,
            "sort": self.order if self.order != "activity" else None,
            "page": page if page > 1 else None,
        }


@dataclass(frozen=True)
class Listing:
    """One page of the list. matches: rows on all pages; total: all surveys and drafts; pages: 1 or more.

    archived: matches among archived surveys, which are listed only with that filter. unchecked: surveys that were not checked for a
    need of attention, because there are more than MOST_CHECKED; they come last.
    """

    query: ListQuery
    rows: tuple[ListRow, ...]
    matches: int
    total: int
    archived: int
    pages: int
    drafts: tuple[str, ...] = ()
    unchecked: int = 0


def listing(store: Store, headings: Sequence[Heading], drafts: Sequence[ListedDraft], query: ListQuery, surveys: int) -> Listing:
    """Returns a page of these surveys and drafts.

    Args:
        store: The server's store.
        headings: The researcher's surveys; with a tag in the query, those that have it.
        drafts: The researcher's drafts.
        query: The selection.
        surveys: The number of all surveys of the researcher.

    Raises:
        ValueError: The page does not exist.
    """
    settings, counted = store.life.all_settings(), store.life.last_counted()
    draft_tags = store.tags.of_drafts([draft.draft.id for draft in drafts])
    every = [_row_of(heading, settings.get(heading.id, Settings()), counted.get(heading.id, "")) for heading in headings]
    every += [
        ListRow(draft.survey_id, draft.title, "draft", draft.draft.changed_on, draft=draft, tags=tuple(draft_tags.get(draft.draft.id, ())))
        for draft in drafts
        if not query.tag or query.tag in draft_tags.get(draft.draft.id, ())
    ]
    matching = [row for row in every if query.matches(row)]
    selected = [row for row in matching if (row.state == query.state if query.state else row.state != "archived")]
    pages = max(1, -(-len(selected) // PAGE))
    if query.page > pages:
        raise ValueError(f"page must be a whole number from 1 to {pages}, or left out")
    unchecked = 0
    if query.order == "answers":
        selected = _with_numbers(store, selected)
    elif query.order == "attention":
        selected, unchecked = _checked(store, selected, settings, {heading.id for heading in headings if heading.is_paused})
    order = ORDERS[query.order]
    selected.sort(key=lambda row: (order.key(row), row.title.casefold(), row.id))
    rows = _with_tags(store, _by_study(store, selected)[PAGE * (query.page - 1) : PAGE * query.page])
    archived, total = 0 if query.state else len(matching) - len(selected), surveys + len(drafts)
    ids = tuple(draft.draft.id for draft in drafts)
    return Listing(query, tuple(_computed(store, rows, settings)), len(selected), total, archived, pages, ids, unchecked)


def all_tags(store: Store, survey_ids: Collection[str], draft_ids: Collection[str]) -> list[str]:
    """Returns the tags of these surveys and drafts, sorted."""
    every = (store.tags.of_surveys(survey_ids), store.tags.of_drafts(draft_ids))
    return sorted({tag for tags in every for own in tags.values() for tag in own}, key=lambda tag: (tag.casefold(), tag))


def _by_study(store: Store, rows: Sequence[ListRow]) -> list[ListRow]:
    """Moves the rows of one study together, at the place of its first row: drafts of new waves, then the latest wave first."""
    begun = store.studies.begun([row.draft.draft.id for row in rows if row.draft])
    waves = store.studies.waves_of({row.id for row in rows if not row.draft} | set(begun.values()))
    titles = {row.id: row.title for row in rows if not row.draft}
    studies: dict[str, list[ListRow]] = {}
    for number, row in enumerate(rows):
        survey = begun.get(row.draft.draft.id, "") if row.draft else row.id
        wave = waves.get(survey)
        if wave is not None:
            row = replace(row, study=wave.study, study_name=wave.name, wave=0 if row.draft else wave.number)
        elif survey in titles and survey in {*begun.values()}:  # the second wave of a survey is being written
            row = replace(row, study=f"of {survey}", study_name=titles[survey], wave=0 if row.draft else 1)
        studies.setdefault(row.study or f"row {number}", []).append(row)
    return [row for study in studies.values() for row in sorted(study, key=lambda row: (row.draft is None, -row.wave))]


def _with_tags(store: Store, rows: Sequence[ListRow]) -> list[ListRow]:
    """Adds the tags of the surveys on a page."""
    tags = store.tags.of_surveys([row.id for row in rows if not row.draft])
    return [row if row.draft else replace(row, tags=tuple(tags.get(row.id, ()))) for row in rows]


def _row_of(heading: Heading, settings: Settings, counted_on: str) -> ListRow:
    state = "archived" if settings.archived else "open" if heading.is_open else "closed"
    return ListRow(heading.id, heading.title, state, heading.published_on, counted_on)


def _with_numbers(store: Store, rows: Sequence[ListRow]) -> list[ListRow]:
    """Adds the number of records to each survey, from two queries for all of them."""
    counts, waiting = store.submissions.all_counts(), store.submissions.all_waiting()
    numbers = {survey_id: sum(n for part, n in own.items() if part.mode in ESTIMATED) for survey_id, own in counts.items()}
    for survey_id, own in waiting.items():
        numbers[survey_id] = numbers.get(survey_id, 0) + own["device"]
    return [row if row.draft or row.id not in numbers else replace(row, n=numbers[row.id]) for row in rows]


def _checked(
    store: Store,
    rows: Sequence[ListRow],
    settings: Mapping[str, Settings],
    paused: Collection[str],
) -> tuple[list[ListRow], int]:
    """Adds the status of MOST_CHECKED surveys that can need attention, the latest activity first.

    A survey without counted records or settings that is not paused has neither alarms nor warnings.

    Returns:
        The rows, and the number of surveys that were left out.
    """
    may_need = {*store.submissions.all_counts(), *settings, *paused}
    candidates = sorted((row for row in rows if not row.draft and row.id in may_need), key=lambda row: row.active_on, reverse=True)
    checked = {row.id: row for row in _computed(store, candidates[:MOST_CHECKED], settings)}
    return [row if row.draft else checked.get(row.id, row) for row in rows], len(candidates) - len(checked)


def _computed(store: Store, rows: Sequence[ListRow], settings: Mapping[str, Settings]) -> list[ListRow]:
    """Adds the status of each survey without one: exact if an earlier view had it, and for COMPUTED others."""
    room, result = COMPUTED, list[ListRow]()
    for row in rows:
        if not row.draft and not row.status:
            own = settings.get(row.id, Settings())
            key = "listed", row.id, own.half_width, store.submissions.state(row.id)
            is_new = not result_cache.contains(key)
            row = replace(row, status=_status(store, row.id, own, approximate=is_new and not room))
            if is_new and room:
                result_cache.compute_once(key, lambda: None)
                room -= 1
        result.append(row)
    return result


def _status(store: Store, survey_id: str, settings: Settings, *, approximate: bool) -> SurveyStatus:
    published = store.surveys.published(survey_id)
    progress = progress_of(store, published, settings, rough=approximate)
    if not approximate and published.survey.record.bits <= CHECKED_BITS and not settings.archived:
        progress = replace(progress, alarms=alarms_of(store, published.survey))
    return SurveyStatus(published, settings, progress, approximate, tuple(warnings(published, settings, progress)))
