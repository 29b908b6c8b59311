"""Backup of an SQLite database while the server runs."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from deniable_server.store.sql.encryption import Seal
from deniable_server.store.sql.intake import reseal


def write(connection: sqlite3.Connection, seal: Seal, target: Path) -> None:
    """Copies the database to a new file, readable by its owner only. Nothing in the copy shows an order.

    Waiting submissions are encrypted anew, so that two copies do not show whether any of them changed. No file is left after an error.

    Raises:
        FileExistsError: The file exists.
        OSError: The file cannot be created.
        sqlite3.Error: The database cannot be read.
    """
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        connection.execute("VACUUM INTO ?", [str(target)])
        with closing(sqlite3.connect(target)) as copy, copy:
            copy.execute("PRAGMA secure_delete = ON")
            reseal(copy, seal)
        _sync(target)
        _sync(target.parent)
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
