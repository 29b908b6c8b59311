"""Teams in SQL."""

from __future__ import annotations

from deniable_server.store.audit import doing
from deniable_server.store.errors import ConflictError, UnknownTeamError
from deniable_server.store.roles import Role
from deniable_server.store.sql.audit import append
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import SqlDatabase
from deniable_server.store.sql.people import require_account
from deniable_server.store.sql.published import require
from deniable_server.store.teams import Team

_MEMBERS = 'SELECT "user", manager FROM team_members WHERE team = ? ORDER BY "user"'
_OF_TEAM = ("team_members", "team_roles", "draft_team_roles")


class SqlTeams:
    """Implements `Teams`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def all(self) -> list[Team]:
        """Returns all teams, sorted by name."""
        with self._database.reading() as connection:
            return [_team(connection, name) for (name,) in connection.execute("SELECT name FROM teams ORDER BY name").fetchall()]

    def of(self, user: str) -> list[Team]:
        """Returns an account's teams, sorted by name."""
        query = 'SELECT team FROM team_members WHERE "user" = ? ORDER BY team'
        with self._database.reading() as connection:
            return [_team(connection, name) for (name,) in connection.execute(query, [user]).fetchall()]

    def team(self, name: str) -> Team:
        """Returns the team with this name."""
        with self._database.reading() as connection:
            require_team(connection, name)
            return _team(connection, name)

    def create(self, name: str) -> None:
        """Creates a team without members."""
        did = doing("team.make", name)

        def work(connection: Connection) -> None:
            if connection.execute("SELECT 1 FROM teams WHERE name = ?", [name]).fetchone():
                raise ConflictError("name must be unique among teams; a team with this name exists")
            connection.execute("INSERT INTO teams VALUES (?)", [name])
            append(connection, did)

        self._database.writer.run(work)

    def remove(self, name: str) -> bool:
        """Deletes a team with its members and roles."""
        did = doing("team.remove", name)

        def work(connection: Connection) -> bool:
            for table in _OF_TEAM:
                connection.execute(f"DELETE FROM {table} WHERE team = ?", [name])  # noqa: S608 - our own constants
            existed = connection.execute("DELETE FROM teams WHERE name = ?", [name]).rowcount > 0
            if existed:
                append(connection, did)
            return existed

        return self._database.writer.run(work)

    def join(self, name: str, user: str, manager: bool) -> None:
        """Adds a member, or changes whether it manages the team. Notes only a change."""
        did = doing("team.join", name, f"{user} is {'manager' if manager else 'member'}")
        statement = 'INSERT INTO team_members VALUES (?, ?, ?) ON CONFLICT (team, "user") DO UPDATE SET manager = excluded.manager'

        def work(connection: Connection) -> None:
            require_team(connection, name)
            require_account(connection, user)
            before = connection.execute('SELECT manager FROM team_members WHERE team = ? AND "user" = ?', [name, user]).fetchone()
            if before is None or bool(before[0]) != manager:
                append(connection, did)
                connection.execute(statement, [name, user, int(manager)])

        self._database.writer.run(work)

    def leave(self, name: str, user: str) -> bool:
        """Deletes a member."""
        did = doing("team.leave", name, f"{user} has left")

        def work(connection: Connection) -> bool:
            existed = connection.execute('DELETE FROM team_members WHERE team = ? AND "user" = ?', [name, user]).rowcount > 0
            if existed:
                append(connection, did)
            return existed

        return self._database.writer.run(work)

    def roles(self, survey_id: str) -> dict[str, Role]:
        """Returns the roles of teams in a survey, sorted."""
        with self._database.reading() as connection:
            require(connection, survey_id)
            rows = connection.execute("SELECT team, role FROM team_roles WHERE survey = ? ORDER BY team", [survey_id]).fetchall()
        return {team: Role(role) for team, role in rows}

    def grant(self, survey_id: str, name: str, role: Role) -> None:
        """Gives a team a role."""
        did = doing("team-role.give", survey_id, f"{name} is {role.word}")

        def work(connection: Connection) -> None:
            require(connection, survey_id)
            require_team(connection, name)
            append(connection, did)
            give_team(connection, survey_id, name, role)

        self._database.writer.run(work)

    def revoke(self, survey_id: str, name: str) -> bool:
        """Deletes a team's role."""
        did = doing("team-role.take", survey_id, f"{name} has no role")

        def work(connection: Connection) -> bool:
            require(connection, survey_id)
            existed = connection.execute("DELETE FROM team_roles WHERE survey = ? AND team = ?", [survey_id, name]).rowcount > 0
            if existed:
                append(connection, did)
            return existed

        return self._database.writer.run(work)


def give_team(connection: Connection, survey_id: str, team: str, role: Role) -> None:
    """Gives an existing team a role in an existing survey, in the writer's turn."""
    statement = "INSERT INTO team_roles VALUES (?, ?, ?) ON CONFLICT (survey, team) DO UPDATE SET role = excluded.role"
    connection.execute(statement, [survey_id, team, role.value])


def require_team(connection: Connection, name: str) -> None:
    """Raises UnknownTeamError if no team has this name."""
    if connection.execute("SELECT 1 FROM teams WHERE name = ?", [name]).fetchone() is None:
        raise UnknownTeamError("no team has this name")


def _team(connection: Connection, name: str) -> Team:
    return Team(name, {user: bool(manager) for user, manager in connection.execute(_MEMBERS, [name]).fetchall()})
