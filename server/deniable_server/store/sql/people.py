"""The shelf of people."""

from __future__ import annotations

from typing import Any

from deniable_server.store.audit import doing
from deniable_server.store.errors import ConflictError, InvitationError, LastError, UnknownAccountError
from deniable_server.store.people import Invitation, Person
from deniable_server.store.sql.audit import append
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import Database

_PEOPLE = "SELECT name, operator, disabled FROM users"
_INVITATIONS = "SELECT hash, operator, until, made_by FROM user_invitations"


class PeopleShelf:
    """The `People` of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Person]:
        with self._database.reading() as connection:
            return [_person(row) for row in connection.execute(f"{_PEOPLE} ORDER BY name").fetchall()]

    def person(self, name: str) -> Person | None:
        with self._database.reading() as connection:
            row = connection.execute(f"{_PEOPLE} WHERE name = ?", [name]).fetchone()
        return None if row is None else _person(row)

    def set_operator(self, name: str, operator: bool) -> None:
        did = doing("account.operator" if operator else "account.researcher", name)

        def work(connection: Connection) -> None:
            require_account(connection, name)
            append(connection, did)
            if not operator:
                keep_an_operator(connection, name)
            connection.execute("UPDATE users SET operator = ? WHERE name = ?", [int(operator), name])

        self._database.writer.run(work)

    def set_disabled(self, name: str, disabled: bool) -> None:
        did = doing("account.disable" if disabled else "account.enable", name)

        def work(connection: Connection) -> None:
            require_account(connection, name)
            append(connection, did)
            if disabled:
                keep_an_operator(connection, name)
                connection.execute('DELETE FROM sessions WHERE "user" = ?', [name])
            connection.execute("UPDATE users SET disabled = ? WHERE name = ?", [int(disabled), name])

        self._database.writer.run(work)

    def invite(self, invitation: Invitation, now: int) -> None:
        row = [invitation.hash, int(invitation.operator), invitation.until, invitation.made_by]

        did = doing("link.make", _short(invitation.hash), "for an operator" if invitation.operator else "for a researcher")

        def work(connection: Connection) -> None:
            append(connection, did)
            connection.execute("DELETE FROM user_invitations WHERE until <= ?", [now])
            connection.execute("INSERT INTO user_invitations VALUES (?, ?, ?, ?)", row)

        self._database.writer.run(work)

    def invitations(self, now: int) -> list[Invitation]:
        with self._database.reading() as connection:
            rows = connection.execute(f"{_INVITATIONS} WHERE until > ? ORDER BY until, hash", [now]).fetchall()
        return [_invitation(row) for row in rows]

    def invitation(self, token_hash: bytes, now: int) -> Invitation | None:
        with self._database.reading() as connection:
            return _usable(connection, token_hash, now)

    def accept(self, token_hash: bytes, name: str, password_hash: str, now: int) -> None:
        did = doing("account.make", name, f"by link {_short(token_hash)}", who=name)

        def work(connection: Connection) -> None:
            invitation = _usable(connection, token_hash, now)
            if invitation is None:
                raise InvitationError("the link was used, has ended, or was never made")
            if connection.execute("SELECT 1 FROM users WHERE name = ?", [name]).fetchone():
                raise ConflictError("name must be that of no other account; an account with this name exists")
            insert = "INSERT INTO users (name, password_hash, operator) VALUES (?, ?, ?)"
            connection.execute(insert, [name, password_hash, int(invitation.operator)])
            connection.execute("DELETE FROM user_invitations WHERE hash = ?", [token_hash])
            append(connection, did)

        self._database.writer.run(work)

    def take_back(self, token_hash: bytes) -> bool:
        did = doing("link.take-back", _short(token_hash))

        def work(connection: Connection) -> bool:
            found = connection.execute("DELETE FROM user_invitations WHERE hash = ?", [token_hash]).rowcount > 0
            if found:
                append(connection, did)
            return found

        return self._database.writer.run(work)


def _short(token_hash: bytes) -> str:
    """Enough to know an invitation by in a list; it opens nothing."""
    return token_hash.hex()[:16]


def _usable(connection: Connection, token_hash: bytes, now: int) -> Invitation | None:
    row = connection.execute(f"{_INVITATIONS} WHERE hash = ? AND until > ?", [token_hash, now]).fetchone()
    return None if row is None else _invitation(row)


def _invitation(row: Any) -> Invitation:
    token_hash, operator, until, made_by = row
    return Invitation(bytes(token_hash), bool(operator), int(until), made_by)


def require_account(connection: Connection, name: str) -> None:
    """Raises UnknownAccountError where there is no account of this name."""
    if connection.execute("SELECT 1 FROM users WHERE name = ?", [name]).fetchone() is None:
        raise UnknownAccountError("no account has this name")


def keep_an_operator(connection: Connection, name: str) -> None:
    """Raises LastError where nobody but this account can manage accounts."""
    able = [found for (found,) in connection.execute("SELECT name FROM users WHERE operator = 1 AND disabled = 0").fetchall()]
    if able == [name]:
        raise LastError("nobody else is an operator: make somebody else one first")


def _person(row: Any) -> Person:
    name, operator, disabled = row
    return Person(name, bool(operator), bool(disabled))
