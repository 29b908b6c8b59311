"""Many records at once, checked and durable, beside a table with a row for each report."""

from __future__ import annotations

import itertools
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.performance.coins import yes_no
from benchmarks.performance.line import Line

from deniable.wire.submission import Submission
from deniable_server.store import open_store

SUBMISSION = 10_000


class Bulk:
    """One survey's store, and a table for each time that rows are written."""

    def __init__(self, folder: Path, reports: int) -> None:
        self.survey, self.folder, self.times = yes_no(20), folder, reports // SUBMISSION
        self.store = open_store(folder / "store.db")
        self.store.surveys.publish(self.survey)
        self.made = b"".join(os.urandom(2) + b"\x50" for _ in range(SUBMISSION))  # 20 bits each, and four that are zero
        self.tables = itertools.count()

    def submissions(self) -> None:
        for _ in range(self.times):
            one = Submission(os.urandom(16), self.survey.digest, SUBMISSION, self.made, mode="organisation")
            one.check(self.survey)
            self.store.submissions.add("s", one)

    def rows(self) -> None:
        size = self.survey.record.bytes
        db = sqlite3.connect(self.folder / f"rows{next(self.tables)}.db", isolation_level=None)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("CREATE TABLE report (id BLOB PRIMARY KEY, bits BLOB)")
        for _ in range(self.times):
            db.execute("BEGIN")
            parts = ((os.urandom(16), self.made[start : start + size]) for start in range(0, len(self.made), size))
            db.executemany("INSERT INTO report VALUES (?, ?)", parts)
            db.execute("COMMIT")
        db.close()


def lines(quick: bool) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as name:
        bulk = Bulk(Path(name), 100_000 if quick else 500_000)
        beside = "SQLite, a row a report, 10,000 a transaction"
        yield Line("many reports, checked and durable", "<= 0.25", bulk.submissions, bulk.rows, beside, by="wall", rounds=3)
        bulk.store.close()
