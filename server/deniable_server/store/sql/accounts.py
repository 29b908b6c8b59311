"""Accounts, sessions and API keys in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deniable_server.store.accounts import ApiKey
from deniable_server.store.audit import Act, doing
from deniable_server.store.errors import ConflictError, LastError, UnknownSurveyError
from deniable_server.store.sql.audit import append
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import SqlDatabase
from deniable_server.store.sql.people import keep_an_operator, require_account
from deniable_server.store.sql.roles import only_owner_of


class SqlAccounts:
    """Implements `Accounts`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def set_password(self, user: str, password_hash: str) -> None:
        """Creates an account, or changes its password and ends all its sessions."""
        statement = (
            "INSERT INTO users (name, password_hash) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET password_hash = excluded.password_hash"
        )

        creation, change = doing("account.make", user), doing("account.password", user)

        def work(connection: Connection) -> None:
            exists = connection.execute("SELECT 1 FROM users WHERE name = ?", [user]).fetchone()
            append(connection, change if exists else creation)
            connection.execute(statement, [user, password_hash])
            connection.execute('DELETE FROM sessions WHERE "user" = ?', [user])

        self._database.writer.run(work)

    def password_hash(self, user: str) -> str | None:
        """Returns the password hash of an account that is not disabled."""
        row = self._one("SELECT password_hash FROM users WHERE name = ? AND disabled = 0", user)
        return None if row is None else str(row[0])

    def users(self) -> list[str]:
        """Returns the names of all accounts, sorted."""
        with self._database.reading() as connection:
            return [name for (name,) in connection.execute("SELECT name FROM users ORDER BY name").fetchall()]

    def remove_user(self, user: str) -> bool:
        """Removes an account; another person may later get its name, so its drafts lose their author."""
        did = doing("account.remove", user)

        def work(connection: Connection) -> bool:
            keep_an_operator(connection, user)
            if owned := only_owner_of(connection, user):
                raise LastError(f"the account is the only owner of {', '.join(owned)}: make another account an owner first")
            connection.execute("UPDATE drafts SET author = '' WHERE author = ?", [user])  # another person may get this name
            connection.execute("DELETE FROM saved_questions WHERE author = ?", [user])
            return _noted(connection, did, "DELETE FROM users WHERE name = ?", user)

        return self._database.writer.run(work)

    def open_session(self, user: str, token_hash: bytes, now: int, until: int) -> bool:
        """Opens a session of an account that is not disabled, and removes expired sessions."""
        did = doing("account.log-in", user, who=user)

        def work(connection: Connection) -> bool:
            connection.execute("DELETE FROM sessions WHERE until <= ?", [now])
            insert = "INSERT INTO sessions SELECT ?, name, ? FROM users WHERE name = ? AND disabled = 0"
            return _noted(connection, did, insert, token_hash, until, user)

        return self._database.writer.run(work)

    def session_user(self, token_hash: bytes, now: int) -> str | None:
        """Returns the account of a session that has not expired."""
        row = self._one('SELECT "user" FROM sessions WHERE hash = ? AND until > ?', token_hash, now)
        return None if row is None else str(row[0])

    def end_session(self, token_hash: bytes) -> None:
        """Deletes a session."""
        self._changed("DELETE FROM sessions WHERE hash = ?", token_hash)

    def end_sessions(self, user: str) -> None:
        """Deletes all sessions of an account."""
        did, statement = doing("account.log-out-everywhere", user), 'DELETE FROM sessions WHERE "user" = ?'
        self._database.writer.run(lambda connection: _noted(connection, did, statement, user))

    def end_all(self) -> tuple[int, int]:
        """Deletes all sessions and account links. Returns their numbers."""

        def work(connection: Connection) -> tuple[int, int]:
            sessions, links = (connection.execute(f"DELETE FROM {table}").rowcount for table in ("sessions", "user_invitations"))  # noqa: S608
            append(connection, doing("server.restore", "backup", f"{sessions} sessions and {links} links ended"))
            return sessions, links

        return self._database.writer.run(work)

    def add_key(self, key: ApiKey, key_hash: bytes) -> None:
        """Stores an API key under a new name."""
        did = doing("key.make", key.name, f"{' '.join(key.scopes)} for {key.survey or 'all surveys'}")

        def work(connection: Connection) -> None:
            if connection.execute("SELECT 1 FROM keys WHERE name = ?", [key.name]).fetchone():
                raise ConflictError("name must be unique among keys; a key with this name exists")
            if key.survey is not None and not connection.execute("SELECT 1 FROM surveys WHERE id = ?", [key.survey]).fetchone():
                raise UnknownSurveyError("no survey with this id is published here")
            row = [key.name, key_hash, " ".join(key.scopes), key.survey, key.made_on]
            connection.execute("INSERT INTO keys VALUES (?, ?, ?, ?, ?)", row)
            append(connection, did)

        self._database.writer.run(work)

    def key(self, key_hash: bytes) -> ApiKey | None:
        """Returns the API key with this hash."""
        row = self._one(f"{_KEYS} WHERE hash = ?", key_hash)
        return None if row is None else _key(row)

    def all_keys(self) -> list[ApiKey]:
        """Returns all API keys, sorted by name."""
        with self._database.reading() as connection:
            return [_key(row) for row in connection.execute(f"{_KEYS} ORDER BY name").fetchall()]

    def remove_key(self, name: str, survey: str | None = None) -> bool:
        """Deletes an API key, with `survey` only one that is limited to this survey."""
        did, of_survey = doing("key.revoke", name), " AND survey = ?" if survey is not None else ""
        values = [name] if survey is None else [name, survey]
        return self._database.writer.run(
            lambda connection: _noted(connection, did, f"DELETE FROM keys WHERE name = ?{of_survey}", *values)  # noqa: S608 - our own
        )

    def dismiss(self, user: str, name: str) -> None:
        """Stores that an account has removed something from its pages."""

        def work(connection: Connection) -> None:
            require_account(connection, user)
            connection.execute("INSERT INTO dismissed VALUES (?, ?) ON CONFLICT DO NOTHING", [user, name])

        self._database.writer.run(work)

    def dismissed(self, user: str) -> frozenset[str]:
        """Returns the names of what an account has removed from its pages."""
        with self._database.reading() as connection:
            rows = connection.execute('SELECT name FROM dismissed WHERE "user" = ?', [user]).fetchall()
        return frozenset(str(name) for (name,) in rows)

    def _one(self, query: str, *values: Any) -> Any:
        with self._database.reading() as connection:
            return connection.execute(query, values).fetchone()

    def _changed(self, statement: str, *values: Any) -> bool:
        return self._database.writer.run(lambda connection: connection.execute(statement, values).rowcount > 0)


def _noted(connection: Connection, did: Act, statement: str, *values: Any) -> bool:
    """Executes a statement. Returns whether it changed anything, which is then noted in the audit log."""
    changed = connection.execute(statement, values).rowcount > 0
    if changed:
        append(connection, did)
    return changed


_KEYS = "SELECT name, scopes, survey, made_on FROM keys"


def _key(row: Sequence[Any]) -> ApiKey:
    name, scopes, survey, made_on = row
    return ApiKey(name, tuple(scopes.split()), survey, made_on)
