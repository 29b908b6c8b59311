"""How surveys are to be run, as the database has it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from deniable_server.store.life import Settings
from deniable_server.store.sql import spans
from deniable_server.store.sql.connection import Connection

NAMES = tuple(field.name for field in fields(Settings))
COLUMNS = ", ".join(NAMES)


def settings_of(connection: Connection, survey_id: str) -> Settings:
    """How a survey is to be run; as if nobody had said anything where nobody has."""
    row = connection.execute(f"SELECT {COLUMNS} FROM settings WHERE survey = ?", [survey_id]).fetchone()  # noqa: S608 - our own names
    return settings_from(row) if row else Settings()


def close_if_full(connection: Connection, survey_id: str, more: int = 0) -> bool:
    """Closes an open survey that has the records it was to have. Whether it did: what waits is to be counted then.

    more: records that are known to wait, besides those that are counted. Never how many do: whoever chose the number would learn that.

    It stands in no log of what was done: the second in which a survey has its count is the second in which somebody answered.
    """
    row = connection.execute("SELECT close_at FROM settings WHERE survey = ?", [survey_id]).fetchone()
    if row is None or row[0] is None or spans.total(connection, survey_id) + more < row[0]:
        return False
    return bool(connection.execute("UPDATE surveys SET is_open = 0 WHERE id = ? AND is_open > 0", [survey_id]).rowcount)


def settings_from(row: Any) -> Settings:
    """The settings in a row of COLUMNS."""
    values = dict(zip(NAMES, row, strict=True))
    return Settings(**{**values, "archived": bool(values["archived"])})
