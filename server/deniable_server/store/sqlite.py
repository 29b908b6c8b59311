"""The store on SQLite: one file, made and migrated by sqlite-utils.

What keeps it unordered: submissions live in a table WITHOUT ROWID keyed by their random id, a commit's rows
go in sorted, the write-ahead log is emptied whenever the writer is idle, deleted bytes are overwritten, and
the whole file is rewritten in id order after withdrawals, when a survey closes and when the server stops.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from deniable.codes import invitation_hash
from deniable.submission import Submission, record_bits, unpack
from deniable.survey import Survey
from deniable.tally import Tally
from deniable_server.store import ClosedError, ConflictError, InvitationError, Published, UnknownSurveyError, WithdrawnError, tallies
from deniable_server.store.rewriting import Rewriting
from deniable_server.store.schema import migrate
from deniable_server.store.sqlite_accounts import SqliteAccounts
from deniable_server.store.writer import Writer, explain

FOLD_BYTES = 8 << 20  # reports counted at a time, so that memory does not grow with the survey
FOLD_SUBMISSIONS = 4096
UNMATCHED = 100_000  # withdrawals that find nothing and are remembered all the same, for each survey
_ERASED = 1  # the file's user_version while something was erased since the file was written anew


class SqliteStore:
    """A `Store` in the file at `path`, which is made if it is not there, readable by its owner only."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._folding = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        with closing(self._connect()) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            migrate(connection)
        self._writer = Writer(self._connect)
        self.accounts = SqliteAccounts(self._writer, self._reading)
        self._rewriting = Rewriting(self.rewrite)
        with self._reading() as connection:
            if connection.execute("PRAGMA user_version").fetchone() == (_ERASED,):
                self._rewriting.due()

    def publish(self, survey: Survey) -> bool:
        def work(connection: sqlite3.Connection) -> bool:
            row = connection.execute("SELECT definition FROM surveys WHERE id = ?", [survey.id]).fetchone()
            if row and bytes(row[0]) != survey.definition:
                raise ConflictError(
                    f"a survey {survey.id} is published already and never changes; publish the new version under another id"
                )
            if row:
                return False
            today = datetime.now(UTC).date().isoformat()
            connection.execute("INSERT INTO surveys VALUES (?, ?, 1, ?)", [survey.id, survey.definition, today])
            return True

        return self._writer.run(work)

    def published(self, survey_id: str) -> Published:
        with self._reading() as connection:
            row = connection.execute("SELECT definition, is_open, published_on FROM surveys WHERE id = ?", [survey_id]).fetchone()
        if row is None:
            raise UnknownSurveyError("no survey with this id is published here")
        return _published(row)

    def surveys(self) -> list[Published]:
        with self._reading() as connection:
            rows = connection.execute("SELECT definition, is_open, published_on FROM surveys ORDER BY id").fetchall()
        return [_published(row) for row in rows]

    def set_open(self, survey_id: str, is_open: bool) -> None:
        def work(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE surveys SET is_open = ? WHERE id = ?", [is_open, survey_id])

        self.published(survey_id)
        self._writer.run(work)
        if not is_open:
            self.rewrite()

    def add(self, survey_id: str, submission: Submission) -> bool:
        own = (survey_id, submission.count, submission.reports, submission.group or "", submission.by_hand)

        def work(connection: sqlite3.Connection) -> bool:
            kept = connection.execute(_KEPT, [submission.id]).fetchone()
            if kept:
                if tuple(kept) != own:
                    raise ConflictError("this id was used before with other bytes")
                return False
            if connection.execute("SELECT 1 FROM withdrawn WHERE id = ?", [submission.id]).fetchone():
                raise WithdrawnError("this submission was withdrawn; it is not kept and not counted")
            _refuse_closed(connection, survey_id)
            if submission.invitation is not None:
                _spend(connection, survey_id, submission.invitation)
            insert = "INSERT INTO submissions (survey, count, reports, label, by_hand, id) VALUES (?, ?, ?, ?, ?, ?)"
            connection.execute(insert, [*own, submission.id])
            connection.execute("INSERT INTO untallied VALUES (?, ?)", [survey_id, submission.id])
            return True

        return self._writer.run(work, order=submission.id)

    def withdraw(self, survey_id: str, submission_id: bytes) -> None:
        self.published(survey_id)
        while not (erased := self._erase(submission_id)) and not self._refuse_later(survey_id, submission_id):
            pass  # it arrived between the two
        if erased:
            self._rewriting.due()

    def tally(self, survey_id: str, group: str | None = None, by_hand: bool = False) -> Tally:
        survey = self.published(survey_id).survey
        with self._folding:
            while self._fold(survey):
                pass
        with self._reading() as connection:
            return tallies.total(connection, survey, group, by_hand)

    def recount(self, survey_id: str, group: str | None = None, by_hand: bool = False) -> Tally:
        survey = self.published(survey_id).survey
        total = Tally.empty(record_bits(survey))
        chosen = {"survey": survey_id, "label": group, "by_hand": by_hand}
        with self._reading() as connection:
            for count, reports in connection.execute(_REPORTS, chosen):
                total += Tally.from_bits(unpack(survey, reports, count))
        return total

    def invite(self, survey_id: str, hashes: Sequence[bytes]) -> None:
        rows = [(survey_id, hash_) for hash_ in sorted(hashes)]
        self.published(survey_id)
        self._writer.run(lambda connection: connection.executemany("INSERT OR IGNORE INTO invitations VALUES (?, ?, 0)", rows) and None)

    def invitations(self, survey_id: str) -> tuple[int, int]:
        self.published(survey_id)
        with self._reading() as connection:
            query = "SELECT count(*), coalesce(sum(spent), 0) FROM invitations WHERE survey = ?"
            made, spent = connection.execute(query, [survey_id]).fetchone()
        return made, spent

    def rewrite(self) -> None:
        """Writes the file anew in the order of its keys: no order shows inside its pages, and nothing erased is left in them."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("VACUUM")
            connection.execute("PRAGMA user_version = 0")

        self._writer.run_alone(work)
        self._writer.run(lambda connection: None)

    def close(self) -> None:
        self._rewriting.stop()
        for reader in self._readers:
            reader.close()
        self._writer.close()

    def _fold(self, survey: Survey) -> bool:
        """Counts some untallied submissions into the stored tallies. False when there was none left."""
        with self._reading() as connection:
            rows = list(_limited(connection.execute(_UNTALLIED, [survey.id, FOLD_SUBMISSIONS])))
        if not rows:
            return False
        ids = [row[0] for row in rows]
        counted = _counted(survey, rows)

        def work(connection: sqlite3.Connection) -> bool:
            if tallies.take(connection, survey.id, ids):
                for part, tally in counted.items():
                    tallies.add(connection, survey, part, tally)
            return True  # if some were counted by another process or withdrawn meanwhile: look again

        return self._writer.run(work)

    def _erase(self, submission_id: bytes) -> bool:
        """Erases a submission and takes it out of its tally. False, changing nothing, if it is not there."""
        with self._reading() as connection:
            row = connection.execute(_KEPT, [submission_id]).fetchone()
        if row is None:
            return False
        survey_id, count, reports, label, by_hand = row
        survey = self.published(survey_id).survey
        tally = Tally.from_bits(unpack(survey, reports, count))  # before the writer's turn, since others wait for it

        def work(connection: sqlite3.Connection) -> bool:
            if not connection.execute("DELETE FROM submissions WHERE id = ?", [submission_id]).rowcount:
                return False
            connection.execute("INSERT INTO withdrawn VALUES (?)", [submission_id])
            connection.execute(f"PRAGMA user_version = {_ERASED}")
            if not tallies.take(connection, survey_id, [submission_id]):
                tallies.subtract(connection, survey, (label, bool(by_hand)), tally)
            return True

        return self._writer.run(work, order=submission_id)

    def _refuse_later(self, survey_id: str, submission_id: bytes) -> bool:
        """Remembers the id of a submission that is not there and may be on its way. False, changing nothing, if it is there.

        Remembers UNMATCHED of them at most, since strangers can send any number of codes that they made up.
        """

        def work(connection: sqlite3.Connection) -> bool:
            if connection.execute(_KEPT, [submission_id]).fetchone():
                return False
            if connection.execute("SELECT 1 FROM withdrawn WHERE id = ?", [submission_id]).fetchone():
                return True
            count = "INSERT INTO unmatched VALUES (?, 1) ON CONFLICT (survey) DO UPDATE SET count = count + 1 WHERE count < ?"
            if connection.execute(count, [survey_id, UNMATCHED]).rowcount:
                connection.execute("INSERT INTO withdrawn VALUES (?)", [submission_id])
            return True

        return self._writer.run(work, order=submission_id)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=30)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """This thread's own connection, for reading. Raises UnavailableError where the database fails."""
        if not hasattr(self._local, "connection"):
            self._local.connection = self._connect()
            self._readers.append(self._local.connection)
        try:
            yield self._local.connection
        except sqlite3.Error as error:
            raise explain(error) from error


_KEPT = "SELECT survey, count, reports, label, by_hand FROM submissions WHERE id = ?"
_REPORTS = f"SELECT count, reports FROM submissions WHERE {tallies.CHOSEN}"  # noqa: S608 - our own constant
_UNTALLIED = """SELECT s.id, s.count, s.reports, s.label, s.by_hand FROM untallied u JOIN submissions s ON s.id = u.id
WHERE u.survey = ? ORDER BY u.id LIMIT ?"""


def _limited(rows: Iterator[Any]) -> Iterator[Any]:
    """Rows until their reports pass FOLD_BYTES."""
    size = 0
    for row in rows:
        yield row
        size += len(row[2])
        if size > FOLD_BYTES:
            return


def _counted(survey: Survey, rows: Sequence[Any]) -> dict[tallies.Part, Tally]:
    """The tallies of rows of _UNTALLIED, by their parts."""
    parts: dict[tallies.Part, list[Any]] = {}
    for row in rows:
        parts.setdefault((row[3], bool(row[4])), []).append(row)
    return {
        part: Tally.from_bits(unpack(survey, b"".join(row[2] for row in own), sum(row[1] for row in own))) for part, own in parts.items()
    }


def _refuse_closed(connection: sqlite3.Connection, survey_id: str) -> None:
    row = connection.execute("SELECT is_open FROM surveys WHERE id = ?", [survey_id]).fetchone()
    if row is None:
        raise UnknownSurveyError("no survey with this id is published here")
    if not row[0]:
        raise ClosedError(f"survey {survey_id} is closed")


def _spend(connection: sqlite3.Connection, survey_id: str, invitation: bytes) -> None:
    """Changes the mark where it stands: no order, no time, nothing that leads to the submission."""
    update = "UPDATE invitations SET spent = 1 WHERE survey = ? AND hash = ? AND spent = 0"
    if not connection.execute(update, [survey_id, invitation_hash(survey_id, invitation)]).rowcount:
        raise InvitationError("the invitation code is not one of this survey's, or it was used before")


def _published(row: Sequence[Any]) -> Published:
    return Published(_parsed(bytes(row[0])), bool(row[1]), str(row[2]))


@lru_cache(maxsize=256)
def _parsed(definition: bytes) -> Survey:
    return Survey.from_definition(definition)
