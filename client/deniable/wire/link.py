"""Respondent's link: the address of a survey, with parameters for the page or client in its fragment, which no server sees."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from deniable.survey.parse import SURVEY_ID
from deniable.wire import access_codes

DIGEST = re.compile(r"[0-9a-f]{64}")
_PATH = re.compile(r"(.*)/s/([^/]+)(/kiosk)?/?")
_PAGES = re.compile(r"/(s|manage|api)(?=/|$)")
_KEYS = ("digest", "group", "code")
_PORTS = {"http": 80, "https": 443}
_SECRET = re.compile(r"[#?]|%23|%3f", re.IGNORECASE)
"""Text after these may be a code."""


@dataclass(frozen=True)
class Link:
    """A link to a survey. `str` writes it, and `parse` reads it.

    Attributes:
        url: The server's address, empty if unknown.
        survey: The survey's id.
        digest: The digest of its definition.
        group: A public label.
        code: An invitation, as written.
        kiosk: Whether it opens the page for a device that many people share.
    """

    url: str
    survey: str
    digest: str | None = None
    group: str | None = None
    code: str | None = field(default=None, repr=False)
    kiosk: bool = False

    def __str__(self) -> str:
        parts = [f"{key}={quote(value, safe='')}" for key in _KEYS if (value := getattr(self, key)) is not None]
        return f"{self.url}/s/{self.survey}{'/kiosk' if self.kiosk else ''}{'#' if parts else ''}{'&'.join(parts)}"

    @classmethod
    def parse(cls, link: str) -> Self:
        """Reads `https://host/s/<survey id>#digest=…&group=…&code=…`: parts in any order, percent-encoded, each optional.

        `/kiosk` may follow the survey's id.

        Raises:
            ValueError: It is not such a link. The message quotes no code and no password, and says where a part after ? belongs.
        """
        parts = _of_a_server(link, "link must have no name or password in it")
        match = _PATH.fullmatch(parts.path) if parts else None
        if not parts or not match or not SURVEY_ID.fullmatch(match[2]):
            raise ValueError(f"link must look like https://host/s/<survey id>#digest=<digest>, got {_quotable(link)!r}")
        _refuse_before_the_fragment(parts.query)
        server = server_address(f"{parts.scheme}://{parts.netloc}{match[1]}")
        return cls(server, match[2], **_fragment(parts.fragment), kiosk=match[3] is not None)


def server_address(url: str) -> str:
    """Returns one spelling of a server's address, under which its submissions are remembered.

    The host is in lower case; a default port and a slash at the end are removed.

    Raises:
        ValueError: It is not such an address, or contains a name or a password, which would travel with every submission.
    """
    parts = _of_a_server(url, "url must have no name or password in it; give them as auth=")
    if parts and (page := _PAGES.search(parts.path)):
        server = f"{parts.scheme}://{parts.netloc}{parts.path[: page.start()]}"
        hint = "SurveyClient.from_link takes it" if page[1] == "s" else f"the server's own is {server}"
        kind = "a respondent's link" if page[1] == "s" else "the address of a page"
        raise ValueError(f"url must be the address of a server alone, got {kind}: {hint}")
    if not parts or parts.query or parts.fragment:
        raise ValueError(f"url must be the address of a server, such as https://example.org, got {_quotable(url)!r}")
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    port = "" if parts.port in (None, _PORTS[parts.scheme]) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}{parts.path}".rstrip("/")


def _of_a_server(address: Any, personal: str) -> SplitResult | None:
    """Returns the parts of a server's address; None for anything else. Raises ValueError with the message `personal` if it has a name."""
    if not isinstance(address, str):
        return None
    try:
        parts = urlsplit(address)
        usable = parts.scheme in _PORTS and parts.hostname and (parts.username is not None or parts.port != 0)
    except ValueError:  # such as an invalid port
        return None
    if parts.username is not None:
        raise ValueError(personal)
    return parts if usable else None


def _quotable(address: Any) -> str:
    """Returns an address without anything that may be a code or a password, however it was mistyped."""
    text = address if isinstance(address, str) else type(address).__name__
    return _SECRET.split(re.sub(r"(?s).*@", "…@", text))[0]


def _refuse_before_the_fragment(query: str) -> None:
    """Refuses parts after ?, which the server sees: a digest there pins nothing, and a code is secret. Raises ValueError."""
    named = {name.strip().lower() for name, _ in parse_qsl(query, keep_blank_values=True)}
    if misplaced := [key for key in _KEYS if key in named]:
        are = " and ".join(misplaced)
        raise ValueError(f"the link's {are} must come after #, which no server sees, and not after ?: …/s/<survey id>#{misplaced[0]}=…")


def _fragment(text: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in text.split("&")] if text else []
    names = [name for name, _, _ in pairs]
    if any(name not in _KEYS or not value for name, _, value in pairs) or len(set(names)) < len(names):
        raise ValueError(f"the link's fragment must be of {', '.join(f'{key}=…' for key in _KEYS)}, joined by &, each once at most")
    try:
        values = {name: unquote(value, errors="strict") for name, _, value in pairs}
    except UnicodeDecodeError:
        raise ValueError("the link's fragment must be percent-encoded UTF-8") from None
    if "digest" in values and not DIGEST.fullmatch(values["digest"]):
        raise ValueError(f"the link's digest must be 64 lower-case hexadecimal digits, got {values['digest']!r}")
    if "code" in values:
        values["code"] = access_codes.format_code(_code(values["code"]))
    return values


def _code(text: str) -> bytes:
    try:
        return access_codes.read(text)
    except ValueError as error:
        raise ValueError(f"the link is wrong: {error}") from None
