"""Bindings of accounts to a provider of single sign-on: data types and storage interface.

An account is found by the provider's issuer and subject alone, never by a name or an e-mail address, which may pass to other people.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol

NO_PASSWORD = ""
"""The password hash of an account that has no password. No password matches it."""


@dataclass(frozen=True)
class Identity:
    """A person at a provider.

    Attributes:
        issuer: The URL of the provider.
        subject: The provider's identifier of the person, which is never given to another one.
    """

    issuer: str
    subject: str

    @property
    def mark(self) -> str:
        """A short name for the binding in lists and in the audit log, without the subject."""
        return hashlib.sha256(f"{self.issuer} {self.subject}".encode(errors="surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True)
class Binding:
    """The binding of an account to an identity."""

    identity: Identity
    user: str
    bound_on: str  # a day, YYYY-MM-DD


class Identities(Protocol):
    """Storage interface for bindings.

    Every method is safe to call from several threads. Writing raises FullError and UnavailableError, reading UnavailableError.
    """

    def user(self, identity: Identity) -> str | None:
        """Returns the account that is bound to an identity, or None."""

    def all(self) -> list[Binding]:
        """Returns all bindings, sorted by account, then by issuer and subject."""

    def of(self, user: str) -> list[Binding]:
        """Returns an account's bindings, sorted."""

    def bind(self, user: str, identity: Identity) -> None:
        """Binds an account to an identity.

        Raises:
            UnknownAccountError: There is no such account.
            ConflictError: The identity is bound to another account.
        """

    def create(self, name: str, identity: Identity) -> None:
        """Creates a researcher's account without a password that is bound to an identity.

        Raises:
            ConflictError: An account has this name, or is bound to the identity.
        """

    def unbind(self, user: str, mark: str) -> bool:
        """Removes the binding with this mark from an account. Returns whether there was one.

        Raises:
            LastError: The account has no password, and no other binding.
        """
