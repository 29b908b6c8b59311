"""The stored tallies: one for each part of a survey, changed in the transaction that makes or removes its records.

A part is a public group (its label, empty where there is none) and whether its records were made by hand. Of surveys up to WIDE bits
all pairs of bits are kept; of wider ones n alone, since the pairs of 2,048 bits take 16.8 MB a part; they are counted when they are wanted.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.survey import Survey
from deniable.wire.record import unpack
from deniable.wire.tally import Tally
from deniable_server.store.errors import UnavailableError

Part = tuple[str, bool]
CHOSEN = "survey = :survey AND by_hand = :by_hand AND (:label IS NULL OR label = :label)"
"""The condition on rows that names one part of a survey, or with no label all its groups."""
WIDE = 512
SCANNED_BYTES = 8 << 20  # reports counted at a time, so that memory does not grow with the survey
_KEEP = """INSERT INTO tallies (key, survey, label, by_hand, n, pairs) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (survey, label, by_hand) DO UPDATE SET n = excluded.n, pairs = excluded.pairs"""


@dataclass(frozen=True)
class Counts:
    """What is kept of some records: n, and the upper triangle of the pairs, row by row; no pairs of a wide survey."""

    n: int
    pairs: NDArray[np.int64]

    @classmethod
    def of(cls, survey: Survey, reports: bytes, count: int) -> Counts:
        """Counts records that were checked."""
        if is_wide(survey):
            return cls(count, np.zeros(0, dtype=np.int64))
        return cls(count, Tally.from_bits(unpack(survey, reports, count)).pairs[_triangle(survey.record.bits)])

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.n + other.n, self.pairs + other.pairs)

    def __sub__(self, other: Counts) -> Counts:
        return Counts(self.n - other.n, self.pairs - other.pairs)


def is_wide(survey: Survey) -> bool:
    """Whether pairs are counted only when they are wanted."""
    return survey.record.bits > WIDE


def count(connection: sqlite3.Connection, chosen: dict[str, Any]) -> int:
    """How many records are counted, of what CHOSEN names."""
    (n,) = connection.execute(f"SELECT coalesce(sum(n), 0) FROM tallies WHERE {CHOSEN}", chosen).fetchone()  # noqa: S608 - our own constant
    return int(n)


def total(connection: sqlite3.Connection, survey: Survey, chosen: dict[str, Any]) -> Tally:
    """The sum over what CHOSEN names, of a survey that is not wide. Raises UnavailableError where the file is damaged."""
    bits = survey.record.bits
    found = Counts(0, np.zeros(bits * (bits + 1) // 2, dtype=np.int64))
    for n, pairs in connection.execute(f"SELECT n, pairs FROM tallies WHERE {CHOSEN}", chosen):  # noqa: S608 - our own constant
        found += _counts(survey, n, pairs)
    return Tally.from_bytes(found.n, bits, found.pairs.astype("<i8").tobytes())


def change(connection: sqlite3.Connection, survey: Survey, part: Part, more: Counts) -> None:
    """Adds to the counts of a part, or takes from them; nothing is left of a part without records."""
    query = "SELECT n, pairs FROM tallies WHERE survey = ? AND label = ? AND by_hand = ?"
    row = connection.execute(query, [survey.id, *part]).fetchone()
    found = _counts(survey, *row) + more if row else more
    if found.n:
        connection.execute(_KEEP, [secrets.randbits(63), survey.id, *part, found.n, found.pairs.astype("<i8").tobytes()])
    else:
        connection.execute("DELETE FROM tallies WHERE survey = ? AND label = ? AND by_hand = ?", [survey.id, *part])


def recount(connection: sqlite3.Connection, survey: Survey, chosen: dict[str, Any]) -> Tally:
    """What CHOSEN names, counted anew from every report, with all pairs."""
    found = (Tally.from_bits(unpack(survey, reports, n)) for n, reports in _scanned(connection, chosen))
    return sum(found, Tally.empty(survey.record.bits))


def count_again(connection: sqlite3.Connection, survey: Survey, part: Part) -> None:
    """Keeps the counts of a part that has none, from its reports."""
    chosen = {"survey": survey.id, "label": part[0], "by_hand": part[1]}
    for n, reports in _scanned(connection, chosen):
        change(connection, survey, part, Counts.of(survey, reports, n))


def _scanned(connection: sqlite3.Connection, chosen: dict[str, Any]) -> Iterator[tuple[int, bytes]]:
    """Counts and reports of what CHOSEN names, joined until they pass SCANNED_BYTES."""
    n, size = 0, 0
    parts: list[bytes] = []
    query = f"SELECT count, reports FROM submissions WHERE {CHOSEN}"  # noqa: S608 - our own constant
    for number, reports in connection.execute(query, chosen):
        n, size = n + number, size + len(reports)
        parts.append(reports)
        if size > SCANNED_BYTES:
            yield n, b"".join(parts)
            n, parts, size = 0, [], 0
    yield n, b"".join(parts)


def _counts(survey: Survey, n: int, raw: bytes) -> Counts:
    bits = survey.record.bits
    if len(raw) != (0 if is_wide(survey) else 4 * bits * (bits + 1)):
        raise UnavailableError("the server's database is damaged: a tally has another length than its survey implies")
    return Counts(n, np.frombuffer(raw, dtype="<i8").astype(np.int64))


@lru_cache(maxsize=16)
def _triangle(bits: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    rows, columns = np.triu_indices(bits)
    return rows, columns
