"""The store on SQLite: one file, made and migrated by sqlite-utils.

What keeps it unordered: submissions live in a table WITHOUT ROWID keyed by their random id, a commit's rows
go in sorted, the write-ahead log is emptied whenever the writer is idle, deleted bytes are overwritten, and
the whole file is rewritten in id order when a survey closes and when the server stops.
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

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

from deniable.submission import Submission, record_bits, unpack
from deniable.survey import Survey
from deniable.tally import Tally
from deniable_server.store import ClosedError, ConflictError, Published, UnknownSurveyError
from deniable_server.store.writer import Writer, explain

FOLD_BYTES = 8 << 20  # reports counted at a time, so that memory does not grow with the survey
FOLD_SUBMISSIONS = 4096

migrations = Migrations("deniable_server")


@migrations()
def first(db: Database) -> None:
    """Surveys, submissions, what is not tallied yet, tallies, users."""
    for statement in (
        "CREATE TABLE surveys (id TEXT PRIMARY KEY, definition BLOB NOT NULL, is_open INTEGER NOT NULL, published_on TEXT NOT NULL)",
        "CREATE TABLE submissions (id BLOB PRIMARY KEY, survey TEXT NOT NULL REFERENCES surveys (id), "
        "count INTEGER NOT NULL, reports BLOB NOT NULL) WITHOUT ROWID",
        "CREATE TABLE untallied (survey TEXT NOT NULL, id BLOB NOT NULL, PRIMARY KEY (survey, id)) WITHOUT ROWID",
        "CREATE TABLE tallies (survey TEXT PRIMARY KEY REFERENCES surveys (id), n INTEGER NOT NULL, pairs BLOB NOT NULL) WITHOUT ROWID",
        "CREATE TABLE users (name TEXT PRIMARY KEY, password_hash TEXT NOT NULL) WITHOUT ROWID",
    ):
        db.execute(statement)


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
            migrations.apply(Database(connection))
        self._writer = Writer(self._connect)

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
            empty = Tally.empty(record_bits(survey))
            connection.execute("INSERT INTO tallies VALUES (?, 0, ?)", [survey.id, empty.to_bytes()])
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
        def work(connection: sqlite3.Connection) -> bool:
            kept = connection.execute("SELECT survey, count, reports FROM submissions WHERE id = ?", [submission.id]).fetchone()
            if kept:
                if tuple(kept) != (survey_id, submission.count, submission.reports):
                    raise ConflictError("this id was used before with other bytes")
                return False
            row = connection.execute("SELECT is_open FROM surveys WHERE id = ?", [survey_id]).fetchone()
            if row is None:
                raise UnknownSurveyError("no survey with this id is published here")
            if not row[0]:
                raise ClosedError(f"survey {survey_id} is closed")
            values = [submission.id, survey_id, submission.count, submission.reports]
            connection.execute("INSERT INTO submissions VALUES (?, ?, ?, ?)", values)
            connection.execute("INSERT INTO untallied VALUES (?, ?)", [survey_id, submission.id])
            return True

        return self._writer.run(work, order=submission.id)

    def tally(self, survey_id: str) -> Tally:
        survey = self.published(survey_id).survey
        with self._folding:
            while self._fold(survey):
                pass
        with self._reading() as connection:
            n, pairs = connection.execute("SELECT n, pairs FROM tallies WHERE survey = ?", [survey_id]).fetchone()
        return Tally.from_bytes(n, record_bits(survey), pairs)

    def recount(self, survey_id: str) -> Tally:
        survey = self.published(survey_id).survey
        total = Tally.empty(record_bits(survey))
        with self._reading() as connection:
            for count, reports in connection.execute("SELECT count, reports FROM submissions WHERE survey = ?", [survey_id]):
                total += Tally.from_bits(unpack(survey, reports, count))
        return total

    def set_password(self, user: str, password_hash: str) -> None:
        statement = "INSERT INTO users VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET password_hash = excluded.password_hash"
        self._writer.run(lambda connection: connection.execute(statement, [user, password_hash]) and None)

    def password_hash(self, user: str) -> str | None:
        with self._reading() as connection:
            row = connection.execute("SELECT password_hash FROM users WHERE name = ?", [user]).fetchone()
        return None if row is None else str(row[0])

    def rewrite(self) -> None:
        """Writes the file anew in the order of its keys, so that not even the places inside a page show an order."""
        self._writer.run_alone(lambda connection: connection.execute("VACUUM") and None)
        self._writer.run(lambda connection: None)

    def close(self) -> None:
        for reader in self._readers:
            reader.close()
        self._writer.close()

    def _fold(self, survey: Survey) -> bool:
        """Counts some untallied submissions into the stored tally. False when there was none left."""
        with self._reading() as connection:
            rows = list(_limited(connection.execute(_UNTALLIED, [survey.id, FOLD_SUBMISSIONS])))
        if not rows:
            return False
        ids = [row[0] for row in rows]
        reports, count = b"".join(row[2] for row in rows), sum(row[1] for row in rows)
        part = Tally.from_bits(unpack(survey, reports, count))

        def work(connection: sqlite3.Connection) -> bool:
            if not _take(connection, survey.id, ids):
                return True  # another process counted them meanwhile; look again
            n, pairs = connection.execute("SELECT n, pairs FROM tallies WHERE survey = ?", [survey.id]).fetchone()
            total = Tally.from_bytes(n, record_bits(survey), pairs) + part
            connection.execute("UPDATE tallies SET n = ?, pairs = ? WHERE survey = ?", [total.n, total.to_bytes(), survey.id])
            return True

        return self._writer.run(work)

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


_UNTALLIED = "SELECT s.id, s.count, s.reports FROM untallied u JOIN submissions s ON s.id = u.id WHERE u.survey = ? ORDER BY u.id LIMIT ?"


def _limited(rows: Iterator[Any]) -> Iterator[Any]:
    """Rows until their reports pass FOLD_BYTES."""
    size = 0
    for row in rows:
        yield row
        size += len(row[2])
        if size > FOLD_BYTES:
            return


def _take(connection: sqlite3.Connection, survey_id: str, ids: Sequence[bytes]) -> bool:
    """Marks exactly these submissions as tallied; False, changing nothing, if some were already."""
    connection.execute("SAVEPOINT take")
    taken = connection.executemany("DELETE FROM untallied WHERE survey = ? AND id = ?", [(survey_id, id_) for id_ in ids]).rowcount
    if taken != len(ids):
        connection.execute("ROLLBACK TO take")
    connection.execute("RELEASE take")
    return taken == len(ids)


def _published(row: Sequence[Any]) -> Published:
    return Published(_parsed(bytes(row[0])), bool(row[1]), str(row[2]))


@lru_cache(maxsize=256)
def _parsed(definition: bytes) -> Survey:
    return Survey.from_definition(definition)
