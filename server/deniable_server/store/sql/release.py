"""Release: decides which waiting submissions are counted, so that a person's record appears only in the company of others.

A person's record waits until the survey closes (`release: close`), or for a release once a day at most (`release: daily`). Bulk
submissions, which need a key, are counted in batches as they arrive. A release of people's records also marks the used codes as spent.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from deniable.survey.compiled import SurveyRules
from deniable.wire.part import Part
from deniable_server.store.sql import arrivals, batches, clock, compiled, move_marks
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.counting import count
from deniable_server.store.sql.encryption import Seal
from deniable_server.store.sql.intake import Intake, code_tag
from deniable_server.store.sql.published import is_open
from deniable_server.store.sql.settings import close_if_full
from deniable_server.store.sql.waiting import Waiting

_UNSPENT = "SELECT hash FROM invitations WHERE survey = ? AND spent = 0"
_SPEND = "UPDATE invitations SET spent = 1 WHERE survey = ? AND hash = ?"


class Releaser:
    """The intake of each transaction of the writer, and the releases at its end.

    Args:
        seal: Encrypts waiting submissions.
        added: Called in each transaction that adds rows or changes the counts.
        closed: Called in a transaction that closes a survey because it has all its records.
    """

    def __init__(self, seal: Seal, added: Callable[[Connection], None], closed: Callable[[Connection], None]) -> None:
        self._seal, self._added, self._closed = seal, added, closed
        self._intake: Intake | None = None
        self._requests: list[tuple[datetime, list[str]]] = []

    @property
    def intake(self) -> Intake:
        """The intake of the current transaction."""
        if self._intake is None:
            raise RuntimeError("the intake can be used in a transaction of the writer only")
        return self._intake

    def refresh(self, connection: Connection) -> None:
        """Begins a transaction. Raises MovedError if the database was moved meanwhile."""
        move_marks.require_unmarked(connection)
        self._intake, self._requests = Intake(connection, self._seal), []

    def forget(self) -> None:
        """Discards what a failed transaction added."""
        self._intake = None

    def settle(self, connection: Connection) -> None:
        """Writes new submissions and counts due ones, at the end of a transaction."""
        self.intake.write()
        for now, released in self._requests:
            released += self._release_daily(now)
        while self.intake.touched:
            self._settle_survey(self.intake.touched.pop())
            self.intake.write()
        self.intake.write_bulk()
        self.intake.note_growth()
        if self.intake.has_written:
            self._added(connection)
        self._intake = None

    def release_due(self, now: datetime) -> list[str]:
        """Requests the daily releases that are due, in a transaction. Returns the list of surveys, which is filled at its end.

        Not before: a failed release must fail the whole transaction, since it also writes what other jobs added.
        """
        released: list[str] = []
        self._requests.append((now, released))
        return released

    def _release_daily(self, now: datetime) -> list[str]:
        """Releases the records of the surveys whose daily release is due. Returns the ids of these surveys."""
        connection, released = self.intake.connection, []
        for survey_id in arrivals.due(connection, now):
            survey = compiled.find(connection, survey_id)
            arrivals.clear_due(connection, survey_id)
            may_release = _may_release(connection, survey, now)
            if may_release and self._release_people(survey, everything=not is_open(connection, survey_id)):
                arrivals.note_release(connection, survey_id, now)
                released.append(survey_id)
            self.intake.write()
            if arrivals.of(connection, survey_id).total or not may_release:
                arrivals.draw_due(connection, survey, now)
        return released

    def _settle_survey(self, survey_id: str) -> None:
        connection = self.intake.connection
        survey, open_, now = compiled.find(connection, survey_id), is_open(connection, survey_id), clock.now()
        self._count(survey, self.intake.waiting(survey, bulk=True), everything=not open_)
        if open_:
            self.intake.write()
            if close_if_full(connection, survey_id):
                self._closed(connection)
                self.intake.touched.add(survey_id)
        elif self._release_people(survey, everything=True, erased_only=not _may_release(connection, survey, now)):
            arrivals.note_release(connection, survey_id, now)

    def _release_people(self, survey: SurveyRules, *, everything: bool, erased_only: bool = False) -> bool:
        """Counts the records of people that are due, and marks codes as spent. Returns whether records were counted.

        With `everything`, fewer records than a batch in all are never counted; erased records leave the counts even so.
        """
        waiting = self.intake.waiting(survey, bulk=False)
        arrived = sum(len(part.arrived) for part in waiting.values())
        if erased_only or (everything and arrived < survey.batch):
            waiting = {part: Waiting({}, each.withdrawn) for part, each in waiting.items()}
        has_counted = self._count(survey, waiting, everything=everything)
        if has_counted:
            self._spend(survey, everything=everything)
        return has_counted

    def _count(self, survey: SurveyRules, waiting: dict[Part, Waiting], *, everything: bool) -> bool:
        """Counts what is due of each part. Returns whether records arrived in the counts."""
        has_counted = False
        for part, whole in waiting.items():
            due = whole if everything else batches.take(survey.batch, whole)
            if due.arrived or due.withdrawn:
                self.intake.counted(survey.id, part, due, count(self.intake.connection, survey, part, due))
                self.intake.has_written = True
                has_counted |= bool(due.arrived)
        return has_counted

    def _spend(self, survey: SurveyRules, *, everything: bool) -> None:
        """Marks used codes as spent; without `everything` all but a batch of them, if that is a batch too.

        While the survey is open, a code that was exchanged stays in its table: its owner may ask for the same token again.
        """
        connection = self.intake.connection
        used = {bytes(tag) for (tag,) in connection.execute("SELECT tag FROM used_codes WHERE survey = ?", [survey.id]).fetchall()}
        if not used:
            return
        hashes = [bytes(code) for (code,) in connection.execute(_UNSPENT, [survey.id]).fetchall()]
        waiting = {code: tag for code in hashes if (tag := code_tag(self._seal, survey.id, code)) in used}
        due = (
            sorted(waiting)
            if everything or survey.batch == 1
            else sorted(batches.beyond_a_batch([(code, 1) for code in waiting], survey.batch))
        )
        connection.executemany(_SPEND, [(survey.id, code) for code in due])
        if everything:
            connection.execute("DELETE FROM used_codes WHERE survey = ?", [survey.id])
        else:
            connection.executemany("DELETE FROM used_codes WHERE tag = ? AND length(blinded) = 0", sorted((waiting[code],) for code in due))


def _may_release(connection: Connection, survey: SurveyRules, now: datetime) -> bool:
    """Returns whether a survey may release records of people now: with `release: daily` not on the day of another release."""
    return survey.release == "close" or arrivals.of(connection, survey.id).released_on != arrivals.day_of(now)
