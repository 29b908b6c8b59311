"""Storage of trials in SQL: only their definitions are accepted, and each record is counted at once."""

from __future__ import annotations

from collections.abc import Callable

from deniable.wire.submission import Submission
from deniable_server.store.errors import FullError
from deniable_server.store.protocol import Cancel, Notify
from deniable_server.store.sql.compiled import find
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import SqlDatabase
from deniable_server.store.sql.invitations import SqlInvitations
from deniable_server.store.sql.release import Releaser
from deniable_server.store.sql.submissions import SqlSubmissions
from deniable_server.store.sql.surveys import SqlSurveys
from deniable_server.store.trials import is_trial

MOST_BYTES = 128 << 20
"""The size of a trial's database from which records are refused."""


class ImmediateReleaser(Releaser):
    """Counts each record in the transaction that stores it: a trial has no respondents whose records must hide each other."""

    def settle(self, connection: Connection) -> None:
        """Counts everything that waits, at the end of a transaction."""
        self.intake.write()
        self.intake.touched |= {survey_id for (survey_id,) in connection.execute("SELECT DISTINCT survey FROM intake").fetchall()}
        super().settle(connection)

    def _settle_survey(self, survey_id: str) -> None:
        survey = find(self.intake.connection, survey_id)
        if self._count(survey, self.intake.waiting(survey, bulk=False), everything=True):
            self._spend(survey, everything=False)
        self.intake.write()
        super()._settle_survey(survey_id)


class TrialSurveys(SqlSurveys):
    """Definitions of trials: the only ones that a trial's store accepts."""

    def _refuse_reserved(self, survey_id: str) -> None:
        if not is_trial(survey_id):
            raise ValueError(f"id must be a trial's, got {survey_id!r}")


class TrialSubmissions(SqlSubmissions):
    """Records of trials. size: returns the bytes of the database, which has at most MOST_BYTES."""

    def __init__(self, database: SqlDatabase, invitations: SqlInvitations, size: Callable[[], int]) -> None:
        super().__init__(database, invitations)
        self._size = size

    def add(self, survey_id: str, submission: Submission) -> bool:
        """Stores a submission. Raises FullError if the database is full."""
        self._require_space()
        return super().add(survey_id, submission)

    def add_later(self, survey_id: str, submission: Submission, notify: Notify) -> Cancel:
        """Queues a single record. Raises FullError if the database is full."""
        self._require_space()
        return super().add_later(survey_id, submission, notify)

    def _require_space(self) -> None:
        if self._size() > MOST_BYTES:
            raise FullError("the test run is full; throw it away and start another one")
