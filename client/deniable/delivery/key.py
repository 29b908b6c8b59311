"""A key of a server, for programs: what `deniable-server key make` printed."""

from __future__ import annotations

import re
from collections.abc import Generator

import httpx

_WRITTEN = re.compile(r"dk_[A-Za-z0-9_-]{43}")


class Key(httpx.Auth):
    """Goes along as `Authorization: Bearer`. It shows itself to nobody: not when printed, in an error or in a traceback.

    Raises ValueError, without quoting it, for text that is no key.
    """

    def __init__(self, written: str) -> None:
        if not _WRITTEN.fullmatch(written):
            raise ValueError("key must be one that `deniable-server key make` printed: dk_ and 43 letters, digits, - and _")
        self._written = written

    def __repr__(self) -> str:
        return "Key(…)"

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self._written}"
        yield request
