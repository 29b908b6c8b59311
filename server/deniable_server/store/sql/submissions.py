"""Storage of submissions, in SQL: checks and uses up invitation codes, stores and withdraws records, reads tallies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import chain

from deniable.survey.compiled import SurveyRules
from deniable.wire.access_codes import invitation_hash
from deniable.wire.part import Mode, Part
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable_server.store.errors import (
    ClosedError,
    ConflictError,
    GroupFullError,
    InvitationError,
    PausedError,
    StoreError,
    UnknownSurveyError,
)
from deniable_server.store.protocol import Cancel, Notify, State
from deniable_server.store.sql import arrivals, compiled, counting, intake, issuers, parts, tallies
from deniable_server.store.sql.compiled import UNKNOWN
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import SqlDatabase
from deniable_server.store.sql.duplicates import StoredCopies, look_up
from deniable_server.store.sql.incoming import IncomingQueue, IncomingSubmission
from deniable_server.store.sql.intake import PartKey
from deniable_server.store.sql.invitations import UNUSABLE, SqlInvitations
from deniable_server.store.sql.published import CLOSED, PAUSED, is_open, require
from deniable_server.store.sql.tallies import Counts
from deniable_server.store.sql.waiting import PackedRecords
from deniable_server.store.sql.wide_tallies import TallyCache

UNMATCHED = 100_000  # the most withdrawals of unknown submissions that are remembered for each survey
MANY = 64  # from so many records on, a submission is counted before the writer's turn, to keep the turn short


class SqlSubmissions:
    """Implements `Submissions`."""

    def __init__(self, database: SqlDatabase, invitations: SqlInvitations) -> None:
        self._database, self._invitations = database, invitations
        self._scans = TallyCache()
        self._arrivals = IncomingQueue(database.writer, self._admit)

    def add(self, survey_id: str, submission: Submission) -> bool:
        """Stores a submission in one of the writer's commits."""
        records = self._records(survey_id, submission.count, submission.reports)

        def work(connection: Connection) -> bool:
            return self._keep(
                connection, survey_id, submission, records, look_up(connection, self._database.seal, [survey_id], [submission.id])
            )

        return self._database.writer.run(work)

    def add_later(self, survey_id: str, submission: Submission, notify: Notify) -> Cancel:
        """Queues a single record. Returns the function that cancels it."""
        arrival = IncomingSubmission(survey_id, submission, notify)
        self._arrivals.add(arrival)
        return partial(self._arrivals.cancel, arrival)

    def _admit(self, connection: Connection, arrivals: Sequence[IncomingSubmission]) -> list[bool | StoreError]:
        """Stores single records in the writer's turn. Returns the outcome of each."""
        lookup = look_up(connection, self._database.seal, {each.survey for each in arrivals}, [each.submission.id for each in arrivals])
        return [self._outcome(connection, each, lookup) for each in arrivals]

    def _outcome(self, connection: Connection, arrival: IncomingSubmission, lookup: StoredCopies) -> bool | StoreError:
        submission = arrival.submission
        try:
            return self._keep(connection, arrival.survey, submission, PackedRecords(submission.count, submission.reports), lookup)
        except StoreError as error:
            return error

    def _keep(self, connection: Connection, survey_id: str, submission: Submission, records: PackedRecords, lookup: StoredCopies) -> bool:
        """Stores a submission in the writer's turn. `lookup` is its state in the database, without what this transaction adds."""
        state = lookup.states.get(survey_id)
        if state is None:
            raise UnknownSurveyError(UNKNOWN)
        part_key = PartKey(survey_id, submission.part)
        stored = self._database.releases.intake.find_new(submission.id) or lookup.stored.get(submission.id)
        if stored == (part_key, submission.reports):
            return False
        if state == CLOSED:
            raise ClosedError(f"survey {survey_id} is closed")
        if state == PAUSED:
            raise PausedError(f"survey {survey_id} is paused; send the same again later")
        if stored or submission.id in lookup.withdrawn:
            raise ConflictError("id must be new: it was used with other bytes, or by a submission that was withdrawn")
        own = self._database.releases.intake.quotas(survey_id) if submission.group is not None else None
        if own and not own.admits(submission.group, submission.count):
            raise GroupFullError("the group has all the records that it takes")
        code = invitation_hash(survey_id, submission.invitation) if submission.invitation else None
        # Last of all: only the submission that spends a code may check it. Otherwise people could probe when each person answers.
        if code is not None and not self._invitations.admits(connection, survey_id, code):
            raise InvitationError(UNUSABLE)
        if submission.token and not issuers.spend(connection, self._database.seal, survey_id, submission.token.nonce):
            raise InvitationError("the token of the invitation was used before, with another record")
        self._database.releases.intake.add(part_key, submission.id, records, code)
        return True

    def withdraw(self, survey_id: str, submission_id: bytes) -> None:
        """Erases a submission; remembers an unknown id up to the limit."""
        self._survey(survey_id)
        self._withdraw(submission_id, lambda connection: _refuse_later(connection, survey_id, submission_id))

    def withdraw_all(self, submission_ids: Collection[bytes]) -> int:
        """Erases submissions and refuses their ids. Returns how many were stored."""
        return sum(self._withdraw(id_, partial(_refuse, submission_id=id_)) for id_ in submission_ids)

    def _withdraw(self, submission_id: bytes, refuse: Callable[[Connection], None]) -> bool:
        """Erases a submission. Returns False if it is not stored: then `refuse` remembers its id, in the same transaction."""

        def work(connection: Connection) -> bool | None:
            waiting = self._database.releases.intake
            if survey_id := waiting.remove(submission_id):
                arrivals.note_withdrawal(connection, survey_id)
            elif stored:
                if not connection.execute("DELETE FROM submissions WHERE id = ?", [submission_id]).rowcount:
                    return True  # another request was faster
                waiting.take_out(*stored)
                arrivals.note_withdrawal(connection, stored[0].survey)
                self._database.changed(connection)
            elif connection.execute("SELECT 1 FROM submissions WHERE id = ?", [submission_id]).fetchone():
                return None  # it entered the counts meanwhile: look again
            else:
                refuse(connection)
                return False
            _refuse(connection, submission_id)
            return True

        while True:
            stored = self._stored(submission_id)
            if (erased := self._database.writer.run(work)) is not None:
                return erased

    def counts(self, survey_id: str) -> Mapping[Part, int]:
        """Returns the number of counted records of each part."""
        with self._database.reading() as connection:
            require(connection, survey_id)
            return tallies.counts(connection, survey_id)

    def state(self, survey_id: str, parts: Collection[Part] | None = None) -> State:
        """Returns the state of the counts of some parts, by default of all."""
        with self._database.reading() as connection:
            require(connection, survey_id)
            return tallies.state(connection, survey_id, parts)

    def waiting(self, survey_id: str) -> Mapping[Mode, int]:
        """Returns how many records of people wait, in steps of STEP."""
        with self._database.reading() as connection:
            require(connection, survey_id)
            state = arrivals.of(connection, survey_id)
        return {"device": arrivals.rounded(state.device), "by_hand": arrivals.rounded(state.by_hand)}

    def all_counts(self) -> Mapping[str, Mapping[Part, int]]:
        """Returns the number of counted records of each part, by survey."""
        with self._database.reading() as connection:
            return tallies.all_counts(connection)

    def all_waiting(self) -> Mapping[str, Mapping[Mode, int]]:
        """Returns how many records of people wait in each survey, in steps of STEP."""
        with self._database.reading() as connection:
            rows = connection.execute("SELECT survey, device, by_hand FROM arrivals WHERE device > 0 OR by_hand > 0").fetchall()
        return {survey: {"device": arrivals.rounded(device), "by_hand": arrivals.rounded(by_hand)} for survey, device, by_hand in rows}

    def withdrawn(self, survey_id: str) -> int:
        """Returns how many submissions were withdrawn; of an open survey in steps of STEP."""
        with self._database.reading() as connection:
            open_, n = is_open(connection, survey_id), arrivals.of(connection, survey_id).withdrawn
        return arrivals.rounded(n) if open_ else n

    def release_due(self, now: datetime) -> list[str]:
        """Releases the records of all surveys whose daily release is due."""
        with self._database.reading() as connection:
            if not arrivals.due(connection, now):
                return []
        return self._database.writer.run(lambda connection: self._database.releases.release_due(now))

    def tally(self, survey_id: str, parts: Collection[Part]) -> Tally:
        """Returns the tally of some parts: stored, or computed and cached if the survey is wide."""
        survey = self._survey(survey_id)
        if tallies.is_wide(survey):
            return self._scans.tally(survey_id, parts, lambda: self.state(survey_id, parts), lambda: self._scan(survey, parts))
        with self._database.reading() as connection:
            return tallies.total(connection, survey, parts)

    def recount(self, survey_id: str, parts: Collection[Part]) -> Tally:
        """Recomputes the tally of some parts from all records."""
        return self._scan(self._survey(survey_id), parts)[1]

    def reports(self, survey_id: str, part: Part) -> Iterator[bytes]:
        """Yields the counted records of a part."""
        read = self.reports_by_part(survey_id, [part])
        return (chunk for _, chunks in read for chunk in chunks)

    def reports_by_part(self, survey_id: str, parts: Collection[Part]) -> Iterator[tuple[Part, Iterator[bytes]]]:
        """Yields the counted records of several parts."""
        return self._read(self._survey(survey_id), parts)

    def _read(self, survey: SurveyRules, chosen: Collection[Part]) -> Iterator[tuple[Part, Iterator[bytes]]]:
        """Yields records, with erased ones that have not left the counts yet: otherwise the moment of a withdrawal would show."""
        with self._database.scanning() as connection:
            erased = intake.withdrawn(connection, self._database.seal, survey, chosen)
            nonempty = {*tallies.counts(connection, survey.id), *erased}
            for part in chosen:
                if part in nonempty:
                    counted = (reports for n, reports in tallies.scanned(connection, survey.id, [part], tallies.READ_BYTES) if n)
                    yield part, chain(counted, (records.reports for records in erased.get(part, ())))

    def _survey(self, survey_id: str) -> SurveyRules:
        with self._database.reading() as connection:
            return compiled.find(connection, survey_id)

    def _records(self, survey_id: str, count: int, reports: bytes) -> PackedRecords:
        """Returns the records of a submission; large ones are counted here, before the writer's turn."""
        return PackedRecords(count, reports, Counts.of(self._survey(survey_id), reports, count) if count >= MANY else None)

    def _stored(self, submission_id: bytes) -> tuple[PartKey, PackedRecords] | None:
        """Returns a counted submission and its part, or None."""
        with self._database.reading() as connection:
            query = "SELECT survey, label, mode, count, reports FROM submissions WHERE id = ?"
            row = connection.execute(query, [submission_id]).fetchone()
        return (PartKey(row[0], parts.part(row[1], row[2])), self._records(row[0], row[3], row[4])) if row else None

    def _scan(self, survey: SurveyRules, chosen: Collection[Part]) -> tuple[State, Tally]:
        """Counts all records of one snapshot, with erased ones that have not left the counts yet. Returns the state of the counts too."""
        with self._database.scanning() as connection:
            state = tallies.state(connection, survey.id, chosen)
            total = tallies.recount(connection, survey, chosen)
            erased = intake.withdrawn(connection, self._database.seal, survey, chosen)
            total += counting.tally(survey, [records for part_records in erased.values() for records in part_records])
        return state, total


def _refuse(connection: Connection, submission_id: bytes) -> None:
    connection.execute("INSERT INTO withdrawn VALUES (?) ON CONFLICT DO NOTHING", [submission_id])


def _refuse_later(connection: Connection, survey_id: str, submission_id: bytes) -> None:
    """Remembers the id of an unknown submission, which may still be on its way.

    Remembers at most UNMATCHED ids for each survey, since strangers can send any number of invented codes.
    """
    if connection.execute("SELECT 1 FROM withdrawn WHERE id = ?", [submission_id]).fetchone():
        return
    count = "INSERT INTO unmatched VALUES (?, 1) ON CONFLICT (survey) DO UPDATE SET count = unmatched.count + 1 WHERE unmatched.count < ?"
    if connection.execute(count, [survey_id, UNMATCHED]).rowcount:
        connection.execute("INSERT INTO withdrawn VALUES (?)", [submission_id])
