"""Reference replies: what the installed server would send, byte for byte, to compare every page with."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from typing import Protocol

from deniable.survey import Survey
from deniable.wire import access_codes

GROUP = "deniable.reference"


class ReferenceServer(Protocol):
    """The installed server with one survey.

    Attributes:
        state: The state of the survey: open, closed or paused. It may be changed.
    """

    state: str

    def reply(self, method: str, path: str, headers: Sequence[tuple[str, str]], body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """Returns this release's reply to a request: status, headers and decompressed body."""

    def close(self) -> None:
        """Removes its files."""


def reference_server(survey: Survey, url: str) -> ReferenceServer | None:
    """Returns the reference for a survey of the server at `url`; None without the extra `deniable[server]`."""
    for entry in entry_points(group=GROUP):
        try:
            server: ReferenceServer = entry.load()(survey, url)
        except ModuleNotFoundError:
            return None
        return server
    return None


_SECRET = re.compile(rb'(<input [^>]*name="secret"[^>]* value=")([^"]*)(">)')


def mask_secret(page: bytes) -> bytes:
    """Returns a page without the random secret that each form for two coins has; an invalid secret stays."""

    def mask(match: re.Match[bytes]) -> bytes:
        try:
            access_codes.read(match[2].decode("ascii"))
        except ValueError:
            return match[0]
        return match[1] + match[3]

    return _SECRET.sub(mask, page)
