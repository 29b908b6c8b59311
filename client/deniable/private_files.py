"""Files that only their owner may read, in the user's data folder; and SQLite files among them."""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

MEMORY = ":memory:"


def in_data_folder(name: str) -> Path:
    """Where a file of this name belongs. It is not made."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    else:
        base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "deniable" / name


def create_private(path: str) -> None:
    """Makes an empty file that only its owner may read, unless it is there. Raises OSError."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


class PrivateDatabase:
    """The SQLite file at `path`, made with mode 0600, or none where `path` is MEMORY; safe for several threads and several processes.

    unusable: makes the error that is raised, from here on too, where the file cannot be used.
    """

    def __init__(self, path: str, unusable: Callable[[Exception], Exception]) -> None:
        self._unusable = unusable
        self._mutex = threading.RLock()  # what an interrupt left locked must not keep a `close` waiting
        try:
            if path != MEMORY:
                create_private(path)
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=60)
        except (OSError, sqlite3.Error) as error:
            raise unusable(error) from None

    @contextmanager
    def alone(self) -> Iterator[None]:
        """While no other thread uses the file; an error of SQLite is told as `unusable` says."""
        with self._mutex:
            try:
                yield
            except sqlite3.Error as error:
                raise self._unusable(error) from None

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """While no other process writes either. It is on the disk when this ends, and undone if it ends with an error."""
        with self.alone():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def version(self, newest: int) -> int:
        """The file's version. Raises sqlite3.DatabaseError where it is newer than `newest`."""
        version = int(self._db.execute("PRAGMA user_version").fetchone()[0])
        if not 0 <= version <= newest:
            raise sqlite3.DatabaseError(f"its version must be at most {newest}, got {version}")
        return version

    def run(self, statement: str) -> None:
        """What must stand outside of a transaction: a PRAGMA, or VACUUM."""
        self._db.execute(statement)

    def close(self) -> None:
        """Lets go of the file, once no other thread uses it: SQLite bears no other order."""
        with self._mutex:
            self._db.close()
