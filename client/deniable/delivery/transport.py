"""HTTP transport to one server: bounded waits, retry with backoff, no cookies, no redirects, and one clear error for each failure."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from ipaddress import ip_address
from time import monotonic, sleep
from typing import IO, Any
from urllib.parse import urlsplit

import httpx

from deniable.delivery.per_process import PerProcess
from deniable.errors import DeliveryError, RefusedError, RejectedError
from deniable.survey.document import strict_json
from deniable.survey.types.base import printable

MAX_REPLY = 64 << 20
MAX_WORD = 1 << 16
"""The most bytes of a reply to a POST: a few words, or the reason of a rejection."""
MAX_FILE = 4 << 30
"""The most bytes of a saved file, unless the caller allows more."""
SLOWEST = 4096.0
"""The least bytes a second of a reply, on average after the first wait: a slower server could block a client for ever."""
LONGEST_WAIT = 120.0
_FIRST_WAIT, _LONGEST_BACKOFF = 0.5, 30.0
_TRY_AGAIN = (408, 425, 429)
_AGES = 1e9  # seconds
_MADE_WITHIN = 600.0  # seconds that a server may take to make a file before it sends any of it


class Transport:
    """Requests to the server at `url`, each tried 1 + `retries` times; `timeout` in seconds bounds each wait on the network.

    A whole reply takes at most that long, and a second for each SLOWEST bytes.
    """

    def __init__(self, url: str, timeout: float, retries: int) -> None:
        self.url = url.rstrip("/")
        self._retries, self._timeout = retries, timeout
        self._http = PerProcess(lambda: _new_client(self.url, timeout))
        self._closed = False

    def close(self) -> None:
        """Closes connections, for good."""
        self._closed = True
        if http := self._http.detach():
            http.close()

    def refuse_closed(self) -> None:
        """Raises RefusedError once this is closed."""
        if self._closed:
            raise RefusedError("the client is closed; create another one")

    def get(self, path: str, params: Mapping[str, Any] | None = None, auth: httpx.Auth | None = None, limit: int | None = None) -> bytes:
        """Returns the body of a 200, of at most `limit` bytes or MAX_REPLY. Raises DeliveryError, RejectedError."""
        return self._request("GET", path, limit=limit or MAX_REPLY, params=params, auth=auth)

    def save(self, path: str, params: Mapping[str, Any], auth: httpx.Auth | None, into: IO[bytes], most: int = MAX_FILE) -> None:
        """Writes the body of a 200, of at most `most` bytes, to a file as it arrives. Each attempt starts again.

        Raises:
            DeliveryError: The server could not be reached.
            RejectedError: The server rejected the request.
            OSError: The file cannot be written.
        """
        self._request("GET", path, limit=MAX_REPLY, params=params, auth=auth, into=into, most=most, timeout=_MADE_WITHIN)

    def post(self, path: str, body: bytes, expected: Any, auth: httpx.Auth | None = None) -> None:
        """Sends JSON until the server replies 200 with exactly `expected`. Raises DeliveryError, RejectedError.

        Any other 200, such as a hotel's login page, is not an acknowledgement and counts as a failed attempt.
        """
        self._post(path, body, lambda reply: repr(reply) == repr(expected), auth)  # true is not 1

    def post_for(self, path: str, body: bytes, name: str) -> str:
        """Sends JSON until the server replies 200 with an object of one text, and returns the text. Raises as `post` does."""
        reply = self._post(path, body, lambda reply: isinstance(reply, dict) and [*reply] == [name] and isinstance(reply[name], str))
        return str(reply[name])

    def _post(self, path: str, body: bytes, accepts: Callable[[Any], bool], auth: httpx.Auth | None = None) -> Any:
        headers = {"Content-Type": "application/json"}
        return _parsed(self._request("POST", path, limit=MAX_WORD, content=body, headers=headers, accepts=accepts, auth=auth))

    def _request(self, method: str, path: str, *, limit: int, accepts: Callable[[Any], bool] | None = None, **options: Any) -> bytes:
        attempt = 0
        while True:
            self.refuse_closed()
            requested = 0.0
            try:
                status, headers, body = self._once(method, path, limit, **options)
            except httpx.RequestError as error:
                failure = type(error).__name__
            else:
                if len(body) > limit and accepts is None:
                    raise RejectedError(status, f"{self.url} answered with more than {limit:,} bytes")
                if status == 200 and (accepts is None or accepts(_parsed(body))):
                    return body
                if status < 500 and status != 200 and status not in _TRY_AGAIN:
                    raise RejectedError(status, f"{self.url} answered {status}: {_reason(status, headers, body)}")
                failure = f"HTTP {status}" if status != 200 else "a reply that is not an acknowledgement"
                requested = retry_after(headers.get("Retry-After"))
            if attempt >= self._retries or requested > LONGEST_WAIT:
                wish = f", which asks to wait {requested:.0f} s" if requested > LONGEST_WAIT else ""
                raise DeliveryError(f"{self.url} could not be reached: {failure}{wish} (attempt {attempt + 1} of {self._retries + 1})")
            sleep(max(requested, backoff(attempt)))
            attempt += 1

    def _once(
        self, method: str, path: str, limit: int, into: IO[bytes] | None = None, most: int = MAX_FILE, **options: Any
    ) -> tuple[int, httpx.Headers, bytes]:
        begun, patience = monotonic(), options.get("timeout", self._timeout)
        with self._http.get().stream(method, self.url + path, **options) as response:
            saved = into is not None and response.status_code == 200
            body, received = bytearray(), 0
            if into is not None:
                into.seek(0)
                into.truncate()
            for chunk in response.iter_raw():
                received += len(chunk)
                if monotonic() - begun > patience + received / SLOWEST:
                    raise httpx.ReadTimeout("the reply came too slowly", request=response.request)
                if saved and received > most:
                    raise RejectedError(response.status_code, f"{self.url} answered with more than {most:,} bytes")
                if saved and into is not None:
                    into.write(chunk)
                    continue
                body += chunk
                if len(body) > limit:
                    break  # `_request` sees that it is cut off
            return response.status_code, response.headers, bytes(body)


def _new_client(url: str, timeout: float) -> httpx.Client:
    # identity: the definition is hashed as served. Whatever comes is read as it is, so no reply unpacks into something huge
    headers = {"User-Agent": "deniable", "Accept-Encoding": "identity"}
    no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))  # a cookie would link a respondent's submissions
    host = urlsplit(url).hostname or ""
    # a request to this machine, and its password, would leave it by a proxy from the environment
    direct = {f"all://{f'[{host}]' if ':' in host else host}": None} if _is_this_machine(host) else None
    return httpx.Client(timeout=timeout, headers=headers, cookies=no_cookies, mounts=direct, follow_redirects=False)


def refuse_plain_http(url: str, secret: str) -> None:
    """Raises ValueError if `secret`, such as "a password", would travel unencrypted to another machine. Quotes nothing of the address."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not _is_this_machine(parts.hostname or ""):
        raise ValueError(f"url must begin with https:// where {secret} is sent to another machine, got {parts.scheme}://")


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def backoff(attempt: int) -> float:
    """Returns the seconds before the next attempt: exponential, with full jitter."""
    longest = min(_LONGEST_BACKOFF, _FIRST_WAIT * 2.0 ** min(attempt, 16))
    return longest * secrets.randbelow(1 << 20) / (1 << 20)


def retry_after(value: str | None) -> float:
    """Returns the seconds of a Retry-After header, written as seconds or as an HTTP date; 0 if it is unusable."""
    if value is None:
        return 0.0
    if value.strip().isascii() and value.strip().isdigit():
        return min(float(value), _AGES)
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return 0.0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _parsed(body: bytes) -> Any:
    try:
        return strict_json(body)
    except ValueError:
        return None


def _reason(status: int, headers: httpx.Headers, body: bytes) -> str:
    """Returns the server's reason, short and safe to print."""
    if 300 <= status < 400:
        return _clean(f"it has moved to {headers.get('Location', 'another address')}; use that address")
    reply = _parsed(body)
    detail = reply.get("detail") if isinstance(reply, dict) else None
    if isinstance(detail, str) and detail:
        return _clean(detail)
    wrong = "; is this the address of a survey server, without a path to a page?" if status == 404 else ""
    return f"no reason given{wrong}"


def _clean(text: str) -> str:
    text = " ".join(text.split())[:500]
    return text if printable(text) else "an unprintable reason"
