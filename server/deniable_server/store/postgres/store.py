"""Store on PostgreSQL."""

from __future__ import annotations

from pathlib import Path

from deniable_server.store.errors import UnavailableError
from deniable_server.store.postgres.server import CONNECTIONS, PostgresServer, ReadOnlyPostgresServer
from deniable_server.store.sql.store import SqlStore


class PostgresStore(SqlStore[PostgresServer]):
    """A `Store` in the database at `url`. Raises what `PostgresServer` raises."""

    def __init__(self, url: str, name: str, key: Path, connections: int | None = None, *, writing: bool = True) -> None:
        most = CONNECTIONS if connections is None else connections
        super().__init__(PostgresServer(url, name, key, most) if writing else ReadOnlyPostgresServer(url, name, key))

    def backup(self, target: Path) -> None:
        """Raises UnavailableError: use PostgreSQL's own tools."""
        raise UnavailableError("a database on PostgreSQL is copied with its own tools, such as pg_dump; copy the key apart from it")

    def trouble(self) -> str | None:
        """Returns what prevents a connection from reading, or None."""
        return self.database.trouble()

    def count_servers(self) -> int:
        """Returns the number of servers on the database, this one included from now on. Raises UnavailableError."""
        return self.database.count_servers()
