"""Audit log in SQL."""

from __future__ import annotations

from deniable_server.store.audit import BEGINNING, Act, AuditEntry, LogCheck, check
from deniable_server.store.errors import UnavailableError
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import SqlDatabase


class SqlAudit:
    """Implements `Audit`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def entries(self, before: int | None = None, most: int | None = None) -> list[AuditEntry]:
        """Returns entries of the log, the newest first."""
        query = "SELECT entry FROM audit WHERE number < ? ORDER BY number DESC LIMIT ?"
        with self._database.reading() as connection:
            rows = connection.execute(query, [before or 1 << 62, 1 << 62 if most is None else most]).fetchall()
        try:
            return [AuditEntry.of(text) for (text,) in rows]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UnavailableError("the audit log has an unreadable entry; run `deniable-server audit verify` to find it") from None

    def verify(self, noted: str | None = None) -> LogCheck:
        """Verifies the log's hash chain against its separately stored head."""
        with self._database.scanning() as connection:
            stored = head_of(connection)
            rows = connection.execute("SELECT number, entry, hash FROM audit ORDER BY number")
            return check(iter(rows), stored, noted)


def append(connection: Connection, did: Act) -> None:
    """Appends an act to the log, in the writer's turn and in the transaction of the act."""
    count, head = head_of(connection)
    entry = AuditEntry(count + 1, did, head)
    connection.execute("INSERT INTO audit VALUES (?, ?, ?)", [entry.number, entry.text, entry.hash])
    connection.execute("DELETE FROM audit_head")
    connection.execute("INSERT INTO audit_head VALUES (?, ?)", [entry.number, entry.hash])


def head_of(connection: Connection) -> tuple[int, str]:
    """Returns the number of entries and the hash of the last one."""
    row = connection.execute("SELECT count, hash FROM audit_head").fetchone()
    return (0, BEGINNING) if row is None else (int(row[0]), str(row[1]))
