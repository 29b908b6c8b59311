"""Database interface of the SQL storage: connections, the writer, and the releases of waiting submissions."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.encryption import Seal
from deniable_server.store.sql.release import Releaser
from deniable_server.store.sql.writer import Writer


class SqlDatabase(Protocol):
    """A database, its writer in this process, and the releases at the end of its transactions."""

    seal: Seal
    releases: Releaser
    writer: Writer

    def reading(self) -> AbstractContextManager[Connection]:
        """Returns a connection for reading one snapshot. Raises UnavailableError if the database fails."""

    def scanning(self) -> AbstractContextManager[Connection]:
        """Returns a separate connection for long reads of one snapshot: one query at a time, whose rows are fetched as they are read."""

    def changed(self, connection: Connection) -> None:
        """Schedules a rewrite, from within a transaction."""

    def due(self) -> None:
        """Schedules a rewrite after one failed."""

    def rewrite(self) -> None:
        """Rewrites the whole database, so that stored rows show no order and no erased data is left."""

    def close(self) -> None:
        """Commits the queued jobs and closes the database."""
