"""What the server keeps: a contract, and the databases that keep it."""

from __future__ import annotations

from pathlib import Path

from deniable_server.config import Database
from deniable_server.store.protocol import Store


def open_store(place: str | Path | Database) -> Store:
    """The store at a path or url (`Database.at`).

    An SQLite file is made if it is not there, readable by its owner only; so is the key beside it. Raises ValueError for a url of
    another database, UnavailableError where there is a file that is none of ours, is damaged, or was written with another key.
    """
    from deniable_server.store.sqlite.store import SqliteStore

    database = Database.at(place)
    return SqliteStore(database.path, database.key)
