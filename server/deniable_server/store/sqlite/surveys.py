"""Published surveys on SQLite."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

from deniable.survey import Survey
from deniable_server.store.errors import ConflictError, StoreError
from deniable_server.store.protocol import Published
from deniable_server.store.sqlite.file import File
from deniable_server.store.sqlite.published import COLUMNS, find, published_of


class SqliteSurveys:
    """The `Surveys` of a SqliteStore."""

    def __init__(self, file: File) -> None:
        self._file = file

    def publish(self, survey: Survey) -> bool:
        def work(connection: sqlite3.Connection) -> bool:
            row = connection.execute("SELECT definition FROM surveys WHERE id = ?", [survey.id]).fetchone()
            if row and bytes(row[0]) != survey.definition:
                raise ConflictError(
                    f"a survey {survey.id} is published already and never changes; publish the new version under another id"
                )
            if row:
                return False
            today = datetime.now(UTC).date().isoformat()
            connection.execute("INSERT INTO surveys VALUES (?, ?, 1, ?)", [survey.id, survey.definition, today])
            self._file.intake.prepare(connection, survey)
            return True

        return self._file.writer.run(work)

    def published(self, survey_id: str) -> Published:
        with self._file.reading() as connection:
            return find(connection, survey_id)

    def all(self) -> list[Published]:
        with self._file.reading() as connection:
            rows = connection.execute(f"SELECT {COLUMNS} FROM surveys ORDER BY id").fetchall()  # noqa: S608 - our own constant
        return [published_of(row) for row in rows]

    def set_open(self, survey_id: str, is_open: bool) -> None:
        def work(connection: sqlite3.Connection) -> None:
            find(connection, survey_id)
            connection.execute("UPDATE surveys SET is_open = ? WHERE id = ?", [is_open, survey_id])
            self._file.intake.touch(survey_id)

        self._file.writer.run(work)
        if not is_open:
            try:
                self._file.rewrite()
            except StoreError:
                self._file.rewriting.due()  # it is closed all the same; there is no room for this now
