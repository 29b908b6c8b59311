"""What a client is made with, checked before anything is opened or sent. Each raises ValueError, which names the argument."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from math import inf
from typing import Any

from deniable.survey.epsilon import parse_epsilon
from deniable.wire.link import DIGEST

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
        raise ValueError(f"timeout must be a number of seconds, above 0 and at most {LONGEST:,}, got {seconds!r}")
    return seconds


def checked_retries(times: Any) -> int:
    """A whole number, at least 0."""
    if isinstance(times, bool) or not isinstance(times, int) or times < 0:
        raise ValueError(f"retries must be a whole number of at least 0, got {times!r}")
    return times
