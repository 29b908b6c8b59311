"""Outbox: a durable queue of perturbed submissions that makes delivery idempotent: randomize once, send until acknowledged.

A submission is committed here before its first attempt, and every attempt sends those bytes: answers that were randomized twice would be
less private. A job records how many rows of an input are processed, in the same transaction that stores their perturbed bytes, so a
command that was killed resumes where it was. True answers are never stored here.

SQLite with a write-ahead log and synchronous=FULL. A process that sends a submission or works on a job owns it. It proves that it is
alive by a lock on a file of its own, which the operating system frees however the process ends; only what no live process owns may
be taken over.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from weakref import WeakValueDictionary

from deniable.delivery import token_table
from deniable.delivery.token_table import TokenTable
from deniable.errors import DeliveryError, RefusedError, RejectedRow
from deniable.privacy.private_files import MEMORY, PrivateDatabase, create_private, in_data_folder
from deniable.wire.submission import Submission
from deniable.wire.tokens import Token

_VERSION = 6
_TABLES = (
    """CREATE TABLE job (
    number INTEGER PRIMARY KEY, url TEXT NOT NULL, survey TEXT NOT NULL, name TEXT NOT NULL,
    digest TEXT NOT NULL, mark TEXT NOT NULL, rows INTEGER NOT NULL DEFAULT 0, submissions INTEGER NOT NULL DEFAULT 0,
    owner TEXT, UNIQUE (url, survey, name)
)""",
    """CREATE TABLE submission (
    id BLOB PRIMARY KEY, url TEXT NOT NULL, survey TEXT NOT NULL, digest TEXT NOT NULL,
    count INTEGER NOT NULL, reports BLOB NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'refused')), reason TEXT NOT NULL DEFAULT '',
    job INTEGER REFERENCES job, owner TEXT
)""",
    """CREATE TABLE rejected (
    job INTEGER NOT NULL REFERENCES job, row INTEGER NOT NULL, question TEXT NOT NULL, reason TEXT NOT NULL
)""",
)
_PUBLIC = (
    "ALTER TABLE job ADD COLUMN public TEXT NOT NULL DEFAULT ''",
    'ALTER TABLE submission ADD COLUMN "group" TEXT',
    "ALTER TABLE submission ADD COLUMN by_hand INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE submission ADD COLUMN invitation BLOB",
)
_ROWS = ("CREATE TABLE sent_row (mark BLOB PRIMARY KEY) WITHOUT ROWID",)
_MODE = (
    "ALTER TABLE submission ADD COLUMN mode TEXT NOT NULL DEFAULT 'device'",
    "UPDATE submission SET mode = 'by_hand' WHERE by_hand",
    "ALTER TABLE submission DROP COLUMN by_hand",
)
_NO_SIZES = ("UPDATE job SET mark = substr(mark, instr(mark, 'changed ')) WHERE mark LIKE '% bytes, changed %'",)
_STEPS = (_TABLES, _PUBLIC, _ROWS, _MODE, _NO_SIZES, token_table.TABLES)
"""Migrations of the file, from each version to the next."""


@dataclass(frozen=True)
class Job:
    """Progress of an input: `rows` of it are randomized or rejected, and never read again. public: which part of it is sent."""

    number: int
    rows: int
    submissions: int
    rejected: tuple[RejectedRow, ...]
    public: str


@dataclass(frozen=True)
class RefusedSubmission:
    """A submission in the outbox that the server rejected, and why."""

    id: str
    url: str
    survey: str
    count: int
    reason: str


def default_path() -> Path:
    """Returns the path of the outbox in the user's data folder."""
    return in_data_folder("outbox.sqlite")


