"""Second factors in SQL."""

from __future__ import annotations

from collections.abc import Sequence

from deniable_server.store.audit import doing
from deniable_server.store.errors import ConflictError
from deniable_server.store.factors import Passkey
from deniable_server.store.sql.audit import append
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import SqlDatabase
from deniable_server.store.sql.people import require_account


class SqlFactors:
    """Implements `Factors`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def secret(self, user: str) -> bytes | None:
        """Returns an account's TOTP secret, decrypted."""
        with self._database.reading() as connection:
            row = connection.execute('SELECT sealed FROM second_factors WHERE "user" = ?', [user]).fetchone()
        return None if row is None else self._database.seal.open(bytes(row[0]), _context(user))

    def passkeys(self, user: str) -> list[Passkey]:
        """Returns the passkeys of an account, sorted by name."""
        query = 'SELECT id, name, public_key, count, made_on FROM passkeys WHERE "user" = ? ORDER BY name, id'
        with self._database.reading() as connection:
            rows = connection.execute(query, [user]).fetchall()
        return [Passkey(bytes(id_), name, bytes(public_key), int(count), made_on) for id_, name, public_key, count, made_on in rows]

    def any(self, user: str) -> bool:
        """Returns whether an account has a second factor."""
        query = 'SELECT 1 FROM second_factors WHERE "user" = ? UNION ALL SELECT 1 FROM passkeys WHERE "user" = ?'
        with self._database.reading() as connection:
            return connection.execute(query, [user, user]).fetchone() is not None

    def set_secret(self, user: str, secret: bytes, step: int, recovery: Sequence[bytes]) -> None:
        """Replaces an account's TOTP secret and recovery codes."""
        sealed, did = self._database.seal.close(secret, _context(user)), doing("factor.set", user)

        def work(connection: Connection) -> None:
            require_account(connection, user)
            append(connection, did)
            connection.execute('DELETE FROM second_factors WHERE "user" = ?', [user])
            connection.execute("INSERT INTO second_factors VALUES (?, ?, ?)", [user, sealed, step])
            _renew_recovery(connection, user, recovery)

        self._database.writer.run(work)

    def add_passkey(self, user: str, passkey: Passkey, recovery: Sequence[bytes]) -> None:
        """Adds a passkey and replaces the account's recovery codes."""
        did = doing("passkey.add", user, passkey.name)
        row = [passkey.id, user, passkey.name, passkey.public_key, passkey.count, 0, passkey.made_on]

        def work(connection: Connection) -> None:
            require_account(connection, user)
            if connection.execute("SELECT 1 FROM passkeys WHERE id = ?", [passkey.id]).fetchone():
                raise ConflictError("passkey must be new; an account already has it")
            append(connection, did)
            connection.execute("INSERT INTO passkeys VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            _renew_recovery(connection, user, recovery)

        self._database.writer.run(work)

    def use_passkey(self, user: str, passkey: Passkey, challenged: int) -> bool:
        """Stores a passkey's counter and the time of the challenge, unless a challenge of that time or later was answered."""
        statement = 'UPDATE passkeys SET count = ?, challenged = ? WHERE id = ? AND "user" = ? AND challenged < ?'
        values = [passkey.count, challenged, passkey.id, user, challenged]
        return self._database.writer.run(lambda connection: connection.execute(statement, values).rowcount > 0)

    def take_step(self, user: str, step: int) -> bool:
        """Spends the code of a time step, unless that step or a later one was used."""
        statement = 'UPDATE second_factors SET last = ? WHERE "user" = ? AND last < ?'
        return self._database.writer.run(lambda connection: connection.execute(statement, [step, user, step]).rowcount > 0)

    def take_recovery(self, user: str, code_hash: bytes) -> bool:
        """Deletes a recovery code. Returns whether there was one."""
        did, statement = doing("factor.recover", user, who=user), 'DELETE FROM recovery_codes WHERE "user" = ? AND hash = ?'

        def work(connection: Connection) -> bool:
            existed = connection.execute(statement, [user, code_hash]).rowcount > 0
            if existed:
                append(connection, did)
            return existed

        return self._database.writer.run(work)

    def recovery_left(self, user: str) -> int:
        """Counts the unused recovery codes of an account."""
        with self._database.reading() as connection:
            (left,) = connection.execute('SELECT count(*) FROM recovery_codes WHERE "user" = ?', [user]).fetchone()
        return int(left)

    def remove(self, user: str) -> bool:
        """Deletes all second factors of an account."""
        did = doing("factor.remove", user)

        def work(connection: Connection) -> bool:
            existed = _forget(connection, user)
            if existed:
                append(connection, did)
            return existed

        return self._database.writer.run(work)


def _forget(connection: Connection, user: str) -> bool:
    tables = ("recovery_codes", "second_factors", "passkeys")
    gone = [connection.execute(f'DELETE FROM {table} WHERE "user" = ?', [user]).rowcount for table in tables]  # noqa: S608 - our own
    return any(gone[1:])


def _renew_recovery(connection: Connection, user: str, hashes: Sequence[bytes]) -> None:
    connection.execute('DELETE FROM recovery_codes WHERE "user" = ?', [user])
    connection.executemany("INSERT INTO recovery_codes VALUES (?, ?)", [(user, hash_) for hash_ in sorted(hashes)])


def _context(user: str) -> str:
    """Returns the text that a TOTP secret's encryption is bound to: copied to another account, it cannot be decrypted."""
    return f"second factor of {user}"
