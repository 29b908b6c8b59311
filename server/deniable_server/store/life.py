"""What is kept of a survey beside its definition and its records: how it is to be run, and how its counts grew.

None of it is part of the definition: it may change while people answer, and changes nothing that was promised to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Protocol

LEAST = 3
"""Records of a span of days, at least: fewer are told together with the days beside them."""

MOST = 10**9  # people


@dataclass(frozen=True)
class Settings:
    """How a survey is to be run. Raises ValueError naming what is wrong.

    half_width: of every share that is wanted, as a share (0.05 is five points). expected: how many people may answer. least: the records
    from which on estimates are shown. close_on: the last day on which answers are taken, in UTC. close_at: the count of records with
    which it closes. archived: out of sight, once it is closed. delete_on: the day on which its records are deleted. deleted_on: when that
    was. Days are YYYY-MM-DD.
    """

    half_width: float = 0.10
    expected: int | None = None
    least: int = 1
    close_on: str | None = None
    close_at: int | None = None
    archived: bool = False
    delete_on: str | None = None
    deleted_on: str | None = None

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
        if self.close_on and self.delete_on and self.delete_on <= self.close_on:
            raise ValueError(f"delete_on must be after close_on, {self.close_on}, got {self.delete_on!r}")


PAST, EARLY = "must be a day that is not over yet, in UTC", "must be a day after the last day for answers"
"""Rules about days, as SettingsError has them."""


class SettingsError(ValueError):
    """Settings that are refused. problems: the rule that each wrong one breaks, by its name."""

    def __init__(self, problems: Mapping[str, str], values: Mapping[str, object]) -> None:
        super().__init__("; ".join(f"{name} {rule}, got {values[name]!r}" for name, rule in problems.items()))
        self.problems = dict(problems)


def revised(before: Settings, today: str, changes: Mapping[str, Any]) -> Settings:
    """Returns settings with changes. Pages and commands both change settings by this alone.

    Args:
        before: The settings that are kept.
        today: The day in UTC, YYYY-MM-DD.
        changes: New values, by the names of `Settings`. A day that stays as it is may be over.

    Raises:
        SettingsError: A new day is over, or records are deleted before the last day for answers is over.
        ValueError: A value is not one that `Settings` takes.
    """
    problems: dict[str, str] = {}
    wanted = {name: changes.get(name, getattr(before, name)) for name in ("close_on", "delete_on")}
    for name, day in wanted.items():
        if day is not None and day != getattr(before, name):
            require_day(name, day)
            problems |= {name: PAST} if day < today else {}
    close_on, delete_on = wanted.values()
    if close_on and delete_on and delete_on <= close_on:
        problems["delete_on"] = EARLY
    if problems:
        raise SettingsError(problems, wanted)
    return replace(before, **changes)


@dataclass(frozen=True)
class Span:
    """By how many records the count grew from the day `since` to the day `until`, both included: LEAST at least.

    The days are those on which batches were counted, not those on which anybody answered.
    """

    since: str
    until: str
    n: int


class Life(Protocol):
    """The shelf of what is kept beside definitions and records. What is of one survey raises UnknownSurveyError where there is none."""

    def settings(self, survey_id: str) -> Settings:
        """How a survey is to be run."""

    def all_settings(self) -> Mapping[str, Settings]:
        """The same of all surveys for which somebody has said it, by id."""

    def keep(self, survey_id: str, settings: Settings) -> None:
        """Changes how a survey is to be run; `deleted_on` stays as it is. Closes it where it has the records of `close_at` by now."""

    def archive(self, survey_id: str, archived: bool) -> None:
        """Puts a closed survey out of sight, or back. Raises OpenError where it is open."""

    def spans(self, survey_id: str) -> list[Span]:
        """How the count of what is estimated grew, in order. It adds up to that count; there are none below LEAST records.

        It changes with that count only, so it tells no more to whoever reads it often than the count did; and to whoever reads it once,
        nothing of fewer than LEAST records.
        """

    def last_counted(self) -> Mapping[str, str]:
        """The last day of each survey's last span, by id; surveys without spans are not in it."""

    def erase(self, survey_id: str, day: str) -> None:
        """Deletes all records of a survey, what is counted of them and its codes, closes it for good, and notes the day.

        Its definition stays, so that no other survey takes its id and its link says what it was. The same if it was done before.
        """


def require_day(name: str, day: str) -> None:
    """Raises ValueError for what is not a day, YYYY-MM-DD."""
    if not _is_day(day):
        raise ValueError(f"{name} must be a day, YYYY-MM-DD, got {day!r}")


def _is_day(written: str) -> bool:
    try:
        return date.fromisoformat(written).isoformat() == written
    except ValueError:
        return False
