"""Drafts in SQL."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from deniable_server.store.drafts import BEGINNING, MISSING, MOST, Draft, DraftHead, beginning
from deniable_server.store.errors import ConflictError, TooManyDraftsError, UnknownDraftError
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import SqlDatabase

_QUERY = "SELECT id, author, text, changed_on FROM drafts WHERE id = ?"
_LISTED = "SELECT id, author, substr(text, 1, ?), changed_on FROM drafts WHERE author = ? ORDER BY id"
_COUNT = "SELECT count(*) FROM drafts WHERE author = ?"


class SqlDrafts:
    """Implements `Drafts`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def begin(self, author: str, text: str) -> Draft:
        """Stores a new draft, if its author has fewer than MOST."""
        draft = Draft(secrets.token_hex(8), author, text, _today())
        row = [draft.id, author, text.encode(), draft.changed_on]

        def work(connection: Connection) -> None:
            if connection.execute(_COUNT, [author]).fetchone()[0] >= MOST:
                raise TooManyDraftsError(f"you have {MOST} drafts, the most allowed: delete one, then try again")
            connection.execute("INSERT INTO drafts VALUES (?, ?, ?, ?)", row)

        self._database.writer.run(work)
        return draft

    def draft(self, draft_id: str) -> Draft:
        """Returns the draft with this id."""
        with self._database.reading() as connection:
            return _find(connection, draft_id)

    def listed(self, author: str) -> list[DraftHead]:
        """Returns one person's drafts, sorted by id."""
        with self._database.reading() as connection:
            rows = connection.execute(_LISTED, [BEGINNING, author]).fetchall()
        return [DraftHead(draft_id, owner, beginning(bytes(text or b"")), changed_on) for draft_id, owner, text, changed_on in rows]

    def save(self, draft_id: str, text: str, before: str) -> Draft:
        """Replaces a draft's text, unless it was changed meanwhile."""

        def work(connection: Connection) -> Draft:
            stored = _find(connection, draft_id)
            if stored.revision != before:
                raise ConflictError("the draft was changed meanwhile")
            if text == stored.text:
                return stored
            changed = Draft(stored.id, stored.author, text, _today())
            connection.execute("UPDATE drafts SET text = ?, changed_on = ? WHERE id = ?", [text.encode(), changed.changed_on, draft_id])
            return changed

        return self._database.writer.run(work)

    def remove(self, draft_id: str) -> bool:
        """Deletes a draft and schedules a rewrite of the database."""

        def work(connection: Connection) -> bool:
            removed = connection.execute("DELETE FROM drafts WHERE id = ?", [draft_id]).rowcount > 0
            if removed:
                self._database.changed(connection)
            return removed

        return self._database.writer.run(work)


def _find(connection: Connection, draft_id: str) -> Draft:
    row = connection.execute(_QUERY, [draft_id]).fetchone()
    if row is None:
        raise UnknownDraftError(MISSING)
    return _draft(row)


def _draft(row: Sequence[Any]) -> Draft:
    draft_id, author, text, changed_on = row
    return Draft(draft_id, author, bytes(text).decode(), changed_on)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
