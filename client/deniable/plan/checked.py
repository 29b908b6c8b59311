"""What the figures of a plan are asked about, refused by its name where it breaks its rule."""

from __future__ import annotations

import numpy as np

from deniable.errors import EstimateError


def check_probability(name: str, value: float) -> float:
    """A number from 0 to 1. Raises EstimateError."""
    if not 0 <= value <= 1:
        raise EstimateError(f"{name} must be from 0 to 1, got {value!r}")
    return value


def check_count(name: str, value: int) -> int:
    """A whole number of at least 1. Raises EstimateError."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise EstimateError(f"{name} must be a whole number of at least 1, got {value!r}")
    return int(value)


def check_inside(name: str, value: float) -> float:
    """A number above 0 and below 1. Raises EstimateError."""
    if not 0 < value < 1:
        raise EstimateError(f"{name} must be above 0 and below 1, got {value!r}")
    return value


def check_sizes(value: tuple[int, int]) -> tuple[int, int]:
    """The people in each of two groups. Raises EstimateError."""
    if len(value) != 2:
        raise EstimateError(f"groups must be two sizes, got {len(value)}")
    return check_count("the first group", value[0]), check_count("the second group", value[1])


def both_sizes(n: int | tuple[int, int]) -> tuple[int, int]:
    """The same, where one number is that of each group. Raises EstimateError."""
    return check_sizes(n) if isinstance(n, tuple) else (check_count("n", n), check_count("n", n))
