"""The current day: no finer time is stored of anything."""

from __future__ import annotations

from datetime import UTC, datetime


def today() -> str:
    """Returns the day in UTC, YYYY-MM-DD."""
    return datetime.now(UTC).date().isoformat()
