"""The store on SQLite: one file with shelves."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from deniable_server.store.errors import StoreError
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
from deniable_server.store.sqlite import backup
from deniable_server.store.sqlite.file import File, ReadFile, explain

LEAST_FREE = 4 << 20  # bytes, with which the disk counts as full


class SqliteStore:
    """A `Store` in the file at `path`. Raises what `File` raises."""

    def __init__(self, path: Path, key: Path, *, writing: bool = True) -> None:
        self.database = (File if writing else ReadFile)(path, key)
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
        try:
            with closing(self.database.connect()) as connection:
                backup.write(connection, self.database.seal, target)
        except sqlite3.Error as error:
            raise explain(error) from error

    def trouble(self) -> str | None:
        try:
            self.surveys.headings()
        except StoreError:
            return "the database cannot be read"
        free = shutil.disk_usage(self.database.path.absolute().parent).free
        return f"the disk of the database is full: less than {LEAST_FREE >> 20} MiB is free" if free < LEAST_FREE else None

    def rewrite(self) -> None:
        self.database.rewrite()

    def close(self) -> None:
        self.database.close()
