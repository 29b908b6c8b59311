"""Who may do what with which survey; and what any database must do for it."""

from __future__ import annotations

from enum import IntEnum
from typing import Protocol


class Role(IntEnum):
    """What an account may do with one survey. Each role may do what those below it may."""

    VIEWER = 1
    """Sees its questions, plan and results."""
    ANALYST = 2
    """Takes the perturbed records away."""
    EDITOR = 3
    """Invites people, and pauses it."""
    OWNER = 4
    """Sets how it is run, closes it, deletes its records, makes keys for it, and says who has which role."""

    @property
    def word(self) -> str:
        """The role as people read and write it."""
        return self.name.lower()

    @classmethod
    def of(cls, word: str) -> Role:
        """The role with this word. Raises ValueError naming all of them."""
        for role in cls:
            if role.word == word:
                return role
        raise ValueError(f"a role must be {', '.join(role.word for role in reversed(cls))}")


class Roles(Protocol):
    """The shelf of roles. A survey that nobody owns is the operators': each of them counts as its owner, so that nobody is locked out.

    Every method is safe to call from several threads; what writes raises FullError, UnavailableError; what reads UnavailableError.
    """

    def role(self, user: str, survey_id: str) -> Role:
        """The role of an account in a survey. Raises UnknownSurveyError where it has none, as where there is no such survey."""

    def seen_by(self, user: str) -> dict[str, Role]:
        """The ids of all surveys in which an account has a role, sorted, each with the role."""

    def members(self, survey_id: str) -> dict[str, Role]:
        """The accounts that were given a role in a survey, sorted, each with the role. Raises UnknownSurveyError."""

    def grant(self, survey_id: str, user: str, role: Role) -> None:
        """Gives an account a role in place of the one it has, if any.

        Raises UnknownSurveyError, UnknownAccountError; LastError where nobody else would own the survey.
        """

    def revoke(self, survey_id: str, user: str) -> bool:
        """Takes the role of an account away. False if it has none. Raises UnknownSurveyError; LastError for the only owner."""
