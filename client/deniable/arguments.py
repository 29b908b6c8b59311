"""What a client is made with, and told to do, checked before anything is opened or sent: a ValueError names the argument.

What each check is given is `readable`, so that it may quote it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from math import inf
from numbers import Integral, Number
from pathlib import Path
from typing import Any

from deniable.survey.epsilon import parse_epsilon
from deniable.unshown import Unshown
from deniable.wire.link import DIGEST, Link
from deniable.wire.submission import MAX_COUNT

NAME = re.compile("(?s).*")
"""Of a column or a job: any text."""
LONGEST = 86_400
"""The seconds of the longest wait that may be asked for: a day."""


_READABLE = (str, Number, os.PathLike, Link, type(None), Unshown)


def readable(*given: Any) -> tuple[Any, ...]:
    """Arguments as they are where they are text, numbers, paths, links or None; `Unshown` for everything else."""
    return tuple(one if isinstance(one, _READABLE) else Unshown(one) for one in given)


def readable_by_name(given: Any, each: re.Pattern[str]) -> Any:
    """The same for an argument that may be a mapping from text to such text, too."""
    if not isinstance(given, Mapping):
        return readable(given)[0]
    read = dict(given)
    right = all(isinstance(part, str) for pair in read.items() for part in pair) and all(map(each.fullmatch, read.values()))
    return read if right else Unshown(given)


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


def checked_pin(given: Any) -> str | dict[str, str] | None:
    """A digest, or a mapping from survey id to digest."""
    if given is None or (isinstance(given, str) and DIGEST.fullmatch(given)):
        return given
    if isinstance(given, dict):  # of digests, or it would not be readable
        return given
    raise ValueError(f"pin must be 64 lower-case hexadecimal digits, or a mapping from survey id to such, got {given!r}")


def checked_timeout(seconds: Any) -> float:
    """Seconds, above 0 and at most LONGEST."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= LONGEST:
        raise ValueError(f"timeout must be a number of seconds, above 0 and at most {LONGEST:,}, got {seconds!r}")
    return float(seconds)


def checked_retries(times: Any) -> int:
    """A whole number, at least 0."""
    if (whole := _whole(times)) is None or whole < 0:
        raise ValueError(f"retries must be a whole number of at least 0, got {times!r}")
    return whole


def checked_batch(rows: Any) -> int:
    """A whole number, from 1 to as many records as a submission may have."""
    if (whole := _whole(rows)) is None or not 1 <= whole <= MAX_COUNT:
        raise ValueError(f"batch must be a whole number from 1 to {MAX_COUNT:,}, got {rows!r}")
    return whole


def checked_file(name: str, path: Any) -> str | Path | None:
    """A file's path; `name` is what the caller calls it."""
    if not (path is None or isinstance(path, str | os.PathLike)):
        raise ValueError(f"{name} must be the path of a file, got {path!r}")
    return path if path is None or isinstance(path, str) else Path(path)


def check_columns(columns: Any, **named: Any) -> None:
    """columns: by question; each other argument is a name, or None."""
    for argument, name in named.items():
        if not (name is None or isinstance(name, str)):
            raise ValueError(f"{argument} must be {'a name' if argument == 'job' else 'the name of a column'}, as text, got {name!r}")
    if not (columns is None or isinstance(columns, dict)):
        raise ValueError(f"columns must be a mapping from question id to the name of its column, as text, got {columns!r}")


def check_person(person: Any) -> None:
    """Somebody's key; which text and which numbers are one, the ledger knows."""
    if isinstance(person, Unshown):
        raise ValueError(f"person must be text or a whole number, the same in each survey, got {person!r}")


def check_on_invalid(told: Any) -> None:
    """What is to be done with wrong rows."""
    if not (isinstance(told, str) and told in ("raise", "skip")):
        raise ValueError(f"on_invalid must be raise or skip, got {told!r}")


def _whole(number: Any) -> int | None:
    """A whole number of Python or NumPy; None for anything else, true and false too."""
    return None if isinstance(number, bool) or not isinstance(number, Integral) else int(number)
