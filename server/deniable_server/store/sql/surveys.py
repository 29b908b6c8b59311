"""Published definitions in SQL."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from deniable.survey import Survey
from deniable.survey.compiled import VERSION, CompiledSurvey, SurveyRules
from deniable_server.store.audit import doing
from deniable_server.store.blind_signing import SigningKey
from deniable_server.store.drafts import PREVIEW
from deniable_server.store.errors import ClosedError, ConflictError, StoreError
from deniable_server.store.moments import minute
from deniable_server.store.namesakes import id_like
from deniable_server.store.protocol import Heading, Published
from deniable_server.store.roles import Role
from deniable_server.store.sql import arrivals, clock, compiled, issuers, published
from deniable_server.store.sql.audit import append
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import SqlDatabase
from deniable_server.store.sql.draft_roles import give_roles
from deniable_server.store.sql.many import rows_of
from deniable_server.store.sql.people import require_account
from deniable_server.store.sql.published import COLUMNS, PAUSED, availability, find, published_of, require
from deniable_server.store.sql.roles import effective_role, give, role_of
from deniable_server.store.sql.settings import settings_of
from deniable_server.store.sql.studies import add_wave
from deniable_server.store.sql.tags import move_to_survey
from deniable_server.store.trials import is_trial

_HEADINGS = (
    "SELECT surveys.id, heading, is_open, published_on, opens_at, closes_at, zone FROM surveys "  # noqa: S608 - our own constants
    f"LEFT JOIN compiled ON compiled.survey = surveys.id AND version = {VERSION} LEFT JOIN settings ON settings.survey = surveys.id"
)


class SqlSurveys:
    """Implements `Surveys`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def publish(self, survey: Survey, owner: str | None = None, *, with_key: bool = True, source: str = "", draft: str = "") -> bool:
        """Stores a definition under a new id, with a new key if people are invited."""
        self._refuse_reserved(survey.id)
        key = SigningKey.generate() if survey.access == "invited" and with_key else None
        if with_key:
            survey = survey.with_issuer(key.issuer if key else "")
        did = doing("survey.publish", survey.id, f"digest {survey.digest}" + (f", owner {owner}" if owner else ""))

        def work(connection: Connection) -> bool:
            row = connection.execute(f"SELECT {COLUMNS} FROM surveys WHERE id = ?", [survey.id]).fetchone()  # noqa: S608 - our own constant
            if row and (
                not published_of(row).survey.is_same_as(survey) or (owner is not None and role_of(connection, survey.id, owner) is None)
            ):
                raise ConflictError(
                    f"a survey {survey.id} is already published and never changes; publish the new version under another id"
                )
            if row:
                return False
            if _looks_like(connection, survey.id) is not None:
                raise ConflictError("id must not look like another survey's: people could confuse the two links")
            connection.execute("INSERT INTO surveys VALUES (?, ?, 1, ?)", [survey.id, survey.definition, clock.today()])
            compiled.store(connection, survey)
            arrivals.prepare(connection, survey.id)
            if key is not None:
                issuers.add(connection, self._database.seal, survey.id, key)
            if draft:
                give_roles(connection, draft, survey.id)
            if owner is not None:
                require_account(connection, owner)
                give(connection, survey.id, owner, Role.OWNER)
            if source:
                connection.execute("INSERT INTO sources VALUES (?, ?)", [survey.id, source.encode()])
            append(connection, replace(did, detail=did.detail + _follow_draft(connection, draft, survey.id, owner)))
            return True

        return self._database.writer.run(work)

    def source(self, survey_id: str) -> str | None:
        """Returns the survey file of a published survey."""
        with self._database.reading() as connection:
            require(connection, survey_id)
            row = connection.execute("SELECT text FROM sources WHERE survey = ?", [survey_id]).fetchone()
        return None if row is None else bytes(row[0]).decode()

    def _refuse_reserved(self, survey_id: str) -> None:
        """Raises ConflictError for the id of a preview or of a trial, which has a store of its own."""
        if survey_id.startswith(PREVIEW):
            raise ConflictError(f"id must not begin with {PREVIEW}: previews are never published")
        if is_trial(survey_id):
            raise ConflictError("id must not be the id of a test run or a simulation: these are never published")

    def looks_like(self, survey_id: str) -> str | None:
        """Returns the id of another published survey that this id looks like."""
        with self._database.reading() as connection:
            return _looks_like(connection, survey_id)

    def count(self) -> int:
        """Returns the number of published surveys."""
        with self._database.reading() as connection:
            (n,) = connection.execute("SELECT count(*) FROM surveys").fetchone()
        return int(n)

    def ids(self) -> list[str]:
        """Returns the ids of all published surveys, sorted."""
        with self._database.reading() as connection:
            return [survey_id for (survey_id,) in connection.execute("SELECT id FROM surveys ORDER BY id").fetchall()]

    def compiled(self, survey_id: str) -> CompiledSurvey:
        """Returns what checking records needs of a survey."""
        with self._database.reading() as connection:
            return compiled.find(connection, survey_id)

    def compile_some(self, most: int) -> int:
        """Compiles some surveys that an older server published."""
        with self._database.reading() as connection:
            if not compiled.any_missing(connection):
                return 0
        return self._database.writer.run(lambda connection: compiled.compile_some(connection, most))

    def sharing(self, survey: Survey, survey_ids: Collection[str]) -> list[str]:
        """Returns the other surveys among these with an item in common with a survey."""
        with self._database.reading() as connection:
            return compiled.sharing(connection, survey, survey_ids)

    def wrongly_compiled(self, surveys: Sequence[Survey]) -> list[str]:
        """Returns the ids of surveys whose stored rules differ from these definitions."""
        with self._database.reading() as connection:
            return list(compiled.wrong(connection, surveys))

    def published(self, survey_id: str) -> Published:
        """Returns a published survey."""
        with self._database.reading() as connection:
            return find(connection, survey_id)

    def all(self) -> list[Published]:
        """Returns all published surveys, sorted by id."""
        with self._database.reading() as connection:
            rows = connection.execute(f"SELECT {COLUMNS} FROM surveys ORDER BY id").fetchall()  # noqa: S608 - our own constant
        return [published_of(row) for row in rows]

    def headings(self, survey_ids: Collection[str] | None = None) -> list[Heading]:
        """Returns published surveys as lists show them, without parsing their questions."""
        with self._database.reading() as connection:
            if survey_ids is None:
                rows = connection.execute(f"{_HEADINGS} ORDER BY surveys.id").fetchall()
            else:
                rows = list(rows_of(connection, f"{_HEADINGS} WHERE surveys.id IN ({{}}) ORDER BY surveys.id", survey_ids))
            now = minute(clock.now())
            headings = [(row[0], compiled.heading_of(connection, row[0], row[1]), availability(row[2:], now)) for row in rows]
        return [Heading(survey_id, *(*heading, *available)) for survey_id, heading, available in headings]

    def set_open(self, survey_id: str, is_open: bool) -> None:
        """Opens or closes a survey; closing it rewrites the database."""
        did = doing("survey.reopen" if is_open else "survey.close", survey_id)

        def work(connection: Connection) -> None:
            survey, open_ = compiled.find(connection, survey_id), published.is_open(connection, survey_id)
            append(connection, did)
            if is_open:
                if day := settings_of(connection, survey_id).deleted_on:
                    raise ClosedError(f"survey {survey_id} cannot be opened: its records were deleted on {day}")
                if not open_ and (day := _shown_at_close(connection, survey)):
                    raise ClosedError(f"survey {survey_id} cannot be opened: its records are shown since {day}, once and all together")
                if survey.access == "invited" and not open_:
                    raise ClosedError(f"survey {survey_id} cannot be opened: its key for invitation codes was deleted when it closed")
                connection.execute(
                    "UPDATE settings SET close_on = NULL, close_at = NULL, closes_at = NULL, archived = 0 WHERE survey = ?", [survey_id]
                )
            else:
                issuers.retire(connection, survey_id)
            connection.execute("UPDATE surveys SET is_open = ? WHERE id = ?", [int(is_open), survey_id])
            self._database.releases.intake.touched.add(survey_id)

        self._database.writer.run(work)
        if not is_open:
            try:
                self._database.rewrite()
            except StoreError:
                self._database.due()  # it is closed; the rewrite waits for disk space

    def pause(self, survey_id: str, paused: bool) -> None:
        """Pauses or resumes an open survey."""
        did = doing("survey.pause" if paused else "survey.go-on", survey_id)

        def work(connection: Connection) -> None:
            if not published.is_open(connection, survey_id):
                raise ClosedError(f"survey {survey_id} is closed")
            connection.execute("UPDATE surveys SET is_open = ? WHERE id = ?", [PAUSED if paused else 1, survey_id])
            append(connection, did)

        self._database.writer.run(work)


def _follow_draft(connection: Connection, draft: str, survey_id: str, owner: str | None) -> str:
    """Gives a new survey the tags of its draft, and its place in a study. Returns the place in words."""
    move_to_survey(connection, draft, survey_id)
    row = connection.execute("SELECT survey FROM draft_waves WHERE draft = ?", [draft]).fetchone()
    if row is None or owner is None or (effective_role(connection, row[0], owner) or 0) < Role.EDITOR:
        return ""
    wave = add_wave(connection, survey_id, row[0])
    return f", wave {wave.number} of {wave.name}"


def _shown_at_close(connection: Connection, survey: SurveyRules) -> str | None:
    """Returns the day on which a closed survey released all its records, or None. A second release would single out later records."""
    return arrivals.of(connection, survey.id).released_on if survey.release == "close" else None


def _looks_like(connection: Connection, survey_id: str) -> str | None:
    return id_like(survey_id, (other for (other,) in connection.execute("SELECT id FROM surveys ORDER BY id").fetchall()))