class Outbox:
    """The outbox in one file, created with mode 0600, or in memory if `path` is ":memory:". Safe for threads and processes.

    Raises:
        DeliveryError: The file cannot be used.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = str(path) if path is not None else str(default_path())
        if self.path != MEMORY:
            self.path = os.path.abspath(self.path)
        self._life: _Life | None = None
        self.owner = secrets.token_hex(8)
        self._at_work: WeakValueDictionary[int, Job] = WeakValueDictionary()  # a job without a reference was interrupted
        self._file = PrivateDatabase(self.path, self._unusable, ("synchronous = FULL",))
        self.tokens = TokenTable(self._file)
        try:
            with self._file.locked():
                _prepare(self._file)
                if self.path != MEMORY:
                    self._life = _Life(self._life_path(self.owner))
        except BaseException as error:
            self._file.close()
            if isinstance(error, OSError):
                raise self._unusable(error) from None
            raise

    def close(self) -> None:
        """Releases everything that this outbox still owns, and closes the file."""
        try:
            with self._file.transaction() as db:
                db.execute("UPDATE submission SET owner = NULL WHERE owner = ?", [self.owner])
                db.execute("UPDATE job SET owner = NULL WHERE owner = ?", [self.owner])
        finally:
            with self._file.locked():  # no fork while SQLite is at work
                if self._life:
                    self._life.end()
            self._file.close()

    def begin(self, url: str, survey: str, name: str, digest: str, mark: str, public: str = "") -> Job:
        """Begins or resumes a job.

        Args:
            url: The server.
            survey: The id of the survey.
            name: The name of the job.
            digest: The digest of the survey's definition.
            mark: The version of the input, such as its modification time.
            public: The part of the input that is sent, in words: group, sheet, columns. It is stored with the first rows: until these are
                read, it may be anything, such as answers passed as columns.

        Raises:
            RefusedError: The job began with another definition, mark or `public`, or for the same survey at another address.
            DeliveryError: A live process is working on it.
        """
        with self._file.transaction() as db:
            key = [url, survey, name]
            db.execute("INSERT OR IGNORE INTO job (url, survey, name, digest, mark) VALUES (?, ?, ?, ?, ?)", [*key, digest, mark])
            number, *old, rows, submissions, owner = db.execute(
                "SELECT number, digest, mark, public, rows, submissions, owner FROM job WHERE url = ? AND survey = ? AND name = ?", key
            ).fetchone()
            if number in self._at_work if owner == self.owner else self._alive(owner):
                raise DeliveryError(f"job {name}: another process is working on it; run the same command again once it has ended")
            if rows:
                _refuse_changed(name, rows, old, [digest, mark, public])
            else:
                _refuse_elsewhere(db, [url, survey, name, digest])
            db.execute("UPDATE job SET owner = ?, digest = ?, mark = ? WHERE number = ?", [self.owner, digest, mark, number])
            rejected = db.execute("SELECT row, question, reason FROM rejected WHERE job = ? ORDER BY rowid", [number]).fetchall()
            job = self._at_work[number] = Job(number, rows, submissions, tuple(RejectedRow(*row) for row in rejected), public)
        return job

    def end(self, job: Job) -> None:
        """Releases a job, whose progress stays, and its submissions: sent twice, they are counted once."""
        self._at_work.pop(job.number, None)
        with self._file.transaction() as db:
            db.execute("UPDATE job SET owner = NULL WHERE number = ?", [job.number])
            db.execute("UPDATE submission SET owner = NULL WHERE job = ? AND owner = ?", [job.number, self.owner])

    def add(self, url: str, survey: str, *submissions: Submission) -> None:
        """Stores submissions that the caller owns and is about to send."""
        with self._file.transaction() as db:
            self._insert(db, url, survey, submissions, None)

    def processed_rows(self, url: str, survey: str, name: str) -> int:
        """Returns how many rows of a job are processed; 0 if there is no such job."""
        with self._file.transaction() as db:
            row = db.execute("SELECT rows FROM job WHERE url = ? AND survey = ? AND name = ?", [url, survey, name]).fetchone()
        return int(row[0]) if row else 0

    @contextmanager
    def exclusive(self) -> Iterator[bool]:
        """Locks out other processes, and yields whether any row's hash is stored."""
        with self._file.transaction() as db:
            yield db.execute("SELECT 1 FROM sent_row").fetchone() is not None

    def sent(self, marks: Sequence[bytes]) -> set[bytes]:
        """Returns which of these rows, hashed by `RowKeys`, are randomized."""
        with self._file.transaction() as db:
            return {mark for mark in marks if db.execute("SELECT 1 FROM sent_row WHERE mark = ?", [mark]).fetchone()}

    def advance(
        self,
        url: str,
        survey: str,
        job: Job,
        rows: int,
        submissions: Sequence[Submission],
        rejected: Iterable[RejectedRow],
        marks: Iterable[bytes] = (),
    ) -> None:
        """Adds `rows` rows to a job's progress, and stores their submissions, rejections and hashes, all in one transaction."""
        with self._file.transaction() as db:
            self._insert(db, url, survey, submissions, job)
            db.executemany("INSERT INTO sent_row VALUES (?)", [(mark,) for mark in marks])
            db.executemany("INSERT INTO rejected VALUES (?, ?, ?, ?)", [(job.number, *row) for row in rejected])
            values = [rows, len(submissions), job.public, job.number]
            db.execute("UPDATE job SET rows = rows + ?, submissions = submissions + ?, public = ? WHERE number = ?", values)

    def _insert(self, db: sqlite3.Connection, url: str, survey: str, submissions: Sequence[Submission], job: Job | None) -> None:
        rest = (url, survey, job.number if job else None, self.owner)
        db.executemany(
            'INSERT INTO submission (id, digest, count, reports, "group", mode, invitation, nonce, signature, url, survey, job, owner) '
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(s.id, s.digest, s.count, s.reports, s.group, s.mode, s.invitation, *_token_row(s.token), *rest) for s in submissions],
        )
        for token in (s.token for s in submissions if s.token):
            token_table.forget(db, token)

    def claim(self, url: str, job: Job | None = None, refused: bool = False) -> list[bytes]:
        """Takes over the submissions to `url` that no live process is sending, of one job or of all; returns their ids.

        Submissions that this outbox owns of a job that it begins were left by an interrupt.
        """
        with self._file.transaction() as db:
            claimable = db.execute(
                "SELECT id, owner FROM submission WHERE url = ? AND (state = 'waiting' OR ?) AND (? IS NULL OR job = ?) ORDER BY id",
                [url, refused, *([job.number if job else None] * 2)],
            ).fetchall()
            alive = {owner: self._alive(owner) and not (job and owner == self.owner) for _, owner in claimable}
            free = [submission_id for submission_id, owner in claimable if not alive[owner]]
            db.executemany("UPDATE submission SET owner = ? WHERE id = ?", [(self.owner, submission_id) for submission_id in free])
        return free

    def load(self, submission_id: bytes) -> tuple[str, Submission] | None:
        """Returns the survey's id and the stored submission; None if any process has withdrawn it."""
        with self._file.transaction() as db:
            row = db.execute(
                'SELECT nonce, signature, survey, digest, count, reports, "group", mode, invitation FROM submission WHERE id = ?',
                [submission_id],
            ).fetchone()
        if row is None:
            return None
        nonce, signature, survey, *rest = row
        return survey, replace(Submission(submission_id, *rest), token=None if nonce is None else Token(nonce, signature))

    def invite(self, job: Job, invitation: bytes) -> bool:
        """Replaces the invitation of a job's submissions that have no token yet. Returns whether there are any."""
        with self._file.transaction() as db:
            return bool(
                db.execute("UPDATE submission SET invitation = ? WHERE job = ? AND nonce IS NULL", [invitation, job.number]).rowcount
            )

    def remove(self, submission_id: bytes) -> None:
        """Deletes a submission, if it is here: it is acknowledged or withdrawn."""
        with self._file.transaction() as db:
            db.execute("DELETE FROM submission WHERE id = ?", [submission_id])

    def mark_refused(self, submission_id: bytes, reason: str) -> None:
        """Marks a submission as rejected by the server."""
        with self._file.transaction() as db:
            db.execute("UPDATE submission SET state = 'refused', reason = ?, owner = NULL WHERE id = ?", [reason, submission_id])

    def release(self, submission_ids: Iterable[bytes]) -> None:
        """Releases submissions, so that any process may send them."""
        with self._file.transaction() as db:
            db.executemany("UPDATE submission SET owner = NULL WHERE id = ?", [(submission_id,) for submission_id in submission_ids])

    def urls(self) -> list[str]:
        """Returns the servers of all submissions here."""
        with self._file.transaction() as db:
            return [url for (url,) in db.execute("SELECT DISTINCT url FROM submission ORDER BY url")]

    def waiting(self, url: str, job: Job | None = None) -> int:
        """Returns how many submissions to `url` are not acknowledged yet, rejected ones left out."""
        with self._file.transaction() as db:
            query = "SELECT count(*) FROM submission WHERE url = ? AND state = 'waiting' AND (? IS NULL OR job = ?)"
            return int(db.execute(query, [url, *([job.number if job else None] * 2)]).fetchone()[0])

    def refused_submissions(self, url: str) -> list[RefusedSubmission]:
        """Returns the submissions that the server at `url` rejected."""
        with self._file.transaction() as db:
            rows = db.execute(
                "SELECT id, url, survey, count, reason FROM submission WHERE url = ? AND state = 'refused' ORDER BY id", [url]
            ).fetchall()
        return [RefusedSubmission(submission_id.hex(), *rest) for submission_id, *rest in rows]

    def _unusable(self, error: Exception) -> DeliveryError:
        return DeliveryError(f"the outbox {self.path} cannot be used: {error}")

    def _life_path(self, owner: str) -> str:
        return f"{self.path}.{owner}.lock"

    def _alive(self, owner: str | None) -> bool:
        if owner is None or owner == self.owner or self.path == MEMORY:
            return owner is not None
        return _Life.is_held(self._life_path(owner))


