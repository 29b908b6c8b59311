"""Credentials of a program or a researcher, never shown: not when printed, in an error or in a traceback."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import Any, Self

import httpx

_WRITTEN = re.compile(r"dk_[A-Za-z0-9_-]{43}")


class Credential(httpx.Auth):
    """A secret that is sent with requests."""

    def __init__(self, secret: Any) -> None:
        self._secret: Callable[[], Any] = lambda: secret  # behind a function: some error reports show attributes, too

    @classmethod
    def of(cls, secret: Any) -> Self | None:
        """Returns a secret in hidden form; a hidden one or None unchanged."""
        return secret if secret is None or isinstance(secret, cls) else cls(secret)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"


class ApiKey(Credential):
    """An API key of a server, for programs, printed by `deniable-server key make`. Sent as `Authorization: Bearer`."""

    def check(self) -> None:
        """Raises ValueError, without quoting it, unless it has the format of a key. No frame of this has it."""
        if not (isinstance(self._secret(), str) and _WRITTEN.fullmatch(self._secret())):
            raise ValueError("key must be one that `deniable-server key make` printed: dk_ and 43 letters, digits, - and _")

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Adds the key to a request."""
        request.headers["Authorization"] = f"Bearer {self._secret()}"
        yield request


class Login(Credential):
    """A researcher's name and password. Sent as `Authorization: Basic`."""

    def check(self) -> None:
        """Raises ValueError, without quoting it, unless it is a name and a password. No frame of this has them."""
        if not (isinstance(self._secret(), tuple | list) and [type(part) for part in self._secret()] == [str, str]):
            raise ValueError("auth must be a name and a password, a pair of texts")

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Adds the name and the password to a request."""
        yield from httpx.BasicAuth(*self._secret()).auth_flow(request)
