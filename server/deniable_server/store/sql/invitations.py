"""Invitation codes in SQL."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from deniable_server.store.audit import doing
from deniable_server.store.sql import intake
from deniable_server.store.sql.audit import append
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import SqlDatabase
from deniable_server.store.sql.published import find


class SqlInvitations:
    """Implements `Invitations`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def add(self, survey_id: str, hashes: Sequence[bytes]) -> None:
        """Stores the hashes of new invitation codes, sorted, so that their order does not reveal the recipients."""
        rows = [(survey_id, hash_) for hash_ in sorted(hashes)]
        did = doing("codes.make", survey_id, f"{len(rows)} {'code' if len(rows) == 1 else 'codes'}")

        def work(connection: Connection) -> None:
            find(connection, survey_id)
            append(connection, did)
            connection.executemany("INSERT INTO invitations VALUES (?, ?, 0) ON CONFLICT DO NOTHING", rows)

        self._database.writer.run(work)

    def count(self, survey_id: str) -> tuple[int, int]:
        """Counts a survey's invitations, and the spent ones."""
        with self._database.reading() as connection:
            find(connection, survey_id)
            query = "SELECT count(*), coalesce(sum(spent), 0) FROM invitations WHERE survey = ?"
            total, spent = connection.execute(query, [survey_id]).fetchone()
        return total, spent

    def used(self) -> list[tuple[str, bytes]]:
        """Returns spent codes and the codes of waiting submissions, each with its survey."""
        with self._database.reading() as connection:
            rows = connection.execute("SELECT survey, hash FROM invitations WHERE spent = 1").fetchall()
            waiting = [(part_key.survey, code) for part_key, part in intake.read(connection, self._database.seal) for code in part.codes]
        return sorted({*waiting, *((survey, bytes(code)) for survey, code in rows)})

    def spend(self, codes: Collection[tuple[str, bytes]]) -> int:
        """Marks codes as spent. Returns how many were not marked yet."""
        mark = "UPDATE invitations SET spent = 1 WHERE survey = ? AND hash = ? AND spent = 0"
        return self._database.writer.run(lambda connection: sum(connection.execute(mark, code).rowcount for code in codes))

    def is_usable(self, survey_id: str, code_hash: bytes) -> bool:
        """Returns whether a code belongs to the survey and is not marked as spent."""
        with self._database.reading() as connection:
            find(connection, survey_id)
            return _unspent(connection, survey_id, code_hash)

    def admits(self, connection: Connection, survey_id: str, code_hash: bytes) -> bool:
        """Returns whether a code belongs to the survey and is neither spent nor used by a waiting submission; for the writer's turn."""
        return not self._database.intake.holds_code(survey_id, code_hash) and _unspent(connection, survey_id, code_hash)


def _unspent(connection: Connection, survey_id: str, code_hash: bytes) -> bool:
    query = "SELECT 1 FROM invitations WHERE survey = ? AND hash = ? AND spent = 0"
    return connection.execute(query, [survey_id, code_hash]).fetchone() is not None
