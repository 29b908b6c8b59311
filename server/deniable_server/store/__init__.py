"""What the server keeps: a contract, and the databases that keep it."""

from __future__ import annotations

from pathlib import Path

from deniable_server.store.protocol import Store


def open_store(place: Path) -> Store:
    """The store in the SQLite file at `place`, which is made if it is not there, readable by its owner only; so is the key beside it.

    Raises UnavailableError where there is a file that is none of ours, is damaged, or was written with another key.
    """
    from deniable_server.store.sqlite.store import SqliteStore

    return SqliteStore(place)
