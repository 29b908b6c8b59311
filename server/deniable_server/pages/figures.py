"""Number formatting of researchers' pages: figures with their intervals, shares, scores, numbers of people, file sizes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from deniable.estimate import Estimate, MeanRow, Row
from deniable.estimate.tables.subpopulation import ShareAmong
from deniable.plan.precision import MOST, within_most
from deniable.plan.survey import people_needed
from deniable.survey import Question, Survey

HALF_WIDTH = 0.10
"""The target precision of a share: ten points either way."""

_DASH = "–"
_EXTRA_PLACES = 4  # decimals that a limit gets at most, so that it does not read as 0


class Unit(Enum):
    """The unit of a figure, which decides its number of decimals and its signs."""

    SHARE = auto()  # of 1, in percent
    POINTS = auto()  # difference of two shares, in percentage points
    SCORE = auto()  # mean, in the unit of its question
    SCORE_DIFFERENCE = auto()
    COEFFICIENT = auto()  # odds ratio or slope


@dataclass(frozen=True)
class Figure:
    """A value and its confidence limits, before rounding."""

    value: float
    low: float
    high: float
    unit: Unit

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0 or self.high < 0


class FigureText(NamedTuple):
    """A figure as a page writes it; its limits are empty if there is no estimate."""

    value: str
    low: str
    high: str

    @property
    def interval(self) -> str:
        """Both limits: `18.2 to 26.8%`."""
        return f"{self.low} to {self.high}" if self.low else _DASH


def of_share(row: Row | ShareAmong | Estimate) -> Figure | None:
    """Returns the figure of a share, or None if it has no estimate."""
    return _figure(row.estimate, row.low, row.high, Unit.SHARE)


def of_mean(row: MeanRow) -> Figure | None:
    """Returns the figure of a mean, or None if it has no estimate."""
    return _figure(row.mean, row.low, row.high, Unit.SCORE)


def of_difference(difference: Estimate, unit: Unit) -> Figure:
    """Returns the figure of a difference of two shares or means."""
    return Figure(difference.estimate, difference.low, difference.high, unit)


def _figure(value: float | None, low: float | None, high: float | None, unit: Unit) -> Figure | None:
    return None if value is None or low is None or high is None else Figure(value, low, high, unit)


def text(figure: Figure | None) -> FigureText:
    """Formats a figure and its limits alike; a dash for None. Templates use it as a filter."""
    if figure is None:
        return FigureText(_DASH, "", "")
    values = (figure.value, figure.low, figure.high)
    if figure.unit is Unit.SHARE:
        return FigureText(percent(figure.value), number(figure.low), percent(figure.high))
    if figure.unit is Unit.POINTS:
        values = (100 * figure.value, 100 * figure.low, 100 * figure.high)
    if figure.unit is Unit.COEFFICIENT:
        return FigureText(*map(coefficient, values))
    places, is_difference = _places(figure), figure.unit is not Unit.SCORE
    return FigureText(*(rounded(value, places, sign=is_difference) for value in values))


def size(difference: Figure) -> str:
    """Formats how large a difference of means is, for an interval that excludes 0: `0.1 to 0.3`."""
    places = _places(difference)
    least, most = sorted((abs(difference.low), abs(difference.high)))
    return f"{rounded(least, places)} to {rounded(most, places)}"


def in_words(figure: Figure) -> str:
    """Formats an interval for a sentence: `between 4.8 and 5.1`; of a share in people of a hundred, rounded outwards."""
    if figure.unit is not Unit.SHARE:
        limits = text(figure)
        return f"between {limits.low} and {limits.high}"
    return _minus(f"between {math.floor(100 * figure.low + 1e-9)} and {math.ceil(100 * figure.high - 1e-9)} of 100")


def _places(figure: Figure) -> int:
    """Returns the number of decimals of a figure. A difference has up to four more if a limit that is not 0 would read as 0."""
    factor, places = (100, 1) if figure.unit is Unit.POINTS else (1, decimals(figure.low, figure.high))
    if figure.unit is Unit.SCORE:
        return places
    most = places + _EXTRA_PLACES
    while places < most and any(limit and not round(factor * limit, places) for limit in (figure.low, figure.high)):
        places += 1
    return places


def decimals(low: float, high: float) -> int:
    """Returns how many decimals of a mean are meaningful: one digit of half the interval, two if that digit is 1; 0 to 9."""
    half = (high - low) / 2
    if not half > 0:
        return 2
    exponent = math.floor(math.log10(half))
    return min(9, max(0, -exponent + (half < 2 * 10.0**exponent)))


def number(share: float | None) -> str:
    """Formats a share of 1 in percent, with one decimal and no percent sign; a dash for None."""
    return _DASH if share is None else rounded(100 * share, 1)


def percent(share: float | None) -> str:
    """Formats a share of 1 in percent, with one decimal and the sign; a dash for None."""
    return _DASH if share is None else f"{number(share)}%"


def rounded(value: float, places: int, sign: bool = False) -> str:
    """Formats a number with this many decimals and thousands separators. 0 has no sign.

    Args:
        value: The number.
        places: The number of decimals.
        sign: Whether positive numbers have a plus, as differences do.
    """
    result = f"{value:{'+' if sign else ''},.{places}f}"
    return _minus(result) if result.strip("+-0.") else result.lstrip("+-")


def coefficient(value: float) -> str:
    """Formats an odds ratio or a slope: two decimals below 1,000; no digits beyond a million, where they mean nothing."""
    if abs(value) > 1e6:
        return "over 1,000,000" if value > 0 else "under −1,000,000"
    return rounded(value, 2 if abs(value) < 1000 else 0)


def several(n: int, noun: str) -> str:
    """Formats a number with its noun: `1 record`, `4,000 records`."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def level_names(question: Question) -> dict[str, str]:
    """Returns the pages' name of each level of a number, by its name in results; empty for other questions."""
    scores = question.scores or ()
    if not question.levelled:
        return {}
    return {name: plain(score, scores[1] - scores[0]) for name, score in zip(question.categories, scores, strict=False)}


