"""Settings, growth and deletion of surveys in SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, astuple, replace

from deniable_server.store.audit import doing
from deniable_server.store.errors import OpenError, QuotaError, StoreError
from deniable_server.store.life import Settings, Span
from deniable_server.store.protocol import STEP
from deniable_server.store.sql import compiled, quotas, spans
from deniable_server.store.sql.audit import append
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import SqlDatabase
from deniable_server.store.sql.published import is_open, require
from deniable_server.store.sql.settings import COLUMNS, NAMES, close_if_full, settings_from, settings_of

_KEEP = (
    f"INSERT INTO settings (survey, {COLUMNS}) VALUES ({', '.join('?' * (len(NAMES) + 1))}) "  # noqa: S608 - our own names
    f"ON CONFLICT (survey) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in NAMES if name != 'deleted_on')}"
)
_MARK = "INSERT INTO settings (survey, deleted_on) VALUES (?, ?) ON CONFLICT (survey) DO UPDATE SET deleted_on = excluded.deleted_on"
_ERASED = ("submissions", "tallies", "invitations", "unmatched", "spans", "quotas")


class SqlLife:
    """Implements `Life`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def settings(self, survey_id: str) -> Settings:
        """Returns the settings of a survey."""
        with self._database.reading() as connection:
            require(connection, survey_id)
            return settings_of(connection, survey_id)

    def all_settings(self) -> Mapping[str, Settings]:
        """Returns the settings of all surveys that have any, by survey id."""
        with self._database.reading() as connection:
            rows = connection.execute(f"SELECT survey, {COLUMNS} FROM settings").fetchall()  # noqa: S608 - our own names
        return {row[0]: settings_from(row[1:]) for row in rows}

    def keep(self, survey_id: str, settings: Settings) -> None:
        """Stores a survey's settings, and closes it if it is full."""
        self._keep(survey_id, settings, closed=False)

    def archive(self, survey_id: str, archived: bool) -> None:
        """Sets whether a closed survey is archived."""
        self._keep(survey_id, replace(self.settings(survey_id), archived=archived), closed=True)

    def _keep(self, survey_id: str, settings: Settings, closed: bool) -> None:
        """Stores settings. With `closed`, refuses a survey that is open."""
        detail = ", ".join(f"{name} {value}" for name, value in asdict(settings).items() if value is not None and name != "deleted_on")
        did = doing("survey.settings", survey_id, detail)

        def work(connection: Connection) -> None:
            if is_open(connection, survey_id) and closed:
                raise OpenError(f"survey {survey_id} is open; only a closed survey can be archived")
            row = [int(value) if isinstance(value, bool) else value for value in astuple(settings)]
            connection.execute(_KEEP, [survey_id, *row])
            append(connection, did)
            if close_if_full(connection, survey_id):
                self._database.releases.intake.touched.add(survey_id)
                self._database.changed(connection)

        self._database.writer.run(work)

    def quotas(self, survey_id: str) -> Mapping[str, int]:
        """Returns the quotas of a survey's groups."""
        with self._database.reading() as connection:
            own = quotas.read(connection, self._database.seal, compiled.find(connection, survey_id))
        return own.most if own else {}

    def full_groups(self, survey_id: str) -> list[str]:
        """Returns the groups that take no more records."""
        with self._database.reading() as connection:
            own = quotas.read(connection, self._database.seal, compiled.find(connection, survey_id))
        return own.full() if own else []

    def set_quotas(self, survey_id: str, changes: Mapping[str, int]) -> None:
        """Sets or raises quotas of groups."""
        did = doing("survey.quotas", survey_id, ", ".join(f"{group} {most}" for group, most in changes.items()))

        def work(connection: Connection) -> None:
            survey = compiled.find(connection, survey_id)
            intake = self._database.releases.intake
            before = own.most if (own := intake.quotas(survey_id)) else {}
            if (broken := quotas.problem(survey, before, changes, STEP)) is not None:
                raise QuotaError(broken)
            intake.set_quotas(survey_id, {**before, **changes})
            append(connection, did)

        self._database.writer.run(work)

    def spans(self, survey_id: str) -> list[Span]:
        """Returns the spans of a survey, in order."""
        with self._database.reading() as connection:
            require(connection, survey_id)
            return spans.of(connection, survey_id)

    def last_counted(self) -> Mapping[str, str]:
        """Returns the last day of each survey's last span, by survey id."""
        with self._database.reading() as connection:
            return dict(connection.execute("SELECT survey, max(until) FROM spans GROUP BY survey").fetchall())

    def erase(self, survey_id: str, day: str) -> None:
        """Deletes a survey's records, counts and codes, then rewrites the database."""
        did = doing("survey.delete", survey_id, "all records")

        def work(connection: Connection) -> None:
            require(connection, survey_id)
            if settings_of(connection, survey_id).deleted_on:
                return
            for table in _ERASED:
                connection.execute(f"DELETE FROM {table} WHERE survey = ?", [survey_id])  # noqa: S608 - our own names
            connection.execute("UPDATE surveys SET is_open = 0 WHERE id = ?", [survey_id])
            connection.execute(_MARK, [survey_id, day])
            append(connection, did)
            self._database.releases.intake.discard(survey_id)
            self._database.changed(connection)

        self._database.writer.run(work)
        try:
            self._database.rewrite()
        except StoreError:
            self._database.due()  # the records are deleted; remains in unused pages are overwritten when there is disk space
