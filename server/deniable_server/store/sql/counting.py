"""Counting: moves waiting records into the counts with their tally, in one transaction.

Rows are inserted under random keys and sorted by them, so nothing in the file links one record to another.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection

from deniable.survey.compiled import SurveyRules
from deniable.wire.part import Part
from deniable.wire.tally import Tally
from deniable_server.store.sql import parts, tallies
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.tallies import Counts
from deniable_server.store.sql.waiting import PackedRecords, Waiting

_INSERT = "INSERT INTO submissions (key, id, survey, label, mode, count, reports) VALUES (?, ?, ?, ?, ?, ?, ?)"


def count(connection: Connection, survey: SurveyRules, part: Part, due: Waiting) -> int:
    """Counts waiting submissions, inside the caller's transaction. Returns by how many records the count changes."""
    arrived = due.arrived.items()
    rows = [(secrets.randbits(63), id_, survey.id, *parts.row(part), records.count, records.reports) for id_, records in arrived]
    connection.executemany(_INSERT, sorted(rows))
    change = counts(survey, due.arrived.values()) - counts(survey, due.withdrawn.values())
    tallies.change(connection, survey, part, change)
    return change.n


def tally(survey: SurveyRules, submissions: Collection[PackedRecords]) -> Tally:
    """Returns the tally of records with all pairs, for wide surveys too."""
    return Tally.from_records(b"".join(records.reports for records in submissions), survey.record.bits)


def counts(survey: SurveyRules, submissions: Collection[PackedRecords]) -> Counts:
    """Returns the counts of records; records that were counted before their turn are not counted again."""
    ready = [records.counts for records in submissions if records.counts is not None]
    new = [records for records in submissions if records.counts is None]
    return sum(ready, Counts.of(survey, b"".join(records.reports for records in new), sum(records.count for records in new)))
