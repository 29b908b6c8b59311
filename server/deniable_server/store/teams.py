"""Teams of accounts, and their roles in surveys: data types and storage interface."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from deniable_server.store.roles import Role


@dataclass(frozen=True)
class Team:
    """A group of accounts that gets roles together.

    Attributes:
        name: The team's name, unique on the server.
        members: Whether each member manages the team, by account, sorted.
    """

    name: str
    members: Mapping[str, bool]

    @property
    def id(self) -> str:
        """The team's id in addresses, since a name may have any characters: 16 hexadecimal digits."""
        return hashlib.sha256(self.name.encode(errors="surrogatepass")).hexdigest()[:16]

    @property
    def managers(self) -> list[str]:
        """The accounts that manage the team, sorted."""
        return [user for user, is_manager in self.members.items() if is_manager]


class Teams(Protocol):
    """Storage interface for teams. A change takes effect with the next request of its members.

    Every method is safe to call from several threads. Writing raises FullError and UnavailableError, reading UnavailableError.
    """

    def all(self) -> list[Team]:
        """Returns all teams, sorted by name."""

    def of(self, user: str) -> list[Team]:
        """Returns an account's teams, sorted by name."""

    def team(self, name: str) -> Team:
        """Returns the team with this name. Raises UnknownTeamError."""

    def create(self, name: str) -> None:
        """Creates a team without members. Raises ConflictError if its name exists."""

    def remove(self, name: str) -> bool:
        """Removes a team and its roles in surveys and drafts. Returns whether it existed."""

    def join(self, name: str, user: str, manager: bool) -> None:
        """Adds an account to a team, or changes whether it manages the team.

        Raises:
            UnknownTeamError, UnknownAccountError: There is no such team or account.
        """

    def leave(self, name: str, user: str) -> bool:
        """Removes an account from a team. Returns whether it was a member."""

    def roles(self, survey_id: str) -> dict[str, Role]:
        """Returns the roles of teams in a survey, by team, sorted. Raises UnknownSurveyError."""

    def grant(self, survey_id: str, name: str, role: Role) -> None:
        """Gives a team a role in a survey, which replaces its current one.

        Raises:
            UnknownSurveyError, UnknownTeamError: There is no such survey or team.
        """

    def revoke(self, survey_id: str, name: str) -> bool:
        """Removes a team's role in a survey. Returns whether it had one. Raises UnknownSurveyError."""
