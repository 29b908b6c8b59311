"""What a server knows a program or a researcher by. It shows itself to nobody: not when printed, in an error or in a traceback."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import Any, Self

import httpx

_WRITTEN = re.compile(r"dk_[A-Za-z0-9_-]{43}")


class Credential(httpx.Auth):
    """Something secret that goes along with requests."""

    def __init__(self, written: Any) -> None:
        self._given: Callable[[], Any] = lambda: written  # behind a function: some reports of errors show attributes, too

    @classmethod
    def of(cls, written: Any) -> Self | None:
        """What is written, hidden; what is hidden or None as it is."""
        return written if written is None or isinstance(written, cls) else cls(written)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"


class ApiKey(Credential):
    """A key of a server, for programs: what `deniable-server key make` printed. Goes along as `Authorization: Bearer`."""

    def check(self) -> None:
        """Raises ValueError, without quoting it, for what is no key; it may be one but for a space. No frame of this has it."""
        if not (isinstance(self._given(), str) and _WRITTEN.fullmatch(self._given())):
            raise ValueError("key must be one that `deniable-server key make` printed: dk_ and 43 letters, digits, - and _")

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self._given()}"
        yield request


class Login(Credential):
    """A researcher's name and password. Goes along as `Authorization: Basic`."""

    def check(self) -> None:
        """Raises ValueError, without quoting it, for what is no name and password. No frame of this has them."""
        if not (isinstance(self._given(), tuple | list) and [type(part) for part in self._given()] == [str, str]):
            raise ValueError("auth must be a name and a password, a pair of texts")

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        yield from httpx.BasicAuth(*self._given()).auth_flow(request)
