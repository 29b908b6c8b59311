"""Records that have arrived: checked, counted, and as large as they come; beside reading the same bytes out of SQLite."""

from __future__ import annotations

import sqlite3
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.performance.line import Line

from deniable.survey import Survey
from deniable.wire import planes
from deniable.wire.possible import check
from deniable.wire.submission import Submission

RECORDS, AT_ONCE = 10_000_000, 100_000
MB = 1 << 20


def survey_of(questions: int, options: int = 2) -> Survey:
    kind: dict[str, Any] = {"type": "yes_no"} if options == 2 else {"type": "choice", "options": [f"o{n}" for n in range(options)]}
    asked = [{"id": f"q{i}", "text": "?", **kind} for i in range(questions)]
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A.", "epsilon": 8, "questions": asked})


def database(file: Path, rows: int, size: int) -> sqlite3.Connection:
    """A file of rows of AT_ONCE random records of yes/no questions."""
    connection, rng = sqlite3.connect(file), np.random.default_rng(1)
    connection.execute("CREATE TABLE submissions (key INTEGER PRIMARY KEY, reports BLOB)")
    connection.executemany("INSERT INTO submissions VALUES (?, ?)", ((row, rng.bytes(AT_ONCE * size)) for row in range(rows)))
    connection.commit()
    return connection


def scan(connection: sqlite3.Connection, size: int, count: Callable[[planes.Octets], object]) -> None:
    for (reports,) in connection.execute("SELECT reports FROM submissions"):
        count(np.frombuffer(reports, dtype=np.uint8).reshape(-1, size))


def one_check(survey: Survey) -> float:
    """Microseconds that checking one record takes; the mean of many."""
    record = b"\0" * survey.record.bytes
    before = time.process_time()
    for _ in range(20_000):
        check(survey, record, 1)
    return 1e6 * (time.process_time() - before) / 20_000


def memory_of_a_large_body() -> float:
    """MB claimed, at most, for a body of 34 MB to become checked records, besides the body."""
    survey = survey_of(2048)
    body = Submission(bytes(16), survey.digest, 100_000, bytes(100_000 * survey.record.bytes)).to_json()
    tracemalloc.start()
    try:
        Submission.from_json(body).check(survey)
        return tracemalloc.get_traced_memory()[1] / MB
    finally:
        tracemalloc.stop()


def lines(quick: bool) -> Iterator[Line]:
    rows = (RECORDS // 10 if quick else RECORDS) // AT_ONCE
    one = survey_of(20)
    yield Line("one record of 20 yes/no questions, checked", "<= 1", lambda: one_check(one), 3.0, "3 us", unit="us", rounds=3)
    yield Line("memory beside a body of 34 MB", "<= 1", memory_of_a_large_body, 64.0, "64 MB", unit="MB", rounds=1)
    with tempfile.TemporaryDirectory() as folder, closing(database(Path(folder) / "stored.db", rows, 3)) as stored:
        yield from counted(stored, rows)


def counted(stored: sqlite3.Connection, rows: int) -> Iterator[Line]:
    name, read = f"{rows * AT_ONCE // 10**6} million records of 20 bits", "the read of the same bytes out of SQLite"
    for what, target, count in (
        ("marginals", "<= 3", lambda octets: planes.ones(octets, 20)),
        ("all pairs", "<= 7", lambda octets: planes.pairs(octets, 20)),
    ):
        yield Line(f"{what} of {name}", target, lambda count=count: scan(stored, 3, count), lambda: scan(stored, 3, np.copy), read)  # type: ignore[misc]
