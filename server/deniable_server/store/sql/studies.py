"""Studies and their waves in SQL."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from dataclasses import replace

from deniable_server.store.audit import doing
from deniable_server.store.drafts import MISSING
from deniable_server.store.errors import ConflictError, UnknownDraftError
from deniable_server.store.sql.audit import append
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import SqlDatabase
from deniable_server.store.sql.many import rows_of
from deniable_server.store.sql.published import find, require
from deniable_server.store.studies import Wave, study_name

_WAVES = "SELECT study, name, survey, number FROM waves JOIN studies ON id = study"


class SqlStudies:
    """Implements `Studies`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def wave(self, survey_id: str) -> Wave | None:
        """Returns a survey's place in its study."""
        with self._database.reading() as connection:
            return wave_of(connection, survey_id)

    def waves(self, study: str) -> list[Wave]:
        """Returns the waves of a study, by number."""
        with self._database.reading() as connection:
            rows = connection.execute(f"{_WAVES} WHERE study = ? ORDER BY number", [study]).fetchall()
        return [Wave(*row) for row in rows]

    def waves_of(self, survey_ids: Collection[str]) -> Mapping[str, Wave]:
        """Returns the places of these surveys, by survey."""
        with self._database.reading() as connection:
            return {row[2]: Wave(*row) for row in rows_of(connection, f"{_WAVES} WHERE survey IN ({{}})", survey_ids)}

    def join(self, survey_id: str, other: str) -> Wave:
        """Adds a survey to the study of another one."""
        did = doing("study.join", survey_id)

        def work(connection: Connection) -> Wave:
            wave = add_wave(connection, survey_id, other)
            append(connection, replace(did, detail=f"wave {wave.number} of {wave.name}, with {other}"))
            return wave

        return self._database.writer.run(work)

    def leave(self, survey_id: str) -> bool:
        """Removes a survey from its study, and a study with one survey left."""
        did = doing("study.leave", survey_id)

        def work(connection: Connection) -> bool:
            wave = wave_of(connection, survey_id)
            if wave is None:
                return False
            connection.execute("DELETE FROM waves WHERE survey = ?", [survey_id])
            (left,) = connection.execute("SELECT count(*) FROM waves WHERE study = ?", [wave.study]).fetchone()
            if left < 2:
                connection.execute("DELETE FROM waves WHERE study = ?", [wave.study])
                connection.execute("DELETE FROM studies WHERE id = ?", [wave.study])
            append(connection, replace(did, detail=f"no longer wave {wave.number} of {wave.name}"))
            return True

        return self._database.writer.run(work)

    def rename(self, study: str, name: str) -> bool:
        """Changes the name of a study."""
        did = doing("study.rename", study, f"to {name}")

        def work(connection: Connection) -> bool:
            row = connection.execute("SELECT name FROM studies WHERE id = ?", [study]).fetchone()
            if row is not None and row[0] != name:
                connection.execute("UPDATE studies SET name = ? WHERE id = ?", [name, study])
                append(connection, replace(did, on=row[0]))
            return row is not None

        return self._database.writer.run(work)

    def begin_wave(self, draft_id: str, survey_id: str) -> None:
        """Marks a draft as the next wave of a survey."""

        def work(connection: Connection) -> None:
            require(connection, survey_id)
            if connection.execute("SELECT 1 FROM drafts WHERE id = ?", [draft_id]).fetchone() is None:
                raise UnknownDraftError(MISSING)
            connection.execute("DELETE FROM draft_waves WHERE draft = ?", [draft_id])
            connection.execute("INSERT INTO draft_waves VALUES (?, ?)", [draft_id, survey_id])

        self._database.writer.run(work)

    def begun(self, draft_ids: Collection[str]) -> Mapping[str, str]:
        """Returns the survey that each of these drafts follows."""
        with self._database.reading() as connection:
            return {row[0]: row[1] for row in rows_of(connection, "SELECT draft, survey FROM draft_waves WHERE draft IN ({})", draft_ids)}


def wave_of(connection: Connection, survey_id: str) -> Wave | None:
    """Returns a survey's place in its study, or None."""
    row = connection.execute(f"{_WAVES} WHERE survey = ?", [survey_id]).fetchone()
    return None if row is None else Wave(*row)


def add_wave(connection: Connection, survey_id: str, other: str) -> Wave:
    """Adds a survey as the next wave after another one, in the writer's turn. Raises UnknownSurveyError and ConflictError."""
    require(connection, survey_id)
    require(connection, other)
    if survey_id == other or wave_of(connection, survey_id) is not None:
        raise ConflictError("the survey must be in no study yet, got one that is: remove it from its study first")
    wave = wave_of(connection, other)
    if wave is None:
        wave = Wave(secrets.token_hex(8), study_name(find(connection, other).survey.title), other, 1)
        connection.execute("INSERT INTO studies VALUES (?, ?)", [wave.study, wave.name])
        connection.execute("INSERT INTO waves VALUES (?, ?, ?)", [other, wave.study, wave.number])
    (last,) = connection.execute("SELECT max(number) FROM waves WHERE study = ?", [wave.study]).fetchone()
    connection.execute("INSERT INTO waves VALUES (?, ?, ?)", [survey_id, wave.study, last + 1])
    return Wave(wave.study, wave.name, survey_id, last + 1)
