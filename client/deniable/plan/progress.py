"""Progress of a survey while people answer: its precision today, and the day on which it reaches its goal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from datetime import date, timedelta
from typing import Any, Self

from deniable.errors import EstimateError
from deniable.estimate.present.plain import record
from deniable.estimate.present.table import Table
from deniable.estimate.present.tabular import Tabular
from deniable.plan.precision import MOST, within_most
from deniable.plan.survey import half_width_of, people_needed
from deniable.survey import Survey

WINDOW = 14
"""Days up to today that the rate is computed from."""

_EARLY = 3  # days with counts that a rate takes
_FAR = 730  # days that a forecast covers
_SERIALIZED = {"goal": "wanted"}  # names in JSON and records that differ from the field

Growth = tuple[str, str, int]
"""The first day, the last day, and the records that were counted on these days."""


@dataclass(frozen=True)
class _GrowthRow:
    """A `Growth`, with a name for each of its values."""

    since: str
    until: str
    n: int


@dataclass(frozen=True)
class _Alarm:
    words: str


@dataclass(frozen=True)
class Progress(Tabular):
    """A survey's progress on a day. Days are YYYY-MM-DD, shares fractions of 1.

    Attributes:
        day: The day.
        n: Records that are estimated together.
        half_width: The largest half-width that a plan gives a share with n records; None without records.
        goal: The largest half-width that a share is to have.
        needed: The people that the goal takes; None above 10^12.
        rate: Records a day over the last WINDOW days; None if it is too early to say.
        reached_on: The day with `needed` records at that rate; None if they are there, or would not be within two years.
        expected: People who may answer, or None.
        growth: The growth of the count.
        state: open, paused or closed; a server states this and the rest.
        n_organisation: Records among n that an organisation perturbed for its people.
        n_by_hand: Records beside n, made with real coins.
        waiting: Records among n that wait for their release, in steps of 10.
        codes_made: One-time codes, if the survey takes them.
        codes_spent: One-time codes that were used.
        withdrawn: Submissions that were withdrawn; of an open survey in steps of 10.
        alarms: Problems that the checks of the method report.
    """

    day: str
    n: int
    half_width: float | None
    goal: float
    needed: int | None
    rate: float | None
    reached_on: str | None
    expected: int | None
    growth: tuple[Growth, ...]
    state: str = "open"
    n_organisation: int = 0
    n_by_hand: int = 0
    waiting: int = 0
    codes_made: int | None = None
    codes_spent: int | None = None
    withdrawn: int = 0
    alarms: tuple[str, ...] = ()

    @property
    def reached(self) -> bool:
        """Whether the requested precision is reached."""
        return self.needed is not None and self.n >= self.needed

    @property
    def part(self) -> float:
        """The part of the needed people who have answered: at most 1, and 0 if they are more than `MOST`."""
        return 0.0 if self.needed is None else min(1.0, self.n / self.needed)

    @property
    def words(self) -> str:
        """The progress in a sentence, such as "±7.1 points now; ±5 at 1,640 people, at this rate on 3 December."."""
        target = f"±{_points(self.goal)} at {self._people}"
        if self.half_width is None:
            return f"No records have arrived yet; {_points(self.goal)} points either way take {self._people}."
        now = f"±{_points(self.half_width)} points now"
        if self.reached:
            return f"{now}: the {_points(self.goal)} points of the goal are reached."
        if self.reached_on:
            return f"{now}; {target}, at this rate on {in_words(self.reached_on, self.day)}."
        return f"{now}; {target}{', not within two years at this rate' if self.rate is not None else ''}."

    def tables(self) -> tuple[Table, ...]:
        """Returns the figures, and the growth of the count."""
        days = tuple((since if since == until else f"{since} to {until}", f"{n:,}") for since, until, n in self.growth)
        notes = ("arrivals are counted in steps: the days do not show when a person answered",)
        return (
            Table("Progress", ("", ""), self._facts(), self.alarms, (self.words,)),
            *([Table("Records by day", ("day", "records"), days, notes)] if days else []),
        )

    def records(self) -> tuple[Table, ...]:
        """Returns one row of figures, and one for each step of the growth."""
        names = tuple(field.name for field in fields(self) if field.name not in ("growth", "alarms"))
        row = tuple(getattr(self, name) for name in names)
        return Table("progress", tuple(map(_serialized, names)), (row,)), Table("growth", ("since", "until", "n"), self.growth)

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields, and `words`, as `from_dict` reads them."""
        values = {_serialized(name): value for name, value in asdict(self).items()}
        return {**values, "growth": [list(step) for step in self.growth], "alarms": list(self.alarms), "words": self.words}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Returns progress from the form of `to_dict`, which may have further keys.

        Raises:
            EstimateError: A key is missing, or a value breaks its rule.
        """
        try:
            growth = tuple(astuple(record(_GrowthRow, {"since": since, "until": until, "n": n})) for since, until, n in values["growth"])
            alarms = tuple(record(_Alarm, {"words": words}).words for words in values["alarms"])
            figures = record(
                cls, {**{field.name: values[_serialized(field.name)] for field in fields(cls)}, "growth": growth, "alarms": alarms}
            )
            for day in (figures.day, figures.reached_on, *(end for since, until, _ in growth for end in (since, until))):
                date.fromisoformat(day or figures.day)
            if figures.needed == 0 or (figures.codes_made is None) != (figures.codes_spent is None):
                raise ValueError
            return figures
        except (KeyError, TypeError, ValueError):
            raise EstimateError("a progress must have all its fields, and days as YYYY-MM-DD") from None

    @property
    def _people(self) -> str:
        return f"more than {MOST:,} people" if self.needed is None else f"{self.needed:,} people"

    def _facts(self) -> tuple[tuple[str, str], ...]:
        rate = "too early to say" if self.rate is None else f"{self.rate:,.1f} a day in the last {WINDOW} days"
        apart = f", and {self.n_by_hand:,} made by hand" if self.n_by_hand else ""
        wait = f"; {self.waiting:,} of them wait for their release" if self.waiting else ""
        return (
            ("state", self.state),
            ("records", f"{self.n:,}{apart}{wait}"),
            *([("randomized by an organisation", f"{self.n_organisation:,}")] if self.n_organisation else []),
            *([("codes spent", f"{self.codes_spent:,} of {self.codes_made:,}")] if self.codes_made is not None else []),
            *([("withdrawn", f"{self.withdrawn:,}")] if self.withdrawn else []),
            ("half-width now", "–" if self.half_width is None else f"{_points(self.half_width)} points"),
            ("goal", f"{_points(self.goal)} points, {self._people}"),
            *([("expected", f"{self.expected:,} people")] if self.expected else []),
            ("rate", rate),
            ("reached on", self.reached_on or ("reached" if self.reached else "–")),
        )


def progress(
    survey: Survey,
    n: int,
    growth: Sequence[Growth],
    day: str,
    *,
    goal: float = 0.10,
    expected: int | None = None,
    is_open: bool = True,
    rough: bool = False,
) -> Progress:
    """Returns a survey's progress on a day.

    Args:
        survey: The survey.
        n: Records.
        growth: The growth of the count, in order.
        day: The day.
        goal: The largest half-width that a share is to have.
        expected: People who may answer, if known.
        is_open: Whether the survey takes answers; a closed survey has no forecast.
        rough: As in `people_needed`.

    Raises:
        EstimateError: The goal is not a half-width.
    """
    needed = within_most(lambda: people_needed(survey, goal, rough=rough))
    half = half_width_of(survey, n, rough=rough) if n else None
    rate = _rate(growth, day) if is_open else None
    reached_on = None
    if rate and needed is not None and n < needed and (days := math.ceil((needed - n) / rate)) <= _FAR:
        reached_on = (date.fromisoformat(day) + timedelta(days=days)).isoformat()
    return Progress(day, n, half, goal, needed, rate, reached_on, expected, tuple(growth))


def in_words(day: str, today: str) -> str:
    """Returns `3 December`, and for another year than today's `3 December 2027`."""
    figures = date.fromisoformat(day)
    return f"{figures.day} {figures:%B}{'' if day[:4] == today[:4] else f' {figures.year}'}"


def _rate(growth: Sequence[Growth], day: str) -> float | None:
    """Returns records a day in the window, or since the first day if that is shorter; a step's records are spread over its days."""
    today = date.fromisoformat(day)
    if not growth or (present := (today - date.fromisoformat(growth[0][0])).days + 1) < _EARLY:
        return None
    first, total = today - timedelta(days=WINDOW - 1), 0.0
    for since, until, n in growth:
        start, end = date.fromisoformat(since), date.fromisoformat(until)
        if inside := max(0, (end - max(start, first)).days + 1):
            total += n * inside / ((end - start).days + 1)
    return total / min(WINDOW, present)


def _serialized(name: str) -> str:
    return _SERIALIZED.get(name, name)


def _points(share: float) -> str:
    return f"{100 * share:.1f}".removesuffix(".0")
