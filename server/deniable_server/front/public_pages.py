"""Public pages from the page cache, without a thread and without Flask, so that their readers never hold up submissions.

The database is read by one thread at a time: requests that arrive meanwhile share the next reading. So every reply shows a state that
was read after its request arrived, and thousands of requests a second cost a hundred short readings. A page that is not in the cache is
rendered by one thread; the requests that wait for it find it there. Flask handles all other requests and all errors.
"""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from flask import Flask
from granian.rsgi import Scope
from werkzeug.exceptions import HTTPException, ServiceUnavailable
from werkzeug.wrappers import Request

from deniable_server.front import gateway
from deniable_server.front.gateway import Environ, GatewayReply
from deniable_server.front.workers import BUSY, Workers
from deniable_server.web import languages, page_cache
from deniable_server.web.lanes import Lane
from deniable_server.web.languages import PageLanguages
from deniable_server.web.page_cache import CacheableView, CachedPage, PageCache, PageKey, PageRendering, PageState, PageStates, SurveyFacts

PAUSE = 0.01  # seconds between two readings of the database, and between two deliveries of files
LARGE_PER_SECOND = 32 << 20  # bytes of large pages that are unpacked
LONGEST_PATH = 200
INLINE_BYTES = 64 << 10  # a larger page is unpacked by a thread, which does not hold the interpreter meanwhile, and at a limited rate
LONGEST_WAIT = 10.0  # seconds, for large pages
_METHODS = ("GET", "HEAD")
_HEADERS = {"accept-language": "HTTP_ACCEPT_LANGUAGE", "accept-encoding": "HTTP_ACCEPT_ENCODING"}


@dataclass(frozen=True)
class PageAddress:
    """The address of a page in the cache.

    Attributes:
        path: The path.
        view: How its view's replies are cached.
        survey_id: The survey in the address, or None.
    """

    path: str
    view: CacheableView
    survey_id: str | None


class PageVisit(NamedTuple):
    """A visitor's request for a cacheable page: its address, method, and the query and headers that such a page may depend on."""

    address: PageAddress
    method: str
    request: Request


class SharedReading:
    """Reads states of surveys for all requests that wait, one reading after the other. Belongs to one event loop."""

    def __init__(self, read: Callable[[Collection[str]], Mapping[str, PageState]], workers: Workers) -> None:
        self._read, self._workers = read, workers
        self._ids: set[str] = set()
        self._next: asyncio.Task[Mapping[str, PageState]] | None = None
        self._last: asyncio.Task[Mapping[str, PageState]] | None = None
        self._free_at = 0.0

    async def state(self, survey_id: str | None) -> PageState | None:
        """Returns the state of a survey, from a reading that begins now or later; None without a survey, or if it is not published."""
        if self._next is None:
            self._ids = set()
            self._next = self._last = asyncio.ensure_future(self._read_next(self._last))
        if survey_id is not None:
            self._ids.add(survey_id)
        states = await asyncio.shield(self._next)
        return None if survey_id is None else states.get(survey_id)

    async def _read_next(self, last: asyncio.Task[Mapping[str, PageState]] | None) -> Mapping[str, PageState]:
        if last is not None and not last.done():
            await asyncio.wait([last])
        loop = asyncio.get_running_loop()
        await asyncio.sleep(max(0.0, self._free_at - loop.time()))
        ids, self._next = self._ids, None
        try:
            return await self._workers.run(self._read, ids) if ids else {}
        finally:
            self._free_at = loop.time() + PAUSE


class Pacing:
    """Limits the rate of a kind of work by delays, which cost no thread. Belongs to one event loop."""

    def __init__(self, per_second: float) -> None:
        self._per_second, self._free_at = per_second, 0.0

    async def wait(self, amount: float) -> None:
        """Waits until the work that came before is paid for. Raises ServiceUnavailable if that takes longer than LONGEST_WAIT."""
        now = asyncio.get_running_loop().time()
        begin = max(now, self._free_at)
        if begin - now > LONGEST_WAIT:
            raise ServiceUnavailable(BUSY)
        self._free_at = begin + amount / self._per_second
        await asyncio.sleep(begin - now)


