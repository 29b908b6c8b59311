"""Store on PostgreSQL."""

from __future__ import annotations

from pathlib import Path

from deniable_server.store.errors import UnavailableError
from deniable_server.store.postgres.server import CONNECTIONS, PostgresServer, ReadOnlyPostgresServer
from deniable_server.store.sql.access import SqlAccess
from deniable_server.store.sql.accounts import SqlAccounts
from deniable_server.store.sql.audit import SqlAudit
from deniable_server.store.sql.drafts import SqlDrafts
from deniable_server.store.sql.factors import SqlFactors
from deniable_server.store.sql.life import SqlLife
from deniable_server.store.sql.people import SqlPeople
from deniable_server.store.sql.roles import SqlRoles
from deniable_server.store.sql.submissions import SqlSubmissions
from deniable_server.store.sql.surveys import SqlSurveys
from deniable_server.store.sql.webhooks import SqlWebhooks


class PostgresStore:
    """A `Store` in the database at `url`. Raises what `PostgresServer` raises."""

    def __init__(self, url: str, name: str, key: Path, connections: int | None = None, *, writing: bool = True) -> None:
        most = CONNECTIONS if connections is None else connections
        self.database = PostgresServer(url, name, key, most) if writing else ReadOnlyPostgresServer(url, name, key)
        self.surveys = SqlSurveys(self.database)
        self.access = SqlAccess(self.database)
        self.submissions = SqlSubmissions(self.database, self.access)
        self.accounts = SqlAccounts(self.database)
        self.people = SqlPeople(self.database)
        self.roles = SqlRoles(self.database)
        self.factors = SqlFactors(self.database)
        self.audit = SqlAudit(self.database)
        self.life = SqlLife(self.database)
        self.drafts = SqlDrafts(self.database)
        self.webhooks = SqlWebhooks(self.database)

    def backup(self, target: Path) -> None:
        """Raises UnavailableError: use PostgreSQL's own tools."""
        raise UnavailableError("a database on PostgreSQL is copied with its own tools, such as pg_dump; copy the key apart from it")

    def trouble(self) -> str | None:
        """Returns what prevents a connection from reading, or None."""
        return self.database.trouble()

    def rewrite(self) -> None:
        """Rewrites the tables."""
        self.database.rewrite()

    def close(self) -> None:
        """Closes the connections."""
        self.database.close()
