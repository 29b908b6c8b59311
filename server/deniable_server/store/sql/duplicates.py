"""Duplicate detection: finds stored copies of incoming submissions in one query.

One query for many ids, because every statement releases the interpreter lock and would let another thread run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from deniable_server.store.sql import parts
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.encryption import Seal
from deniable_server.store.sql.intake import PartKey, opened, tag
from deniable_server.store.sql.published import states_of

MOST = 512  # ids in one statement


class StoredCopies(NamedTuple):
    """Stored copies of incoming submissions, and the states of their surveys.

    Attributes:
        states: The states of published surveys, by id.
        stored: The parts and reports of stored submissions, by id.
        withdrawn: The ids of withdrawn submissions.
    """

    states: dict[str, int]
    stored: dict[bytes, tuple[PartKey, bytes]]
    withdrawn: set[bytes]


def look_up(connection: Connection, seal: Seal, survey_ids: Collection[str], submission_ids: Collection[bytes]) -> StoredCopies:
    """Returns what the database has for some surveys and submissions, counted and waiting ones."""
    states = {id_: state for some in _some(survey_ids) for id_, state in states_of(connection, some).items()}
    stored, withdrawn = {}, set()
    for some in _some(submission_ids):
        own = [tag(seal, id_) for id_ in some]
        tags = dict(zip(own, some, strict=True))
        rows = connection.execute(_SUBMISSIONS.format(_marks(some)), [*some, *some, *own]).fetchall()
        for id_, survey, label, mode, reports in rows:
            if survey is None:
                withdrawn.add(bytes(id_))
            elif label is None:
                part_key, _, records = opened(connection, seal, survey, bytes(reports))
                stored[tags[bytes(id_)]] = part_key, records.reports
            else:
                stored[bytes(id_)] = PartKey(survey, parts.part(label, mode)), bytes(reports)
    return StoredCopies(states, stored, withdrawn)


_SUBMISSIONS = """SELECT id, survey, label, mode, reports FROM submissions WHERE id IN ({0})
UNION ALL SELECT id, NULL, NULL, NULL, NULL FROM withdrawn WHERE id IN ({0})
UNION ALL SELECT tag, survey, NULL, NULL, sealed FROM intake WHERE tag IN ({0})"""


def _some(values: Collection[Any]) -> Iterator[Sequence[Any]]:
    """Yields at most MOST values at a time, the last repeated up to a power of two, so that few distinct statements stay prepared."""
    ordered = list(values)
    for start in range(0, len(ordered), MOST):
        some = ordered[start : start + MOST]
        yield some + some[-1:] * ((1 << (len(some) - 1).bit_length()) - len(some))


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))
