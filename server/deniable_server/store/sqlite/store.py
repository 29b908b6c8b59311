"""The store on SQLite: one file, made and migrated by sqlite-utils.

What keeps it unordered: a submission waits sealed in the intake and enters the tables with a batch, under a random key and sorted by it;
the write-ahead log is emptied whenever the writer is idle; deleted bytes are overwritten; and the whole file is rewritten in
the order of its keys after each batch while it is small, after withdrawals, when a survey closes and when the server stops.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deniable.survey import Survey
from deniable.wire.access_codes import invitation_hash
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable_server.store.errors import ClosedError, ConflictError, InvitationError, StoreError, UnavailableError
from deniable_server.store.protocol import Published
from deniable_server.store.sqlite import backup, intake, releasing, tallies
from deniable_server.store.sqlite.accounts import SqliteAccounts
from deniable_server.store.sqlite.intake import Intake
from deniable_server.store.sqlite.published import COLUMNS, find, published_of
from deniable_server.store.sqlite.rewriting import Rewriting
from deniable_server.store.sqlite.schema import migrate
from deniable_server.store.sqlite.sealing import Seal
from deniable_server.store.sqlite.tallies import Counts
from deniable_server.store.sqlite.waiting import Records
from deniable_server.store.sqlite.writer import BUSY_SECONDS, Writer, explain

UNMATCHED = 100_000  # withdrawals that find nothing and are remembered all the same, for each survey
SMALL_BYTES = 8 << 20  # a file up to here is rewritten after each batch: its few pages would show which came last
MANY = 64  # records that are counted before the writer's turn, since others wait for it
_DUE = 1  # the file's user_version while it is to be written anew


class SqliteStore:
    """A `Store` in the file at `path`, which is made if it is not there, readable by its owner only; so is the key beside it.

    Raises UnavailableError where there is a file that is none of ours, is damaged, or was written with another key.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        self._seal = Seal.beside(path)
        try:
            with closing(self._connect()) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
                migrate(connection)
                (due,) = connection.execute("PRAGMA user_version").fetchone()
        except sqlite3.Error as error:
            raise UnavailableError(f"the database {path.name} cannot be used: {error}") from error
        self._rewriting = Rewriting(self.rewrite)
        self._intake = Intake(self._seal, self._released)
        self._writer = Writer(self._connect, self._intake)
        self.accounts = SqliteAccounts(self._writer, self._reading)
        try:
            self._writer.run(self._prepare)
        except BaseException:
            self._writer.close()
            raise
        if due == _DUE:
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
            self._intake.prepare(connection, survey)
            return True

        return self._writer.run(work)

    def published(self, survey_id: str) -> Published:
        with self._reading() as connection:
            return find(connection, survey_id)

    def surveys(self) -> list[Published]:
        with self._reading() as connection:
            rows = connection.execute(f"SELECT {COLUMNS} FROM surveys ORDER BY id").fetchall()  # noqa: S608 - our own constant
        return [published_of(row) for row in rows]

    def set_open(self, survey_id: str, is_open: bool) -> None:
        def work(connection: sqlite3.Connection) -> None:
            find(connection, survey_id)
            connection.execute("UPDATE surveys SET is_open = ? WHERE id = ?", [is_open, survey_id])
            self._intake.touch(survey_id)

        self._writer.run(work)
        if not is_open:
            try:
                self.rewrite()
            except StoreError:
                self._rewriting.due()  # it is closed all the same; there is no room for this now

    def add(self, survey_id: str, submission: Submission) -> bool:
        part = (submission.group or "", submission.by_hand)
        records = self._records(survey_id, submission.count, submission.reports)

        def work(connection: sqlite3.Connection) -> bool:
            known = self._known(connection, submission.id)
            if known == (survey_id, *part, submission.reports):
                return False
            published = find(connection, survey_id)
            if not published.is_open:
                raise ClosedError(f"survey {survey_id} is closed")
            code = invitation_hash(survey_id, submission.invitation) if submission.invitation else None
            if code is not None and not self._usable(connection, survey_id, code):
                raise InvitationError("the invitation code is not one of this survey's, or it was used before")
            if known or connection.execute("SELECT 1 FROM withdrawn WHERE id = ?", [submission.id]).fetchone():
                raise ConflictError("this id was used before: with other bytes, or by a submission that was withdrawn")
            self._intake.add((survey_id, *part), submission.id, records, code)
            return True

        return self._writer.run(work)

    def withdraw(self, survey_id: str, submission_id: bytes) -> None:
        def work(connection: sqlite3.Connection) -> bool:
            if self._intake.find(submission_id):
                self._intake.remove(submission_id)
            elif stored:
                if not connection.execute("DELETE FROM submissions WHERE id = ?", [submission_id]).rowcount:
                    return True  # somebody else was faster
                self._intake.take_out(*stored)
                self._file_changed(connection)
            elif connection.execute("SELECT 1 FROM submissions WHERE id = ?", [submission_id]).fetchone():
                return False  # it entered the counts meanwhile: look again
            else:
                _refuse_later(connection, survey_id, submission_id)
                return True
            connection.execute("INSERT OR IGNORE INTO withdrawn VALUES (?)", [submission_id])
            return True

        self.published(survey_id)
        while True:
            stored = self._stored(submission_id)
            if self._writer.run(work):
                return

    def count(self, survey_id: str, group: str | None = None, by_hand: bool = False) -> int:
        with self._reading() as connection:
            find(connection, survey_id)
            return tallies.count(connection, {"survey": survey_id, "label": group, "by_hand": by_hand})

    def tally(self, survey_id: str, group: str | None = None, by_hand: bool = False) -> Tally:
        with self._reading() as connection:
            survey, chosen = find(connection, survey_id).survey, {"survey": survey_id, "label": group, "by_hand": by_hand}
            return self._scan(connection, survey, chosen) if tallies.is_wide(survey) else tallies.total(connection, survey, chosen)

    def recount(self, survey_id: str, group: str | None = None, by_hand: bool = False) -> Tally:
        with self._reading() as connection:
            chosen = {"survey": survey_id, "label": group, "by_hand": by_hand}
            return self._scan(connection, find(connection, survey_id).survey, chosen)

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

    def backup(self, target: Path) -> None:
        try:
            with closing(self._connect()) as connection:
                backup.write(connection, self._seal, target)
        except sqlite3.Error as error:
            raise explain(error) from error

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

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Makes room in the intake for the surveys of an older version; there is nothing to do otherwise."""
        rows = connection.execute(f"SELECT {COLUMNS} FROM surveys WHERE id NOT IN (SELECT survey FROM intake)")  # noqa: S608 - our own constant
        for row in rows.fetchall():
            self._intake.prepare(connection, published_of(row).survey)

    def _records(self, survey_id: str, count: int, reports: bytes) -> Records:
        """Records on their way to the writer: many are counted here, since others wait for its turns."""
        return Records(count, reports, Counts.of(self.published(survey_id).survey, reports, count) if count >= MANY else None)

    def _known(self, connection: sqlite3.Connection, submission_id: bytes) -> tuple[Any, ...] | None:
        """Survey, group, by hand and reports of a submission that waits or is kept."""
        if found := self._intake.find(submission_id):
            return (*found[0], found[1].reports)
        row = connection.execute("SELECT survey, label, by_hand, reports FROM submissions WHERE id = ?", [submission_id]).fetchone()
        return (row[0], row[1], bool(row[2]), bytes(row[3])) if row else None

    def _usable(self, connection: sqlite3.Connection, survey_id: str, code: bytes) -> bool:
        """Whether a code is one of the survey's, and neither spent nor with something that waits."""
        query = "SELECT 1 FROM invitations WHERE survey = ? AND hash = ? AND spent = 0"
        return not self._intake.holds_code(survey_id, code) and connection.execute(query, [survey_id, code]).fetchone() is not None

    def _stored(self, submission_id: bytes) -> tuple[intake.Place, Records] | None:
        """A submission that entered the counts, and where."""
        with self._reading() as connection:
            query = "SELECT survey, label, by_hand, count, reports FROM submissions WHERE id = ?"
            row = connection.execute(query, [submission_id]).fetchone()
        return ((row[0], row[1], bool(row[2])), self._records(row[0], row[3], row[4])) if row else None

    def _scan(self, connection: sqlite3.Connection, survey: Survey, chosen: dict[str, Any]) -> Tally:
        """Counts all reports, and those that were erased and are to leave the counts with the next batch."""
        total = tallies.recount(connection, survey, chosen)
        for (_, label, by_hand), waiting in intake.read(connection, self._seal, survey.id):
            if by_hand == chosen["by_hand"] and chosen["label"] in (None, label):
                total += releasing.tally(survey, waiting.withdrawn)
        return total

    def _released(self, connection: sqlite3.Connection) -> None:
        """A batch stands in the file: a small one is written anew, so that its pages do not show which came last."""
        pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        if pages * size <= SMALL_BYTES:
            self._file_changed(connection)

    def _file_changed(self, connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA user_version = {_DUE}")
        self._rewriting.due()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """This thread's own connection, for reading one state of the file. Raises UnavailableError where the database fails."""
        if not hasattr(self._local, "connection"):
            self._local.connection = self._connect()
            self._readers.append(self._local.connection)
        connection: sqlite3.Connection = self._local.connection
        try:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise explain(error) from error


def _refuse_later(connection: sqlite3.Connection, survey_id: str, submission_id: bytes) -> None:
    """Remembers the id of a submission that is not there and may be on its way.

    Remembers UNMATCHED of them at most, since strangers can send any number of codes that they made up.
    """
    if connection.execute("SELECT 1 FROM withdrawn WHERE id = ?", [submission_id]).fetchone():
        return
    count = "INSERT INTO unmatched VALUES (?, 1) ON CONFLICT (survey) DO UPDATE SET count = count + 1 WHERE count < ?"
    if connection.execute(count, [survey_id, UNMATCHED]).rowcount:
        connection.execute("INSERT INTO withdrawn VALUES (?)", [submission_id])
