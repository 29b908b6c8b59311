"""Accounts as operators manage them, and account links, in SQL."""

from __future__ import annotations

from typing import Any

from deniable_server.store.audit import doing
from deniable_server.store.errors import AccountLinkError, ConflictError, LastError, UnknownAccountError
from deniable_server.store.people import AccountLink, Person
from deniable_server.store.sql.audit import append
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import SqlDatabase

_PEOPLE = "SELECT name, operator, disabled FROM users"
_LINKS = "SELECT hash, operator, until, made_by FROM user_invitations"


class SqlPeople:
    """Implements `AccountManagement`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def all(self) -> list[Person]:
        """Returns all accounts, sorted by name."""
        with self._database.reading() as connection:
            return [_person(row) for row in connection.execute(f"{_PEOPLE} ORDER BY name").fetchall()]

    def person(self, name: str) -> Person | None:
        """Returns an account."""
        with self._database.reading() as connection:
            row = connection.execute(f"{_PEOPLE} WHERE name = ?", [name]).fetchone()
        return None if row is None else _person(row)

    def set_operator(self, name: str, operator: bool) -> None:
        """Makes an account an operator or a researcher; there must be an operator left."""
        did = doing("account.operator" if operator else "account.researcher", name)

        def work(connection: Connection) -> None:
            require_account(connection, name)
            append(connection, did)
            if not operator:
                keep_an_operator(connection, name)
            connection.execute("UPDATE users SET operator = ? WHERE name = ?", [int(operator), name])

        self._database.writer.run(work)

    def set_disabled(self, name: str, disabled: bool) -> None:
        """Disables an account and ends its sessions, or enables it; there must be an operator left."""
        did = doing("account.disable" if disabled else "account.enable", name)

        def work(connection: Connection) -> None:
            require_account(connection, name)
            append(connection, did)
            if disabled:
                keep_an_operator(connection, name)
                connection.execute('DELETE FROM sessions WHERE "user" = ?', [name])
            connection.execute("UPDATE users SET disabled = ? WHERE name = ?", [int(disabled), name])

        self._database.writer.run(work)

    def add_link(self, link: AccountLink, now: int) -> None:
        """Stores an account link, and deletes expired ones."""
        row = [link.hash, int(link.operator), link.until, link.made_by]

        did = doing("link.make", _short(link.hash), "for an operator" if link.operator else "for a researcher")

        def work(connection: Connection) -> None:
            append(connection, did)
            connection.execute("DELETE FROM user_invitations WHERE until <= ?", [now])
            connection.execute("INSERT INTO user_invitations VALUES (?, ?, ?, ?)", row)

        self._database.writer.run(work)

    def links(self, now: int) -> list[AccountLink]:
        """Returns the usable account links, the first to expire first."""
        with self._database.reading() as connection:
            rows = connection.execute(f"{_LINKS} WHERE until > ? ORDER BY until, hash", [now]).fetchall()
        return [_link(row) for row in rows]

    def link(self, token_hash: bytes, now: int) -> AccountLink | None:
        """Returns the usable account link with this hash."""
        with self._database.reading() as connection:
            return _usable(connection, token_hash, now)

    def accept(self, token_hash: bytes, name: str, password_hash: str, now: int) -> None:
        """Creates the account of an account link and deletes the link, in one transaction."""
        did = doing("account.make", name, f"by link {_short(token_hash)}", who=name)

        def work(connection: Connection) -> None:
            link = _usable(connection, token_hash, now)
            if link is None:
                raise AccountLinkError("the link was used, has expired, or does not exist")
            if connection.execute("SELECT 1 FROM users WHERE name = ?", [name]).fetchone():
                raise ConflictError("name must be unique among accounts; an account with this name exists")
            insert = "INSERT INTO users (name, password_hash, operator) VALUES (?, ?, ?)"
            connection.execute(insert, [name, password_hash, int(link.operator)])
            connection.execute("DELETE FROM user_invitations WHERE hash = ?", [token_hash])
            append(connection, did)

        self._database.writer.run(work)

    def revoke(self, token_hash: bytes) -> bool:
        """Deletes an account link. Returns whether there was one."""
        did = doing("link.take-back", _short(token_hash))

        def work(connection: Connection) -> bool:
            existed = connection.execute("DELETE FROM user_invitations WHERE hash = ?", [token_hash]).rowcount > 0
            if existed:
                append(connection, did)
            return existed

        return self._database.writer.run(work)


def _short(token_hash: bytes) -> str:
    """Returns a short name for an account link in lists; it does not open the link."""
    return token_hash.hex()[:16]


def _usable(connection: Connection, token_hash: bytes, now: int) -> AccountLink | None:
    row = connection.execute(f"{_LINKS} WHERE hash = ? AND until > ?", [token_hash, now]).fetchone()
    return None if row is None else _link(row)


def _link(row: Any) -> AccountLink:
    token_hash, operator, until, made_by = row
    return AccountLink(bytes(token_hash), bool(operator), int(until), made_by)


def require_account(connection: Connection, name: str) -> None:
    """Raises UnknownAccountError if no account has this name."""
    if connection.execute("SELECT 1 FROM users WHERE name = ?", [name]).fetchone() is None:
        raise UnknownAccountError("no account has this name")


def keep_an_operator(connection: Connection, name: str) -> None:
    """Raises LastError if this account is the only one that can manage accounts."""
    operators = [operator for (operator,) in connection.execute("SELECT name FROM users WHERE operator = 1 AND disabled = 0").fetchall()]
    if operators == [name]:
        raise LastError("the account is the only operator: make another account an operator first")


def _person(row: Any) -> Person:
    name, operator, disabled = row
    return Person(name, bool(operator), bool(disabled))
