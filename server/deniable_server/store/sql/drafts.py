"""Drafts in SQL."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from deniable_server.store.draft_history import History, unpack
from deniable_server.store.drafts import BEGINNING, MISSING, MOST, Draft, DraftHead, Steps, beginning
from deniable_server.store.errors import ConflictError, TooManyDraftsError, UnknownDraftError
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import SqlDatabase
from deniable_server.store.sql.draft_roles import forget_roles

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
            stored = _unchanged(connection, draft_id, before)
            if text == stored.text:
                return stored
            return _replace(connection, stored, text, _history(connection, draft_id).changed(stored.text))

        return self._database.writer.run(work)

    def steps(self, draft_id: str) -> Steps:
        """Returns how many versions of a draft can be undone and redone."""
        with self._database.reading() as connection:
            history = _history(connection, draft_id)
        return Steps(len(history.earlier), len(history.later))

    def undo(self, draft_id: str, before: str) -> Draft:
        """Restores the previous version of a draft."""
        return self._step(draft_id, before, History.undone)

    def redo(self, draft_id: str, before: str) -> Draft:
        """Restores the version that the last undo replaced."""
        return self._step(draft_id, before, History.redone)

    def _step(self, draft_id: str, before: str, step: Callable[[History, str], tuple[str, History]]) -> Draft:
        def work(connection: Connection) -> Draft:
            stored = _unchanged(connection, draft_id, before)
            try:
                text, history = step(_history(connection, draft_id), stored.text)
            except LookupError:
                return stored
            return _replace(connection, stored, text, history)

        return self._database.writer.run(work)

    def remove(self, draft_id: str) -> bool:
        """Deletes a draft and schedules a rewrite of the database."""

        def work(connection: Connection) -> bool:
            removed = connection.execute("DELETE FROM drafts WHERE id = ?", [draft_id]).rowcount > 0
            for table in ("draft_histories", "draft_waves", "draft_tags"):
                connection.execute(f"DELETE FROM {table} WHERE draft = ?", [draft_id])  # noqa: S608 - our own names
            forget_roles(connection, draft_id)
            if removed:
                self._database.changed(connection)
            return removed

        return self._database.writer.run(work)


def _find(connection: Connection, draft_id: str) -> Draft:
    row = connection.execute(_QUERY, [draft_id]).fetchone()
    if row is None:
        raise UnknownDraftError(MISSING)
    return _draft(row)


def _unchanged(connection: Connection, draft_id: str, before: str) -> Draft:
    """Returns a draft whose revision is still `before`. Raises ConflictError, UnknownDraftError."""
    stored = _find(connection, draft_id)
    if stored.revision != before:
        raise ConflictError("the draft was changed meanwhile")
    return stored


def _replace(connection: Connection, stored: Draft, text: str, history: History) -> Draft:
    changed = Draft(stored.id, stored.author, text, _today())
    connection.execute("UPDATE drafts SET text = ?, changed_on = ? WHERE id = ?", [text.encode(), changed.changed_on, stored.id])
    statement = "INSERT INTO draft_histories VALUES (?, ?) ON CONFLICT (draft) DO UPDATE SET steps = excluded.steps"
    connection.execute(statement, [stored.id, history.pack()])
    return changed


def _history(connection: Connection, draft_id: str) -> History:
    row = connection.execute("SELECT steps FROM draft_histories WHERE draft = ?", [draft_id]).fetchone()
    return unpack(bytes(row[0])) if row else History()


def _draft(row: Sequence[Any]) -> Draft:
    draft_id, author, text, changed_on = row
    return Draft(draft_id, author, bytes(text).decode(), changed_on)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
