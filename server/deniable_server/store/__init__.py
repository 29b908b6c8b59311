"""What the server keeps: a contract, and the databases that keep it."""

from __future__ import annotations

from pathlib import Path

from deniable.extras import missing
from deniable_server.config import Database
from deniable_server.store.protocol import Store


def open_store(place: str | Path | Database, connections: int | None = None, *, writing: bool = True) -> Store:
    """The store at a path or url (`Database.at`). connections: to PostgreSQL at a time, at most; None for as many as a server has.

    writing: False for one that only reads a database which another process keeps.

    An SQLite file is made if it is not there, readable by its owner only; a database on PostgreSQL must be there, and its tables are
    made; so is the key. Raises ValueError for a url of another database
    and for too few connections, MissingExtraError where what speaks to PostgreSQL is not
    installed, UnavailableError where there is a database that is none of ours, is damaged, or was written with another key.
    """
    database = Database.at(place)
    if database.path is not None:
        from deniable_server.store.sqlite.store import SqliteStore

        return SqliteStore(database.path, database.key, writing=writing)
    if error := missing("a database on PostgreSQL", "postgres"):
        raise error
    from deniable_server.store.postgres.store import PostgresStore

    return PostgresStore(database.url, str(database), database.key, connections, writing=writing)
