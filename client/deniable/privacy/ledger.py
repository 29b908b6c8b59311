"""Ledger of each person's privacy loss in all surveys, which keeps the sum below a cap.

A person is identified by a hash under a random key, which is in the same file, readable by its owner only. Beside the hash are the
digests of the surveys, how often the person took part in each, and its epsilon. There are no names, no answers and no times. Epsilons
add, for other surveys and for the same one again: fresh noise on the same answers loses as much once more.

A person is charged, durably, before anything of theirs is sent. If the machine fails between charging and sending, the person has
lost less than the ledger says, never more.
"""

from __future__ import annotations

import hashlib
import math
import os
import secrets
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from deniable.errors import RefusedError
from deniable.privacy.person_keys import UNNAMED, key_problem, normal_form
from deniable.privacy.private_files import PrivateDatabase, in_data_folder
from deniable.survey.total import within

_VERSION = 1
_SETTINGS = ("synchronous = EXTRA", "secure_delete = ON")  # a charge must outlive a power cut, its journal's removal included
_TABLES = (
    "CREATE TABLE key (secret BLOB NOT NULL)",
    """CREATE TABLE spent (
    person BLOB, survey BLOB, epsilon REAL NOT NULL, times INTEGER NOT NULL, PRIMARY KEY (person, survey)
) WITHOUT ROWID""",
    "CREATE TABLE begun (job BLOB, row INTEGER, charge BLOB NOT NULL, PRIMARY KEY (job, row)) WITHOUT ROWID",
)


class Spent(NamedTuple):
    """A person's total: number of surveys, number of submissions, and the sum of their epsilons."""

    surveys: int
    submissions: int
    epsilon: float


class Use(NamedTuple):
    """A submission's charge: the survey's digest, and its epsilon."""

    digest: str
    epsilon: float


@dataclass(frozen=True)
class JobRows:
    """The rows of a batch in a job: `job` as `Ledger.job` returns it, and the numbers of the rows."""

    job: bytes
    rows: Sequence[int]


def default_path() -> Path:
    """Returns the path of the ledger in the user's data folder."""
    return in_data_folder("ledger.sqlite")


