"""Private files in the user's data folder, readable by their owner only, SQLite files among them."""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakSet

MEMORY = ":memory:"


def in_data_folder(name: str) -> Path:
    """Returns the path of a file of this name. It is not created."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    else:
        base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "deniable" / name


def create_private(path: str) -> None:
    """Creates an empty file that only its owner may read, unless it exists. Raises OSError."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


class PrivateDatabase:
    """The SQLite file at `path`, created with mode 0600, or in memory if `path` is MEMORY; safe for threads and processes.

    Around a fork the file is closed: SQLite's locks are the parent's, and a child's writes could vanish with the log that its parent
    removes.

    Args:
        path: The file.
        unusable: Returns the error to raise if the file cannot be used.
        settings: Pragmas of each connection.
    """

    def __init__(self, path: str, unusable: Callable[[Exception], Exception], settings: Sequence[str] = ()) -> None:
        self._path, self._unusable, self._settings = path, unusable, settings
        self._mutex = threading.RLock()  # reentrant, so that an interrupted call does not block `close`
        self._connection: sqlite3.Connection | None = None
        self._closed = False
        try:
            if path != MEMORY:
                create_private(path)
            with _forking:
                self._connection = self._connect()
                if path != MEMORY:
                    _open.add(self)
        except (OSError, sqlite3.Error) as error:
            raise unusable(error) from None

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=60)
        for setting in self._settings:
            connection.execute(f"PRAGMA {setting}")
        return connection

    @property
    def _db(self) -> sqlite3.Connection:
        if self._closed:
            raise sqlite3.ProgrammingError("the file was closed")
        self._connection = self._connection or self._connect()
        return self._connection

    def suspend(self) -> None:
        """Closes the file before a fork, once no other thread uses it, and blocks everyone until `resume`."""
        self._mutex.acquire()
        if self._connection and not self._connection.in_transaction:  # this thread's transaction ends in the parent
            self._connection.close()
            self._connection = None

    def resume(self) -> None:
        """Releases the file after a fork, in both processes; the next caller opens it."""
        self._mutex.release()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Locks the file against other threads; SQLite's errors are replaced by `unusable`."""
        with self._mutex:
            try:
                yield
            except sqlite3.Error as error:
                raise self._unusable(error) from None

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Runs a transaction that no other process interrupts. It is on the disk at the end, or rolled back on an error."""
        with self.locked():
            db = self._db
            try:
                db.execute("BEGIN IMMEDIATE")  # an interrupt while it waits is raised after it begins
                yield db
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")

    def version(self, newest: int) -> int:
        """Returns the file's version. Raises sqlite3.DatabaseError if it is newer than `newest`."""
        version = int(self._db.execute("PRAGMA user_version").fetchone()[0])
        if not 0 <= version <= newest:
            raise sqlite3.DatabaseError(f"its version must be at most {newest}, got {version}")
        return version

    def run(self, statement: str) -> None:
        """Runs a statement outside of a transaction: a PRAGMA, or VACUUM."""
        self._db.execute(statement)

    def close(self) -> None:
        """Closes the file, once no other thread uses it, as SQLite requires."""
        with _forking, self._mutex:
            _open.discard(self)
            self._closed = True
            if self._connection:  # None after a fork
                self._connection.close()


_forking = threading.RLock()
"""Held during a fork: two threads that fork at once would each wait for a file that the other has closed.

Also held to open or close a file: a child would wait for SQLite's own locks, whose holder it does not have. Acquired before a file's lock.
"""
_open: WeakSet[PrivateDatabase] = WeakSet()
_waiting: list[PrivateDatabase] = []
"""Files that were closed for a fork."""


def _before_a_fork() -> None:
    _forking.acquire()
    _waiting.extend(_open)
    for file in _waiting:
        file.suspend()


def _after_a_fork() -> None:
    while _waiting:
        _waiting.pop().resume()
    _forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_a_fork, after_in_parent=_after_a_fork, after_in_child=_after_a_fork)
