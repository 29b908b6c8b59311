"""Argument validation of planning functions: each error names the argument and its rule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from deniable.errors import EstimateError

MOST_PEOPLE = 10**12
LARGEST = 1e100
"""Largest absolute value of any other number, whose square is still finite."""

_LEAST_HALF_WIDTH = 1e-15  # far below what MOST_PEOPLE give, and its square is above 0
_LEAST_CONFIDENCE = 0.01  # limits that are nearer to an estimate are lost in rounding
_LEAST_ALPHA = 1e-12  # so that the confidence 1 - alpha is below 1
_LONGEST_QUOTE = 60  # characters of a wrong value in a message


def check_number(name: str, value: Any, least: float = -LARGEST, most: float = LARGEST) -> float:
    """Returns a finite number in this range; true and false are not numbers. Raises EstimateError."""
    number = _number(value)
    if not least <= number <= most:  # nan is in no range
        raise EstimateError(f"{name} must be from {least:g} to {most:g}, got {quoted(value)}")
    return number


def check_probability(name: str, value: Any) -> float:
    """Returns a number from 0 to 1. Raises EstimateError."""
    return check_number(name, value, 0, 1)


def check_count(name: str, value: Any, most: int = MOST_PEOPLE) -> int:
    """Returns a whole number of at least 1 and at most `most`. Raises EstimateError."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise EstimateError(f"{name} must be a whole number of at least 1, got {quoted(value)}")
    if value > most:
        raise EstimateError(f"{name} must be at most {most:,}, got {quoted(value)}")
    return int(value)


def check_inside(name: str, value: Any, least: float = 0.0, most: float = 1.0) -> float:
    """Returns a number above 0 and below 1, and in a smaller range if stated. Raises EstimateError."""
    number = _number(value)
    if not 0 < number < 1:
        raise EstimateError(f"{name} must be above 0 and below 1, got {quoted(value)}")
    if not least <= number <= most:
        raise EstimateError(f"{name} must be from {least:g} to {most:.12g}, got {quoted(value)}")
    return number


def check_half_width(value: Any, name: str = "half_width") -> float:
    """Returns half the width of an interval of a share. Raises EstimateError."""
    return check_inside(name, value, _LEAST_HALF_WIDTH)


def check_confidence(value: Any) -> float:
    """Returns the confidence of an interval. Raises EstimateError."""
    return check_inside("confidence", value, _LEAST_CONFIDENCE)


def check_alpha(value: Any) -> float:
    """Returns the error probability of a test, 1 less a confidence. Raises EstimateError."""
    return check_inside("alpha", value, _LEAST_ALPHA, 1 - _LEAST_CONFIDENCE)


def check_sizes(value: Sequence[Any]) -> tuple[int, int]:
    """Returns the people in each of two groups. Raises EstimateError."""
    if len(value) != 2:
        raise EstimateError(f"groups must be two sizes, got {len(value)}")
    return check_count("the first group", value[0]), check_count("the second group", value[1])


def both_sizes(n: int | tuple[int, int]) -> tuple[int, int]:
    """Returns the people in each of two groups; one number is the size of each. Raises EstimateError."""
    return check_sizes(n) if isinstance(n, tuple) else (check_count("n", n), check_count("n", n))


def check_scores(value: Sequence[Any], categories: int) -> tuple[float, ...]:
    """Returns a number for each of the first categories, not all alike. Raises EstimateError."""
    figures = tuple(check_number("scores", score) for score in value)
    if not 2 <= len(figures) <= categories or max(figures) - min(figures) < 1 / LARGEST:
        raise EstimateError(f"scores must be 2 to {categories} numbers, not all alike, got {quoted(value)}")
    return figures


def quoted(value: Any) -> str:
    """Returns a wrong value for a message, shortened if long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no whole number of thousands of digits
        text = f"a number of {value.bit_length():,} bits" if isinstance(value, int) else type(value).__name__
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…"


def _number(value: Any) -> float:
    """Returns nan for other values than numbers, true and false included; numpy's booleans are no `Real`."""
    try:
        return float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        return math.inf
