"""The shelf of roles."""

from __future__ import annotations

from deniable_server.store.audit import doing
from deniable_server.store.errors import LastError, UnknownSurveyError
from deniable_server.store.roles import Role
from deniable_server.store.sql.audit import append
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import Database
from deniable_server.store.sql.people import require_account
from deniable_server.store.sql.published import UNKNOWN, find

_OWNED = "SELECT 1 FROM roles WHERE survey = ? AND role = ?"


class RoleShelf:
    """The `Roles` of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def role(self, user: str, survey_id: str) -> Role:
        with self._database.reading() as connection:
            found = role_of(connection, survey_id, user)
            if _is_operator(connection, user) and not connection.execute(_OWNED, [survey_id, Role.OWNER.value]).fetchone():
                find(connection, survey_id)
                return Role.OWNER
        if found is None:
            raise UnknownSurveyError(UNKNOWN)
        return found

    def seen_by(self, user: str) -> dict[str, Role]:
        unowned = "SELECT id FROM surveys WHERE id NOT IN (SELECT survey FROM roles WHERE role = ?)"
        with self._database.reading() as connection:
            rows = connection.execute('SELECT survey, role FROM roles WHERE "user" = ?', [user]).fetchall()
            seen = {survey: Role(role) for survey, role in rows}
            if _is_operator(connection, user):
                seen |= {survey: Role.OWNER for (survey,) in connection.execute(unowned, [Role.OWNER.value]).fetchall()}
        return dict(sorted(seen.items()))

    def members(self, survey_id: str) -> dict[str, Role]:
        with self._database.reading() as connection:
            find(connection, survey_id)
            rows = connection.execute('SELECT "user", role FROM roles WHERE survey = ? ORDER BY "user"', [survey_id]).fetchall()
        return {user: Role(role) for user, role in rows}

    def grant(self, survey_id: str, user: str, role: Role) -> None:
        did = doing("role.give", survey_id, f"{user} is {role.word}")

        def work(connection: Connection) -> None:
            find(connection, survey_id)
            append(connection, did)
            require_account(connection, user)
            if role < Role.OWNER:
                _keep_an_owner(connection, survey_id, user)
            give(connection, survey_id, user, role)

        self._database.writer.run(work)

    def revoke(self, survey_id: str, user: str) -> bool:
        did = doing("role.take", survey_id, f"{user} has none")

        def work(connection: Connection) -> bool:
            find(connection, survey_id)
            _keep_an_owner(connection, survey_id, user)
            found = connection.execute('DELETE FROM roles WHERE survey = ? AND "user" = ?', [survey_id, user]).rowcount > 0
            if found:
                append(connection, did)
            return found

        return self._database.writer.run(work)


def give(connection: Connection, survey_id: str, user: str, role: Role) -> None:
    """In the writer's turn: gives an account that is there a role in a survey that is there."""
    statement = 'INSERT INTO roles VALUES (?, ?, ?) ON CONFLICT (survey, "user") DO UPDATE SET role = excluded.role'
    connection.execute(statement, [survey_id, user, role.value])


def only_owner_of(connection: Connection, user: str) -> list[str]:
    """The surveys that this account owns and no other, sorted."""
    query = (
        'SELECT survey FROM roles AS own WHERE "user" = ? AND role = ? AND NOT EXISTS '
        '(SELECT 1 FROM roles WHERE survey = own.survey AND role = own.role AND "user" <> own."user") ORDER BY survey'
    )
    return [survey for (survey,) in connection.execute(query, [user, Role.OWNER.value]).fetchall()]


def _keep_an_owner(connection: Connection, survey_id: str, user: str) -> None:
    if survey_id in only_owner_of(connection, user):
        raise LastError("nobody else owns this survey: make somebody else an owner first")


def role_of(connection: Connection, survey_id: str, user: str) -> Role | None:
    """The role that an account was given in a survey, None for none."""
    row = connection.execute('SELECT role FROM roles WHERE survey = ? AND "user" = ?', [survey_id, user]).fetchone()
    return None if row is None else Role(row[0])


def _is_operator(connection: Connection, user: str) -> bool:
    return connection.execute("SELECT 1 FROM users WHERE name = ? AND operator = 1", [user]).fetchone() is not None
