"""Intake of submissions that are not counted yet: durable, and each one encrypted in a row of its own.

A row has a random key and a tag, a keyed hash of the submission's id. Without the server's key, the rows reveal neither which submission
or group they are of, nor which record a row becomes when it is counted. Codes that were used leave only a tag, in another table.
`release` selects the submissions to count.
"""

from __future__ import annotations

import secrets
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from deniable.survey.compiled import SurveyRules
from deniable.wire.part import Mode, Part
from deniable_server.store.protocol import ESTIMATED, PEOPLE
from deniable_server.store.sql import arrivals, clock, compiled, issuers, quotas, spans
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.encryption import Seal
from deniable_server.store.sql.parts import NUMBERS
from deniable_server.store.sql.quotas import Quotas
from deniable_server.store.sql.waiting import NO_ID, PackedRecords, Waiting, group_number, is_bulk, pack, unpack

_INSERT = "INSERT INTO intake (key, tag, survey, bulk, part, sealed) VALUES (?, ?, ?, ?, ?, ?)"
_REMOVE = "DELETE FROM intake WHERE tag = ? RETURNING survey, sealed"
_USED = "INSERT INTO used_codes (tag, survey, blinded) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"


class PartKey(NamedTuple):
    """A part of a survey, with the survey's id."""

    survey: str
    part: Part


