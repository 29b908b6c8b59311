"""Growth of a survey's record count in spans of days, updated in the transaction that changes the count.

A span has at least LEAST records. A smaller change (of a batch with withdrawals, of the remainder at closing, of a trial survey)
extends the last span, so neither the spans nor their difference to the count reveal what one or two people did, or when.
"""

from __future__ import annotations

from deniable_server.store.life import LEAST, Span
from deniable_server.store.protocol import ESTIMATED
from deniable_server.store.sql import parts
from deniable_server.store.sql.arrivals import of as arrivals_of
from deniable_server.store.sql.arrivals import rounded
from deniable_server.store.sql.connection import Connection

_LAST = "SELECT since, until, n FROM spans WHERE survey = ? ORDER BY since DESC LIMIT 1"


def note(connection: Connection, survey_id: str, change: int, day: str) -> None:
    """Adds a change of the count to the spans. Records made by hand are in no span, as they are in no estimate."""
    if not change:
        return
    last = connection.execute(_LAST, [survey_id]).fetchone()
    if last is None:
        _begin(connection, survey_id, change, day)
        return
    since, until, n = last
    if until < day and change >= LEAST:
        connection.execute("INSERT INTO spans VALUES (?, ?, ?, ?)", [survey_id, day, day, change])
        return
    connection.execute("DELETE FROM spans WHERE survey = ? AND since = ?", [survey_id, since])
    _extend(connection, survey_id, Span(since, max(until, day), n + change))  # the day can be an earlier one if the clock was set back


def of(connection: Connection, survey_id: str) -> list[Span]:
    """Returns the spans of a survey, in order."""
    rows = connection.execute("SELECT since, until, n FROM spans WHERE survey = ? ORDER BY since", [survey_id])
    return [Span(*row) for row in rows.fetchall()]


def total(connection: Connection, survey_id: str) -> int:
    """Returns the number of records of a survey that estimates use, with those that wait, in steps of `STEP`."""
    numbers = [parts.NUMBERS.index(mode) for mode in ESTIMATED]
    query = f"SELECT coalesce(sum(n), 0) FROM tallies WHERE survey = ? AND mode IN ({', '.join('?' * len(numbers))})"  # noqa: S608 - marks only
    return int(connection.execute(query, [survey_id, *numbers]).fetchone()[0]) + rounded(arrivals_of(connection, survey_id).device)


def _begin(connection: Connection, survey_id: str, change: int, day: str) -> None:
    """Inserts the first span; it starts when the survey was published, if there were earlier records that were too few to report."""
    if (n := total(connection, survey_id)) >= LEAST:
        (published_on,) = connection.execute("SELECT published_on FROM surveys WHERE id = ?", [survey_id]).fetchone()
        connection.execute("INSERT INTO spans VALUES (?, ?, ?, ?)", [survey_id, day if n == change else min(day, published_on), day, n])


def _extend(connection: Connection, survey_id: str, span: Span) -> None:
    """Inserts the last span, merged with earlier ones until it has LEAST records; inserts nothing if they are too few."""
    while span.n < LEAST:
        before = connection.execute(_LAST, [survey_id]).fetchone()
        if before is None:
            return
        connection.execute("DELETE FROM spans WHERE survey = ? AND since = ?", [survey_id, before[0]])
        span = Span(before[0], span.until, before[2] + span.n)
    connection.execute("INSERT INTO spans VALUES (?, ?, ?, ?)", [survey_id, span.since, span.until, span.n])
