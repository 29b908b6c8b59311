"""Replies of a server as a browser gets them, and validation of their headers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle

import httpx

from deniable.errors import DeliveryError
from deniable.verify.visits import VISITORS, Visit, request_headers
from deniable.wire.spare_codes import HEADER, parse_spare_codes

MAX_BYTES = 4 << 20
REQUIRED = (
    *("Content-Security-Policy", "Cache-Control", "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy"),
    *("Permissions-Policy", "Referrer-Policy", "X-Content-Type-Options", "X-Frame-Options"),
)
"""Security headers of each reply to a respondent, with the released values."""

ALLOWED = frozenset(
    {
        *(name.lower() for name in REQUIRED),
        *("content-type", "content-length", "content-encoding", "content-language", "transfer-encoding"),
        *("date", "server", "vary", "connection", "keep-alive", "strict-transport-security", "allow"),
    }
)
"""Headers that a reply may have. Others could identify the browser, clear its storage, load more, or report the visit."""


@dataclass(frozen=True)
class Reply:
    """A reply with its decompressed body; None for a body longer than any released one."""

    status: int
    headers: httpx.Headers
    body: bytes | None


class Browser:
    """Sends requests to the server at `url` as several browsers would in turn, each for the first time.

    Keeps no cookies, and follows no redirects.
    """

    def __init__(self, url: str, timeout: float = 30.0) -> None:
        self.url = url
        self._http = httpx.Client(timeout=timeout, follow_redirects=False)
        self._encodings = self._http.headers["Accept-Encoding"]
        self._http.headers.clear()
        self._visitors = cycle(VISITORS)

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def headers(self, visit: Visit) -> list[tuple[str, str]]:
        """Returns the headers of the next request for this visit."""
        return request_headers(visit, next(self._visitors), self.url, self._encodings)

    def get(self, visit: Visit, headers: list[tuple[str, str]]) -> Reply:
        """Returns the reply to a request with these headers. Raises DeliveryError if there is no reply."""
        self._http.cookies.clear()
        try:
            with self._http.stream(visit.method, self.url + visit.path, headers=headers, content=visit.body or None) as response:
                return Reply(response.status_code, response.headers, _body(response))
        except httpx.HTTPError as error:
            raise DeliveryError(f"{self.url}{visit.path} could not be read: {type(error).__name__}") from None


def _body(response: httpx.Response) -> bytes | None:
    if "," in response.headers.get("Content-Encoding", ""):
        return None  # compressed more than once, which is unbounded: 5 kB can become 3 GB
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > MAX_BYTES:
            return None
    return bytes(body)


def broken_headers(reply: Reply, required: Mapping[str, str], https: bool, is_definition: bool = False) -> Iterator[tuple[str, str, str]]:
    """Yields the wrong headers of a reply: the kind of finding, the header, and the rule it breaks.

    Args:
        reply: The reply.
        required: The values that headers must have.
        https: Whether the reply came over HTTPS.
        is_definition: Whether the reply may state spare invitation codes, as a definition's may.
    """
    for header, value in required.items():
        got = reply.headers.get(header)
        if got is None:
            yield "missing", header, f"must be {value}"
        elif got != value:
            yield "differs", header, f"must be {value}, got {got[:500]}"
    for header in reply.headers:
        if is_definition and header.lower() == HEADER.lower() and parse_spare_codes(reply.headers[header]):
            continue
        if header.lower() not in ALLOWED:
            yield "unexpected", header.title(), f"must not be sent, since the release does not send it; got {reply.headers[header][:500]}"
    if https and "max-age=" not in reply.headers.get("Strict-Transport-Security", ""):
        yield "missing", "Strict-Transport-Security", "must be sent over HTTPS; start the server with --public-url"


def status_problem(reply: Reply) -> str:
    """Returns the problem of a reply whose status is not 200."""
    if 300 <= reply.status < 400:
        return f"must be served at this address, got a redirect to {reply.headers.get('Location', 'nowhere')[:200]}"
    return f"must be served, got status {reply.status}"
