"""Waiting submissions of one part of a survey, and their encoding, whose length does not depend on its content.

Records are sorted by their random ids, and separate from the codes that came with them.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from deniable.survey import Survey
from deniable.wire.access_codes import ID_BYTES
from deniable_server.store.sql.tallies import Counts

HASH_BYTES = 32
_HEAD = struct.Struct(">HHH")
_NO_ID = bytes(ID_BYTES)


@dataclass(frozen=True)
class PackedRecords:
    """Perturbed records back to back, with their counts if they are already counted."""

    count: int
    reports: bytes
    counts: Counts | None = None


@dataclass
class Waiting:
    """Submissions by id, erased records that must leave the counts, and hashes of codes that must be marked as spent."""

    arrived: dict[bytes, PackedRecords] = field(default_factory=dict)
    withdrawn: list[PackedRecords] = field(default_factory=list)
    codes: set[bytes] = field(default_factory=set)

    @property
    def changes(self) -> int:
        """The number of records that would enter or leave the counts."""
        return sum(records.count for records in (*self.arrived.values(), *self.withdrawn))


def room_for_codes(survey: Survey) -> int:
    """Returns the most codes that can wait: a batch is released when there are two, and withdrawn submissions leave their codes."""
    return 2 * survey.batch - 1 if survey.access == "invited" else 0


def pack(survey: Survey, waiting: Waiting) -> bytes:
    """Encodes waiting submissions, always in the same length for one survey. Several records of a submission repeat its id."""
    size = survey.record.bytes
    by_id = sorted(waiting.arrived.items(), key=lambda entry: entry[0])
    arrived = [id_ + record for id_, records in by_id for record in _each(records, size)]
    withdrawn = sorted(_NO_ID + record for records in waiting.withdrawn for record in _each(records, size))
    head = _HEAD.pack(len(arrived), len(withdrawn), len(waiting.codes))
    records = survey.most_waiting + survey.batch - 1  # arrived ones, and less than a batch that must leave the counts
    room = _HEAD.size + records * (ID_BYTES + size) + room_for_codes(survey) * HASH_BYTES
    return b"".join([head, *arrived, *withdrawn, *sorted(waiting.codes)]).ljust(room, b"\0")


def unpack(survey: Survey, content: bytes) -> Waiting:
    """Decodes what `pack` encoded; erased records come back one by one."""
    arrived, withdrawn, codes = _HEAD.unpack_from(content)
    size = ID_BYTES + survey.record.bytes
    end = _HEAD.size + (arrived + withdrawn) * size
    waiting, entries = Waiting(), _slices(content, _HEAD.size, end, size)
    for entry in entries[:arrived]:
        before = waiting.arrived.get(entry[:ID_BYTES], PackedRecords(0, b""))
        waiting.arrived[entry[:ID_BYTES]] = PackedRecords(before.count + 1, before.reports + entry[ID_BYTES:])
    waiting.withdrawn = [PackedRecords(1, entry[ID_BYTES:]) for entry in entries[arrived:]]
    waiting.codes = set(_slices(content, end, end + codes * HASH_BYTES, HASH_BYTES))
    return waiting


def _each(records: PackedRecords, size: int) -> list[bytes]:
    return _slices(records.reports, 0, len(records.reports), size)


def _slices(content: bytes, start: int, end: int, size: int) -> list[bytes]:
    return [content[offset : offset + size] for offset in range(start, end, size)]
