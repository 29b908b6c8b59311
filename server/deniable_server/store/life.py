"""A survey's settings, and the growth of its record count: data types and storage interface.

Settings are not part of the definition: they may change while people answer, and change nothing that respondents were promised.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any, Protocol

from deniable_server.store.moments import DEFAULT_ZONE, minute, require_moment, require_zone

LEAST = 3
"""The fewest records in a span of days: smaller numbers are reported together with neighbouring days."""

MOST = 10**9  # people


@dataclass(frozen=True)
class Settings:
    """Settings of a survey. Days are YYYY-MM-DD.

    Attributes:
        half_width: The target half-width of every share's confidence interval, as a share (0.05 is five points).
        expected: The expected number of respondents.
        least: The smallest number of records at which estimates are shown.
        close_on: The last day on which answers are accepted, in UTC.
        close_at: The number of records at which the survey closes.
        archived: Whether lists hide the survey, once it is closed.
        delete_on: The day on which its records are deleted.
        deleted_on: The day on which its records were deleted.
        opens_at: The minute from which answers are accepted, YYYY-MM-DDTHH:MMZ.
        closes_at: The minute from which answers are no longer accepted.
        zone: The time zone for these minutes on pages.

    Raises:
        ValueError: A value is out of range, with its name.
    """

    half_width: float = 0.10
    expected: int | None = None
    least: int = 1
    close_on: str | None = None
    close_at: int | None = None
    archived: bool = False
    delete_on: str | None = None
    deleted_on: str | None = None
    opens_at: str | None = None
    closes_at: str | None = None
    zone: str = DEFAULT_ZONE

    def __post_init__(self) -> None:
        if not 0.001 <= self.half_width <= 0.5:
            raise ValueError(f"half_width must be from 0.001 to 0.5, got {self.half_width!r}")
        for name in ("expected", "least", "close_at"):
            value = getattr(self, name)
            if value is not None and not 1 <= value <= MOST:
                raise ValueError(f"{name} must be a whole number from 1 to {MOST:,}, got {value!r}")
        for name in ("close_on", "delete_on", "deleted_on"):
            if (day := getattr(self, name)) is not None:
                require_day(name, day)
        for name in ("opens_at", "closes_at"):
            if (moment := getattr(self, name)) is not None:
                require_moment(name, moment)
        require_zone(self.zone)
        if self.close_on and self.delete_on and self.delete_on <= self.close_on:
            raise ValueError(f"delete_on must be after close_on, {self.close_on}, got {self.delete_on!r}")


PAST, EARLY = "must be a day that is not over yet, in UTC", "must be a day after the last day for answers"
OVER, ORDER, TWICE = "must be in the future", "must be after opens_at", "must be left out beside close_on"
"""Rules for days and minutes, as SettingsError quotes them."""


class SettingsError(ValueError):
    """Settings that are refused. `problems` is the broken rule of each wrong setting, by name."""

    def __init__(self, problems: Mapping[str, str], values: Mapping[str, object]) -> None:
        super().__init__("; ".join(f"{name} {rule}, got {values[name]!r}" for name, rule in problems.items()))
        self.problems = dict(problems)


def revised(before: Settings, today: str, changes: Mapping[str, Any]) -> Settings:
    """Returns changed settings. Pages and commands change settings only through this function.

    Args:
        before: The stored settings.
        today: The day in UTC, YYYY-MM-DD.
        changes: New values, by the names of `Settings`. A day that does not change may be in the past.

    Raises:
        SettingsError: A new day is in the past, or records would be deleted before the last day for answers has ended.
        ValueError: A value is out of range.
    """
    problems: dict[str, str] = {}
    days = {name: changes.get(name, getattr(before, name)) for name in ("close_on", "delete_on")}
    for name, day in days.items():
        if day is not None and day != getattr(before, name):
            require_day(name, day)
            problems |= {name: PAST} if day < today else {}
    moments = {name: changes.get(name, getattr(before, name)) for name in ("opens_at", "closes_at")}
    problems |= _moment_problems(before, moments, days["close_on"])
    close_on, delete_on = days.values()
    last_day = close_on or (moments["closes_at"] or "")[:10]
    if last_day and delete_on and delete_on <= last_day:
        problems["delete_on"] = EARLY
    if problems:
        raise SettingsError(problems, days | moments)
    return replace(before, **changes)


def _moment_problems(before: Settings, moments: Mapping[str, str | None], close_on: str | None) -> dict[str, str]:
    """Returns the rules that new minutes of opening and closing break."""
    opens_at, closes_at = moments["opens_at"], moments["closes_at"]
    for name, moment in moments.items():
        if moment is not None:
            require_moment(name, moment)
    if closes_at and close_on:
        return {"closes_at": TWICE}
    if closes_at and closes_at != before.closes_at and closes_at <= minute(datetime.now(UTC)):
        return {"closes_at": OVER}
    return {"closes_at": ORDER} if opens_at and closes_at and closes_at <= opens_at else {}


@dataclass(frozen=True)
class Span:
    """Growth of the record count from the day `since` to the day `until`, both included: `n` records, at least LEAST.

    The days are those on which batches were counted, not those on which people answered.
    """

    since: str
    until: str
    n: int


class Life(Protocol):
    """Storage interface for settings, growth and deletion. Methods for one survey raise UnknownSurveyError if it is not published."""

    def settings(self, survey_id: str) -> Settings:
        """Returns the settings of a survey."""

    def all_settings(self) -> Mapping[str, Settings]:
        """Returns the settings of all surveys that have any, by survey id."""

    def keep(self, survey_id: str, settings: Settings) -> None:
        """Changes a survey's settings, except `deleted_on`. Closes the survey if it already has `close_at` records."""

    def archive(self, survey_id: str, archived: bool) -> None:
        """Hides a closed survey from lists, or shows it again. Raises OpenError if it is open."""

    def quotas(self, survey_id: str) -> Mapping[str, int]:
        """Returns the quotas of a survey's groups: the most records of each. Other groups are unlimited."""

    def full_groups(self, survey_id: str) -> list[str]:
        """Returns the groups that take no more records."""

    def set_quotas(self, survey_id: str, changes: Mapping[str, int]) -> None:
        """Sets or raises quotas of groups, in steps of STEP. Raises QuotaError if one breaks a rule.

        Every accepted record counts from its arrival on, also one that is withdrawn later.
        """

    def spans(self, survey_id: str) -> list[Span]:
        """Returns how the number of estimated records grew, in order.

        The spans add up to that number. Each has at least LEAST records; a lower number has no spans.

        They change only together with that number, so frequent readers learn no more from them than from the number itself,
        and one reading reveals nothing about fewer than LEAST records.
        """

    def last_counted(self) -> Mapping[str, str]:
        """Returns the last day of each survey's last span, by survey id, without surveys that have no spans."""

    def erase(self, survey_id: str, day: str) -> None:
        """Deletes all records, counts and invitation codes of a survey, closes it for good, and stores the day.

        The definition stays: no other survey can take its id, and its link still shows what the survey was. Repeating it changes nothing.
        """


def require_day(name: str, day: str) -> None:
    """Raises ValueError unless a text is a day, YYYY-MM-DD."""
    if not _is_day(day):
        raise ValueError(f"{name} must be a day, YYYY-MM-DD, got {day!r}")


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
