"""What an operator without the server's key learns from copies of the database: rows, and which of their random values come again."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

APART = {
    *("users", "sessions", "keys", "second_factors", "recovery_codes", "passkeys", "user_invitations"),
    *("audit_head", "_sqlite_migrations", "sqlite_sequence"),
}
"""Tables of accounts, and hashes of what has the time of day in it: nothing in them comes from a respondent."""
TOKENS = ("key", "tag", "part", "sealed", "blinded")
"""Columns of random values. Which they are says nothing; that one of them comes again may."""

Rows = Mapping[str, list[dict[str, Any]]]


def rows_of(path: Path) -> Rows:
    """All rows, by table."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: [dict(row) for row in connection.execute(f"SELECT * FROM {name}")] for name in names if name not in APART}


def canonical(copies: Sequence[Rows]) -> list[list[str]]:
    """The rows of each copy as sorted text, in which a random value is the list of the copies that have it."""
    lives: dict[object, list[int]] = defaultdict(list)
    for number, copy in enumerate(copies):
        for value in tokens(copy):
            lives[value].append(number)
    return [sorted(_text(table, row, lives) for table, rows in copy.items() for row in rows) for copy in copies]


def tokens(copy: Rows) -> set[object]:
    """The random values of a copy."""
    return {row[name] for rows in copy.values() for row in rows for name in TOKENS if row.get(name)}


def _text(table: str, row: Mapping[str, Any], lives: Mapping[object, list[int]]) -> str:
    if table == "audit":
        entry = json.loads(row["entry"])
        return f"audit {[entry[name] for name in ('who', 'act', 'on', 'detail')]}"
    cells: dict[str, Any] = {}
    for name, value in row.items():
        size = len(value) if isinstance(value, bytes) else ""
        if name in TOKENS and value:
            cells[name] = f"in {lives[value]} {size}"
        else:
            cells[name] = value.hex() if isinstance(value, bytes) else value
    return f"{table} {cells}"
