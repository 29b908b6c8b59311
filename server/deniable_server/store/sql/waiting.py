"""Waiting submissions of one part of a survey, and the encoding of each as a row of the intake."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from deniable.survey.compiled import SurveyRules
from deniable.wire.access_codes import ID_BYTES
from deniable.wire.part import Part
from deniable_server.store.sql.parts import NUMBERS
from deniable_server.store.sql.tallies import Counts

NO_ID = bytes(ID_BYTES)
"""Written in place of the id of erased records, whose row has no tag. A submission may have the same id."""

_HEAD = struct.Struct(f">HBI{ID_BYTES}s")  # numbers of the group, of the mode and of records; the submission's id


@dataclass(frozen=True)
class PackedRecords:
    """Perturbed records back to back, with their counts if they are already counted."""

    count: int
    reports: bytes
    counts: Counts | None = None


@dataclass
class Waiting:
    """Submissions by id, and erased records that must leave the counts, by the key of their row."""

    arrived: dict[bytes, PackedRecords] = field(default_factory=dict)
    withdrawn: dict[int, PackedRecords] = field(default_factory=dict)

    @property
    def changes(self) -> int:
        """The number of records that would enter or leave the counts."""
        return sum(records.count for records in (*self.arrived.values(), *self.withdrawn.values()))


def is_bulk(part: Part, count: int) -> bool:
    """Returns whether a submission was sent with a key: an organisation's, or several records at once. Others are a person's."""
    return part.mode == "organisation" or count > 1


def pack(survey: SurveyRules, part: Part, submission_id: bytes, records: PackedRecords) -> bytes:
    """Encodes a submission. The length depends on the survey and the number of records only, so that no group shows."""
    return _HEAD.pack(group_number(survey, part), NUMBERS.index(part.mode), records.count, submission_id) + records.reports


def group_number(survey: SurveyRules, part: Part) -> int:
    """Returns the number of a part's group; 0 without groups."""
    return survey.groups.index(part.group) if part.group is not None else 0


def unpack(survey: SurveyRules, content: bytes) -> tuple[Part, bytes, PackedRecords]:
    """Decodes what `pack` encoded: the part, the submission's id, its records."""
    group, mode, count, submission_id = _HEAD.unpack_from(content)
    part = Part(survey.groups[group] if survey.groups else None, NUMBERS[mode])
    return part, submission_id, PackedRecords(count, content[_HEAD.size :])
