"""The stored tallies: one for each part of a survey, changed inside the caller's transaction.

A part is a public group (its label, empty where there is none) and whether its records were made by hand.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from deniable.submission import record_bits
from deniable.survey import Survey
from deniable.tally import Tally

Part = tuple[str, bool]
CHOSEN = "survey = :survey AND by_hand = :by_hand AND (:label IS NULL OR label = :label)"
"""The condition on rows that names one part of a survey, or with no label all its groups."""


def total(connection: sqlite3.Connection, survey: Survey, group: str | None, by_hand: bool) -> Tally:
    """The sum over one group, or over all where `group` is None."""
    chosen = {"survey": survey.id, "label": group, "by_hand": by_hand}
    bits = record_bits(survey)
    rows = connection.execute(f"SELECT n, pairs FROM tallies WHERE {CHOSEN}", chosen)  # noqa: S608 - our own constant
    return sum((Tally.from_bytes(n, bits, pairs) for n, pairs in rows), Tally.empty(bits))


def add(connection: sqlite3.Connection, survey: Survey, part: Part, tally: Tally) -> None:
    """Counts more records of a part."""
    _keep(connection, survey, part, _of(connection, survey, part) + tally)


def subtract(connection: sqlite3.Connection, survey: Survey, part: Part, tally: Tally) -> None:
    """Takes counted records of a part out again; nothing is left of a part without records."""
    _keep(connection, survey, part, _of(connection, survey, part) - tally)


def take(connection: sqlite3.Connection, survey_id: str, ids: Sequence[bytes]) -> bool:
    """Marks exactly these submissions as tallied; False, changing nothing, if some were already or are gone."""
    connection.execute("SAVEPOINT take")
    taken = connection.executemany("DELETE FROM untallied WHERE survey = ? AND id = ?", [(survey_id, id_) for id_ in ids]).rowcount
    if taken != len(ids):
        connection.execute("ROLLBACK TO take")
    connection.execute("RELEASE take")
    return taken == len(ids)


def _of(connection: sqlite3.Connection, survey: Survey, part: Part) -> Tally:
    query = "SELECT n, pairs FROM tallies WHERE survey = ? AND label = ? AND by_hand = ?"
    row = connection.execute(query, [survey.id, *part]).fetchone()
    return Tally.from_bytes(row[0], record_bits(survey), row[1]) if row else Tally.empty(record_bits(survey))


def _keep(connection: sqlite3.Connection, survey: Survey, part: Part, tally: Tally) -> None:
    if tally.n:
        connection.execute("REPLACE INTO tallies VALUES (?, ?, ?, ?, ?)", [survey.id, *part, tally.n, tally.to_bytes()])
    else:
        connection.execute("DELETE FROM tallies WHERE survey = ? AND label = ? AND by_hand = ?", [survey.id, *part])
