"""Figures as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence

_SMALL = 5e-9  # a standard error of which nine decimals show less than a digit


def percent(share: float | None) -> str:
    """A share of 0 to 1, or beyond, with one decimal; empty for None."""
    return "" if share is None else f"{points(share)}%"


def percents(low: float | None, high: float | None) -> str:
    """An interval of shares; empty where there is none."""
    return "" if low is None or high is None else f"{points(low)} – {percent(high)}"


def points(share: float) -> str:
    """A share, or a difference of two, in percentage points with one decimal."""
    return fixed(100 * share, 1)


def fixed(value: float, places: int) -> str:
    """A number with so many decimals, its thousands apart. What rounds to 0 is `0.0` and never `-0.0`."""
    return f"{value:z,.{places}f}"


def four_digits(value: float) -> str:
    """A number with four digits that count, its thousands apart; 0 has no sign."""
    return f"{value:z,.4g}"


def signed(value: float, unit: int = 1) -> str:
    """A difference with its sign: of shares in percentage points (unit 100) with one decimal, else with four digits. 0 has no sign."""
    text = f"{unit * value:+z,.1f}" if unit == 100 else f"{value:+z,.4g}"
    return text if text.strip("+0.") else text.lstrip("+")


def decimals(std_error: float, least: int = 0) -> int:
    """How many decimals show two digits of a standard error: `least` to 9; two, or `least` if that is more, where it is 0."""
    return min(9, max(least, 1 - math.floor(math.log10(std_error)))) if std_error > 0 else max(least, 2)


def with_error(values: Sequence[float], std_error: float, least: int = 0) -> tuple[str, ...]:
    """Returns figures of one standard error with two digits of it: with decimals, and with an exponent where nine would show none."""
    if std_error <= 0 or std_error >= _SMALL:
        return tuple(fixed(value, decimals(std_error, least)) for value in values)
    digits = (math.floor(math.log10(abs(value) or std_error)) - math.floor(math.log10(std_error)) for value in values)
    return tuple(f"{value:.{min(max(places, 0) + 1, 15)}e}" for value, places in zip(values, digits, strict=True))


def p_value(p: float | None, places: int | None = None) -> str:
    """A p-value with so many decimals, or three digits; below what they show, or 0.0001, it is `< 0.0001`. Empty for None."""
    if p is None:
        return ""
    selected = places or 4
    least = 10.0**-selected
    return f"< {least:.{selected}f}" if p < least else f"{p:.{places}f}" if places else f"{p:.3g}"


def between(low: float, high: float) -> str:
    """The ends of a scale, as short as they can be written, but without an exponent below 10 ** 15."""
    return f"{low:,.15g} – {high:,.15g}"


def two_digits(value: float) -> str:
    """A number rounded to two digits that count, without an exponent below 10 ** 15: `0.36`, `16`, `510,000`."""
    return f"{float(f'{value:.2g}'):,.15g}"