def places_of(step: float) -> int:
    """Returns how many decimals tell numbers apart that are this far from each other."""
    return max(0, 1 - math.floor(math.log10(step)))


def plain(value: float, step: float = 1e-9) -> str:
    """Formats a number from a survey file, such as the end of a scale, without trailing zeros: `0`, `3.5`, `10,000`.

    Args:
        value: The number.
        step: The distance to the nearest number that must read differently.
    """
    result = rounded(value, places_of(step))
    return result.rstrip("0").rstrip(".") if "." in result else result


def epsilon(value: float) -> str:
    """Formats a privacy budget with four digits, without trailing zeros: `8`, `1.099`."""
    return f"{value:.4g}"


def minus_signs(line: str) -> str:
    """Returns a line of the library with minus signs for the hyphens before numbers: `-3 – 4`, but not `2026-12-03`."""
    return re.sub(r"(?<![\w.-])-(?=\d)", "−", line)


def of_people(share: float) -> str:
    """Formats a chance as people of 100, or of more if of 100 it would read as none or all: `27 of 100 people`."""
    return f"{_ratio(share)} people"


def chance_words(rates: Iterable[float]) -> str:
    """Formats the chance rates of several options: one if they read alike, else the lowest and the highest."""
    ordered = sorted(rates)
    lowest, highest = _ratio(ordered[0]), _ratio(ordered[-1])
    return f"{highest} people" if lowest == highest else f"Between {lowest} and {highest} people"


def _ratio(share: float) -> str:
    people = 100
    while 0 < share < 1 and round(share * people) in (0, people) and people < 10**6:
        people *= 10
    return f"{round(share * people):,} of {people:,}"


def needed(survey: Survey, confidence: float) -> int | None:
    """Returns how many people must answer until every share is precise to HALF_WIDTH; None if more than 10^12."""
    return within_most(lambda: people_needed(survey, HALF_WIDTH, confidence=confidence))


def about(people: int | None) -> str:
    """Formats the number of people that `needed` returns."""
    return f"more than {MOST:,}" if people is None else f"about {people:,}"


def _minus(line: str) -> str:
    return line.replace("-", "−")


def file_size(size: int, at_most: bool = False) -> str:
    """Formats a file size with two digits or more: `under 1 kB`, `43 kB`, `2.7 MB`.

    Args:
        size: The number of bytes.
        at_most: Whether the size is an upper bound: `under 43 kB`.
    """
    if size < 1000:
        return "under 1 kB"
    power = min(3, (len(str(size)) - 1) // 3)
    value = size / 1000**power
    return f"{'under ' if at_most else ''}{value:,.{1 if value < 10 else 0}f} {('kB', 'MB', 'GB')[power - 1]}"
