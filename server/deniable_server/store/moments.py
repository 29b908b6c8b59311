"""Moments at which a survey opens and closes: stored as minutes in UTC, entered and shown in a time zone that the researcher chooses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo, available_timezones

FORM = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}Z")
DEFAULT_ZONE = "UTC"
_REGIONS = ("Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific")

Occurrence = Literal["first", "last"]
MOMENTS: Mapping[str, Occurrence] = {"opens_at": "first", "closes_at": "last"}
"""The settings that are local times, each with the moment that it means if it occurs twice: the survey is open during both."""


def require_moment(name: str, moment: str) -> None:
    """Raises ValueError unless a text is a minute in UTC, YYYY-MM-DDTHH:MMZ."""
    try:
        valid = bool(FORM.fullmatch(moment)) and _text(_time(moment)) == moment
    except ValueError:
        valid = False
    if not valid:
        raise ValueError(f"{name} must be a minute in UTC, YYYY-MM-DDTHH:MMZ, got {moment!r}")


def require_zone(zone: str) -> None:
    """Raises ValueError unless a text names a time zone."""
    if zone not in zones():
        raise ValueError(f"zone must be a time zone such as Europe/Berlin, got {zone!r}")


@lru_cache(maxsize=1)
def zones() -> frozenset[str]:
    """Returns the names of all time zones."""
    return frozenset(name for name in available_timezones() if name == DEFAULT_ZONE or "/" in name)


@lru_cache(maxsize=1)
def offered_zones() -> tuple[str, ...]:
    """Returns the names of time zones to choose from, sorted: of regions and UTC, without old names by country such as US/Eastern."""
    return tuple(sorted(name for name in zones() if name == DEFAULT_ZONE or name.partition("/")[0] in _REGIONS))


def minute(now: datetime) -> str:
    """Returns the minute of a time. Minutes are compared as texts."""
    return _text(now)


def in_utc(local: datetime, zone: str, which: Occurrence) -> str:
    """Returns the minute of a local time.

    Args:
        local: A time without a zone.
        zone: The name of its zone.
        which: The moment to take for a time that occurs twice, when clocks go back.

    Raises:
        ValueError: The time does not occur, since clocks go forward over it.
    """
    moment = local.replace(second=0, microsecond=0, tzinfo=ZoneInfo(zone), fold=int(which == "last"))
    if in_zone(minute(moment), zone).replace(tzinfo=None) != moment.replace(tzinfo=None):
        raise ValueError(f"must be a time that occurs in {zone}: clocks go forward over it, got {local:%Y-%m-%d %H:%M}")
    return minute(moment)


def in_zone(moment: str, zone: str) -> datetime:
    """Returns the local time of a minute."""
    return _time(moment).astimezone(ZoneInfo(zone))


def _time(moment: str) -> datetime:
    return datetime.fromisoformat(moment)


def _text(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")
