"""Saved questions in SQL."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from deniable_server.store.errors import TooManyQuestionsError
from deniable_server.store.saved_questions import MOST, SavedQuestion
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.database import SqlDatabase

_LISTED = "SELECT id, author, text, saved_on FROM saved_questions WHERE author = ? ORDER BY saved_on, id"


class SqlSavedQuestions:
    """Implements `SavedQuestions`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def add(self, author: str, text: str) -> SavedQuestion:
        """Stores a question, if its author has fewer than MOST and not this one."""
        question = SavedQuestion(secrets.token_hex(8), author, text, datetime.now(UTC).date().isoformat())

        def work(connection: Connection) -> SavedQuestion:
            saved = _listed(connection, author)
            if same := next((one for one in saved if one.text == text), None):
                return same
            if len(saved) >= MOST:
                raise TooManyQuestionsError(f"you have {MOST} saved questions, the most allowed: remove one, then try again")
            row = [question.id, author, text.encode(), question.saved_on]
            connection.execute("INSERT INTO saved_questions VALUES (?, ?, ?, ?)", row)
            return question

        return self._database.writer.run(work)

    def listed(self, author: str) -> list[SavedQuestion]:
        """Returns one person's saved questions, the oldest day first."""
        with self._database.reading() as connection:
            return _listed(connection, author)

    def remove(self, author: str, question_id: str) -> bool:
        """Deletes a saved question and schedules a rewrite of the database."""

        def work(connection: Connection) -> bool:
            removed = connection.execute("DELETE FROM saved_questions WHERE id = ? AND author = ?", [question_id, author]).rowcount > 0
            if removed:
                self._database.changed(connection)
            return removed

        return self._database.writer.run(work)


def _listed(connection: Connection, author: str) -> list[SavedQuestion]:
    rows = connection.execute(_LISTED, [author]).fetchall()
    return [SavedQuestion(question_id, owner, bytes(text).decode(), saved_on) for question_id, owner, text, saved_on in rows]
