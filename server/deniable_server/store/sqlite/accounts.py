"""Accounts, sessions and keys on SQLite, in the file of the store and through its one writer."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

from deniable_server.store.accounts import Key
from deniable_server.store.errors import ConflictError, UnknownSurveyError
from deniable_server.store.sqlite.writer import Writer

migrations = Migrations("deniable_server_accounts")  # after those of the store, which made the table of users


@migrations()
def first(db: Database) -> None:
    """Sessions and keys. Removing an account ends its sessions; scopes are words with a space between them."""
    for statement in (
        "CREATE TABLE sessions (hash BLOB PRIMARY KEY, user TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE, "
        "until INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE INDEX sessions_of_user ON sessions (user)",
        "CREATE TABLE keys (name TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE, scopes TEXT NOT NULL, survey TEXT REFERENCES surveys (id), "
        "made_on TEXT NOT NULL) WITHOUT ROWID",
    ):
        db.execute(statement)


class SqliteAccounts:
    """The `Accounts` of a SqliteStore."""

    def __init__(self, writer: Writer, reading: Callable[[], AbstractContextManager[sqlite3.Connection]]) -> None:
        self._writer = writer
        self._reading = reading

    def set_password(self, user: str, password_hash: str) -> None:
        statement = "INSERT INTO users VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET password_hash = excluded.password_hash"

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(statement, [user, password_hash])
            connection.execute("DELETE FROM sessions WHERE user = ?", [user])

        self._writer.run(work)

    def password_hash(self, user: str) -> str | None:
        row = self._one("SELECT password_hash FROM users WHERE name = ?", user)
        return None if row is None else str(row[0])

    def users(self) -> list[str]:
        with self._reading() as connection:
            return [name for (name,) in connection.execute("SELECT name FROM users ORDER BY name").fetchall()]

    def remove_user(self, user: str) -> bool:
        return self._changed("DELETE FROM users WHERE name = ?", user)

    def open_session(self, user: str, token_hash: bytes, now: int, until: int) -> bool:
        def work(connection: sqlite3.Connection) -> bool:
            connection.execute("DELETE FROM sessions WHERE until <= ?", [now])
            insert = "INSERT INTO sessions SELECT ?, name, ? FROM users WHERE name = ?"
            return bool(connection.execute(insert, [token_hash, until, user]).rowcount)

        return self._writer.run(work)

    def session_user(self, token_hash: bytes, now: int) -> str | None:
        row = self._one("SELECT user FROM sessions WHERE hash = ? AND until > ?", token_hash, now)
        return None if row is None else str(row[0])

    def end_session(self, token_hash: bytes) -> None:
        self._changed("DELETE FROM sessions WHERE hash = ?", token_hash)

    def end_sessions(self, user: str) -> None:
        self._changed("DELETE FROM sessions WHERE user = ?", user)

    def add_key(self, key: Key, key_hash: bytes) -> None:
        def work(connection: sqlite3.Connection) -> None:
            if connection.execute("SELECT 1 FROM keys WHERE name = ?", [key.name]).fetchone():
                raise ConflictError("name must be that of no other key; a key with this name exists")
            if key.survey is not None and not connection.execute("SELECT 1 FROM surveys WHERE id = ?", [key.survey]).fetchone():
                raise UnknownSurveyError("no survey with this id is published here")
            row = [key.name, key_hash, " ".join(key.scopes), key.survey, key.made_on]
            connection.execute("INSERT INTO keys VALUES (?, ?, ?, ?, ?)", row)

        self._writer.run(work)

    def key(self, key_hash: bytes) -> Key | None:
        row = self._one(f"{_KEYS} WHERE hash = ?", key_hash)
        return None if row is None else _key(row)

    def all_keys(self) -> list[Key]:
        with self._reading() as connection:
            return [_key(row) for row in connection.execute(f"{_KEYS} ORDER BY name").fetchall()]

    def remove_key(self, name: str) -> bool:
        return self._changed("DELETE FROM keys WHERE name = ?", name)

    def _one(self, query: str, *values: Any) -> Any:
        with self._reading() as connection:
            return connection.execute(query, values).fetchone()

    def _changed(self, statement: str, *values: Any) -> bool:
        return self._writer.run(lambda connection: connection.execute(statement, values).rowcount > 0)


_KEYS = "SELECT name, scopes, survey, made_on FROM keys"


def _key(row: Sequence[Any]) -> Key:
    name, scopes, survey, made_on = row
    return Key(name, tuple(scopes.split()), survey, made_on)
