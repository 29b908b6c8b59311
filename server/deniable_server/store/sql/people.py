"""The shelf of people."""

from __future__ import annotations

from typing import Any

from deniable_server.store.errors import LastError, UnknownAccountError
from deniable_server.store.people import Person
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import Database

_PEOPLE = "SELECT name, operator, disabled FROM users"


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
        def work(connection: Connection) -> None:
            require_account(connection, name)
            if not operator:
                keep_an_operator(connection, name)
            connection.execute("UPDATE users SET operator = ? WHERE name = ?", [int(operator), name])

        self._database.writer.run(work)

    def set_disabled(self, name: str, disabled: bool) -> None:
        def work(connection: Connection) -> None:
            require_account(connection, name)
            if disabled:
                keep_an_operator(connection, name)
                connection.execute('DELETE FROM sessions WHERE "user" = ?', [name])
            connection.execute("UPDATE users SET disabled = ? WHERE name = ?", [int(disabled), name])

        self._database.writer.run(work)


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
