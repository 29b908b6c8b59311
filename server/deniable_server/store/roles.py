"""Roles of accounts in surveys: data types and storage interface."""

from __future__ import annotations

from enum import IntEnum
from typing import Protocol


class Role(IntEnum):
    """An account's role in one survey. Each role includes the rights of the lower ones."""

    VIEWER = 1
    """Sees the questions, the plan and the results."""
    ANALYST = 2
    """Downloads the perturbed records."""
    EDITOR = 3
    """Invites people, and pauses the survey."""
    OWNER = 4
    """Changes settings, closes the survey, deletes its records, makes API keys for it, and assigns roles."""

    @property
    def word(self) -> str:
        """The role's name in lower case, as people read and write it."""
        return self.name.lower()

    @classmethod
    def of(cls, word: str) -> Role:
        """Returns the role with this name. Raises ValueError, listing all of them."""
        for role in cls:
            if role.word == word:
                return role
        raise ValueError(f"role must be one of {', '.join(role.word for role in reversed(cls))}")


class Roles(Protocol):
    """Storage interface for roles. Operators own surveys that no account owns by itself, so that no survey is locked.

    An account has the highest of its own role and the roles of its teams (`store.teams`).

    Every method is safe to call from several threads. Writing raises FullError and UnavailableError, reading UnavailableError.
    """

    def role(self, user: str, survey_id: str) -> Role:
        """Returns an account's role in a survey. Raises UnknownSurveyError without a role, too, so that it does not reveal surveys."""

    def seen_by(self, user: str) -> dict[str, Role]:
        """Returns an account's roles by survey id, sorted."""

    def members(self, survey_id: str) -> dict[str, Role]:
        """Returns the roles of single accounts in a survey, by account, sorted. Raises UnknownSurveyError."""

    def grant(self, survey_id: str, user: str, role: Role) -> None:
        """Gives an account a role, which replaces its current one.

        Raises:
            UnknownSurveyError, UnknownAccountError: There is no such survey or account.
            LastError: The survey would have no owner.
        """

    def revoke(self, survey_id: str, user: str) -> bool:
        """Removes an account's role in a survey. Returns whether it had one.

        Raises:
            UnknownSurveyError: There is no such survey.
            LastError: The account is the survey's only owner.
        """
