"""The store on SQLite: one file with four shelves."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from deniable_server.store.sqlite import backup
from deniable_server.store.sqlite.access import SqliteAccess
from deniable_server.store.sqlite.accounts import SqliteAccounts
from deniable_server.store.sqlite.file import File
from deniable_server.store.sqlite.submissions import SqliteSubmissions
from deniable_server.store.sqlite.surveys import SqliteSurveys
from deniable_server.store.sqlite.writer import explain


class SqliteStore:
    """A `Store` in the file at `path`. Raises what `File` raises."""

    def __init__(self, path: Path) -> None:
        self.file = File(path)
        self.surveys = SqliteSurveys(self.file)
        self.access = SqliteAccess(self.file)
        self.submissions = SqliteSubmissions(self.file, self.access)
        self.accounts = SqliteAccounts(self.file)

    def backup(self, target: Path) -> None:
        try:
            with closing(self.file.connect()) as connection:
                backup.write(connection, self.file.seal, target)
        except sqlite3.Error as error:
            raise explain(error) from error

    def rewrite(self) -> None:
        self.file.rewrite()

    def close(self) -> None:
        self.file.close()
