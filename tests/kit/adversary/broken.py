"""Servers with one thing broken, for the search to find: each breaks the release, or shows too early what it should hide."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from deniable.wire.part import Part
from deniable_server.store.sql import intake, release, surveys, tallies
from deniable_server.store.sql.encryption import Seal
from deniable_server.store.sql.intake import Intake
from deniable_server.store.sql.invitations import SqlInvitations
from deniable_server.store.sql.published import find
from deniable_server.store.sql.release import Releaser
from deniable_server.store.sql.submissions import SqlSubmissions


def released_by_number(patch: pytest.MonkeyPatch) -> None:
    """The release by number alone: whenever two batches wait, one is shown and as many codes are marked; a batch of one at once."""
    add, settle = Intake.add, Releaser._settle_survey

    def added(self: Intake, part_key: Any, *rest: Any) -> None:
        add(self, part_key, *rest)
        self.touched.add(part_key.survey)

    def settled(self: Releaser, survey_id: str) -> None:
        settle(self, survey_id)
        published = find(self.intake.connection, survey_id)
        if published.is_open:
            self._release_people(published.survey, everything=published.survey.batch == 1)

    patch.setattr(Intake, "add", added)
    patch.setattr(Releaser, "_settle_survey", settled)


def codes_marked_at_once(patch: pytest.MonkeyPatch) -> None:
    """A code is marked as spent when it is exchanged, before the release."""
    claim = SqlInvitations._claim

    def claimed(self: SqlInvitations, connection: Any, survey_id: str, code_hash: bytes, blinded: bytes) -> bool:
        admitted = claim(self, connection, survey_id, code_hash, blinded)
        if admitted:
            connection.execute(release._SPEND, [survey_id, code_hash])
        return admitted

    patch.setattr(SqlInvitations, "_claim", claimed)


def sizes_of_groups_shown(patch: pytest.MonkeyPatch) -> None:
    """The number of records of each group counts the waiting ones, too."""

    def counts(self: SqlSubmissions, survey_id: str) -> Mapping[Part, int]:
        with self._database.reading() as connection:
            survey = find(connection, survey_id).survey
            sizes = Counter(tallies.counts(connection, survey_id))
            for _, part, _, records in intake._read(connection, self._database.seal, survey, False):
                sizes[part] += records.count
        return sizes

    patch.setattr(SqlSubmissions, "counts", counts)


def reopened_after_its_release(patch: pytest.MonkeyPatch) -> None:
    """A survey that has shown its records at the close can be opened, and shows more at another close."""
    patch.setattr(surveys, "_shown_at_close", lambda *_: None)


def released_twice_a_day(patch: pytest.MonkeyPatch) -> None:
    """A close releases at once, on the day of a daily release, too."""
    patch.setattr(release, "_may_release", lambda *_: True)


def withdrawn_and_released(patch: pytest.MonkeyPatch) -> None:
    """A record that is withdrawn while it waits is released with the others."""

    def removed(self: Intake, submission_id: bytes) -> str | None:
        query = "SELECT survey FROM intake WHERE tag = ?"
        row = self.connection.execute(query, [intake.tag(self.seal, submission_id)]).fetchone()
        return row[0] if row else None

    patch.setattr(Intake, "remove", removed)


def rows_unsealed(patch: pytest.MonkeyPatch) -> None:
    """What waits is in the file as it came."""
    patch.setattr(Seal, "close", lambda self, content, context: content)
    patch.setattr(Seal, "open", lambda self, sealed, context: bytes(sealed))


def tags_without_a_key(patch: pytest.MonkeyPatch) -> None:
    """Rows are found by a hash that anybody can compute from the ids that a release shows."""
    patch.setattr(Seal, "tag", lambda self, context, content: hashlib.sha256(context.encode() + content).digest()[:16])


def keys_that_stay(patch: pytest.MonkeyPatch) -> None:
    """A row keeps its key when it is released, so that copies of the file show which arrival became which record."""
    take = Intake.counted

    def counted(self: Intake, survey_id: str, part: Part, due: Any, change: int) -> None:
        for id_ in due.arrived:
            row = self.connection.execute("SELECT key FROM intake WHERE tag = ?", [intake.tag(self.seal, id_)]).fetchone()
            if row:  # else it has not been written at all
                self.connection.execute("UPDATE submissions SET key = ? WHERE id = ?", [row[0], id_])
        take(self, survey_id, part, due, change)

    patch.setattr(Intake, "counted", counted)
