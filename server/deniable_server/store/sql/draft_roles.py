"""Roles in drafts, in SQL."""

from __future__ import annotations

from collections.abc import Callable

from deniable_server.store.audit import doing
from deniable_server.store.drafts import BEGINNING, MISSING, DraftHead, beginning
from deniable_server.store.errors import UnknownDraftError
from deniable_server.store.roles import Role
from deniable_server.store.sql.audit import append
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import SqlDatabase
from deniable_server.store.sql.people import require_account
from deniable_server.store.sql.roles import give
from deniable_server.store.sql.teams import give_team, require_team

_GRANTED = (
    'SELECT draft, "user", role FROM draft_roles UNION ALL SELECT draft, "user", role FROM draft_team_roles '
    "JOIN team_members ON team_members.team = draft_team_roles.team"
)
_ROLE = f'SELECT max(role) FROM ({_GRANTED}) AS granted WHERE draft = ? AND "user" = ?'  # noqa: S608 - our own constants
_LISTED = (
    f"SELECT id, author, substr(text, 1, ?), changed_on FROM drafts WHERE author <> ? AND id IN "  # noqa: S608 - likewise
    f'(SELECT draft FROM ({_GRANTED}) AS granted WHERE "user" = ?) ORDER BY id'
)
_EDITORS = f'SELECT DISTINCT "user" FROM ({_GRANTED}) AS granted WHERE draft = ? AND role >= ? ORDER BY "user"'  # noqa: S608 - likewise


class SqlDraftRoles:
    """Implements `DraftRoles`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def role(self, user: str, draft_id: str) -> Role | None:
        """Returns an account's highest role in a draft."""
        with self._database.reading() as connection:
            if connection.execute("SELECT 1 FROM drafts WHERE id = ? AND author = ?", [draft_id, user]).fetchone():
                return Role.OWNER
            (role,) = connection.execute(_ROLE, [draft_id, user]).fetchone()
        return None if role is None else Role(role)

    def listed(self, user: str) -> list[DraftHead]:
        """Returns the drafts that other people share with an account, sorted by id."""
        with self._database.reading() as connection:
            rows = connection.execute(_LISTED, [BEGINNING, user, user]).fetchall()
        return [DraftHead(draft_id, author, beginning(bytes(text or b"")), changed_on) for draft_id, author, text, changed_on in rows]

    def editors(self, draft_id: str) -> list[str]:
        """Returns the accounts that may change a draft by a role, sorted."""
        with self._database.reading() as connection:
            return [user for (user,) in connection.execute(_EDITORS, [draft_id, Role.EDITOR.value]).fetchall()]

    def members(self, draft_id: str) -> dict[str, Role]:
        """Returns the roles of single accounts, sorted."""
        with self._database.reading() as connection:
            return members_of(connection, draft_id)

    def teams(self, draft_id: str) -> dict[str, Role]:
        """Returns the roles of teams, sorted."""
        with self._database.reading() as connection:
            return teams_of(connection, draft_id)

    def grant(self, draft_id: str, user: str, role: Role) -> None:
        """Gives an account a role."""
        statement = 'INSERT INTO draft_roles VALUES (?, ?, ?) ON CONFLICT (draft, "user") DO UPDATE SET role = excluded.role'
        self._give(draft_id, user, role, statement, require_account)

    def revoke(self, draft_id: str, user: str) -> bool:
        """Deletes an account's role."""
        return self._take(draft_id, user, 'DELETE FROM draft_roles WHERE draft = ? AND "user" = ?')

    def grant_team(self, draft_id: str, team: str, role: Role) -> None:
        """Gives a team a role."""
        statement = "INSERT INTO draft_team_roles VALUES (?, ?, ?) ON CONFLICT (draft, team) DO UPDATE SET role = excluded.role"
        self._give(draft_id, team, role, statement, require_team)

    def revoke_team(self, draft_id: str, team: str) -> bool:
        """Deletes a team's role."""
        return self._take(draft_id, team, "DELETE FROM draft_team_roles WHERE draft = ? AND team = ?")

    def _give(self, draft_id: str, name: str, role: Role, statement: str, require: Callable[[Connection, str], None]) -> None:
        did = doing("draft-role.give", draft_id, f"{name} is {role.word}")

        def work(connection: Connection) -> None:
            if connection.execute("SELECT 1 FROM drafts WHERE id = ?", [draft_id]).fetchone() is None:
                raise UnknownDraftError(MISSING)
            require(connection, name)
            append(connection, did)
            connection.execute(statement, [draft_id, name, role.value])

        self._database.writer.run(work)

    def _take(self, draft_id: str, name: str, statement: str) -> bool:
        did = doing("draft-role.take", draft_id, f"{name} has no role")

        def work(connection: Connection) -> bool:
            existed = connection.execute(statement, [draft_id, name]).rowcount > 0
            if existed:
                append(connection, did)
            return existed

        return self._database.writer.run(work)


def members_of(connection: Connection, draft_id: str) -> dict[str, Role]:
    """Returns the roles of single accounts in a draft, sorted."""
    rows = connection.execute('SELECT "user", role FROM draft_roles WHERE draft = ? ORDER BY "user"', [draft_id]).fetchall()
    return {user: Role(role) for user, role in rows}


def teams_of(connection: Connection, draft_id: str) -> dict[str, Role]:
    """Returns the roles of teams in a draft, sorted."""
    rows = connection.execute("SELECT team, role FROM draft_team_roles WHERE draft = ? ORDER BY team", [draft_id]).fetchall()
    return {team: Role(role) for team, role in rows}


def give_roles(connection: Connection, draft_id: str, survey_id: str) -> None:
    """Gives the people and teams of a draft their roles in the survey that it became, in the writer's turn. Its author is an owner."""
    author = connection.execute("SELECT author FROM drafts WHERE id = ? AND author IN (SELECT name FROM users)", [draft_id]).fetchone()
    for user, role in {**members_of(connection, draft_id), **({author[0]: Role.OWNER} if author else {})}.items():
        give(connection, survey_id, user, role)
    for team, role in teams_of(connection, draft_id).items():
        give_team(connection, survey_id, team, role)


def forget_roles(connection: Connection, draft_id: str) -> None:
    """Deletes all roles in a draft, in the writer's turn."""
    for table in ("draft_roles", "draft_team_roles"):
        connection.execute(f"DELETE FROM {table} WHERE draft = ?", [draft_id])  # noqa: S608 - our own constants
