"""Store on SQLite, in one file."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from deniable_server.store.errors import StoreError
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
from deniable_server.store.sqlite import backup
from deniable_server.store.sqlite.file import ReadOnlySqliteFile, SqliteFile, explain

LEAST_FREE = 4 << 20  # bytes, with which the disk counts as full


class SqliteStore:
    """A `Store` in the file at `path`. Raises what `SqliteFile` raises."""

    def __init__(self, path: Path, key: Path, *, writing: bool = True) -> None:
        self.database = (SqliteFile if writing else ReadOnlySqliteFile)(path, key)
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
        """Copies the database to a new file."""
        try:
            with closing(self.database.connect()) as connection:
                backup.write(connection, self.database.seal, target)
        except sqlite3.Error as error:
            raise explain(error) from error

    def trouble(self) -> str | None:
        """Returns what prevents reading or writing, such as a full disk; None if nothing does."""
        try:
            self.surveys.headings()
        except StoreError:
            return "the database cannot be read"
        free = shutil.disk_usage(self.database.path.absolute().parent).free
        return f"the disk of the database is full: less than {LEAST_FREE >> 20} MiB is free" if free < LEAST_FREE else None

    def rewrite(self) -> None:
        """Rewrites the file."""
        self.database.rewrite()

    def close(self) -> None:
        """Closes the file."""
        self.database.close()
