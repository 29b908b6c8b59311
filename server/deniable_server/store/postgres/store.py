"""The store on PostgreSQL: the same shelves."""

from __future__ import annotations

from pathlib import Path

from deniable_server.store.errors import UnavailableError
from deniable_server.store.postgres.server import CONNECTIONS, ReadServer, Server
from deniable_server.store.sql.access import AccessShelf
from deniable_server.store.sql.accounts import AccountShelf
from deniable_server.store.sql.audit import AuditShelf
from deniable_server.store.sql.drafts import DraftShelf
from deniable_server.store.sql.factors import FactorShelf
from deniable_server.store.sql.life import LifeShelf
from deniable_server.store.sql.people import PeopleShelf
from deniable_server.store.sql.roles import RoleShelf
from deniable_server.store.sql.submissions import SubmissionShelf
from deniable_server.store.sql.surveys import SurveyShelf
from deniable_server.store.sql.webhooks import WebhookShelf


class PostgresStore:
    """A `Store` in the database at `url`. Raises what `Server` raises."""

    def __init__(self, url: str, name: str, key: Path, connections: int | None = None, *, writing: bool = True) -> None:
        most = CONNECTIONS if connections is None else connections
        self.database = Server(url, name, key, most) if writing else ReadServer(url, name, key)
        self.surveys = SurveyShelf(self.database)
        self.access = AccessShelf(self.database)
        self.submissions = SubmissionShelf(self.database, self.access)
        self.accounts = AccountShelf(self.database)
        self.people = PeopleShelf(self.database)
        self.roles = RoleShelf(self.database)
        self.factors = FactorShelf(self.database)
        self.audit = AuditShelf(self.database)
        self.life = LifeShelf(self.database)
        self.drafts = DraftShelf(self.database)
        self.webhooks = WebhookShelf(self.database)

    def backup(self, target: Path) -> None:
        """Raises UnavailableError always: PostgreSQL has tools of its own."""
        raise UnavailableError("a database on PostgreSQL is copied with its own tools, such as pg_dump; copy the key apart from it")

    def trouble(self) -> str | None:
        return self.database.trouble()

    def rewrite(self) -> None:
        self.database.rewrite()

    def close(self) -> None:
        self.database.close()
