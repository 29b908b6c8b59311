"""Invitation codes in SQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from deniable_server.store.audit import doing
from deniable_server.store.blind_signing import SigningKey
from deniable_server.store.errors import ClosedError, InvitationError, PausedError
from deniable_server.store.sql import issuers
from deniable_server.store.sql.audit import append
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import SqlDatabase
from deniable_server.store.sql.intake import code_tag
from deniable_server.store.sql.published import CLOSED, PAUSED, require, state_of

UNUSABLE = "the invitation code is not one of this survey's, or it was used before"


class SqlInvitations:
    """Implements `Invitations`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def add(self, survey_id: str, hashes: Sequence[bytes]) -> None:
        """Stores the hashes of new invitation codes, sorted, so that their order does not reveal the recipients."""
        rows = [(survey_id, hash_) for hash_ in sorted(hashes)]
        did = doing("codes.make", survey_id, f"{len(rows)} {'code' if len(rows) == 1 else 'codes'}")

        def work(connection: Connection) -> None:
            require(connection, survey_id)
            append(connection, did)
            connection.executemany("INSERT INTO invitations VALUES (?, ?, 0) ON CONFLICT DO NOTHING", rows)

        self._database.writer.run(work)

    def count(self, survey_id: str) -> tuple[int, int]:
        """Counts a survey's invitations, and the spent ones."""
        with self._database.reading() as connection:
            require(connection, survey_id)
            query = "SELECT count(*), coalesce(sum(spent), 0) FROM invitations WHERE survey = ?"
            total, spent = connection.execute(query, [survey_id]).fetchone()
        return total, spent

    def all_counts(self) -> Mapping[str, tuple[int, int]]:
        """Counts the invitations of each survey, and the spent ones."""
        with self._database.reading() as connection:
            rows = connection.execute("SELECT survey, count(*), sum(spent) FROM invitations GROUP BY survey").fetchall()
        return {survey: (total, int(spent)) for survey, total, spent in rows}

    def used(self) -> list[tuple[str, bytes]]:
        """Returns spent codes and the codes of waiting submissions, each with its survey."""
        with self._database.reading() as connection:
            rows = connection.execute("SELECT survey, hash FROM invitations WHERE spent = 1").fetchall()
            unspent = connection.execute("SELECT survey, hash FROM invitations WHERE spent = 0").fetchall()
            used = {bytes(tag) for (tag,) in connection.execute("SELECT tag FROM used_codes").fetchall()}
        waiting = [(survey, bytes(code)) for survey, code in unspent if code_tag(self._database.seal, survey, bytes(code)) in used]
        return sorted({*waiting, *((survey, bytes(code)) for survey, code in rows)})

    def spend(self, codes: Collection[tuple[str, bytes]]) -> int:
        """Marks codes as spent. Returns how many were not marked yet."""
        mark = "UPDATE invitations SET spent = 1 WHERE survey = ? AND hash = ? AND spent = 0"
        return self._database.writer.run(lambda connection: sum(connection.execute(mark, code).rowcount for code in codes))

    def spend_tokens(self, tags: Collection[tuple[str, bytes]]) -> int:
        """Marks tokens as used, by their keyed hashes; not of surveys that are closed or unknown. Returns how many were not marked yet."""

        def work(connection: Connection) -> int:
            rows = [(tag, survey, survey) for survey, tag in sorted(tags)]
            return sum(connection.execute(issuers.RESTORE, row).rowcount for row in rows)

        return self._database.writer.run(work)

    def exchange(self, survey_id: str, code_hash: bytes, blinded: bytes) -> bytes:
        """Signs the blinded token of a code, outside the writer's turn."""

        def work(connection: Connection) -> SigningKey:
            state = state_of(connection, survey_id)
            key = issuers.find(connection, self._database.seal, survey_id)
            if key is None or state == CLOSED:
                raise ClosedError(f"survey {survey_id} is closed")
            if state == PAUSED:
                raise PausedError(f"survey {survey_id} is paused; send the same again later")
            if not self._claim(connection, survey_id, code_hash, blinded):
                raise InvitationError(UNUSABLE)
            return key

        return self._database.writer.run(work).sign(blinded)

    def _claim(self, connection: Connection, survey_id: str, code_hash: bytes, blinded: bytes) -> bool:
        """Uses up a code for a blinded token. Returns whether the code is used for this token, now or earlier."""
        seal = self._database.seal
        tag, own = code_tag(seal, survey_id, code_hash), seal.tag(f"blinded token of {survey_id}", blinded)
        if row := connection.execute("SELECT blinded FROM used_codes WHERE tag = ?", [tag]).fetchone():
            return bytes(row[0]) == own
        if not self.admits(connection, survey_id, code_hash):
            return False
        connection.execute("INSERT INTO used_codes (tag, survey, blinded) VALUES (?, ?, ?)", [tag, survey_id, own])
        self._database.releases.intake.has_written = True
        return True

    def has(self, survey_id: str, code_hash: bytes) -> bool:
        """Returns whether a code belongs to the survey, spent or not."""
        with self._database.reading() as connection:
            require(connection, survey_id)
            query = "SELECT 1 FROM invitations WHERE survey = ? AND hash = ?"
            return connection.execute(query, [survey_id, code_hash]).fetchone() is not None

    def admits(self, connection: Connection, survey_id: str, code_hash: bytes) -> bool:
        """Returns whether a code belongs to the survey and is neither spent nor used by a waiting submission; for the writer's turn."""
        return not self._database.releases.intake.holds_code(survey_id, code_hash) and _unspent(connection, survey_id, code_hash)


def _unspent(connection: Connection, survey_id: str, code_hash: bytes) -> bool:
    query = "SELECT 1 FROM invitations WHERE survey = ? AND hash = ? AND spent = 0"
    return connection.execute(query, [survey_id, code_hash]).fetchone() is not None
