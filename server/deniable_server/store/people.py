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
