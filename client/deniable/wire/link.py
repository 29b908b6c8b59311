"""A respondent's link: where the survey is, and in its fragment, which no server sees, what the page or the client must know."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from deniable.survey.parse import SURVEY_ID
from deniable.wire import access_codes

DIGEST = re.compile(r"[0-9a-f]{64}")
_PATH = re.compile(r"(.*)/s/([^/]+)/?")
_KEYS = ("digest", "group", "code")


@dataclass(frozen=True)
class Link:
    """url: of the server. survey: the id. digest: of the definition. group: a public label. code: an invitation, as it is written."""

    url: str
    survey: str
    digest: str | None = None
    group: str | None = None
    code: str | None = None


def parse_link(link: str) -> Link:
    """Reads `https://host/s/<survey id>#digest=…&group=…&code=…`: the parts behind # in any order, percent-encoded, each may be left out.

    Raises ValueError, which quotes no code and no password.
    """
    parts = urlsplit(link)
    if parts.username is not None:
        raise ValueError("link must have no name or password in it")
    found = _PATH.fullmatch(parts.path)
    if parts.scheme not in ("http", "https") or not parts.netloc or not found or not SURVEY_ID.fullmatch(found[2]):
        raise ValueError(f"link must look like https://host/s/<survey id>#digest=<digest>, got {link.partition('#')[0]!r}")
    return Link(f"{parts.scheme}://{parts.netloc}{found[1]}", found[2], **_fragment(parts.fragment))


def _fragment(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split("&")] if text else []
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
        values["code"] = access_codes.written(_code(values["code"]))
    return values


def _code(text: str) -> bytes:
    try:
        return access_codes.read(text)
    except ValueError as error:
        raise ValueError(f"the link is wrong: {error}") from None
