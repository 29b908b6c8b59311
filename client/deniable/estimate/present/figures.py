"""Number formatting: figures as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence

_SMALL = 5e-9  # a standard error with less than a digit in nine decimals


def percent(share: float | None) -> str:
    """Returns a share of 0 to 1, or beyond, as per cent with one decimal; empty for None."""
    return "" if share is None else f"{points(share)}%"


def percents(low: float | None, high: float | None) -> str:
    """Returns an interval of shares; empty without one."""
    return "" if low is None or high is None else f"{points(low)} – {percent(high)}"


def points(share: float) -> str:
    """Returns a share, or a difference of two, in percentage points with one decimal."""
    return fixed(100 * share, 1)


def fixed(value: float, places: int) -> str:
    """Returns a number with this many decimals, and with thousands separators. A number that rounds to 0 is `0.0`, never `-0.0`."""
    return f"{value:z,.{places}f}"


def four_digits(value: float) -> str:
    """Returns a number with four significant digits, and with thousands separators; 0 has no sign."""
    return f"{value:z,.4g}"


def signed(value: float, unit: int = 1) -> str:
    """Returns a difference with its sign: shares in percentage points (unit 100) with one decimal, else four digits. 0 has no sign."""
    text = f"{unit * value:+z,.1f}" if unit == 100 else f"{value:+z,.4g}"
    return text if text.strip("+0.") else text.lstrip("+")


def decimals(std_error: float, least: int = 0) -> int:
    """Returns how many decimals show two digits of a standard error: `least` to 9; two, or `least` if that is more, for 0."""
    return min(9, max(least, 1 - math.floor(math.log10(std_error)))) if std_error > 0 else max(least, 2)


def with_error(values: Sequence[float], std_error: float, least: int = 0) -> tuple[str, ...]:
    """Returns figures of one standard error with two digits of it: with decimals, and with an exponent where nine would show none."""
    if std_error <= 0 or std_error >= _SMALL:
        return tuple(fixed(value, decimals(std_error, least)) for value in values)
    digits = (math.floor(math.log10(abs(value) or std_error)) - math.floor(math.log10(std_error)) for value in values)
    return tuple(f"{value:.{min(max(places, 0) + 1, 15)}e}" for value, places in zip(values, digits, strict=True))


def p_value(p: float | None, places: int | None = None) -> str:
    """Returns a p-value with this many decimals, or three digits; `< 0.0001` below the last decimal. Empty for None."""
    if p is None:
        return ""
    digits = places or 4
    least = 10.0**-digits
    return f"< {least:.{digits}f}" if p < least else f"{p:.{places}f}" if places else f"{p:.3g}"


def between(low: float, high: float) -> str:
    """Returns the ends of a scale, as short as possible, but without an exponent below 10 ** 15."""
    return f"{low:,.15g} – {high:,.15g}"


def two_digits(value: float) -> str:
    """Returns a number rounded to two significant digits, without an exponent below 10 ** 15: `0.36`, `16`, `510,000`."""
    return f"{float(f'{value:.2g}'):,.15g}"
