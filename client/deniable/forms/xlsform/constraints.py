"""Ends of a number, from the constraint of its row: the set of numbers that it allows, as intervals."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from deniable.forms.conditions import digits
from deniable.forms.expressions import AnswerComparison, CombinedConditions, Constant, Expression
from deniable.forms.xlsform.xpath import OWN, Expressions
from deniable.survey.types.base import number

_DIGITS = re.compile(r"\[0-9\]\{(?:\d+,)?(\d)\}|\\d\{(?:\d+,)?(\d)\}")
_LENGTH = re.compile(r"string-length\s*\(\s*\.\s*\)\s*(?:=|<=)\s*(\d)(?!\d)")
_SPAN = re.compile(r"(?<![\d.,/-])(\d{1,6})\s*(?:-|–|to|bis|à|a|hasta)\s*(\d{1,6})(?![\d.,/-])")


@dataclass(frozen=True)
class NumberInterval:
    """Numbers from `low` to `high`, which may be infinite, with or without these ends."""

    low: float
    low_open: bool
    high: float
    high_open: bool

    @property
    def is_empty(self) -> bool:
        """Whether no number is in it."""
        return self.low > self.high or (self.low == self.high and (self.low_open or self.high_open))


@dataclass(frozen=True)
class Ends:
    """The ends of a number.

    Attributes:
        low: The least number; empty if missing.
        high: The greatest number; empty if missing.
        codes: Single numbers beside the range, such as -99 for "do not know".
        notes: Notes on other changes.
        missing: Why there are no two ends; empty if there are.
    """

    low: str = ""
    high: str = ""
    codes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    missing: str = ""


def ends_of(constraint: str, is_whole: bool) -> Ends:
    """Returns the two ends that a constraint allows, or those that it has and why there are not two."""
    if not constraint:
        return Ends(missing="it has no constraint, such as . >= 0 and . <= 120")
    unread: list[str] = []
    intervals = _intervals(Expressions().parse(constraint), unread)
    if intervals is None:
        return Ends(missing=f"its constraint is not about the number alone: {constraint}")
    intervals = _merge([_whole(interval) for interval in intervals] if is_whole else intervals, is_whole)
    ranges = [interval for interval in intervals if interval.low < interval.high]
    codes = tuple(digits(interval.low) for interval in intervals if interval.low == interval.high and ranges)
    if not ranges:
        only = " and ".join(digits(interval.low) for interval in intervals)
        return Ends(missing=f"its constraint allows only {only or 'no number at all'}")
    low, high = ranges[0].low, ranges[-1].high
    cells = ["" if math.isinf(end) else digits(end) for end in (low, high)]
    if math.isinf(low) or math.isinf(high):
        lacks = "no end at all" if math.isinf(low) and math.isinf(high) else "no greatest number" if math.isinf(high) else "no least number"
        return Ends(cells[0], cells[1], codes, missing=f"its constraint has {lacks}: {constraint}")
    if number(cells[0]) is None or number(cells[1]) is None:
        return Ends(missing=f"its constraint has an end that is too large: {constraint}")
    notes = ["only the two ends of its constraint are kept"] if unread or len(ranges) > 1 else []
    if ranges[0].low_open or ranges[-1].high_open:
        notes.append("its ends may be answered, too")
    return Ends(cells[0], cells[1], codes, tuple(notes))


def proposed_ends(constraint: str, texts: Sequence[str]) -> tuple[str, str]:
    """Returns ends for an author to check, from digits that a constraint counts or from a span in a text; maybe empty."""
    match = _DIGITS.search(constraint) or _LENGTH.search(constraint)
    if match:
        return "0", str(10 ** int(next(filter(None, match.groups()))) - 1)
    for text in texts:
        if (span := _SPAN.search(text)) and int(span[1]) < int(span[2]):
            return span[1], span[2]
    return "", ""


def _intervals(expression: Expression, unread: list[str]) -> list[NumberInterval] | None:
    """Returns the numbers that a condition on them allows; None if it is about anything else."""
    match expression:
        case Constant(holds):
            return [NumberInterval(-math.inf, True, math.inf, True)] if holds else []
        case AnswerComparison(name, sign, text) if name == OWN and (value := number(text)) is not None:
            return _comparison(sign, value)
        case CombinedConditions(word, parts):
            sets = [_intervals(part, unread) for part in parts]
            readable = [one for one in sets if one is not None]
            if not readable or (word == "any" and len(readable) < len(sets)):
                return None
            if len(readable) < len(sets):
                unread.append(expression.text)
            return [one for part in readable for one in part] if word == "any" else _intersect(readable)
    return None


def _comparison(sign: str, value: float) -> list[NumberInterval] | None:
    below, above = NumberInterval(-math.inf, True, value, sign != "<="), NumberInterval(value, sign != ">=", math.inf, True)
    return {
        "=": [NumberInterval(value, False, value, False)],
        "!=": [below, above],
        "<": [below],
        "<=": [below],
        ">": [above],
        ">=": [above],
    }.get(sign)


def _intersect(sets: Sequence[list[NumberInterval]]) -> list[NumberInterval]:
    result = sets[0]
    for other in sets[1:]:
        pairs = (_both(one, two) for one in result for two in other)
        result = [interval for interval in pairs if not interval.is_empty]
    return result


def _both(one: NumberInterval, two: NumberInterval) -> NumberInterval:
    low, low_open = max((one.low, one.low_open), (two.low, two.low_open))
    high, closed = min((one.high, not one.high_open), (two.high, not two.high_open))
    return NumberInterval(low, low_open, high, not closed)


def _whole(interval: NumberInterval) -> NumberInterval:
    """Returns the whole numbers of an interval: above 17 is from 18 on."""
    low, high = interval.low, interval.high
    if not math.isinf(low):
        low = math.floor(low) + 1 if interval.low_open else math.ceil(low)
    if not math.isinf(high):
        high = math.ceil(high) - 1 if interval.high_open else math.floor(high)
    return NumberInterval(low, False, high, False)


def _merge(intervals: Sequence[NumberInterval], is_whole: bool) -> list[NumberInterval]:
    """Returns intervals in order, joined where one begins before the other ends. Single numbers, such as codes, stay single."""
    merged: list[NumberInterval] = []
    for interval in sorted((one for one in intervals if not one.is_empty), key=lambda one: (one.low, one.low_open)):
        if merged and _touches(merged[-1], interval, is_whole):
            before = merged[-1]
            high, closed = max((before.high, not before.high_open), (interval.high, not interval.high_open))
            merged[-1] = NumberInterval(before.low, before.low_open, high, not closed)
        else:
            merged.append(interval)
    return merged


def _touches(before: NumberInterval, interval: NumberInterval, is_whole: bool) -> bool:
    if interval.low != before.high + is_whole:
        return interval.low < before.high + is_whole
    if is_whole:
        return before.low < before.high or interval.low < interval.high
    return not (before.high_open and interval.low_open)
