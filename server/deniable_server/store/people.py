"""Account administration and account links: data types and storage interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Person:
    """An account. An operator manages accounts, and surveys without an owner; a disabled account cannot log in."""

    name: str
    operator: bool
    disabled: bool


@dataclass(frozen=True)
class AccountLink:
    """A link that creates one account.

    Attributes:
        hash: The SHA-256 of the token in the link.
        operator: Whether the account will be an operator's.
        until: When it expires, in Unix seconds.
        made_by: The account that made it, None for the command line.
    """

    hash: bytes
    operator: bool
    until: int
    made_by: str | None


class AccountManagement(Protocol):
    """Storage interface for managing accounts. After the first operator was made, at least one operator is never disabled.

    Every method is safe to call from several threads. Writing raises FullError and UnavailableError, reading UnavailableError.
    """

    def all(self) -> list[Person]:
        """Returns all accounts, sorted by name."""

    def person(self, name: str) -> Person | None:
        """Returns the account with this name, or None."""

    def set_operator(self, name: str, operator: bool) -> None:
        """Makes an account an operator or a researcher.

        Raises:
            UnknownAccountError: There is no such account.
            LastError: No operator would be left.
        """

    def set_disabled(self, name: str, disabled: bool) -> None:
        """Disables an account, which ends its sessions, or enables it.

        Raises:
            UnknownAccountError: There is no such account.
            LastError: No operator would be left.
        """

    def add_link(self, link: AccountLink, now: int) -> None:
        """Stores an account link, and removes expired ones. Times are Unix seconds."""

    def links(self, now: int) -> list[AccountLink]:
        """Returns the usable account links, the first to expire first."""

    def link(self, token_hash: bytes, now: int) -> AccountLink | None:
        """Returns the account link with this hash, or None if it does not exist, is used or has expired. Does not use it up."""

    def accept(self, token_hash: bytes, name: str, password_hash: str, now: int) -> None:
        """Creates the account of an account link and uses the link up, in one transaction.

        Raises:
            AccountLinkError: The link does not exist, is used or has expired.
            ConflictError: Another account has this name; the link stays usable.
        """

    def revoke(self, token_hash: bytes) -> bool:
        """Revokes an unused account link. Returns whether it existed."""
