"""Page of public results: estimates, their counts, how to compute them again, and how to cite them. No cookie.

Figures are computed in a process of researchers' priority and kept for a minute, then until the counts change; each page is rendered once
for them. So strangers who load the page again and again cost next to nothing, and one request at a time computes.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from decimal import Decimal

from flask import Response, abort, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from deniable.privacy.claims import facts_of
from deniable.survey import Survey
from deniable_server.context import current_services, current_store
from deniable_server.pages.paging import Paging, requested
from deniable_server.public.citation import cite
from deniable_server.public.public_questions import ARROWS, percent, questions_of
from deniable_server.public.recompute import PROGRAM
from deniable_server.results.public_results import PublicResults, public_results, to_dict
from deniable_server.store.byte_cache import ByteCache
from deniable_server.store.errors import UnavailableError
from deniable_server.store.protocol import Published
from deniable_server.web import languages
from deniable_server.web.audience import Audience, Routes
from deniable_server.web.compression import gzipped, negotiated
from deniable_server.web.headers import CACHED_SECONDS, cached
from deniable_server.web.lanes import Lane
from deniable_server.web.links import server_address
from deniable_server.web.offload import computed

bp = Routes("public", __name__, Audience(login=False, forms=False, csrf=False, translated=True), Lane.RESEARCHERS)

MOST_SURVEYS = 64
"""Surveys whose results are in memory at once."""


WAIT = 5.0
"""Seconds to wait for another request that computes."""

RENDERED_BYTES = 32 << 20
"""Bytes of rendered pages in memory."""


@dataclass(frozen=True)
class RenderedPage:
    """A rendered page: its bytes, the compressed bytes, and a hash of the content alone, which is the same for everyone."""

    body: bytes
    gzipped: bytes
    etag: str

    @classmethod
    def of(cls, text: str) -> RenderedPage:
        """Encodes and compresses a page."""
        body = text.encode()
        return cls(body, gzipped(body), hashlib.sha256(body).hexdigest()[:32])

    def reply(self, mimetype: str) -> AnyResponse:
        """Returns the reply: the page, or 304 to a browser that has it."""
        response = negotiated(Response(self.body, mimetype=mimetype), self.gzipped)
        response.set_etag(self.etag, weak=True)  # compressed or not
        return response.make_conditional(request)


@dataclass
class Cache:
    """The latest public results of each survey, and their pages.

    Results older than CACHED_SECONDS are checked, and computed again if the counts have changed, by one request at a time.
    """

    clock: Callable[[], float] = time.monotonic
    pages: ByteCache[Hashable, RenderedPage] = field(default_factory=lambda: ByteCache(RENDERED_BYTES))
    _entries: OrderedDict[str, tuple[float, PublicResults]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def get(self, survey_id: str) -> PublicResults:
        """Returns the results of a survey, at most CACHED_SECONDS old unless another request computes.

        Raises:
            UnavailableError: Another request computes, and there are no results to return meanwhile.
        """
        with self._lock:
            at, results = self._entries.get(survey_id, (0.0, None))
            if results is not None and self.clock() - at < CACHED_SECONDS:
                return results
        if not self._turn.acquire(blocking=results is None, timeout=WAIT if results is None else -1):
            if results is not None:
                return results
            raise UnavailableError("others are reading results just now: try again in a moment")
        try:
            results = _compute(survey_id, results.fingerprint if results else b"") or results or PublicResults()
        finally:
            self._turn.release()
        with self._lock:
            self._entries[survey_id] = self.clock(), results
            self._entries.move_to_end(survey_id)
            if len(self._entries) > MOST_SURVEYS:
                self._entries.popitem(last=False)
        return results


@computed()
def _compute(survey_id: str, previous: bytes) -> PublicResults | None:
    store = current_store()
    return public_results(store, store.surveys.published(survey_id), previous)


@bp.get("/s/<survey_id>/results")
@cached
def page(survey_id: str) -> AnyResponse:
    """Shows the results of a survey to everyone. Aborts with 404 if they are not public, or have no such page."""
    survey = _public(survey_id).survey
    languages.about(survey)
    paging = requested(len(survey.questions), status=404)
    tags = languages.chosen().tag, languages.reading(), languages.addressed()
    return _rendered(survey, (paging, tags), lambda results: _html(survey, results, paging)).reply("text/html")


def _html(survey: Survey, results: PublicResults, paging: Paging) -> str:
    address = server_address() + url_for("public.page", survey_id=survey.id)
    context = {
        "survey": survey,
        "public": results,
        "facts": facts_of(survey),
        "questions_of": questions_of,
        "paging": paging,
        "percent": percent,
        "arrows": ARROWS,
    }
    if results.tables:
        citation = cite(survey, results.tables[0].results.n, results.released_on, address)
        context |= {"cite": citation, "program": PROGRAM, "commands": _commands(survey)}
    return render_template("respondents/results.html", **context)


@bp.get("/s/<survey_id>/results.json")
@cached
def download(survey_id: str) -> AnyResponse:
    """Serves the counts and estimates for programs. Aborts with 404 if they are not public."""
    survey = _public(survey_id).survey
    definition = server_address() + url_for("api.definition", survey_id=survey.id)

    def render(results: PublicResults) -> str:
        return json.dumps(to_dict(survey, results, definition), ensure_ascii=False, allow_nan=False, indent=1)

    return _rendered(survey, "json", render).reply("application/json")


def _rendered(survey: Survey, key: Hashable, render: Callable[[PublicResults], str]) -> RenderedPage:
    """Returns a page of a survey's current results, rendered once for them. key: all else that the page depends on."""
    cache = _cache()
    results = cache.get(survey.id)
    if not results.tables:
        return RenderedPage.of(render(results))
    rendered = cache.pages.get((survey.digest, results.fingerprint, key))
    if rendered is None:
        rendered = RenderedPage.of(render(results))
        cache.pages.put((survey.digest, results.fingerprint, key), rendered, len(rendered.body) + len(rendered.gzipped))
    return rendered


@bp.app_template_filter("decimal")
def as_decimal(value: float, digits: int = 15) -> Decimal:
    """Returns a number with so many significant digits, for the filters that format numbers in the page's language."""
    return Decimal(f"{value:.{digits}g}").normalize() + 0


def _public(survey_id: str) -> Published:
    published = current_store().surveys.published(survey_id)
    if published.survey.results != "public":
        abort(404)
    return published


def _cache() -> Cache:
    services = current_services()
    cache = services.find(Cache)
    if cache is None:
        services.add(cache := Cache())
    return cache


def _commands(survey: Survey) -> list[str]:
    """Returns the lines that download counts and definition, and run the program on the page."""
    base = server_address()
    downloads = {
        "results.json": url_for("public.download", survey_id=survey.id),
        "definition.json": url_for("api.definition", survey_id=survey.id),
    }
    lines = [f"curl -s {shlex.quote(base + path)} -o {name}" for name, path in downloads.items()]
    return [*lines, "python3 recompute.py results.json definition.json"]
