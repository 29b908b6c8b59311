"""Page cache: public pages that are rendered once for everybody, and their keys.

A view that is marked with `cacheable` depends on its address, on `PageLanguages` and on `PageState`, and on nothing else of a visitor or a
survey. It is rendered in a request of its own, without the cookie, headers and query of any visitor, so nothing of one visitor reaches
another. `fill` adds what differs between visitors, such as a new code, when a page is served.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, ParamSpec, TypeVar

from flask import Flask, request
from werkzeug.datastructures import MultiDict

from deniable.survey import Survey
from deniable_server.context import current_store, services_of
from deniable_server.store.byte_cache import ByteCache
from deniable_server.store.errors import StoreError
from deniable_server.store.protocol import Availability, Heading, Published, Store
from deniable_server.store.spare_codes import spare_codes
from deniable_server.store.trials import is_trial
from deniable_server.web.languages import PageLanguages, offered_tag

P = ParamSpec("P")
R = TypeVar("R")
RENDERING = "deniable.rendering"  # the key of the environ with the PageRendering of a page that is rendered for everybody
CACHE_BYTES = 48 << 20
"""The most bytes of all cached pages together, compressed."""
_FACTS_BYTES = 4 << 20
_PAGE_BYTES = 4096  # an estimate of the memory of a page's headers and key


class PageState(NamedTuple):
    """The changing facts that the pages of a survey show.

    Attributes:
        digest: The digest of its definition.
        state: One of `STATES`.
        opens_at: The minute in UTC at which it opens, if that is in the future.
        zone: The time zone of its researchers.
        spare: The numbers of invitation codes and of expected people, if there are more codes.
        full: The groups that take no more records.
    """

    digest: str
    state: str
    opens_at: str | None
    zone: str
    spare: tuple[int, int] | None
    full: tuple[str, ...]


class PageKey(NamedTuple):
    """Key of a cached page: everything that the page depends on."""

    path: str
    languages: PageLanguages | None
    state: PageState | None


class CachedPage(NamedTuple):
    """A page in the cache.

    Attributes:
        status: Its status.
        headers: Its headers; they describe a compressed reply if it may be compressed.
        packed: Its body, compressed.
        length: The length of the body.
        compressible: Whether visitors may get it compressed.
    """

    status: int
    headers: list[tuple[str, str]]
    packed: bytes
    length: int
    compressible: bool


class PageCache(ByteCache[PageKey, CachedPage]):
    """The cached pages of an application."""

    def __init__(self) -> None:
        super().__init__(CACHE_BYTES)

    def add(self, key: PageKey, page: CachedPage) -> None:
        """Adds a page, in place of those that were not asked for the longest time."""
        self.put(key, page, len(page.packed) + _PAGE_BYTES)


@dataclass(frozen=True)
class SurveyFacts:
    """The facts of a definition by which a cached page is chosen and filled in."""

    language: str
    languages: tuple[str, ...]
    groups: tuple[str, ...]

    @classmethod
    def of(cls, survey: Survey) -> SurveyFacts:
        """Returns the facts of a definition."""
        return cls(survey.language, survey.languages, tuple(survey.groups))

    @property
    def size(self) -> int:
        """An estimate of its memory, in bytes."""
        return 500 + sum(100 + 4 * len(text) for text in (*self.languages, *self.groups))


@dataclass
class PageRendering:
    """A page that is being rendered for everybody.

    Attributes:
        state: The state of its survey that the view has read, if any.
        is_complete: Whether the view has returned, so that the reply is not an error's.
    """

    state: PageState | None = None
    is_complete: bool = False


Fill = Callable[[bytes, str, "MultiDict[str, str]", PageLanguages, SurveyFacts], bytes]
"""Returns a page for one visitor: from the cached page, its path, the visitor's query and languages, and the survey's facts."""


@dataclass(frozen=True)
class CacheableView:
    """A view whose replies are cached.

    Attributes:
        translated: Whether it depends on the visitor's languages.
        codes: Whether it depends on spare codes.
        quotas: Whether it depends on which groups are full.
        fill: Adds what differs between visitors.
    """

    translated: bool = True
    codes: bool = False
    quotas: bool = False
    fill: Fill | None = None

    def relevant(self, state: PageState | None) -> PageState | None:
        """Returns a state without what the view does not depend on."""
        if state is None:
            return None
        return state._replace(spare=state.spare if self.codes else None, full=state.full if self.quotas else ())


_CACHEABLE: dict[Callable[..., Any] | None, CacheableView] = {}


def cacheable(
    *, translated: bool = True, codes: bool = False, quotas: bool = False, fill: Fill | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Marks a view whose replies are the same for everybody, except for what `fill` changes.

    It must read its survey with `published`, `spare_codes_of` and `full_groups_of`, and of the request nothing but its path.
    `CacheableView` describes the arguments.
    """

    def mark(view: Callable[P, R]) -> Callable[P, R]:
        def noted(*args: P.args, **kwargs: P.kwargs) -> R:
            reply = view(*args, **kwargs)
            if rendering := current_rendering():
                rendering.is_complete = True
            return reply

        noted.__name__, noted.__doc__, noted.__module__ = view.__name__, view.__doc__, view.__module__
        _CACHEABLE[noted] = CacheableView(translated, codes, quotas, fill)
        return noted

    return mark


