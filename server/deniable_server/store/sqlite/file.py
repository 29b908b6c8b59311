"""The SQLite file, its one writer, and what is kept beside it in memory.

What keeps it unordered: a submission waits sealed in the intake and enters the tables with a batch, under a random key and sorted by it;
the write-ahead log is emptied whenever the writer is idle; deleted bytes are overwritten; and the whole file is rewritten in
the order of its keys after each batch while it is small, after withdrawals, when a survey closes and when the server stops.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from deniable_server.store.errors import UnavailableError
from deniable_server.store.sqlite.intake import Intake
from deniable_server.store.sqlite.rewriting import Rewriting
from deniable_server.store.sqlite.schema import migrate
from deniable_server.store.sqlite.sealing import Seal
from deniable_server.store.sqlite.writer import BUSY_SECONDS, Writer, explain

SMALL_BYTES = 8 << 20  # a file up to here is rewritten after each batch: its few pages would show which came last
_DUE = 1  # the file's user_version while it is to be written anew


class File:
    """The file at `path`, which is made if it is not there, and migrated by sqlite-utils; so is the key beside it.

    Raises UnavailableError where there is a file that is none of ours, is damaged, or was written with another key.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        self.seal = Seal.beside(path)
        try:
            with closing(self.connect()) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
                migrate(connection)
                (due,) = connection.execute("PRAGMA user_version").fetchone()
        except sqlite3.Error as error:
            raise UnavailableError(f"the database {path.name} cannot be used: {error}") from error
        self.rewriting = Rewriting(self.rewrite)
        self.intake = Intake(self.seal, self._released)
        self.writer = Writer(self.connect, self.intake)
        try:
            self.writer.run(self.intake.prepare_all)
        except BaseException:
            self.writer.close()
            raise
        if due == _DUE:
            self.rewriting.due()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """This thread's own connection, for reading one state of the file. Raises UnavailableError where the database fails."""
        if not hasattr(self._local, "connection"):
            self._local.connection = self.connect()
            self._readers.append(self._local.connection)
        connection: sqlite3.Connection = self._local.connection
        try:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise explain(error) from error

    def connect(self) -> sqlite3.Connection:
        """A new connection, set as all of them must be."""
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    def changed(self, connection: sqlite3.Connection) -> None:
        """Inside of a transaction: the file is to be written anew soon."""
        connection.execute(f"PRAGMA user_version = {_DUE}")
        self.rewriting.due()

    def rewrite(self) -> None:
        """Writes the file anew in the order of its keys: no order shows inside its pages, and nothing erased is left in them."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("VACUUM")
            connection.execute("PRAGMA user_version = 0")

        self.writer.run_alone(work)
        self.writer.run(lambda connection: None)

    def close(self) -> None:
        """Writes what waits and lets go of the file."""
        self.rewriting.stop()
        for reader in self._readers:
            reader.close()
        self.writer.close()

    def _released(self, connection: sqlite3.Connection) -> None:
        """A batch stands in the file: a small one is written anew, so that its pages do not show which came last."""
        pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        if pages * size <= SMALL_BYTES:
            self.changed(connection)
