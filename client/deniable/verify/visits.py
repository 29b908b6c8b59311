"""Requests of a visitor's browser: pages, files and forms of a survey, with a common browser's headers.

A server that can distinguish a verifier from a visitor can cheat it. So each request has the headers that a common browser sends for
that kind of request, in the same order: a page, a module, a style sheet, a form, data.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

Kind = Literal["page", "module", "style", "data", "form", "json"]


@dataclass(frozen=True)
class Visit:
    """A request.

    Attributes:
        kind: The kind of request; "form" and "json" send a body.
        path: The path and query.
        language: The browser's language.
        body: The body that a form or a script sends.
    """

    kind: Kind
    path: str
    language: str = "en"
    body: bytes = b""

    @property
    def method(self) -> str:
        """The HTTP method."""
        return "POST" if self.kind in ("form", "json") else "GET"


@dataclass(frozen=True)
class Visitor:
    """A browser as a server sees it.

    Attributes:
        agent: The header User-Agent.
        page: The header Accept of a request for a page.
        weights: The format of Accept-Language.
        hints: Client hint headers.
    """

    agent: str
    page: str
    weights: str
    hints: tuple[tuple[str, str], ...] = ()


_BRANDS = '"Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"'
_CHROMIUM_PAGE = (
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,"
    "application/signed-exchange;v=b3;q=0.7"
)
_PAGE = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

VISITORS: Sequence[Visitor] = (
    Visitor(
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
        _CHROMIUM_PAGE,
        "{region},{tag};q=0.9",
        (("sec-ch-ua", _BRANDS), ("sec-ch-ua-mobile", "?1"), ("sec-ch-ua-platform", '"Android"')),
    ),
    Visitor(
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
        "Version/18.6 Mobile/15E148 Safari/604.1",
        _PAGE,
        "{region},{tag};q=0.9",
    ),
    Visitor("Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0", _PAGE, "{tag},en-US;q=0.7,en;q=0.3"),
    Visitor(
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
        _CHROMIUM_PAGE,
        "{region},{tag};q=0.9",
        (("sec-ch-ua", _BRANDS), ("sec-ch-ua-mobile", "?0"), ("sec-ch-ua-platform", '"Windows"')),
    ),
)
"""A phone with Android, an iPhone, Firefox, a desktop computer."""

_REGIONS = {"en": "en-US", "de": "de-DE", "ar": "ar-EG", "fr": "fr-FR", "es": "es-ES"}
_FETCH = {  # destination, mode, site
    "page": ("document", "navigate", "none"),
    "form": ("document", "navigate", "same-origin"),
    "module": ("script", "cors", "same-origin"),
    "style": ("style", "no-cors", "same-origin"),
    "data": ("empty", "cors", "same-origin"),
    "json": ("empty", "cors", "same-origin"),
}
_ACCEPT = {"style": "text/css,*/*;q=0.1"}
_CONTENT = {"form": "application/x-www-form-urlencoded", "json": "application/json"}


def request_headers(visit: Visit, visitor: Visitor, url: str, encodings: str) -> list[tuple[str, str]]:
    """Returns the headers of a request to the server at `url`, in a browser's order.

    Args:
        visit: The request.
        visitor: The browser.
        url: The server.
        encodings: The compressions that this client can undo.
    """
    navigates = visit.kind in ("page", "form")
    headers: list[tuple[str, str]] = [("Connection", "keep-alive")]
    if visit.kind == "json":
        headers.append(("Origin", url))
    if visit.kind == "form":
        headers.append(("Origin", "null"))  # pages set a Referrer-Policy without addresses
    if visit.body:
        headers.append(("Content-Type", _CONTENT[visit.kind]))
    if _trustworthy(url):
        headers += visitor.hints
    if navigates:
        headers.append(("Upgrade-Insecure-Requests", "1"))
    headers += [("User-Agent", visitor.agent), ("Accept", visitor.page if navigates else _ACCEPT.get(visit.kind, "*/*"))]
    if _trustworthy(url):
        destination, mode, site = _FETCH[visit.kind]
        headers += [("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", mode), ("Sec-Fetch-Dest", destination)]
        headers += [("Sec-Fetch-User", "?1")] if navigates else []
    accepted = visitor.weights.format(tag=visit.language, region=_REGIONS.get(visit.language, visit.language))
    return [*headers, ("Accept-Encoding", encodings), ("Accept-Language", accepted)]


def _trustworthy(url: str) -> bool:
    """Returns whether browsers send client hints and fetch metadata over this connection."""
    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in ("localhost", "127.0.0.1", "::1")


def survey_pages(survey: str, languages: Sequence[str]) -> Iterator[Visit]:
    """Yields visits of the survey's page, in the browser's and in a chosen language and with queries of shared links, and of its kiosk."""
    path = f"/s/{survey}"
    for tag in languages:
        yield Visit("page", path, tag)
        yield Visit("page", f"{path}?lang={tag}", tag)
        yield Visit("page", f"{path}?{secrets.choice(_SHARED)}", tag)
        yield Visit("page", f"{path}/kiosk?lang={tag}", tag)
    for query in _SHARED:
        yield Visit("page", f"{path}?{query}")


def translated_pages(survey: str, languages: Sequence[str]) -> Iterator[Visit]:
    """Yields visits of the survey's page in languages without a catalog, which get the page in the browser's language."""
    for tag in languages:
        yield Visit("page", f"/s/{survey}?lang={tag}")


def other_pages(survey: str, languages: Sequence[str]) -> Iterator[Visit]:
    """Yields visits of every other page and form of a respondent, of a missing page, and damaged requests."""
    path = f"/s/{survey}"
    api = f"/api/v1/surveys/{survey}"
    for tag in languages:
        for page in (f"{path}/by-hand", f"{path}/withdraw", f"{path}/definition", "/privacy", "/accessibility"):
            yield Visit("page", page, tag)
            yield Visit("page", f"{page}?lang={tag}", tag)
        yield Visit("page", f"{path}/by-hand?{secrets.choice(_SHARED)}", tag)
        yield Visit("page", f"{path}/{secrets.token_hex(4)}", tag)
        yield Visit("form", f"{path}/by-hand?lang={tag}", tag, b"secret=")
        yield Visit("form", f"{path}/withdraw?lang={tag}", tag, b"code=0000")
    yield Visit("json", f"{api}/submissions", body=b"{}")
    yield Visit("json", f"{api}/withdrawals", body=b"{}")
    yield Visit("json", f"{api}/tokens", body=b"{}")
    yield Visit("json", f"{api}/invitations/check", body=b"{}")


_SHARED = (
    f"ref={secrets.token_hex(4)}",
    f"fbclid=IwAR{secrets.token_urlsafe(32)}",
    "utm_source=newsletter&utm_medium=email&utm_campaign=survey",
    "utm_source=whatsapp",
    f"gclid={secrets.token_urlsafe(24)}",
)
"""Queries that mail programs, messengers and search engines append to links; random ones differ in each run."""
