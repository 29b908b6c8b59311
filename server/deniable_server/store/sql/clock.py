"""Current time. Of records, no time finer than a day is stored."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """Returns the time in UTC."""
    return datetime.now(UTC)


def today() -> str:
    """Returns the day in UTC, YYYY-MM-DD."""
    return now().date().isoformat()
