"""Tags of surveys and drafts in SQL."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from deniable_server.store.audit import doing
from deniable_server.store.drafts import MISSING
from deniable_server.store.errors import UnknownDraftError
from deniable_server.store.sql.audit import append
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import SqlDatabase
from deniable_server.store.sql.many import rows_of
from deniable_server.store.sql.published import require

_OF_SURVEYS = "SELECT survey, tag FROM tags WHERE survey IN ({}) ORDER BY tag"
_OF_DRAFTS = "SELECT draft, tag FROM draft_tags WHERE draft IN ({}) ORDER BY tag"
_SURVEYS_WITH = "SELECT survey FROM tags WHERE tag = ? AND survey IN ({})"
_DRAFTS_WITH = "SELECT draft FROM draft_tags WHERE tag = ? AND draft IN ({})"

_NAMED = 20  # surveys in an entry of the audit log


class SqlTags:
    """Implements `Tags`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def of_surveys(self, survey_ids: Collection[str]) -> Mapping[str, Sequence[str]]:
        """Returns the tags of these surveys."""
        return self._of(_OF_SURVEYS, survey_ids)

    def of_drafts(self, draft_ids: Collection[str]) -> Mapping[str, Sequence[str]]:
        """Returns the tags of these drafts."""
        return self._of(_OF_DRAFTS, draft_ids)

    def surveys_with(self, tag: str) -> frozenset[str]:
        """Returns the surveys that have a tag."""
        with self._database.reading() as connection:
            return frozenset(survey for (survey,) in connection.execute("SELECT survey FROM tags WHERE tag = ?", [tag]).fetchall())

    def set_survey(self, survey_id: str, tags: Sequence[str]) -> None:
        """Replaces the tags of a survey."""
        did = doing("survey.tags", survey_id, ", ".join(tags) or "none")

        def work(connection: Connection) -> None:
            require(connection, survey_id)
            rows = connection.execute("SELECT tag FROM tags WHERE survey = ? ORDER BY tag", [survey_id]).fetchall()
            if [tag for (tag,) in rows] == sorted(tags):
                return
            connection.execute("DELETE FROM tags WHERE survey = ?", [survey_id])
            _add_to_survey(connection, survey_id, tags)
            append(connection, did)

        self._database.writer.run(work)

    def set_draft(self, draft_id: str, tags: Sequence[str]) -> None:
        """Replaces the tags of a draft."""

        def work(connection: Connection) -> None:
            if connection.execute("SELECT 1 FROM drafts WHERE id = ?", [draft_id]).fetchone() is None:
                raise UnknownDraftError(MISSING)
            connection.execute("DELETE FROM draft_tags WHERE draft = ?", [draft_id])
            for tag in sorted(tags):
                connection.execute("INSERT INTO draft_tags VALUES (?, ?)", [draft_id, tag])

        self._database.writer.run(work)

    def replace(self, tag: str, new: str, survey_ids: Collection[str], draft_ids: Collection[str]) -> int:
        """Renames or removes a tag on these surveys and drafts."""
        did = doing("tag.rename" if new else "tag.remove", tag)

        def work(connection: Connection) -> int:
            surveys = [survey for (survey,) in rows_of(connection, _SURVEYS_WITH, survey_ids, [tag])]
            drafts = [draft for (draft,) in rows_of(connection, _DRAFTS_WITH, draft_ids, [tag])]
            for table, column, ids in (("tags", "survey", surveys), ("draft_tags", "draft", drafts)):
                for one in ids:
                    connection.execute(f"DELETE FROM {table} WHERE {column} = ? AND tag IN (?, ?)", [one, tag, new])  # noqa: S608 - our own names
                    if new:
                        connection.execute(f"INSERT INTO {table} VALUES (?, ?)", [one, new])  # noqa: S608 - our own names
            if surveys:
                where = f"on {len(surveys)} surveys: {', '.join(surveys[:_NAMED])}{', ...' if len(surveys) > _NAMED else ''}"
                append(connection, replace(did, detail=f"to {new}, {where}" if new else where))
            return len(surveys) + len(drafts)

        return self._database.writer.run(work)

    def _of(self, query: str, ids: Collection[str]) -> dict[str, tuple[str, ...]]:
        tags: dict[str, tuple[str, ...]] = {}
        with self._database.reading() as connection:
            for one, tag in rows_of(connection, query, ids):
                tags[one] = (*tags.get(one, ()), tag)
        return tags


def move_to_survey(connection: Connection, draft_id: str, survey_id: str) -> None:
    """Gives a survey the tags of its draft, in the writer's turn."""
    rows = connection.execute("SELECT tag FROM draft_tags WHERE draft = ? ORDER BY tag", [draft_id]).fetchall()
    _add_to_survey(connection, survey_id, [tag for (tag,) in rows])


def _add_to_survey(connection: Connection, survey_id: str, tags: Sequence[str]) -> None:
    for tag in sorted(tags):
        connection.execute("INSERT INTO tags VALUES (?, ?)", [survey_id, tag])
