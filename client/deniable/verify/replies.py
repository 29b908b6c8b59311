"""The server's replies as a browser gets them, and what their headers must and must not say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle

import httpx

from deniable.errors import DeliveryError
from deniable.verify.visits import VISITORS, Visit, headers

MAX_BYTES = 4 << 20
REQUIRED = (
    *("Content-Security-Policy", "Cache-Control", "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy"),
    *("Permissions-Policy", "Referrer-Policy", "X-Content-Type-Options", "X-Frame-Options"),
)
"""Each reply to a respondent has them, with the values that were released."""

ALLOWED = frozenset(
    {
        *(name.lower() for name in REQUIRED),
        *("content-type", "content-length", "content-encoding", "content-language", "transfer-encoding"),
        *("date", "server", "vary", "connection", "keep-alive", "strict-transport-security", "allow"),
    }
)
"""No other header may be there: one may mark the browser, empty its storage, load more, or tell somebody of the visit."""


@dataclass(frozen=True)
class Reply:
    """A reply, its body unpacked. `body` is None where it is longer than anything that was released."""

    status: int
    headers: httpx.Headers
    body: bytes | None


class Browser:
    """Requests to the server at `url`, each as a browser's first: nothing is kept from one to the next, no redirect is followed.

    Each request is one of several browsers', in turn.
    """

    def __init__(self, url: str, timeout: float = 30.0) -> None:
        self.url = url
        self._http = httpx.Client(timeout=timeout, follow_redirects=False)
        self._encodings = self._http.headers["Accept-Encoding"]
        self._http.headers.clear()
        self._visitors = cycle(VISITORS)

    def close(self) -> None:
        self._http.close()

    def headers(self, visit: Visit) -> list[tuple[str, str]]:
        """Those of the next request for this."""
        return headers(visit, next(self._visitors), self.url, self._encodings)

    def get(self, visit: Visit, told: list[tuple[str, str]]) -> Reply:
        """The reply to a request with these headers. Raises DeliveryError where there is none."""
        self._http.cookies.clear()
        try:
            with self._http.stream(visit.method, self.url + visit.path, headers=told, content=visit.body or None) as response:
                return Reply(response.status_code, response.headers, _body(response))
        except httpx.HTTPError as error:
            raise DeliveryError(f"{self.url}{visit.path} could not be read: {type(error).__name__}") from None


def _body(response: httpx.Response) -> bytes | None:
    if "," in response.headers.get("Content-Encoding", ""):
        return None  # packed more than once, which has no bound: 5 kB unpack into 3 GB
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > MAX_BYTES:
            return None
    return bytes(body)


def broken_headers(reply: Reply, wanted: Mapping[str, str], https: bool) -> Iterator[tuple[str, str, str]]:
    """Yields (kind of finding, header, what is wrong). wanted: the values that headers must have."""
    for header, value in wanted.items():
        got = reply.headers.get(header)
        if got is None:
            yield "missing", header, f"must be {value}"
        elif got != value:
            yield "differs", header, f"must be {value}, got {got[:500]}"
    for header in reply.headers:
        if header.lower() not in ALLOWED:
            yield "unexpected", header.title(), f"must not be sent: it is no header of the release; got {reply.headers[header][:500]}"
    if https and "max-age=" not in reply.headers.get("Strict-Transport-Security", ""):
        yield "missing", "Strict-Transport-Security", "must be sent over HTTPS; start the server with --public-url"


def no_reply(reply: Reply) -> str:
    """What is wrong with a reply whose status is not 200."""
    if 300 <= reply.status < 400:
        return f"must be served at this address, got a redirect to {reply.headers.get('Location', 'nowhere')[:200]}"
    return f"must be served, got status {reply.status}"
