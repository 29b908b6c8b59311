"""Bindings of accounts to a provider of single sign-on, in SQL."""

from __future__ import annotations

from typing import Any

from deniable_server.store.audit import doing
from deniable_server.store.errors import ConflictError, LastError
from deniable_server.store.identities import NO_PASSWORD, Binding, Identity
from deniable_server.store.sql import clock
from deniable_server.store.sql.audit import append
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import SqlDatabase
from deniable_server.store.sql.people import require_account

_BINDINGS = 'SELECT issuer, subject, "user", bound_on FROM identities'
_ORDER = 'ORDER BY "user", issuer, subject'


class SqlIdentities:
    """Implements `Identities`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def user(self, identity: Identity) -> str | None:
        """Returns the account that is bound to an identity."""
        with self._database.reading() as connection:
            return _user(connection, identity)

    def all(self) -> list[Binding]:
        """Returns all bindings, sorted."""
        with self._database.reading() as connection:
            return [_binding(row) for row in connection.execute(f"{_BINDINGS} {_ORDER}").fetchall()]

    def of(self, user: str) -> list[Binding]:
        """Returns an account's bindings, sorted."""
        with self._database.reading() as connection:
            return _of(connection, user)

    def bind(self, user: str, identity: Identity) -> None:
        """Binds an account to an identity, unless it is bound to it already."""
        did = doing("account.bind", user, f"{identity.issuer} {identity.mark}")

        def work(connection: Connection) -> None:
            require_account(connection, user)
            bound = _user(connection, identity)
            if bound not in (None, user):
                raise ConflictError("identity must be bound to one account only; another account is bound to it")
            if bound is None:
                append(connection, did)
                _insert(connection, user, identity)

        self._database.writer.run(work)

    def create(self, name: str, identity: Identity) -> None:
        """Creates an account without a password and binds it, in one transaction."""
        did = doing("account.make", name, f"by {identity.issuer} {identity.mark}", who=name)

        def work(connection: Connection) -> None:
            if connection.execute("SELECT 1 FROM users WHERE name = ?", [name]).fetchone():
                raise ConflictError("name must be unique among accounts; an account with this name exists")
            if _user(connection, identity) is not None:
                raise ConflictError("identity must be bound to one account only; another account is bound to it")
            connection.execute("INSERT INTO users (name, password_hash) VALUES (?, ?)", [name, NO_PASSWORD])
            _insert(connection, name, identity)
            append(connection, did)

        self._database.writer.run(work)

    def unbind(self, user: str, mark: str) -> bool:
        """Deletes a binding; the account must keep a way to log in."""
        did = doing("account.unbind", user, mark)

        def work(connection: Connection) -> bool:
            bindings = _of(connection, user)
            match = next((binding.identity for binding in bindings if binding.identity.mark == mark), None)
            if match is None:
                return False
            (stored,) = connection.execute("SELECT password_hash FROM users WHERE name = ?", [user]).fetchone()
            if stored == NO_PASSWORD and len(bindings) == 1:
                raise LastError("the account has no password: this binding is the only way to log in to it")
            connection.execute("DELETE FROM identities WHERE issuer = ? AND subject = ?", [match.issuer, match.subject])
            append(connection, did)
            return True

        return self._database.writer.run(work)


def _insert(connection: Connection, user: str, identity: Identity) -> None:
    connection.execute("INSERT INTO identities VALUES (?, ?, ?, ?)", [identity.issuer, identity.subject, user, clock.today()])


def _user(connection: Connection, identity: Identity) -> str | None:
    query = 'SELECT "user" FROM identities WHERE issuer = ? AND subject = ?'
    row = connection.execute(query, [identity.issuer, identity.subject]).fetchone()
    return None if row is None else str(row[0])


def _of(connection: Connection, user: str) -> list[Binding]:
    return [_binding(row) for row in connection.execute(f'{_BINDINGS} WHERE "user" = ? {_ORDER}', [user]).fetchall()]


def _binding(row: Any) -> Binding:
    issuer, subject, user, bound_on = row
    return Binding(Identity(issuer, subject), user, bound_on)
