"""Accounts as those see them who manage them; and what any database must do for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Person:
    """An account. operator: manages accounts, and surveys that nobody owns; disabled: opens nothing until it is enabled again."""

    name: str
    operator: bool
    disabled: bool


@dataclass(frozen=True)
class Invitation:
    """A link that makes one account. hash: SHA-256 of the token in it; operator: of one; until: Unix seconds; made_by: whose it is."""

    hash: bytes
    operator: bool
    until: int
    made_by: str | None


class People(Protocol):
    """The shelf of people. There is always an operator who is not disabled, once there was one.

    Every method is safe to call from several threads; what writes raises FullError, UnavailableError; what reads UnavailableError.
    """

    def all(self) -> list[Person]:
        """All accounts, by name."""

    def person(self, name: str) -> Person | None:
        """An account, or None if there is none."""

    def set_operator(self, name: str, operator: bool) -> None:
        """Raises UnknownAccountError; LastError where no operator would be left."""

    def set_disabled(self, name: str, disabled: bool) -> None:
        """Disables an account, which ends its sessions, or enables it. Raises UnknownAccountError; LastError likewise."""

    def invite(self, invitation: Invitation, now: int) -> None:
        """Keeps an invitation, and forgets those that are over. Times are Unix seconds."""

    def invitations(self, now: int) -> list[Invitation]:
        """Those that can be used still, the first to end first."""

    def invitation(self, token_hash: bytes, now: int) -> Invitation | None:
        """The invitation with this hash, or None if there is none, or it is used up or over. Spends nothing."""

    def accept(self, token_hash: bytes, name: str, password_hash: str, now: int) -> None:
        """Makes the account that an invitation is for, and spends it, in one transaction.

        Raises InvitationError where there is none that can be used; ConflictError where an account has this name, which spends nothing.
        """

    def take_back(self, token_hash: bytes) -> bool:
        """Ends an invitation that was not used. False if there is none."""
