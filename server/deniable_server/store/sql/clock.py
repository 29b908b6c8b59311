"""The day, the finest time that is kept of anything."""

from __future__ import annotations

from datetime import UTC, datetime


def today() -> str:
    """The day in UTC, YYYY-MM-DD."""
    return datetime.now(UTC).date().isoformat()