def cacheable_view(app: Flask, endpoint: str) -> CacheableView | None:
    """Returns how the replies of an endpoint are cached, or None if they are not."""
    return _CACHEABLE.get(app.view_functions.get(endpoint))


def current_rendering() -> PageRendering | None:
    """Returns the rendering that the current request is, or None if it is a visitor's own request."""
    rendering: PageRendering | None = request.environ.get(RENDERING)
    return rendering


def published(survey_id: str) -> Published:
    """Returns the survey of a page, as `Surveys.published` does, and records its state for the cache."""
    survey = current_store().surveys.published(survey_id)
    if rendering := current_rendering():
        rendering.state = _state_of(current_store(), survey.survey, survey)
    return survey


def spare_codes_of(survey: Survey) -> tuple[int, int] | None:
    """Returns the spare codes of a page's survey, as `spare_codes` does; those that were recorded for the cache, if any."""
    state = _recorded()
    return state.spare if state else spare_codes(current_store(), survey)


def full_groups_of(survey_id: str) -> list[str]:
    """Returns the full groups of a page's survey, as `Life.full_groups` does; those that were recorded for the cache, if any."""
    if current_rendering():
        published(survey_id)
    state = _recorded()
    return list(state.full) if state else current_store().life.full_groups(survey_id)


def _recorded() -> PageState | None:
    rendering = current_rendering()
    return rendering.state if rendering else None


def _state_of(store: Store, survey: Survey | Heading, now: Availability) -> PageState:
    full = tuple(store.life.full_groups(survey.id))
    return PageState(survey.digest, now.state, now.opens_at, now.zone, spare_codes(store, survey), full)


class PageStates:
    """Reads what the keys of cached pages need from the database of an application."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._facts: ByteCache[str, SurveyFacts] = ByteCache(_FACTS_BYTES)

    @classmethod
    def of_app(cls, app: Flask) -> PageStates:
        """Returns the states of an application's surveys."""
        return cls(services_of(app).store)

    def read(self, survey_ids: Collection[str]) -> dict[str, PageState]:
        """Returns the states of those that are published, without trials and without those that cannot be read."""
        states: dict[str, PageState] = {}
        with suppress(StoreError):
            for heading in self._store.surveys.headings({survey_id for survey_id in survey_ids if not is_trial(survey_id)}):
                with suppress(StoreError):
                    states[heading.id] = _state_of(self._store, heading, heading)
        return states

    def facts(self, digest: str) -> SurveyFacts | None:
        """Returns the facts of a definition that `learn` has read."""
        return self._facts.get(digest)

    def learn(self, survey_id: str) -> SurveyFacts | None:
        """Reads the facts of a survey, which may parse its definition. Returns None if it cannot be read."""
        try:
            survey = self._store.surveys.published(survey_id).survey
        except StoreError:
            return None
        facts = SurveyFacts.of(survey)
        self._facts.put(survey.digest, facts, facts.size)
        return facts


def address_language(query: MultiDict[str, str], facts: SurveyFacts | None) -> str | None:
    """Returns the language in a visitor's query, if it is offered."""
    return offered_tag(query.get("lang"), facts.languages if facts else ())


def replace_once(page: bytes, before: str, after: str) -> bytes:
    """Replaces a part of a page. Raises LookupError unless the part is there exactly once."""
    part = before.encode()
    if page.count(part) != 1:
        raise LookupError("a cached page must have each part that is filled in exactly once")
    return page.replace(part, after.encode())
