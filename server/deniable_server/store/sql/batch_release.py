"""Batch release: moves a batch of waiting records into the counts, with their tally and the marks of used codes, in one transaction.

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
    arrived = batch.arrived.items()
    rows = [(secrets.randbits(63), id_, survey.id, *parts.row(part), records.count, records.reports) for id_, records in arrived]
    connection.executemany(_INSERT, sorted(rows))
    connection.executemany(_SPEND, [(survey.id, code) for code in sorted(batch.codes)])
    if batch.changes:
        change = counts(survey, batch.arrived.values()) - counts(survey, batch.withdrawn)
        tallies.change(connection, survey, part, change)
        spans.note(connection, survey.id, part, change.n, clock.today())


def tally(survey: Survey, submissions: Collection[PackedRecords]) -> Tally:
    """Returns the tally of records with all pairs, for wide surveys too."""
    return Tally.from_records(b"".join(records.reports for records in submissions), survey.record.bits)


def counts(survey: Survey, submissions: Collection[PackedRecords]) -> Counts:
    """Returns the counts of records; records that were counted before their turn are not counted again."""
    ready = [records.counts for records in submissions if records.counts is not None]
    new = [records for records in submissions if records.counts is None]
    return sum(ready, Counts.of(survey, b"".join(records.reports for records in new), sum(records.count for records in new)))
