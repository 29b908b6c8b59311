"""Storage: the interface of a store (`protocol`), and its implementations on SQLite and PostgreSQL."""

from __future__ import annotations

from pathlib import Path

from deniable.extras import missing
from deniable_server.config import Database
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Roles


def open_store(place: str | Path | Database, connections: int | None = None, *, writing: bool = True) -> Store:
    """Opens the store at a path or URL.

    A missing SQLite file is created, readable by its owner only. A PostgreSQL database must exist; its tables are created.
    A missing key file is created for both.

    Args:
        place: A path, a URL or a `Database` (`Database.at`).
        connections: The most connections to PostgreSQL at a time; None for a server's default.
        writing: False for a process that only reads a database that another process writes.

    Raises:
        ValueError: The URL is of an unsupported database, or there are too few connections.
        MissingExtraError: The PostgreSQL driver is not installed.
        UnavailableError: The database has another program's tables, is damaged, or was written with another key.
    """
    database = Database.at(place)
    if database.path is not None:
        from deniable_server.store.sqlite.store import SqliteStore

        return SqliteStore(database.path, database.key, writing=writing)
    if error := missing("a database on PostgreSQL", "postgres"):
        raise error
    from deniable_server.store.postgres.store import PostgresStore

    return PostgresStore(database.url, str(database), database.key, connections, writing=writing)


def open_trial_store(path: Path, main: Store, roles: Roles, *, writing: bool = True) -> Store:
    """Opens the temporary store of trials at a path; accounts and drafts stay in `main`.

    Args:
        path: The file. If it is opened for writing, a missing one is created, and its key beside it.
        main: The server's store.
        roles: The roles in the trials.
        writing: False for a process that only reads a file that another process writes.

    Raises:
        UnavailableError: The file cannot be used.
    """
    from deniable_server.store.sqlite.trial import TrialStore

    return TrialStore(path, main, roles, writing=writing)
