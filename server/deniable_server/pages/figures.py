"""Figures as researchers read them: percent, points, means with the digits that their interval bears out, people of a hundred."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from deniable.estimate import MeanRow
from deniable.plan.precision import MOST, within_most
from deniable.plan.survey import people_needed
from deniable.survey import Question, Survey

HALF_WIDTH = 0.10
"""A share: ten points either way is the least that a figure should tell."""


def number(share: float | None) -> str:
    """A share, of which 1 is all, in percent without the sign, with one decimal; a dash where there is none."""
    return "–" if share is None else rounded(100 * share, 1)


def percent(share: float | None) -> str:
    """The same with the sign for percent."""
    return "–" if share is None else f"{number(share)}%"


def points(estimate: float, low: float, high: float) -> tuple[str, str]:
    """A difference of two shares and its limits, in percentage points, with their signs."""
    return signed(100 * estimate, 100 * low, 100 * high, 1)


def signed(estimate: float, low: float, high: float, places: int) -> tuple[str, str]:
    """A difference and its limits, with so many decimals; with up to four more where a limit that is not 0 would read as 0."""
    most = places + 4
    while places < most and any(end and not round(end, places) for end in (low, high)):
        places += 1
    one, first, last = (rounded(value, places, sign=True) for value in (estimate, low, high))
    return one, f"{first} to {last}"


def interval(low: float | None, high: float | None) -> str:
    """The two limits of a share."""
    return "–" if low is None or high is None else f"{number(low)} to {percent(high)}"


def between(low: float | None, high: float | None) -> str:
    """The limits of a share as people of a hundred, rounded outwards: `between 18 and 27 of 100`; empty where there are none."""
    if low is None or high is None:
        return ""
    return _minus(f"between {math.floor(100 * low + 1e-9)} and {math.ceil(100 * high - 1e-9)} of 100")


def several(n: int, noun: str) -> str:
    """`1 response`, `4,000 responses`."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def decimals(low: float, high: float) -> int:
    """How many decimals a mean with these limits bears out: one digit of half the interval, two where that digit is 1; 0 to 9."""
    half = (high - low) / 2
    if not half > 0:
        return 2
    exponent = math.floor(math.log10(half))
    return min(9, max(0, -exponent + (half < 2 * 10.0**exponent)))


def mean(row: MeanRow) -> tuple[str, str, str]:
    """The mean and its two limits in the unit of its question; empty texts where there is none."""
    if row.mean is None or row.low is None or row.high is None:
        return "", "", ""
    places = decimals(row.low, row.high)
    one, low, high = (rounded(value, places) for value in (row.mean, row.low, row.high))
    return one, low, high


def rounded(value: float, places: int, sign: bool = False) -> str:
    """A number with that many decimals, its thousands apart; `sign`: with a plus, too, as differences have it. 0 has no sign."""
    text = f"{value:{'+' if sign else ''},.{places}f}"
    return _minus(text) if text.strip("+-0.") else text.lstrip("+-")


def coefficient(value: float) -> str:
    """An odds ratio or a slope: two decimals, none above 1,000; beyond a million nobody reads digits."""
    if abs(value) > 1e6:
        return "over 1,000,000" if value > 0 else "under −1,000,000"
    return rounded(value, 2 if abs(value) < 1000 else 0)


def level_names(question: Question) -> dict[str, str]:
    """How the levels are written that a number was rounded to, by their names in results; nothing for other questions."""
    scores = question.scores or ()
    if not question.levelled:
        return {}
    return {name: plain(score, scores[1] - scores[0]) for name, score in zip(question.categories, scores, strict=False)}


def plain(value: float, step: float = 1e-9) -> str:
    """A number that somebody wrote, such as an end of a scale, without zeros at its end: `0`, `3.5`, `10,000`.

    step: the least difference to its neighbours that its digits have to tell.
    """
    places = max(0, 1 - math.floor(math.log10(step)))
    text = rounded(value, places)
    return text.rstrip("0").rstrip(".") if "." in text else text


def epsilon(value: float) -> str:
    """A privacy budget with four digits, without zeros at its end: `8`, `1.099`."""
    return f"{value:.4g}"


def signs(text: str) -> str:
    """A line of the library's with minus signs in front of its numbers, which it writes as hyphens: `-3 – 4`, and not `2026-12-03`."""
    return re.sub(r"(?<![\w.-])-(?=\d)", "−", text)


def of_people(share: float) -> str:
    """A chance as people of 100, or of as many more as it takes to be told from nobody and from everybody: `27 of 100 people`."""
    people = 100
    while 0 < share < 1 and round(share * people) in (0, people) and people < 10**6:
        people *= 10
    return f"{round(share * people):,} of {people:,} people"


def chance_words(rates: Iterable[float]) -> str:
    """What chance alone records, over the chance rates of several options: once where they agree, else from the least to the most."""
    ordered = sorted(set(map(of_people, rates)), key=_written)
    return ordered[0] if len(ordered) == 1 else f"Between {ordered[0].removesuffix(' people')} and {ordered[-1]}"


def _written(words: str) -> float:
    part, whole = words.removesuffix(" people").replace(",", "").split(" of ")
    return int(part) / int(whole)


def needed(survey: Survey, confidence: float) -> int | None:
    """How many people must answer before every share of the survey is known to ten points either way; None of more than 10^12."""
    return within_most(lambda: people_needed(survey, HALF_WIDTH, confidence=confidence))


def about(people: int | None) -> str:
    """So many people that are needed, of which None are more than anybody looks at."""
    return f"more than {MOST:,}" if people is None else f"about {people:,}"


def _minus(text: str) -> str:
    return text.replace("-", "−")


def length(size: int, at_most: bool = False) -> str:
    """About how long a file is: `under 1 kB`, `43 kB`, `2.7 MB`, with two digits or more; `under 43 kB` where it is that long at most."""
    if size < 1000:
        return "under 1 kB"
    power = min(3, (len(str(size)) - 1) // 3)
    value = size / 1000**power
    return f"{'under ' if at_most else ''}{value:,.{1 if value < 10 else 0}f} {('kB', 'MB', 'GB')[power - 1]}"
