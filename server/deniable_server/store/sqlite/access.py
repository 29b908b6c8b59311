"""Invitations on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from deniable_server.store.sqlite.file import File
from deniable_server.store.sqlite.published import find


class SqliteAccess:
    """The `Access` of a SqliteStore."""

    def __init__(self, file: File) -> None:
        self._file = file

    def invite(self, survey_id: str, hashes: Sequence[bytes]) -> None:
        rows = [(survey_id, hash_) for hash_ in sorted(hashes)]

        def work(connection: sqlite3.Connection) -> None:
            find(connection, survey_id)
            connection.executemany("INSERT OR IGNORE INTO invitations VALUES (?, ?, 0)", rows)

        self._file.writer.run(work)

    def invitations(self, survey_id: str) -> tuple[int, int]:
        with self._file.reading() as connection:
            find(connection, survey_id)
            query = "SELECT count(*), coalesce(sum(spent), 0) FROM invitations WHERE survey = ?"
            made, spent = connection.execute(query, [survey_id]).fetchone()
        return made, spent

    def usable(self, survey_id: str, code_hash: bytes) -> bool:
        with self._file.reading() as connection:
            find(connection, survey_id)
            return _unspent(connection, survey_id, code_hash)

    def admits(self, connection: sqlite3.Connection, survey_id: str, code_hash: bytes) -> bool:
        """In the writer's turn: whether a code is one of the survey's, and neither spent nor with something that waits."""
        return not self._file.intake.holds_code(survey_id, code_hash) and _unspent(connection, survey_id, code_hash)


def _unspent(connection: sqlite3.Connection, survey_id: str, code_hash: bytes) -> bool:
    query = "SELECT 1 FROM invitations WHERE survey = ? AND hash = ? AND spent = 0"
    return connection.execute(query, [survey_id, code_hash]).fetchone() is not None
