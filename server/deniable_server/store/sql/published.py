"""Published surveys as rows of the database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deniable_server.store.errors import UnknownSurveyError
from deniable_server.store.moments import DEFAULT_ZONE, minute
from deniable_server.store.protocol import Published
from deniable_server.store.sql import clock, compiled
from deniable_server.store.sql.connection import Connection

_SETTING = "(SELECT {0} FROM settings WHERE settings.survey = surveys.id)"
COLUMNS = f"definition, is_open, published_on, {_SETTING.format('opens_at')}, {_SETTING.format('closes_at')}, {_SETTING.format('zone')}"
CLOSED, OPEN, PAUSED = 0, 1, 2  # in the column is_open


def published_of(row: Sequence[Any]) -> Published:
    """Returns the published survey of a row of COLUMNS."""
    return Published(compiled.parse(bytes(row[0])), *availability(row[1:], minute(clock.now())))


def availability(row: Sequence[Any], now: str) -> tuple[bool, str, bool, str | None, bool, str]:
    """Returns the fields of `Published` after the survey.

    Args:
        row: The values of is_open, published_on, opens_at, closes_at and zone.
        now: The current minute in UTC.
    """
    opens_at = row[2] if row[2] and row[2] > now else None
    is_over = bool(row[3] and row[3] <= now)
    return row[0] > 0, str(row[1]), row[0] == PAUSED, opens_at, is_over, row[4] or DEFAULT_ZONE


def states_of(connection: Connection, survey_ids: Sequence[str]) -> dict[str, int]:
    """Returns the states of surveys for submissions: one that is not open yet is paused, one whose time is over is closed."""
    now = minute(clock.now())
    marks = ", ".join("?" * len(survey_ids))
    query = f"""SELECT id, CASE WHEN closes_at <= ? THEN {CLOSED} WHEN is_open = {OPEN} AND opens_at > ? THEN {PAUSED} ELSE is_open END
    FROM surveys LEFT JOIN settings ON settings.survey = surveys.id WHERE id IN ({marks})"""  # noqa: S608 - our own constants
    return dict(connection.execute(query, [now, now, *survey_ids]).fetchall())


def state_of(connection: Connection, survey_id: str) -> int:
    """Returns the state of a survey for submissions. Raises UnknownSurveyError."""
    states = states_of(connection, [survey_id])
    if not states:
        raise UnknownSurveyError(compiled.UNKNOWN)
    return states[survey_id]


def find(connection: Connection, survey_id: str) -> Published:
    """Returns a published survey. Raises UnknownSurveyError."""
    row = connection.execute(f"SELECT {COLUMNS} FROM surveys WHERE id = ?", [survey_id]).fetchone()  # noqa: S608 - our own constant
    if row is None:
        raise UnknownSurveyError(compiled.UNKNOWN)
    return published_of(row)


def is_open(connection: Connection, survey_id: str) -> bool:
    """Returns whether a published survey was not closed yet. Raises UnknownSurveyError."""
    row = connection.execute("SELECT is_open FROM surveys WHERE id = ?", [survey_id]).fetchone()
    if row is None:
        raise UnknownSurveyError(compiled.UNKNOWN)
    return int(row[0]) > 0


def require(connection: Connection, survey_id: str) -> None:
    """Raises UnknownSurveyError unless a survey is published."""
    is_open(connection, survey_id)