class Ledger:
    """The ledger in one file, created with mode 0600. Safe for several threads and several processes.

    Raises:
        RefusedError: The file cannot be used, or others than its owner may read it.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = os.path.abspath(path or default_path())
        self._changed = False
        self._file = PrivateDatabase(self.path, self._unusable, _SETTINGS)
        try:
            if os.name == "posix" and os.stat(self.path).st_mode & 0o077:
                raise RefusedError(f"the ledger {self.path} must be readable by its owner only: chmod 600")
            self._key = self._opened()
        except BaseException:
            self._file.close()
            raise

    def _opened(self) -> bytes:
        """Creates the tables and the key if the file is new; returns the key."""
        with self._file.transaction() as db:
            if self._file.version(_VERSION) == 0:
                for table in _TABLES:
                    db.execute(table)
                db.execute("INSERT INTO key VALUES (?)", [secrets.token_bytes(32)])
                db.execute(f"PRAGMA user_version = {_VERSION}")
            return bytes(db.execute("SELECT secret FROM key").fetchone()[0])

    def close(self) -> None:
        """Closes the file, rewritten if it has changed, so that its bytes are in the order of the hashes."""
        with self._file.locked():
            if self._changed:
                with suppress(sqlite3.Error):  # another process uses it, and will rewrite it
                    self._file.run("VACUUM")
        self._file.close()

    def hashed(self, person: Any) -> bytes:
        """Returns the hash of a person's key, 16 bytes. Raises ValueError, without quoting it, for an invalid key."""
        normal = normal_form(person)
        if normal is None:
            reason = "" if (rule := key_problem(person)) == UNNAMED else f"; it {rule}"
            raise ValueError(f"person must be text or a whole number, the same in each survey, got {_kind(person)}{reason}")
        return self._hash(b"person", normal)

    def job(self, *names: str) -> bytes:
        """Returns the identifier of a job in the file."""
        return self._hash(b"job", "\0".join(names))

    def spent(self, person: bytes) -> Spent:
        """Returns the total of a person, by hash."""
        with self._file.transaction() as db:
            rows = db.execute("SELECT epsilon, times FROM spent WHERE person = ?", [person]).fetchall()
        return Spent(len(rows), sum(times for _, times in rows), math.fsum(epsilon * times for epsilon, times in rows))

    def charge(
        self, people: Sequence[bytes], use: Use, cap: float, *, job_rows: JobRows | None = None, all_or_none: bool = False
    ) -> list[bool]:
        """Charges each of these people, by hash, with `use`, but never above `cap`; returns who was charged.

        The charge is on the disk when this returns.

        Args:
            people: The hashes of the people.
            use: The charge.
            cap: The most that a person's total may be.
            job_rows: The rows in a job: rows that an earlier run of the job charged are not charged again.
            all_or_none: Charge no one if someone would exceed the cap.

        Raises:
            RefusedError: The file cannot be used.
        """
        with self._file.transaction() as db:
            begun = self._begun(db, people, job_rows)
            sums: dict[bytes, list[float]] = {}
            charged = [
                paid or self._fits(db, sums, person, use.epsilon, cap)  # in this order: a paid row is not added again
                for person, paid in zip(people, begun, strict=True)
            ]
            if all_or_none and not all(charged):
                return charged
            new = [person for person, paid, fits in zip(people, begun, charged, strict=True) if fits and not paid]
            db.executemany(
                "INSERT INTO spent VALUES (?, ?, ?, 1) ON CONFLICT (person, survey) DO UPDATE SET times = times + 1",
                [(person, bytes.fromhex(use.digest), use.epsilon) for person in new],
            )
            if job_rows:
                self._note(db, people, charged, job_rows)
            self._changed = True
        return charged

    def trial(self, use: Use, cap: float) -> Trial:
        """Returns a dry run, which computes who would be charged over any number of batches."""
        return Trial(self, use, cap)

    def settle(self, job: bytes) -> None:
        """Deletes the rows of a completed job; all of them are in the outbox."""
        with self._file.transaction() as db:
            db.execute("DELETE FROM begun WHERE job = ?", [job])

    def _begun(self, db: sqlite3.Connection, people: Sequence[bytes], job_rows: JobRows | None) -> list[bool]:
        """Returns for each person whether that very row is paid already. A row that now has another person is not."""
        if job_rows is None:
            return [False] * len(people)
        paid = dict(db.execute("SELECT row, charge FROM begun WHERE job = ?", [job_rows.job]))
        return [paid.get(row) == self._charge_of(job_rows.job, row, person) for row, person in zip(job_rows.rows, people, strict=True)]

    def _note(self, db: sqlite3.Connection, people: Sequence[bytes], charged: Sequence[bool], job_rows: JobRows) -> None:
        """Records which rows are paid until the next batch, when these are in the outbox."""
        if len(job_rows.rows):
            db.execute("DELETE FROM begun WHERE job = ? AND row < ?", [job_rows.job, int(job_rows.rows[0])])
        rows = zip(job_rows.rows, people, charged, strict=True)
        notes = [(job_rows.job, int(row), self._charge_of(job_rows.job, row, person)) for row, person, paid in rows if paid]
        db.executemany("INSERT OR REPLACE INTO begun VALUES (?, ?, ?)", notes)

    def _fits(self, db: sqlite3.Connection, sums: dict[bytes, list[float]], person: bytes, epsilon: float, cap: float) -> bool:
        """Returns whether one more use keeps a person below the cap; if so it is added to `sums`."""
        if person not in sums:
            rows = db.execute("SELECT epsilon, times FROM spent WHERE person = ?", [person])
            sums[person] = [epsilon * times for epsilon, times in rows]
        if not within(math.fsum([*sums[person], epsilon]), cap):
            return False
        sums[person] = [math.fsum([*sums[person], epsilon])]
        return True

    def _charge_of(self, job: bytes, row: int, person: bytes) -> bytes:
        return hashlib.blake2b(job + int(row).to_bytes(8, "big") + person, key=self._key, digest_size=16, person=b"charge").digest()

    def _hash(self, what: bytes, text: str) -> bytes:
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self._key, digest_size=16, person=what).digest()

    def _unusable(self, error: Exception) -> RefusedError:
        return RefusedError(f"the ledger {self.path} cannot be used, so nothing is sent: {error}")


class Trial:
    """Dry run of charges: totals that are in no file."""

    def __init__(self, ledger: Ledger, use: Use, cap: float) -> None:
        self._ledger, self._use, self._cap = ledger, use, cap
        self._sums: dict[bytes, list[float]] = {}

    def __call__(self, people: Sequence[bytes], job_rows: JobRows | None) -> list[bool]:
        """Returns who could be charged, after all people of earlier calls."""
        ledger, (_, epsilon) = self._ledger, self._use
        with ledger._file.transaction() as db:
            begun = ledger._begun(db, people, job_rows)
            return [paid or ledger._fits(db, self._sums, person, epsilon, self._cap) for person, paid in zip(people, begun, strict=True)]


def _kind(person: Any) -> str:
    return ("a text" if person.strip() else "an empty text") if isinstance(person, str) else type(person).__name__
