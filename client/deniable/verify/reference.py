"""What a server of this release would reply, byte for byte: where the server is installed too, every page can be compared."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from typing import Protocol

from deniable.survey import Survey
from deniable.wire import access_codes

GROUP = "deniable.reference"


class Reference(Protocol):
    """The installed server with one survey. state: open, closed or paused, which may be changed."""

    state: str

    def reply(self, method: str, path: str, headers: Sequence[tuple[str, str]], body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """The status, the headers and the body, unpacked, that this release replies with."""

    def close(self) -> None:
        """Removes what it has kept on the disk."""


def reference(survey: Survey, url: str) -> Reference | None:
    """The reference for a survey of the server at `url`; None where the [server] extra is not installed."""
    for entry in entry_points(group=GROUP):
        try:
            found: Reference = entry.load()(survey, url)
        except ModuleNotFoundError:
            return None
        return found
    return None


_SECRET = re.compile(rb'(<input [^>]*name="secret"[^>]* value=")([^"]*)(">)')


def masked(page: bytes) -> bytes:
    """A page with the number taken out that each form for two coins has of its own; one that is no such number stays."""

    def own(found: re.Match[bytes]) -> bytes:
        try:
            access_codes.read(found[2].decode("ascii"))
        except ValueError:
            return found[0]
        return found[1] + found[3]

    return _SECRET.sub(own, page)