class Intake:
    """Access to the intake in one transaction of the writer. New submissions are in memory until they are written.

    Bulk submissions are written last: those that are counted in the same transaction never become rows.
    """

    def __init__(self, connection: Connection, seal: Seal) -> None:
        self.connection, self.seal = connection, seal
        self.touched: set[str] = set()
        """The surveys with submissions that may be due now."""
        self.has_written = False
        """Whether the transaction added rows, whose places in a file would show their order."""
        self._new: dict[bytes, tuple[PartKey, PackedRecords]] = {}
        self._codes: set[tuple[str, bytes]] = set()
        self._arrived: Counter[tuple[str, Mode]] = Counter()
        self._growth: Counter[str] = Counter()
        self._surveys: dict[str, SurveyRules] = {}
        self._quotas: dict[str, Quotas | None] = {}

    def quotas(self, survey_id: str) -> Quotas | None:
        """Returns the quotas of a survey with what this transaction added, or None without any."""
        if survey_id not in self._quotas:
            self._quotas[survey_id] = quotas.read(self.connection, self.seal, self._survey(survey_id))
        return self._quotas[survey_id]

    def set_quotas(self, survey_id: str, most: dict[str, int]) -> None:
        """Sets quotas. The first time, the records that were accepted before are counted."""
        stored = self.quotas(survey_id)
        self._quotas[survey_id] = Quotas(most, stored.accepted if stored else self._accepted(survey_id))

    def _accepted(self, survey_id: str) -> dict[str, int]:
        """Returns the number of records of each group: counted ones, and those that wait."""
        survey = self._survey(survey_id)
        numbers = dict.fromkeys(survey.groups, 0)
        for label, n in self.connection.execute("SELECT label, n FROM tallies WHERE survey = ?", [survey_id]).fetchall():
            numbers[label] += n
        waiting = [(key.part, records) for key, records in self._new.values() if key.survey == survey_id]
        for bulk in (False, True):
            rows = _read(self.connection, self.seal, survey, bulk)
            waiting += [(part, records) for _, part, id_, records in rows if id_ is not None]
        for part, records in waiting:
            numbers[str(part.group)] += records.count
        return numbers

    def find_new(self, submission_id: bytes) -> tuple[PartKey, bytes] | None:
        """Returns the part and the reports of a submission that this transaction added, or None."""
        added = self._new.get(submission_id)
        return (added[0], added[1].reports) if added else None

    def holds_code(self, survey_id: str, code: bytes) -> bool:
        """Returns whether the code with this hash was used, for a token or by hand, and is not marked as spent yet."""
        query = "SELECT 1 FROM used_codes WHERE tag = ?"
        tag = code_tag(self.seal, survey_id, code)
        return (survey_id, code) in self._codes or self.connection.execute(query, [tag]).fetchone() is not None

    def add(self, part_key: PartKey, submission_id: bytes, records: PackedRecords, code: bytes | None) -> None:
        """Adds a submission, and the hash of its invitation code if it was sent by hand."""
        self._new[submission_id] = part_key, records
        self._note(part_key, records, 1)
        group = part_key.part.group
        if group is not None and (own := self.quotas(part_key.survey)):
            own.accepted[group] += records.count
        if code is not None:
            self._codes.add((part_key.survey, code))

    def remove(self, submission_id: bytes) -> str | None:
        """Erases a waiting submission; its code stays used. Returns its survey's id, or None if it did not wait."""
        if added := self._new.pop(submission_id, None):
            self._note(*added, -1)
            return added[0].survey
        row = self.connection.execute(_REMOVE, [tag(self.seal, submission_id)]).fetchone()
        if row is None:
            return None
        part_key, _, records = opened(self.connection, self.seal, *row)
        self._note(part_key, records, -1)
        return part_key.survey

    def take_out(self, part_key: PartKey, records: PackedRecords) -> None:
        """Adds erased records that must leave the counts."""
        self._insert([self._row(part_key, None, records)])
        self.touched.add(part_key.survey)
        if not is_bulk(part_key.part, records.count):
            arrivals.draw_due(self.connection, self._survey(part_key.survey))

    def discard(self, survey_id: str) -> None:
        """Discards everything that waits for a survey whose records are deleted."""
        self._new = {id_: added for id_, added in self._new.items() if added[0].survey != survey_id}
        self._codes = {(survey, code) for survey, code in self._codes if survey != survey_id}
        for mode in PEOPLE:
            del self._arrived[survey_id, mode]
        self._quotas[survey_id] = None
        issuers.retire(self.connection, survey_id)
        for table in ("intake", "used_codes"):
            self.connection.execute(f"DELETE FROM {table} WHERE survey = ?", [survey_id])  # noqa: S608 - our own names
        arrivals.prepare(self.connection, survey_id)

    def waiting(self, survey: SurveyRules, *, bulk: bool) -> dict[Part, Waiting]:
        """Returns what waits in each part: bulk submissions, or people's, which must be written before."""
        result: dict[Part, Waiting] = defaultdict(Waiting)
        for new_id, (part_key, records) in self._new.items() if bulk else ():
            if part_key.survey == survey.id and is_bulk(part_key.part, records.count):
                result[part_key.part].arrived[new_id] = records
        for key, part, row_id, records in _read(self.connection, self.seal, survey, bulk):
            if row_id is None:
                result[part].withdrawn[key] = records
            else:
                result[part].arrived[row_id] = records
        return result

    def counted(self, survey_id: str, part: Part, due: Waiting, change: int) -> None:
        """Removes submissions that are counted now. change: of the number of counted records."""
        tags = sorted((tag(self.seal, id_),) for id_ in due.arrived if self._new.pop(id_, None) is None)
        self.connection.executemany("DELETE FROM intake WHERE tag = ?", tags)
        self.connection.executemany("DELETE FROM intake WHERE key = ?", [(key,) for key in sorted(due.withdrawn)])
        for records in due.arrived.values():
            if not is_bulk(part, records.count):
                self._arrived[survey_id, part.mode] -= 1
        if part.mode in ESTIMATED:
            self._growth[survey_id] += change

    def write(self) -> None:
        """Writes the codes, numbers and people's rows that the transaction added."""
        self._write_rows({id_ for id_, (part_key, records) in self._new.items() if not is_bulk(part_key.part, records.count)})
        codes = [(code_tag(self.seal, survey_id, code), survey_id, b"") for survey_id, code in self._codes]
        self.connection.executemany(_USED, sorted(codes))
        for survey_id, own in self._quotas.items():
            if own is not None:
                quotas.write(self.connection, self.seal, self._survey(survey_id), own)
        for (survey_id, mode), more in sorted(self._arrived.items()):
            change = arrivals.change(self.connection, self._survey(survey_id), mode, more)
            self._growth[survey_id] += change if mode in ESTIMATED else 0
            self.touched |= {survey_id} if change else set()
        self._codes.clear()
        self._arrived.clear()

    def write_bulk(self) -> None:
        """Writes the bulk submissions that the transaction added and that are not counted yet."""
        self._write_rows(set(self._new))

    def note_growth(self) -> None:
        """Adds the changes of this transaction to the growth of the surveys."""
        for survey_id, change in sorted(self._growth.items()):
            spans.note(self.connection, survey_id, change, clock.today())
        self._growth.clear()

    def _note(self, part_key: PartKey, records: PackedRecords, sign: int) -> None:
        """Notes that a submission arrived (1) or was erased while it waited (-1)."""
        if is_bulk(part_key.part, records.count):
            self.touched.add(part_key.survey)
        else:
            self._arrived[part_key.survey, part_key.part.mode] += sign

    def _survey(self, survey_id: str) -> SurveyRules:
        """Returns a survey, read once in a transaction."""
        if survey_id not in self._surveys:
            self._surveys[survey_id] = compiled.find(self.connection, survey_id)
        return self._surveys[survey_id]

    def _row(self, part_key: PartKey, submission_id: bytes | None, records: PackedRecords) -> tuple[Any, ...]:
        """Returns the row of a submission; the row of erased records, whose id is None, has the tag of its part instead of its own."""
        survey, part = self._survey(part_key.survey), part_key.part
        own, of_part = (None, _part_tag(self.seal, survey, part)) if submission_id is None else (tag(self.seal, submission_id), None)
        sealed = self.seal.close(pack(survey, part, submission_id or NO_ID, records), survey.id)
        return secrets.randbits(63), own, survey.id, int(is_bulk(part, records.count)), of_part, sealed

    def _write_rows(self, ids: Collection[bytes]) -> None:
        added = {id_: self._new.pop(id_) for id_ in ids}
        self._insert([self._row(part_key, id_, records) for id_, (part_key, records) in added.items()])

    def _insert(self, rows: Sequence[tuple[Any, ...]]) -> None:
        self.has_written |= bool(rows)
        self.connection.executemany(_INSERT, sorted(rows, key=lambda row: int(row[0])))


