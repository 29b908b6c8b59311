"""Intake of submissions that are not counted yet: durable, encrypted, and of one size for each part of a survey.

Whenever a part changes, it is encrypted as a whole under a new nonce. So the database shows neither how many submissions wait, nor
which arrived last, nor the submission of a code.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from deniable.survey import Survey
from deniable.wire.part import Part
from deniable_server.store.protocol import ESTIMATED
from deniable_server.store.sql import batches, parts
from deniable_server.store.sql import waiting as layout
from deniable_server.store.sql.batch_release import release
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.encryption import Seal
from deniable_server.store.sql.published import COLUMNS, find, published_of
from deniable_server.store.sql.settings import close_if_full
from deniable_server.store.sql.waiting import PackedRecords, Waiting


class PartKey(NamedTuple):
    """A part of a survey, with the survey's id."""

    survey: str
    part: Part


class Intake:
    """The writer's copy of the intake in memory, read again whenever another process has written to the database.

    Args:
        seal: Encrypts waiting submissions.
        released: Called in each transaction that changes the counts.
        closed: Called in a transaction that closes a survey because it has all its records.
        version: Returns a value that changes whenever another process writes.
    """

    def __init__(
        self,
        seal: Seal,
        released: Callable[[Connection], None],
        closed: Callable[[Connection], None],
        version: Callable[[Connection], object],
    ) -> None:
        self._seal, self._released, self._closed, self._version_of = seal, released, closed, version
        self._version: object = None
        self._waiting: dict[PartKey, Waiting] = {}
        self._part_keys: dict[bytes, PartKey] = {}
        self._codes: set[tuple[str, bytes]] = set()
        self._touched: set[PartKey] = set()

    def refresh(self, connection: Connection) -> None:
        """Rereads the intake at the beginning of a transaction, if another process has written."""
        version = self._version_of(connection)
        if version != self._version:
            self._waiting = dict(read(connection, self._seal))
            self._part_keys = {id_: part_key for part_key, waiting in self._waiting.items() for id_ in waiting.arrived}
            self._codes = {(part_key.survey, code) for part_key, waiting in self._waiting.items() for code in waiting.codes}
            self._touched.clear()
            self._version = version

    def settle(self, connection: Connection) -> None:
        """Counts the submissions that are due and encrypts the rest, at the end of a transaction."""
        while touched := sorted(self._touched, key=_context):
            self._touched.clear()
            for part_key in touched:
                self._settle(connection, part_key)
        self._version = self._version_of(connection)

    def _settle(self, connection: Connection, part_key: PartKey) -> None:
        published = find(connection, part_key.survey)
        due = self._due(part_key, published.survey, published.is_open)
        if due:
            release(connection, published.survey, part_key.part, due)
            self._released(connection)
            more = batches.left_behind(published.survey, due) if part_key.part.mode in ESTIMATED else 0
            if close_if_full(connection, part_key.survey, more):
                self._closed(connection)
                self.touch(part_key.survey)
        self._write(connection, published.survey, part_key.part, self._waiting[part_key])

    def forget(self) -> None:
        """Discards the copy in memory after a failed transaction."""
        self._version = None

    def find(self, submission_id: bytes) -> tuple[PartKey, PackedRecords] | None:
        """Returns a waiting submission and its part, or None."""
        part_key = self._part_keys.get(submission_id)
        return (part_key, self._waiting[part_key].arrived[submission_id]) if part_key else None

    def holds_code(self, survey_id: str, code: bytes) -> bool:
        """Returns whether the code with this hash came with a waiting submission, or with one that was withdrawn while it waited."""
        return (survey_id, code) in self._codes

    def add(self, part_key: PartKey, submission_id: bytes, records: PackedRecords, code: bytes | None) -> None:
        """Adds a submission, and the hash of its invitation code."""
        waiting = self._touch(part_key)
        waiting.arrived[submission_id] = records
        self._part_keys[submission_id] = part_key
        if code is not None:
            waiting.codes.add(code)
            self._codes.add((part_key.survey, code))

    def remove(self, submission_id: bytes) -> None:
        """Erases a waiting submission; its code stays used."""
        del self._touch(self._part_keys.pop(submission_id)).arrived[submission_id]

    def take_out(self, part_key: PartKey, records: PackedRecords) -> None:
        """Adds erased records that must leave the counts."""
        self._touch(part_key).withdrawn.append(records)

    def discard(self, survey_id: str) -> None:
        """Discards everything that waits for a survey whose records are deleted."""
        for part_key in [part_key for part_key in self._waiting if part_key.survey == survey_id]:
            waiting = self._waiting.pop(part_key)
            self._codes -= {(survey_id, code) for code in waiting.codes}
            for id_ in waiting.arrived:
                del self._part_keys[id_]
            self._touched.discard(part_key)

    def touch(self, survey_id: str) -> None:
        """Marks all parts of a closed survey to be settled at the end of this transaction."""
        self._touched |= {part_key for part_key in self._waiting if part_key.survey == survey_id}

    def prepare(self, connection: Connection, survey: Survey) -> None:
        """Reserves space for every part of a new survey, so that the first record of a part does not show."""
        for part in _parts(survey):
            self._write(connection, survey, part, Waiting())

    def prepare_all(self, connection: Connection) -> None:
        """Reserves space for each part whose space is missing or of another size; only needed after another version wrote the file.

        All parts at once, since space that grew with a submission would show its part.
        """
        query = "SELECT survey, label, mode, length(sealed) FROM intake"
        sizes = {PartKey(id_, parts.part(label, mode)): size for id_, label, mode, size in connection.execute(query).fetchall()}
        for row in connection.execute(f"SELECT {COLUMNS} FROM surveys").fetchall():  # noqa: S608 - our own constant
            survey = published_of(row).survey
            room = len(self._seal.close(layout.pack(survey, Waiting()), ""))
            for part in _parts(survey):
                part_key = PartKey(survey.id, part)
                if sizes.get(part_key) != room:
                    self._write(connection, survey, part, self._waiting.get(part_key, Waiting()))

    def _touch(self, part_key: PartKey) -> Waiting:
        self._touched.add(part_key)
        return self._waiting.setdefault(part_key, Waiting())

    def _due(self, part_key: PartKey, survey: Survey, is_open: bool) -> Waiting | None:
        """Removes and returns what must be counted now: a selection of `batches`, or everything of a closed survey; None for nothing."""
        waiting = self._waiting[part_key]
        if is_open:
            due = batches.take(survey, waiting)
        else:
            due, self._waiting[part_key] = (waiting if waiting.changes or waiting.codes else None), Waiting()
        if due:
            self._codes -= {(survey.id, code) for code in due.codes}
            for id_ in due.arrived:
                del self._part_keys[id_]
        return due

    def _write(self, connection: Connection, survey: Survey, part: Part, waiting: Waiting) -> None:
        if survey.batch > 1:
            sealed = self._seal.close(layout.pack(survey, waiting), _context(PartKey(survey.id, part)))
            connection.execute(_KEEP, [survey.id, *parts.row(part), sealed])


