"""A key of a server, for programs: what `deniable-server key make` printed."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator

import httpx

_WRITTEN = re.compile(r"dk_[A-Za-z0-9_-]{43}")


class Key(httpx.Auth):
    """Goes along as `Authorization: Bearer`. It shows itself to nobody: not when printed, in an error or in a traceback."""

    def __init__(self, written: str) -> None:
        self._given: Callable[[], str] = lambda: written  # behind a function: some reports of errors show attributes, too

    def check(self) -> None:
        """Raises ValueError, without quoting it, for text that is no key; it may be one but for a space. No frame of this has it."""
        if not _WRITTEN.fullmatch(self._given()):
            raise ValueError("key must be one that `deniable-server key make` printed: dk_ and 43 letters, digits, - and _")

    def __repr__(self) -> str:
        return "Key(…)"

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self._given()}"
        yield request
