"""Backup of an SQLite database while the server runs."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path


def write(connection: sqlite3.Connection, target: Path) -> None:
    """Copies the database to a new file, readable by its owner only. Nothing in the copy shows an order.

    No file is left after an error.

    Raises:
        FileExistsError: The file exists.
        OSError: The file cannot be created.
        sqlite3.Error: The database cannot be read.
    """
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        connection.execute("VACUUM INTO ?", [str(target)])
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
