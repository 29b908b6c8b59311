"""Release of a batch into the counts: its records, their tally and the marks of their codes, in one transaction.

Rows are inserted under random keys and sorted by them, so nothing in the file links one record to another, or to its code.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection

from deniable.survey import Survey
from deniable.wire.part import Part
from deniable.wire.tally import Tally
from deniable_server.store.sql import clock, parts, spans, tallies
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.tallies import Counts
from deniable_server.store.sql.waiting import PackedRecords, Waiting

_INSERT = "INSERT INTO submissions (key, id, survey, label, mode, count, reports) VALUES (?, ?, ?, ?, ?, ?, ?)"
_SPEND = "UPDATE invitations SET spent = 1 WHERE survey = ? AND hash = ?"


def release(connection: Connection, survey: Survey, part: Part, batch: Waiting) -> None:
    """Counts waiting submissions, inside the caller's transaction."""
    rows = [(secrets.randbits(63), id_, survey.id, *parts.row(part), one.count, one.reports) for id_, one in batch.arrived.items()]
    connection.executemany(_INSERT, sorted(rows))
    connection.executemany(_SPEND, [(survey.id, code) for code in sorted(batch.codes)])
    if batch.changes:
        change = counts(survey, batch.arrived.values()) - counts(survey, batch.withdrawn)
        tallies.change(connection, survey, part, change)
        spans.note(connection, survey.id, part, change.n, clock.today())


def tally(survey: Survey, records: Collection[PackedRecords]) -> Tally:
    """Returns the tally of records with all pairs, for wide surveys too."""
    return Tally.from_records(b"".join(one.reports for one in records), survey.record.bits)


def counts(survey: Survey, records: Collection[PackedRecords]) -> Counts:
    """Returns the counts of records; records that were counted before their turn are not counted again."""
    ready = [one.counts for one in records if one.counts is not None]
    new = [one for one in records if one.counts is None]
    return sum(ready, Counts.of(survey, b"".join(one.reports for one in new), sum(one.count for one in new)))
