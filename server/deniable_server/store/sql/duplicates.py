"""What a database has already of submissions that arrive: looked for all at once, since each statement lets another thread in."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from deniable_server.store.sql import parts
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.intake import Place

MOST = 512  # ids in one statement


class Known(NamedTuple):
    """states: of surveys that are published, by id; kept: where a submission is, and its reports, by id; withdrawn: ids."""

    states: dict[str, int]
    kept: dict[bytes, tuple[Place, bytes]]
    withdrawn: set[bytes]


def look_up(connection: Connection, survey_ids: Collection[str], submission_ids: Collection[bytes]) -> Known:
    """What is there of some surveys and submissions."""
    states = {id_: state for some in _some(survey_ids) for id_, state in connection.execute(_STATES.format(_marks(some)), some)}
    kept, withdrawn = {}, set()
    for some in _some(submission_ids):
        for id_, survey, label, mode, reports in connection.execute(_SUBMISSIONS.format(_marks(some)), [*some, *some]):
            if survey is None:
                withdrawn.add(bytes(id_))
            else:
                kept[bytes(id_)] = Place(survey, parts.part(label, mode)), bytes(reports)
    return Known(states, kept, withdrawn)


_STATES = "SELECT id, is_open FROM surveys WHERE id IN ({})"
_SUBMISSIONS = """SELECT id, survey, label, mode, reports FROM submissions WHERE id IN ({0})
UNION ALL SELECT id, NULL, NULL, NULL, NULL FROM withdrawn WHERE id IN ({0})"""


def _some(values: Collection[Any]) -> Iterator[Sequence[Any]]:
    """Up to MOST at a time, the last of them again and again up to a power of two: so there are few statements, and they stay prepared."""
    listed = list(values)
    for at in range(0, len(listed), MOST):
        some = listed[at : at + MOST]
        yield some + some[-1:] * ((1 << (len(some) - 1).bit_length()) - len(some))


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))
