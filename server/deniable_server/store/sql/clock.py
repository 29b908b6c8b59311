"""Current day: no finer time of records is stored."""

from __future__ import annotations

from datetime import UTC, datetime


def today() -> str:
    """Returns the day in UTC, YYYY-MM-DD."""
    return datetime.now(UTC).date().isoformat()