def read(connection: Connection, seal: Seal) -> Iterator[tuple[PartKey, Waiting]]:
    """Yields the waiting submissions of each part. Raises UnavailableError if the key is another one."""
    rows = connection.execute("SELECT survey, label, mode, sealed FROM intake ORDER BY survey").fetchall()
    for survey_id, survey_rows in groupby(rows, lambda row: str(row[0])):
        survey = find(connection, survey_id).survey
        yield from (_opened(survey, seal, row) for row in survey_rows)


def withdrawn(connection: Connection, seal: Seal, survey: Survey, chosen: Collection[Part]) -> dict[Part, list[PackedRecords]]:
    """Returns the erased records that have not left the counts yet, for each chosen part with such records.

    One query, and each chosen part is decrypted once: the cost depends only on the chosen parts.

    Raises:
        UnavailableError: The key is another one.
    """
    condition, values = parts.among(survey.id, chosen)
    query = f"SELECT survey, label, mode, sealed FROM intake WHERE {condition}"  # noqa: S608 - our own text
    opened = (_opened(survey, seal, row) for row in connection.execute(query, values).fetchall())
    return {part_key.part: waiting.withdrawn for part_key, waiting in opened if waiting.withdrawn}


def _opened(survey: Survey, seal: Seal, row: Sequence[Any]) -> tuple[PartKey, Waiting]:
    survey_id, label, mode, sealed = row
    part_key = PartKey(survey_id, parts.part(label, mode))
    return part_key, layout.unpack(survey, seal.open(sealed, _context(part_key)))


def reseal(connection: Connection, seal: Seal) -> None:
    """Encrypts everything under new nonces, so that comparing two copies of the file does not show which part changed."""
    for key, survey_id, label, mode, sealed in connection.execute("SELECT key, survey, label, mode, sealed FROM intake").fetchall():
        context = _context(PartKey(survey_id, parts.part(label, mode)))
        connection.execute("UPDATE intake SET sealed = ? WHERE key = ?", [seal.close(seal.open(sealed, context), context), key])


_KEEP = """INSERT INTO intake (survey, label, mode, sealed) VALUES (?, ?, ?, ?)
ON CONFLICT (survey, label, mode) DO UPDATE SET sealed = excluded.sealed"""


def _context(part_key: PartKey) -> str:
    """Returns the text that the encryption of a part is bound to."""
    label, mode = parts.row(part_key.part)
    return f"{part_key.survey} {mode} {label}"


def _parts(survey: Survey) -> list[Part]:
    """Returns all parts that a survey can have."""
    return [
        Part(label, mode) for label in survey.groups or [None] for mode in parts.NUMBERS if mode != "by_hand" or survey.coins_can_answer
    ]
