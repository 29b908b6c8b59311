"""Roles of accounts and teams in drafts: storage interface.

A draft's author is its owner. Others are viewers, who read it, editors, who change it, or owners, who also publish, share and delete it.
"""

from __future__ import annotations

from typing import Protocol

from deniable_server.store.drafts import DraftHead
from deniable_server.store.roles import Role

DRAFT_ROLES = (Role.VIEWER, Role.EDITOR, Role.OWNER)
"""The roles that a draft has. An analyst downloads records, which a draft does not have."""


class DraftRoles(Protocol):
    """Storage interface for roles in drafts. Once a draft is published, they are roles in the survey (`Surveys.publish`).

    Every method is safe to call from several threads. Writing raises FullError and UnavailableError, reading UnavailableError.
    """

    def role(self, user: str, draft_id: str) -> Role | None:
        """Returns an account's highest role in a draft, as its author, of its own or by a team; None without one."""

    def listed(self, user: str) -> list[DraftHead]:
        """Returns the drafts of other people that an account has a role for, sorted by id."""

    def editors(self, draft_id: str) -> list[str]:
        """Returns the accounts that may change a draft, without its author, sorted."""

    def members(self, draft_id: str) -> dict[str, Role]:
        """Returns the roles of single accounts in a draft, by account, sorted."""

    def teams(self, draft_id: str) -> dict[str, Role]:
        """Returns the roles of teams in a draft, by team, sorted."""

    def grant(self, draft_id: str, user: str, role: Role) -> None:
        """Gives an account a role in a draft. Raises UnknownDraftError and UnknownAccountError."""

    def revoke(self, draft_id: str, user: str) -> bool:
        """Removes an account's role in a draft. Returns whether it had one."""

    def grant_team(self, draft_id: str, team: str, role: Role) -> None:
        """Gives a team a role in a draft. Raises UnknownDraftError and UnknownTeamError."""

    def revoke_team(self, draft_id: str, team: str) -> bool:
        """Removes a team's role in a draft. Returns whether it had one."""
