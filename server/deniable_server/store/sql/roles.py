"""Roles of accounts in surveys, in SQL."""

from __future__ import annotations

from deniable_server.store.audit import doing
from deniable_server.store.errors import LastError, UnknownSurveyError
from deniable_server.store.roles import Role
from deniable_server.store.sql.audit import append
from deniable_server.store.sql.compiled import UNKNOWN
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import SqlDatabase
from deniable_server.store.sql.people import require_account
from deniable_server.store.sql.published import require

_GRANTED = 'SELECT survey, role FROM roles WHERE "user" = ?'
_BY_TEAMS = 'SELECT survey, role FROM team_roles JOIN team_members ON team_members.team = team_roles.team WHERE "user" = ?'
_SEEN = f"SELECT survey, max(role) FROM ({_GRANTED} UNION ALL {_BY_TEAMS}) AS granted GROUP BY survey"  # noqa: S608 - our own constants
_ROLE = (
    'SELECT max(role) FROM (SELECT role FROM roles WHERE survey = ? AND "user" = ? UNION ALL '
    "SELECT role FROM team_roles JOIN team_members ON team_members.team = team_roles.team "
    'WHERE survey = ? AND "user" = ?) AS granted'
)
_OWNED = "SELECT 1 FROM roles WHERE survey = ? AND role = ?"


class SqlRoles:
    """Implements `Roles`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def role(self, user: str, survey_id: str) -> Role:
        """Returns an account's role, of its own or by a team; an operator owns surveys without an owner's account."""
        with self._database.reading() as connection:
            role = effective_role(connection, survey_id, user)
        if role is None:
            raise UnknownSurveyError(UNKNOWN)
        return role

    def seen_by(self, user: str) -> dict[str, Role]:
        """Returns an account's roles by survey id, sorted."""
        unowned = "SELECT id FROM surveys WHERE id NOT IN (SELECT survey FROM roles WHERE role = ?)"
        with self._database.reading() as connection:
            rows = connection.execute(_SEEN, [user, user]).fetchall()
            roles = {survey: Role(role) for survey, role in rows}
            if _is_operator(connection, user):
                roles |= {survey: Role.OWNER for (survey,) in connection.execute(unowned, [Role.OWNER.value]).fetchall()}
        return dict(sorted(roles.items()))

    def members(self, survey_id: str) -> dict[str, Role]:
        """Returns the roles in a survey by account, sorted."""
        with self._database.reading() as connection:
            require(connection, survey_id)
            rows = connection.execute('SELECT "user", role FROM roles WHERE survey = ? ORDER BY "user"', [survey_id]).fetchall()
        return {user: Role(role) for user, role in rows}

    def grant(self, survey_id: str, user: str, role: Role) -> None:
        """Gives an account a role; the survey must keep an owner."""
        did = doing("role.give", survey_id, f"{user} is {role.word}")

        def work(connection: Connection) -> None:
            require(connection, survey_id)
            append(connection, did)
            require_account(connection, user)
            if role < Role.OWNER:
                _keep_an_owner(connection, survey_id, user)
            give(connection, survey_id, user, role)

        self._database.writer.run(work)

    def revoke(self, survey_id: str, user: str) -> bool:
        """Deletes an account's role; the survey must keep an owner."""
        did = doing("role.take", survey_id, f"{user} has no role")

        def work(connection: Connection) -> bool:
            require(connection, survey_id)
            _keep_an_owner(connection, survey_id, user)
            existed = connection.execute('DELETE FROM roles WHERE survey = ? AND "user" = ?', [survey_id, user]).rowcount > 0
            if existed:
                append(connection, did)
            return existed

        return self._database.writer.run(work)


def give(connection: Connection, survey_id: str, user: str, role: Role) -> None:
    """Gives an existing account a role in an existing survey, in the writer's turn."""
    statement = 'INSERT INTO roles VALUES (?, ?, ?) ON CONFLICT (survey, "user") DO UPDATE SET role = excluded.role'
    connection.execute(statement, [survey_id, user, role.value])


def only_owner_of(connection: Connection, user: str) -> list[str]:
    """Returns the surveys that only this account owns, sorted."""
    query = (
        'SELECT survey FROM roles AS own WHERE "user" = ? AND role = ? AND NOT EXISTS '
        '(SELECT 1 FROM roles WHERE survey = own.survey AND role = own.role AND "user" <> own."user") ORDER BY survey'
    )
    return [survey for (survey,) in connection.execute(query, [user, Role.OWNER.value]).fetchall()]


def _keep_an_owner(connection: Connection, survey_id: str, user: str) -> None:
    if survey_id in only_owner_of(connection, user):
        raise LastError("the account is the survey's only owner: make another account an owner first")


def role_of(connection: Connection, survey_id: str, user: str) -> Role | None:
    """Returns the highest role that an account has in a survey, of its own or by its teams, or None."""
    (role,) = connection.execute(_ROLE, [survey_id, user, survey_id, user]).fetchone()
    return None if role is None else Role(role)


def effective_role(connection: Connection, survey_id: str, user: str) -> Role | None:
    """Returns an account's role in a survey, or None. An operator owns surveys without an owner."""
    if _is_operator(connection, user) and not connection.execute(_OWNED, [survey_id, Role.OWNER.value]).fetchone():
        require(connection, survey_id)
        return Role.OWNER
    return role_of(connection, survey_id, user)


def _is_operator(connection: Connection, user: str) -> bool:
    return connection.execute("SELECT 1 FROM users WHERE name = ? AND operator = 1", [user]).fetchone() is not None
