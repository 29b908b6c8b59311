"""Trends over three or more waves of a survey: the slope of each share and mean by the unit of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deniable.errors import EstimateError
from deniable.estimate.limits.multiple_testing import ADJUSTED, adjusted
from deniable.estimate.limits.normal import Estimate
from deniable.estimate.present.figures import four_digits, p_value, percent, signed
from deniable.estimate.present.table import Table
from deniable.estimate.present.tabular import Tabular
from deniable.estimate.tables.differences import Difference, Estimated, checked_numbers, contrast
from deniable.estimate.tables.results import Results, Row
from deniable.estimate.tables.waves import compare_waves, mirror_images, sides_of
from deniable.survey import Survey

_APART = 1e-9  # times are at least: of a unit, and of the largest of them, since nearer ones differ by rounding as much as by time


@dataclass(frozen=True)
class Trend:
    """One option's share in every wave, or a question's mean if `option` is empty, and its slope by the unit of time, or None."""

    question: str
    option: str
    waves: tuple[Row | Estimate | None, ...]
    slope: Difference | None


@dataclass(frozen=True)
class Trends(Tabular):
    """Trends of the questions that all waves share.

    Attributes:
        times: The times of the waves, in any unit.
        left_out: (question, reason) of the others.
    """

    times: tuple[float, ...]
    confidence: float
    rows: tuple[Trend, ...]
    left_out: tuple[tuple[str, str], ...]

    def tables(self) -> tuple[Table, ...]:
        """Returns one row a share or mean: its value in every wave, the slope, its interval and its p-value."""
        title = f"Change by the unit of time over {len(self.times)} waves ({100 * self.confidence:g}% intervals)"
        header = ("question", "option", *(f"{time:g}" for time in self.times), "slope", "interval", "p", "p (Holm)")
        rows = tuple(_cells(row, tests) for row, tests in zip(self.rows, self._tests(), strict=True))
        out = tuple(f"{question} is left out: {why}" for question, why in self.left_out)
        return (Table(title, header, rows, out, texts=2),)

    def records(self) -> tuple[Table, ...]:
        """Returns one row a share or mean: the slope with its error, limits and p-values (see `limits.multiple_testing`).

        Shares are of 1.
        """
        header = ("question", "option", "estimate", "std_error", "low", "high", *ADJUSTED)
        rows = []
        for row, tests in zip(self.rows, self._tests(), strict=True):
            one = row.slope
            figures = (one.estimate, one.std_error, one.low, one.high) if one else (None,) * 4
            rows.append((row.question, row.option, *figures, *tests))
        return (Table("trend", header, tuple(rows)),)

    def _tests(self) -> list[tuple[float | None, ...]]:
        twins = mirror_images([(row.question, row.option) for row in self.rows])
        return adjusted([row.slope.test().p_value if row.slope else None for row in self.rows], twins)


def trend(estimates: Sequence[Estimated], times: Sequence[float], *, what: str = "the change by the unit of time") -> Difference:
    """Estimates the slope of the least-squares line through estimates of different people at these times.

    The slope is

        sum of (t - mean t) x_t  /  sum of (t - mean t)^2

    a contrast, whose limits come from theirs (see `limits.mover`). If the truth is no line it is the slope of the line through it.

    Raises:
        EstimateError: There are fewer than two different times, or times are not finite numbers up to LARGEST, or too near.
    """
    times = checked_numbers("times", times)
    if len(estimates) != len(times) or len(set(times)) < 2:
        raise EstimateError(f"there must be a time for each estimate, two different ones at least, got {len(times)} for {len(estimates)}")
    if max(times) - min(times) < _APART * max(1.0, *map(abs, times)):
        raise EstimateError(f"times must be farther apart for a slope to be computed, got {min(times)!r} to {max(times)!r}")
    middle = sum(times) / len(times)
    squares = sum((time - middle) ** 2 for time in times)
    return contrast(estimates, [(time - middle) / squares for time in times], what=what)


def trends(surveys: Sequence[Survey], results: Sequence[Results], times: Sequence[float] | None = None) -> Trends:
    """Estimates the trend of everything that all waves share, as `compare_waves` does for two. times: by default 1, 2, 3 ..

    Raises:
        EstimateError: There are fewer than three waves, not one different time for each, or two waves share no question.
    """
    times = checked_numbers("times", range(1, len(surveys) + 1) if times is None else times)
    if len(surveys) < 3 or len(times) != len(surveys) or len(set(times)) != len(times):
        raise EstimateError(
            f"there must be three waves or more, each with a time of its own, got {len(surveys)} waves and {len(times)} times"
        )
    pairs = [compare_waves((surveys[0], other), (results[0], result)) for other, result in zip(surveys[1:], results[1:], strict=True)]
    left_out = dict(entry for pair in pairs for entry in pair.left_out)
    by_pair = [{(change.question, change.option): change for change in pair.changes} for pair in pairs]
    rows = []
    for key, change in by_pair[0].items():
        if key[0] in left_out or not all(key in pair for pair in by_pair):
            continue
        sides = [sides_of(change)[0], *(sides_of(pair[key])[1] for pair in by_pair)]
        whole = [side for side in sides if side is not None and side.estimate is not None]
        rows.append(Trend(*key, tuple(sides), trend(whole, times) if len(whole) == len(sides) else None))
    return Trends(tuple(times), results[0].confidence, tuple(rows), tuple(left_out.items()))


def _cells(row: Trend, tests: tuple[float | None, ...]) -> tuple[str, ...]:
    share = bool(row.option)
    waves = (
        "" if one is None or one.estimate is None else percent(one.estimate) if share else four_digits(one.estimate) for one in row.waves
    )
    result = row.slope
    if result is None:
        return (row.question, row.option, *waves, "", "", "", "")
    slope, low, high = (signed(value, 100 if share else 1) for value in (result.estimate, result.low, result.high))
    adjusted = dict(zip(ADJUSTED, tests, strict=True))
    p_values = (p_value(adjusted[name], 3) for name in ("p_value", "p_holm"))
    return (row.question, row.option, *waves, slope, f"{low} – {high}", *p_values)
