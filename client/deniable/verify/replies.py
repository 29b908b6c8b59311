"""The server's replies as a browser gets them, and what their headers must and must not say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import httpx

from deniable.errors import DeliveryError

MAX_BYTES = 4 << 20
REQUIRED = (
    *("Content-Security-Policy", "Cache-Control", "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy"),
    *("Permissions-Policy", "Referrer-Policy", "X-Content-Type-Options", "X-Frame-Options"),
)
"""Each reply to a respondent has them, with the values that were released."""

UNWANTED = (
    *("Set-Cookie", "ETag", "Last-Modified", "Accept-CH", "Critical-CH"),  # by which a browser is known again
    *("Link", "Refresh", "Speculation-Rules", "SourceMap", "X-SourceMap", "Service-Worker-Allowed"),  # which load or run more
    *("NEL", "Report-To", "Reporting-Endpoints", "Content-Security-Policy-Report-Only"),  # which tell somebody of the visit
)
"""A proxy or a server may add other headers; one of these is a finding."""

# A server that can tell a verifier from a visitor can cheat it. This keeps the cheapest way of telling from it.
_BROWSER = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    "Accept": "*/*",
    "Accept-Encoding": "gzip, deflate",
}


@dataclass(frozen=True)
class Reply:
    """A reply, its body unpacked. `body` is None where it is longer than anything that was released."""

    status: int
    headers: httpx.Headers
    body: bytes | None


class Browser:
    """Requests to the server at `url`, each as a browser's first: nothing is kept from one to the next, no redirect is followed."""

    def __init__(self, url: str, timeout: float = 30.0) -> None:
        self.url = url
        self._http = httpx.Client(headers=_BROWSER, timeout=timeout, follow_redirects=False)

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, language: str) -> Reply:
        """The reply to somebody who reads `language`. Raises DeliveryError where there is none."""
        self._http.cookies.clear()
        try:
            with self._http.stream("GET", self.url + path, headers={"Accept-Language": language}) as response:
                return Reply(response.status_code, response.headers, _body(response))
        except httpx.HTTPError as error:
            raise DeliveryError(f"{self.url}{path} could not be read: {type(error).__name__}") from None


def _body(response: httpx.Response) -> bytes | None:
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > MAX_BYTES:
            return None
    return bytes(body)


def broken_headers(reply: Reply, mimetype: str, released: Mapping[str, str], https: bool) -> Iterator[tuple[str, str, str]]:
    """Yields (kind of finding, header, what is wrong)."""
    wanted = {**released, "Content-Type": mimetype}
    for header, value in wanted.items():
        got = reply.headers.get(header)
        if got is None:
            yield "missing", header, f"must be {value}"
        elif got != value:
            yield "differs", header, f"must be {value}, got {got[:500]}"
    for header in UNWANTED:
        if header in reply.headers:
            yield "unexpected", header, f"must not be sent, got {reply.headers[header][:500]}"
    if https and "max-age=" not in reply.headers.get("Strict-Transport-Security", ""):
        yield "missing", "Strict-Transport-Security", "must be sent over HTTPS; start the server with --public-url"