class PublicPages:
    """Answers requests for the cacheable pages of an application.

    Args:
        app: The application.
        base: The part of an environ that all requests share.
        workers: The threads that read the database and unpack large pages.
    """

    def __init__(self, app: Flask, base: Environ, workers: Workers) -> None:
        self._app, self._base, self._workers = app, base, workers
        self._states = PageStates.of_app(app)
        self._surveys, self._files = (SharedReading(self._states.read, workers) for _ in range(2))
        self._rendering = Workers("rendering", threads=1, waiting=512, lane=Lane.RESPONDENTS)
        self._unpacking = Pacing(LARGE_PER_SECOND)
        self._pages = PageCache()
        self._find = lru_cache(4096)(self._address)

    def visit(self, scope: Scope, headers: Collection[tuple[str, str]]) -> PageVisit | None:
        """Returns the request for a cacheable page; None for any other request."""
        if scope.method not in _METHODS or len(scope.path) > LONGEST_PATH or not scope.path.isascii():
            return None
        address = self._find(scope.path)
        if address is None:
            return None
        environ: dict[str, Any] = {"REQUEST_METHOD": scope.method, "QUERY_STRING": scope.query_string}
        for name, value in headers:
            if (key := _HEADERS.get(name.lower())) is not None:
                environ[key] = f"{environ[key]},{value}" if key in environ else value
        return PageVisit(address, scope.method, Request(environ, populate_request=False))

    async def reply(self, visit: PageVisit) -> GatewayReply | None:
        """Returns the reply from the cache; None if only the application can reply, for example to say that there is no such survey.

        Raises:
            ServiceUnavailable: Too many requests wait.
        """
        address, state, facts = visit.address, None, None
        if address.survey_id is None:
            await self._files.state(None)
        else:
            state = await self._surveys.state(address.survey_id)
            facts = await self._facts_of(address.survey_id, state)
            if facts is None:
                return None
        tags = _languages_of(visit, facts)
        page = await self._page(
            PageKey(address.path, tags if address.view.translated else None, address.view.relevant(state)), address.view
        )
        if page is None:
            return None
        if page.length > INLINE_BYTES and not (page.compressible and _accepts_gzip(visit)):
            await self._unpacking.wait(page.length)
            return await self._workers.run(_fitted, page, visit, tags, facts)
        return _fitted(page, visit, tags, facts)

    async def _facts_of(self, survey_id: str, state: PageState | None) -> SurveyFacts | None:
        """Returns the facts of a survey, or None if it is not published."""
        if state is None:
            return None
        return self._states.facts(state.digest) or await self._rendering.run(self._states.learn, survey_id)

    async def _page(self, key: PageKey, view: CacheableView) -> CachedPage | None:
        """Returns a page from the cache, which is rendered first if necessary; None if that fails."""
        return self._pages.get(key) or await self._rendering.run(self._render, key, view)

    def _address(self, path: str) -> PageAddress | None:
        """Returns the address of a cacheable page, by its path."""
        try:
            endpoint, values = self._app.url_map.bind("").match(path, method="GET")
        except HTTPException:
            return None
        view = page_cache.cacheable_view(self._app, endpoint)
        return PageAddress(path, view, values.get("survey_id")) if view else None

    def _render(self, key: PageKey, view: CacheableView) -> CachedPage | None:
        """Returns a page for everybody, and keeps it. None if the view failed, or has read another state than the key's."""
        page = self._pages.get(key)
        if page is not None:
            return page
        rendering = PageRendering()
        environ = {**self._base, "REQUEST_METHOD": "GET", "PATH_INFO": key.path, "QUERY_STRING": "", "SERVER_PROTOCOL": "HTTP/1.1"}
        forced = {languages.FORCED: key.languages, page_cache.RENDERING: rendering, "HTTP_ACCEPT_ENCODING": "gzip"}
        reply = gateway.call(self._app, {**environ, **forced})
        if not rendering.is_complete or view.relevant(rendering.state) != key.state:
            return None
        page = _packed(reply)
        self._pages.add(key, page)
        return page


def _languages_of(visit: PageVisit, facts: SurveyFacts | None) -> PageLanguages:
    address, accepted = page_cache.address_language(visit.request.args, facts), visit.request.accept_languages
    if facts is None:
        return languages.page_languages(address, accepted)
    return languages.page_languages(address, accepted, facts.language, facts.languages)


def _accepts_gzip(visit: PageVisit) -> bool:
    return visit.request.accept_encodings.quality("gzip") > 0


def _packed(reply: GatewayReply) -> CachedPage:
    if ("Content-Encoding", "gzip") in reply.headers:
        return CachedPage(reply.status, reply.headers, reply.body, len(gzip.decompress(reply.body)), compressible=True)
    return CachedPage(reply.status, reply.headers, gzip.compress(reply.body, 6, mtime=0), len(reply.body), compressible=False)


def _fitted(page: CachedPage, visit: PageVisit, tags: PageLanguages, facts: SurveyFacts | None) -> GatewayReply | None:
    """Returns the reply of a page for one visitor, or None if it cannot be filled in."""
    if page.compressible and _accepts_gzip(visit):
        return GatewayReply(page.status, page.headers, page.packed if visit.method == "GET" else b"")
    body, address = gzip.decompress(page.packed), visit.address
    if address.view.fill is not None and facts is not None:
        try:
            body = address.view.fill(body, address.path, visit.request.args, tags, facts)
        except LookupError:
            return None
    headers = [(name, value) for name, value in page.headers if name not in ("Content-Encoding", "Content-Length")]
    headers.append(("Content-Length", str(len(body))))
    return GatewayReply(page.status, headers, body if visit.method == "GET" else b"")
