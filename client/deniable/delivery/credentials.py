"""Credentials of a program or a researcher; never shown in output, errors or tracebacks."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import Any, Self

import httpx

_FORMAT = re.compile(r"dk_[A-Za-z0-9_-]{43}")


class Credential(httpx.Auth):
    """A secret that is sent with requests."""

    def __init__(self, secret: Any) -> None:
        self._secret: Callable[[], Any] = lambda: secret  # in a closure, since some error reports show attributes

    @classmethod
    def of(cls, secret: Any) -> Self | None:
        """Hides a secret; returns a hidden secret or None unchanged."""
        return secret if secret is None or isinstance(secret, cls) else cls(secret)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"


class BearerKey(Credential):
    """An API key of a server, printed by `deniable-server key make`. Sent as `Authorization: Bearer`."""

    def check(self) -> None:
        """Raises ValueError, without quoting it, unless it has the format of a key. No local variable holds it."""
        if not (isinstance(self._secret(), str) and _FORMAT.fullmatch(self._secret())):
            raise ValueError("key must be an API key from `deniable-server key make`: dk_ and 43 letters, digits, - and _")

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Adds the key to a request."""
        request.headers["Authorization"] = f"Bearer {self._secret()}"
        yield request


class Login(Credential):
    """A researcher's name and password. Sent as `Authorization: Basic`."""

    def check(self) -> None:
        """Raises ValueError, without quoting it, unless it is a name and a password. No local variable holds them."""
        if not (isinstance(self._secret(), tuple | list) and [type(text) for text in self._secret()] == [str, str]):
            raise ValueError("auth must be a name and a password, a pair of texts")

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Adds the name and the password to a request."""
        yield from httpx.BasicAuth(*self._secret()).auth_flow(request)
