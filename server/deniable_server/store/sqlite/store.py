"""Store on SQLite, in one file."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from deniable_server.store.errors import StoreError
from deniable_server.store.sql import move_marks
from deniable_server.store.sql.store import SqlStore
from deniable_server.store.sqlite import backup
from deniable_server.store.sqlite.file import ReadOnlySqliteFile, SqliteFile, explain

LEAST_FREE = 4 << 20  # bytes: with less, the disk counts as full


class SqliteStore(SqlStore[SqliteFile]):
    """A `Store` in the file at `path`. Raises what `SqliteFile` raises."""

    def __init__(self, path: Path, key: Path, *, writing: bool = True) -> None:
        super().__init__(self._file(path, key) if writing else ReadOnlySqliteFile(path, key))

    @classmethod
    def _file(cls, path: Path, key: Path) -> SqliteFile:
        """Returns the file, opened for writing."""
        return SqliteFile(path, key)

    def backup(self, target: Path) -> None:
        """Copies the database to a new file."""
        try:
            with closing(SqliteFile.connect(self.database)) as connection:  # a copy is a write for a connection that refuses them
                backup.write(connection, target)
        except sqlite3.Error as error:
            raise explain(error) from error

    def count_servers(self) -> int:
        """Returns 1: a lock lets one server at a time use a file."""
        return 1

    def trouble(self) -> str | None:
        """Returns what prevents reading or writing, such as a full disk; None if nothing does."""
        try:
            self.surveys.count()
            if other := self.moved_to():
                return move_marks.moved(str(self.database.path), other)
        except StoreError:
            return "the database cannot be read"
        free = shutil.disk_usage(self.database.path.absolute().parent).free
        return f"the disk of the database is full: less than {LEAST_FREE >> 20} MiB is free" if free < LEAST_FREE else None
