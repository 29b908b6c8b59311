"""Figures as people read them."""

from __future__ import annotations


def percent(share: float | None) -> str:
    """A share of 0 to 1, or beyond, with one decimal; empty for None."""
    return "" if share is None else f"{100 * share:.1f}%"


def percents(low: float | None, high: float | None) -> str:
    """An interval of shares; empty where there is none."""
    return "" if low is None or high is None else f"{100 * low:.1f} – {percent(high)}"


def between(low: float, high: float) -> str:
    """The ends of a scale, as short as they can be written, but without an exponent below 10 ** 15."""
    return f"{low:,.15g} – {high:,.15g}"


def two_digits(value: float) -> str:
    """A number rounded to two digits that count, without an exponent below 10 ** 15: `0.36`, `16`, `510,000`."""
    return f"{float(f'{value:.2g}'):,.15g}"
