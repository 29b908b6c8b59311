"""The shelf of definitions."""

from __future__ import annotations

from datetime import UTC, datetime

from deniable.survey import Survey
from deniable_server.store.drafts import PREVIEW
from deniable_server.store.errors import ConflictError, StoreError
from deniable_server.store.protocol import Published
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import Database
from deniable_server.store.sql.published import COLUMNS, find, published_of


class SurveyShelf:
    """The `Surveys` of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def publish(self, survey: Survey) -> bool:
        if survey.id.startswith(PREVIEW):
            raise ConflictError(f"the id must not begin with {PREVIEW}: such a survey is tried, and never published")

        def work(connection: Connection) -> bool:
            row = connection.execute("SELECT definition FROM surveys WHERE id = ?", [survey.id]).fetchone()
            if row and bytes(row[0]) != survey.definition:
                raise ConflictError(
                    f"a survey {survey.id} is published already and never changes; publish the new version under another id"
                )
            if row:
                return False
            today = datetime.now(UTC).date().isoformat()
            connection.execute("INSERT INTO surveys VALUES (?, ?, 1, ?)", [survey.id, survey.definition, today])
            self._database.intake.prepare(connection, survey)
            return True

        return self._database.writer.run(work)

    def published(self, survey_id: str) -> Published:
        with self._database.reading() as connection:
            return find(connection, survey_id)

    def all(self) -> list[Published]:
        with self._database.reading() as connection:
            rows = connection.execute(f"SELECT {COLUMNS} FROM surveys ORDER BY id").fetchall()  # noqa: S608 - our own constant
        return [published_of(row) for row in rows]

    def set_open(self, survey_id: str, is_open: bool) -> None:
        def work(connection: Connection) -> None:
            find(connection, survey_id)
            connection.execute("UPDATE surveys SET is_open = ? WHERE id = ?", [int(is_open), survey_id])
            self._database.intake.touch(survey_id)

        self._database.writer.run(work)
        if not is_open:
            try:
                self._database.rewrite()
            except StoreError:
                self._database.due()  # it is closed all the same; there is no room for this now