def _token_row(token: Token | None) -> tuple[bytes | None, bytes | None]:
    return (token.nonce, token.signature) if token else (None, None)


def _refuse_changed(name: str, rows: int, old: Sequence[str], new: Sequence[str]) -> None:
    """Refuses a job whose digest, mark or group differs from its first rows'. Raises RefusedError."""
    (digest, mark, public), (new_digest, new_mark, new_public) = old, new
    if digest != new_digest:
        raise RefusedError(f"job {name}: it began under the definition with digest {digest}, and the survey now has {new_digest}")
    if mark != new_mark:
        raise RefusedError(
            f"job {name}: the file has changed since its first {rows:,} rows were randomized. Answers must not be "
            f"randomized twice: put new rows into a new file, or choose another job name if all rows are new"
        )
    if public != new_public:
        began, comes = (part or f"no {other.split()[0]}" for part, other in ((public, new_public), (new_public, public)))
        raise RefusedError(
            f"job {name}: it began with {began}, and now has {comes}. "
            f"Choose another job name for rows of another sheet, or answers in other columns, if none of them was sent"
        )


def _refuse_elsewhere(db: sqlite3.Connection, job: Sequence[str]) -> None:
    """Refuses a job with rows randomized for another address, which may be the same server. Raises RefusedError."""
    query = "SELECT url, rows FROM job WHERE url <> ? AND survey = ? AND name = ? AND digest = ? AND rows > 0"
    url, _, name, _ = job
    if row := db.execute(query, job).fetchone():
        other_url, rows = row
        raise RefusedError(
            f"job {name}: {rows:,} rows of it were randomized for this survey at {other_url}, and would be randomized again for {url}. "
            f"If that is the same server, write its address as before. If it is another server, which may know these people's answers "
            f"too, use a separate outbox"
        )


def _prepare(file: PrivateDatabase) -> None:
    """Migrates the file to its newest version, from nothing if it is new. Raises sqlite3.Error."""
    before = file.version(_VERSION)
    file.run("PRAGMA journal_mode = WAL")
    with file.transaction() as db:
        for step in _STEPS[file.version(_VERSION) :]:  # read again: another process may have been first
            for statement in step:
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {_VERSION}")
    if 0 < before < _VERSION:
        file.run("VACUUM")  # removes deleted data from the disk


class _Life:
    """A lock that lasts as long as its process. SQLite's own file lock is available on every platform."""

    def __init__(self, path: str) -> None:
        self._path = path
        create_private(path)
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.execute("BEGIN EXCLUSIVE")

    def end(self) -> None:
        """Releases the lock, and removes its file."""
        self._db.close()
        Path(self._path).unlink(missing_ok=True)

    @staticmethod
    def is_held(path: str) -> bool:
        """Returns whether the process that owns the lock is alive; removes a dead one's file."""
        if not os.path.exists(path):
            return False
        db = sqlite3.connect(path, isolation_level=None, timeout=0)
        try:
            db.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            return True
        finally:
            db.close()
        Path(path).unlink(missing_ok=True)
        return False
