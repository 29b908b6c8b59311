"""What a client is made with, and told to do, checked before anything is opened or sent: a ValueError names the argument."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from math import inf
from numbers import Integral
from typing import Any

from deniable.survey.epsilon import parse_epsilon
from deniable.wire.link import DIGEST
from deniable.wire.submission import MAX_COUNT

LONGEST = 86_400
"""The seconds of the longest wait that may be asked for: a day."""


def checked_cap(name: str, written: float | str) -> float:
    """A cap on epsilon, a number, `inf` or `ln x`; `name` is what the caller calls it."""
    try:
        most = float(written)
    except (TypeError, ValueError):
        with suppress(ValueError):
            return parse_epsilon(written, most=inf)
        most = 0.0
    if not most > 0:
        raise ValueError(f"{name} must be a number above 0 or `ln x`, got {written!r}")
    return most


def checked_pin(given: str | Mapping[str, str] | None) -> str | dict[str, str] | None:
    """A digest, or a mapping from survey id to digest."""
    if not (given is None or isinstance(given, str | Mapping)):
        raise ValueError(f"pin must be a digest, or a mapping from survey id to digest, got {given!r}")
    for digest in [given] if isinstance(given, str) else (given or {}).values():
        if not (isinstance(digest, str) and DIGEST.fullmatch(digest)):
            raise ValueError(f"pin must be 64 lower-case hexadecimal digits, got {digest!r}")
    return given if given is None or isinstance(given, str) else dict(given)


def checked_timeout(seconds: Any) -> float:
    """Seconds, above 0 and at most LONGEST."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= LONGEST:
        raise ValueError(f"timeout must be a number of seconds, above 0 and at most {LONGEST:,}, got {_told(seconds)}")
    return float(seconds)


def checked_retries(times: Any) -> int:
    """A whole number, at least 0."""
    if (whole := _whole(times)) is None or whole < 0:
        raise ValueError(f"retries must be a whole number of at least 0, got {_told(times)}")
    return whole


def checked_batch(rows: Any) -> int:
    """A whole number, from 1 to as many records as a submission may have."""
    if (whole := _whole(rows)) is None or not 1 <= whole <= MAX_COUNT:
        raise ValueError(f"batch must be a whole number from 1 to {MAX_COUNT:,}, got {_told(rows)}")
    return whole


def check_columns(columns: Any, **named: Any) -> None:
    """columns: by question; each other argument names one, or is None. What came instead is not quoted: it may be a column of answers."""
    for argument, name in named.items():
        if not (name is None or isinstance(name, str)):
            raise ValueError(f"{argument} must be the name of a column, as text, got {type(name).__name__}")
    if columns is not None and not (isinstance(columns, Mapping) and all(isinstance(name, str) for name in columns.values())):
        raise ValueError("columns must be a mapping from question id to the name of its column, as text")


def check_on_invalid(told: Any) -> None:
    """What is to be done with wrong rows."""
    if not (isinstance(told, str) and told in ("raise", "skip")):
        raise ValueError(f"on_invalid must be raise or skip, got {_told(told)}")


def _whole(number: Any) -> int | None:
    """A whole number of Python or NumPy; None for anything else, true and false too."""
    return None if isinstance(number, bool) or not isinstance(number, Integral) else int(number)


def _told(given: Any) -> str:
    """A number or a text as it is written, of anything else what it is: it may be rows."""
    return repr(given) if given is None or isinstance(given, int | float | str) else type(given).__name__
