"""Survey settings as rows of the database."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from deniable_server.store.life import Settings
from deniable_server.store.sql import issuers, spans
from deniable_server.store.sql.connection import Connection

NAMES = tuple(field.name for field in fields(Settings))
COLUMNS = ", ".join(NAMES)


def settings_of(connection: Connection, survey_id: str) -> Settings:
    """Returns a survey's settings; the defaults if none are stored."""
    row = connection.execute(f"SELECT {COLUMNS} FROM settings WHERE survey = ?", [survey_id]).fetchone()  # noqa: S608 - our own names
    return settings_from(row) if row else Settings()


def close_if_full(connection: Connection, survey_id: str) -> bool:
    """Closes an open survey that has reached its number of records: counted ones, and waiting ones in steps of `STEP`.

    The audit log does not show it, because the second of the closing is the second of a respondent's answer.

    Args:
        connection: A connection in a transaction.
        survey_id: The survey's id.

    Returns:
        Whether it was closed now: then all waiting submissions must be counted.
    """
    row = connection.execute("SELECT close_at FROM settings WHERE survey = ?", [survey_id]).fetchone()
    if row is None or row[0] is None or spans.total(connection, survey_id) < row[0]:
        return False
    if not connection.execute("UPDATE surveys SET is_open = 0 WHERE id = ? AND is_open > 0", [survey_id]).rowcount:
        return False
    issuers.retire(connection, survey_id)
    return True


def settings_from(row: Any) -> Settings:
    """Returns the settings in a row of COLUMNS."""
    values = dict(zip(NAMES, row, strict=True))
    return Settings(**{**values, "archived": bool(values["archived"])})
