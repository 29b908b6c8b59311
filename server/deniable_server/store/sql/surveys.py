"""Published definitions in SQL."""

from __future__ import annotations

import json

from deniable.survey import Survey
from deniable_server.store.audit import doing
from deniable_server.store.drafts import PREVIEW
from deniable_server.store.errors import ClosedError, ConflictError, StoreError
from deniable_server.store.namesakes import id_like
from deniable_server.store.protocol import Heading, Published
from deniable_server.store.roles import Role
from deniable_server.store.sql import clock
from deniable_server.store.sql.audit import append
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import SqlDatabase
from deniable_server.store.sql.people import require_account
from deniable_server.store.sql.published import COLUMNS, PAUSED, find, published_of
from deniable_server.store.sql.roles import give, role_of
from deniable_server.store.sql.settings import settings_of


class SqlSurveys:
    """Implements `Surveys`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def publish(self, survey: Survey, owner: str | None = None) -> bool:
        """Stores a definition under a new id."""
        did = doing("survey.publish", survey.id, f"digest {survey.digest}" + (f", owner {owner}" if owner else ""))
        if survey.id.startswith(PREVIEW):
            raise ConflictError(f"id must not begin with {PREVIEW}: previews are never published")

        def work(connection: Connection) -> bool:
            row = connection.execute("SELECT definition FROM surveys WHERE id = ?", [survey.id]).fetchone()
            if row and (bytes(row[0]) != survey.definition or (owner is not None and role_of(connection, survey.id, owner) is None)):
                raise ConflictError(
                    f"a survey {survey.id} is already published and never changes; publish the new version under another id"
                )
            if row:
                return False
            if _looks_like(connection, survey.id) is not None:
                raise ConflictError("id must not look like another survey's: people could confuse the two links")
            connection.execute("INSERT INTO surveys VALUES (?, ?, 1, ?)", [survey.id, survey.definition, clock.today()])
            self._database.intake.prepare(connection, survey)
            if owner is not None:
                require_account(connection, owner)
                give(connection, survey.id, owner, Role.OWNER)
            append(connection, did)
            return True

        return self._database.writer.run(work)

    def looks_like(self, survey_id: str) -> str | None:
        """Returns the id of another published survey that this id looks like."""
        with self._database.reading() as connection:
            return _looks_like(connection, survey_id)

    def published(self, survey_id: str) -> Published:
        """Returns a published survey."""
        with self._database.reading() as connection:
            return find(connection, survey_id)

    def all(self) -> list[Published]:
        """Returns all published surveys, sorted by id."""
        with self._database.reading() as connection:
            rows = connection.execute(f"SELECT {COLUMNS} FROM surveys ORDER BY id").fetchall()  # noqa: S608 - our own constant
        return [published_of(row) for row in rows]

    def headings(self) -> list[Heading]:
        """Returns all published surveys as lists show them, without parsing their questions."""
        with self._database.reading() as connection:
            rows = connection.execute("SELECT id, definition, is_open, published_on FROM surveys ORDER BY id").fetchall()
        return [_heading(*row) for row in rows]

    def set_open(self, survey_id: str, is_open: bool) -> None:
        """Opens or closes a survey; closing it rewrites the database."""
        did = doing("survey.reopen" if is_open else "survey.close", survey_id)

        def work(connection: Connection) -> None:
            find(connection, survey_id)
            append(connection, did)
            if is_open:
                if day := settings_of(connection, survey_id).deleted_on:
                    raise ClosedError(f"survey {survey_id} cannot be opened: its records were deleted on {day}")
                connection.execute("UPDATE settings SET close_on = NULL, close_at = NULL, archived = 0 WHERE survey = ?", [survey_id])
            connection.execute("UPDATE surveys SET is_open = ? WHERE id = ?", [int(is_open), survey_id])
            self._database.intake.touch(survey_id)

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
            if not find(connection, survey_id).is_open:
                raise ClosedError(f"survey {survey_id} is closed")
            connection.execute("UPDATE surveys SET is_open = ? WHERE id = ?", [PAUSED if paused else 1, survey_id])
            append(connection, did)

        self._database.writer.run(work)


def _looks_like(connection: Connection, survey_id: str) -> str | None:
    return id_like(survey_id, (other for (other,) in connection.execute("SELECT id FROM surveys ORDER BY id").fetchall()))


def _heading(survey_id: str, definition: bytes, is_open: int, published_on: str) -> Heading:
    texts = json.loads(bytes(definition))
    translated = tuple(own["title"] for own in texts.get("translations", {}).values() if "title" in own)
    return Heading(survey_id, texts["title"], is_open > 0, str(published_on), translated)