def _read(connection: Connection, seal: Seal, survey: SurveyRules, bulk: bool) -> Iterator[tuple[int, Part, bytes | None, PackedRecords]]:
    """Yields the key, part, id and records of each row of a survey; the id of erased records is None."""
    query = "SELECT key, tag, sealed FROM intake WHERE survey = ? AND bulk = ?"
    for key, own, sealed in connection.execute(query, [survey.id, int(bulk)]).fetchall():
        part, id_, records = unpack(survey, seal.open(sealed, survey.id))
        yield key, part, None if own is None else id_, records


def opened(connection: Connection, seal: Seal, survey_id: str, sealed: bytes) -> tuple[PartKey, bytes, PackedRecords]:
    """Decrypts a row: its part, the submission's id, its records. Raises UnavailableError if the server's key is another one."""
    part, id_, records = unpack(compiled.find(connection, survey_id), seal.open(sealed, survey_id))
    return PartKey(survey_id, part), id_, records


def require_key(connection: Connection, seal: Seal) -> None:
    """Raises UnavailableError if waiting submissions were encrypted with another key.

    With that key, a repeated submission or a used code would not be recognized.
    """
    if row := connection.execute("SELECT survey, sealed FROM intake LIMIT 1").fetchone():
        seal.open(bytes(row[1]), row[0])


def withdrawn(connection: Connection, seal: Seal, survey: SurveyRules, chosen: Collection[Part]) -> dict[Part, list[PackedRecords]]:
    """Returns the erased records that have not left the counts yet, for each chosen part with such records.

    Raises:
        UnavailableError: The server's key is another one.
    """
    result: dict[Part, list[PackedRecords]] = defaultdict(list)
    query = "SELECT part, sealed FROM intake WHERE survey = ? AND part IS NOT NULL"
    if not (rows := connection.execute(query, [survey.id]).fetchall()):
        return result
    tags = {_part_tag(seal, survey, part) for part in chosen if part.group is None or part.group in survey.groups}
    for part_tag, sealed in rows:
        if bytes(part_tag) in tags:  # others are not decrypted: a reader of one group after another would pay for all of them each time
            part, _, records = unpack(survey, seal.open(sealed, survey.id))
            result[part].append(records)
    return result


def tag(seal: Seal, submission_id: bytes) -> bytes:
    """Returns the tag of a submission: without the server's key, it cannot be computed from the id."""
    return seal.tag("submission", submission_id)


def _part_tag(seal: Seal, survey: SurveyRules, part: Part) -> bytes:
    """Returns the tag of a part of a survey, which only erased records have."""
    return seal.tag(f"part of {survey.id}", b"%d %d" % (group_number(survey, part), NUMBERS.index(part.mode)))


def code_tag(seal: Seal, survey_id: str, code: bytes) -> bytes:
    """Returns the tag of an invitation code, from the code's hash."""
    return seal.tag(f"code of {survey_id}", code)
