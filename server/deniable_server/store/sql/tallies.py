"""Stored tallies: one for each part of a survey, updated in the transaction that adds or removes its records.

For surveys up to WIDE bits all pairs of bits are stored; for wider ones only n, since the pairs of 2,048 bits take 16.8 MB
for each part. Their pairs are counted on demand.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable.survey.compiled import SurveyRules
from deniable.wire.part import Part
from deniable.wire.possible import check
from deniable.wire.tally import Tally
from deniable_server.store.errors import UnavailableError
from deniable_server.store.protocol import State
from deniable_server.store.sql import parts
from deniable_server.store.sql.connection import Connection

WIDE = 512
SCANNED_BYTES = 8 << 20  # reports counted at a time, so that memory does not grow with the survey
READ_BYTES = 1 << 18  # reports handed out at a time
_KEEP = """INSERT INTO tallies (key, survey, label, mode, n, pairs) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (survey, label, mode) DO UPDATE SET key = excluded.key, n = excluded.n, pairs = excluded.pairs"""


@dataclass(frozen=True)
class Counts:
    """Stored counts of some records: n, and the upper triangle of the pairs, row by row; no pairs for a wide survey."""

    n: int
    pairs: NDArray[np.int64]

    @classmethod
    def of(cls, survey: SurveyRules, reports: bytes, count: int) -> Counts:
        """Counts checked records."""
        if is_wide(survey):
            return cls(count, np.zeros(0, dtype=np.int64))
        return cls(count, Tally.from_records(reports, survey.record.bits).pairs[_triangle(survey.record.bits)])

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.n + other.n, self.pairs + other.pairs)

    def __sub__(self, other: Counts) -> Counts:
        return Counts(self.n - other.n, self.pairs - other.pairs)


def is_wide(survey: SurveyRules) -> bool:
    """Returns whether a survey's pairs are counted on demand only."""
    return survey.record.bits > WIDE


def counts(connection: Connection, survey_id: str) -> dict[Part, int]:
    """Returns the number of counted records of each part that has any. Reads no pairs, which come after n in a row."""
    rows = connection.execute("SELECT label, mode, n FROM tallies WHERE survey = ?", [survey_id])
    return {parts.part(label, mode): n for label, mode, n in rows}


def all_counts(connection: Connection) -> dict[str, dict[Part, int]]:
    """Returns the number of counted records of each part, by survey."""
    result: dict[str, dict[Part, int]] = {}
    for survey_id, label, mode, n in connection.execute("SELECT survey, label, mode, n FROM tallies").fetchall():
        result.setdefault(survey_id, {})[parts.part(label, mode)] = n
    return result


def state(connection: Connection, survey_id: str, chosen: Collection[Part] | None = None) -> State:
    """Returns the state of the counts of some parts, by default of all: their keys, which are random and new with every change."""
    condition, values = ("survey = ?", [survey_id]) if chosen is None else parts.among(survey_id, chosen)
    rows = connection.execute(f"SELECT key FROM tallies WHERE {condition} ORDER BY key", values)  # noqa: S608 - our own text
    return tuple(key for (key,) in rows.fetchall())


def total(connection: Connection, survey: SurveyRules, chosen: Collection[Part]) -> Tally:
    """Returns the sum over some parts of a survey that is not wide. Raises UnavailableError if the file is damaged."""
    bits = survey.record.bits
    n, pairs = 0, np.zeros(bits * (bits + 1) // 2, dtype="<i8")
    condition, values = parts.among(survey.id, chosen)
    for number, raw in connection.execute(f"SELECT n, pairs FROM tallies WHERE {condition}", values):  # noqa: S608 - our own text
        n += number
        pairs += _counts(survey, number, raw).pairs
    return Tally.from_triangle(n, bits, pairs)


def change(connection: Connection, survey: SurveyRules, part: Part, more: Counts) -> None:
    """Adds to the counts of a part or subtracts from them; a part without records has no row."""
    query = "SELECT n, pairs FROM tallies WHERE survey = ? AND label = ? AND mode = ?"
    row = connection.execute(query, [survey.id, *parts.row(part)]).fetchone()
    result = _counts(survey, *row) + more if row else more
    if result.n:
        connection.execute(_KEEP, [secrets.randbits(63), survey.id, *parts.row(part), result.n, result.pairs.astype("<i8").tobytes()])
    else:
        connection.execute("DELETE FROM tallies WHERE survey = ? AND label = ? AND mode = ?", [survey.id, *parts.row(part)])


def recount(connection: Connection, survey: SurveyRules, chosen: Collection[Part]) -> Tally:
    """Recomputes the tally of some parts from every record, with all pairs."""
    total = Tally.empty(survey.record.bits)
    for n, reports in scanned(connection, survey.id, chosen):
        check(survey, reports, n)
        total += Tally.from_records(reports, survey.record.bits)
    return total


def scanned(connection: Connection, survey_id: str, chosen: Collection[Part], at_once: int = SCANNED_BYTES) -> Iterator[tuple[int, bytes]]:
    """Yields numbers and reports of the records of some parts, in chunks of about `at_once` bytes."""
    n, size = 0, 0
    chunks: list[bytes] = []
    condition, values = parts.among(survey_id, chosen)
    query = f"SELECT count, reports FROM submissions WHERE {condition}"  # noqa: S608 - our own text
    for number, reports in connection.execute(query, values):
        n, size = n + number, size + len(reports)
        chunks.append(reports)
        if size > at_once:
            joined = b"".join(chunks)
            chunks.clear()
            yield n, joined
            n, size = 0, 0
    yield n, b"".join(chunks)


def _counts(survey: SurveyRules, n: int, raw: bytes) -> Counts:
    bits = survey.record.bits
    if len(raw) != (0 if is_wide(survey) else 4 * bits * (bits + 1)):
        raise UnavailableError("the server's database is damaged: a tally has another length than its survey implies")
    return Counts(n, np.frombuffer(raw, dtype="<i8").astype(np.int64, copy=False))


@lru_cache(maxsize=16)
def _triangle(bits: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    rows, columns = np.triu_indices(bits)
    return rows, columns
