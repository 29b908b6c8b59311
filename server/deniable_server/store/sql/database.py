"""What the shelves need of a database: connections, one writer, and what waits."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.intake import Intake
from deniable_server.store.sql.sealing import Seal
from deniable_server.store.sql.writer import Writer


class Database(Protocol):
    """A database, its one writer in this process, and what is kept beside it in memory."""

    seal: Seal
    intake: Intake
    writer: Writer

    def reading(self) -> AbstractContextManager[Connection]:
        """A connection for reading one state of the database. Raises UnavailableError where the database fails."""

    def scanning(self) -> AbstractContextManager[Connection]:
        """The same on a connection of its own, for what takes a while: rows come as they are asked for, from one query at a time."""

    def changed(self, connection: Connection) -> None:
        """Inside of a transaction: the database is to be written anew soon."""

    def due(self) -> None:
        """It is to be written anew soon, since that failed."""

    def rewrite(self) -> None:
        """Writes everything anew: no order shows in what is stored, and nothing erased is left."""
