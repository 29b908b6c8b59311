"""Arrivals: how many records of people wait for the release of their survey, and when it is due.

One row for each survey, changed in the transaction that changes what waits. Others learn the numbers in steps of STEP only.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from deniable.survey.compiled import SurveyRules
from deniable.wire.part import Mode
from deniable_server.store.protocol import PEOPLE, STEP
from deniable_server.store.sql import clock
from deniable_server.store.sql.connection import Connection

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Arrivals:
    """Waiting records of a survey.

    Attributes:
        device: Records of devices that wait.
        by_hand: Records made by hand that wait.
        withdrawn: Submissions that were withdrawn, waiting or counted.
        due: When the next daily release is due, in Unix seconds, or None.
        released_on: The day of the last release, YYYY-MM-DD, or None.
    """

    device: int = 0
    by_hand: int = 0
    withdrawn: int = 0
    due: int | None = None
    released_on: str | None = None

    @property
    def total(self) -> int:
        """All records of people that wait."""
        return self.device + self.by_hand


def prepare(connection: Connection, survey_id: str) -> None:
    """Stores that nothing waits in a new survey, or in one whose records are deleted."""
    connection.execute("DELETE FROM arrivals WHERE survey = ?", [survey_id])
    connection.execute("INSERT INTO arrivals VALUES (?, 0, 0, 0, NULL, NULL)", [survey_id])


def of(connection: Connection, survey_id: str) -> Arrivals:
    """Returns what waits in a survey."""
    row = connection.execute("SELECT device, by_hand, withdrawn, due, released_on FROM arrivals WHERE survey = ?", [survey_id]).fetchone()
    return Arrivals(*row) if row else Arrivals()


def rounded(n: int) -> int:
    """Returns a number of waiting records as others learn it."""
    return n // STEP * STEP


def change(connection: Connection, survey: SurveyRules, mode: Mode, more: int) -> int:
    """Adds to the number of records that wait, or subtracts from it. Returns by how much the rounded number changes.

    The first record that waits draws the time of the next daily release.
    """
    column = PEOPLE[PEOPLE.index(mode)]
    query = f"UPDATE arrivals SET {column} = {column} + ? WHERE survey = ? RETURNING {column}"  # noqa: S608 - our own names
    (n,) = connection.execute(query, [more, survey.id]).fetchone()
    if n and n == more:
        draw_due(connection, survey)
    return rounded(n) - rounded(n - more)


def note_withdrawal(connection: Connection, survey_id: str) -> None:
    """Counts a withdrawn submission."""
    connection.execute("UPDATE arrivals SET withdrawn = withdrawn + 1 WHERE survey = ?", [survey_id])


def draw_due(connection: Connection, survey: SurveyRules, now: datetime | None = None) -> None:
    """Draws the second of the next daily release, unless it is drawn: some time tomorrow, so that there is one a day at most."""
    if survey.release != "daily":
        return
    today = (now or clock.now()).astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    due = int((today + DAY).timestamp()) + secrets.randbelow(int(DAY.total_seconds()))
    connection.execute("UPDATE arrivals SET due = ? WHERE survey = ? AND due IS NULL", [due, survey.id])


def clear_due(connection: Connection, survey_id: str) -> None:
    """Removes the time of the next release, which begins now."""
    connection.execute("UPDATE arrivals SET due = NULL WHERE survey = ?", [survey_id])


def note_release(connection: Connection, survey_id: str, now: datetime) -> None:
    """Stores that records were released today, and removes the time of a release that is drawn: it could be today, too."""
    connection.execute("UPDATE arrivals SET released_on = ?, due = NULL WHERE survey = ?", [day_of(now), survey_id])


def day_of(now: datetime) -> str:
    """Returns the day of a release in UTC, YYYY-MM-DD."""
    return now.astimezone(UTC).date().isoformat()


def due(connection: Connection, now: datetime) -> list[str]:
    """Returns the surveys whose daily release is due."""
    seconds = int(now.astimezone(UTC).timestamp())
    rows = connection.execute("SELECT survey FROM arrivals WHERE due <= ? ORDER BY survey", [seconds]).fetchall()
    return [survey_id for (survey_id,) in rows]
