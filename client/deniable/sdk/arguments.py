"""Arguments of the client: checked before anything is opened or sent, answers under a seal, and everything else redacted.

A check raises a ValueError that names the argument. What it is given is `readable`, so that it may quote it.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import wraps
from math import inf
from numbers import Integral, Number
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from deniable.device.redacted import Unshown
from deniable.device.sealed import Sealed
from deniable.survey.epsilon import parse_epsilon
from deniable.wire.link import DIGEST
from deniable.wire.submission import MAX_COUNT

NAME = re.compile("(?s).*")
"""Of a column or a job: any text."""
LONGEST = 86_400
"""The seconds of the longest wait that may be asked for: a day."""


_READABLE = (str, Number, os.PathLike, type(None))


def readable(*given: Any) -> tuple[Any, ...]:
    """Arguments as they are where they are text, numbers, paths, None or this package's own; `Unshown` for everything else."""
    return tuple(one if isinstance(one, _READABLE) or type(one).__module__.startswith("deniable.") else Unshown(one) for one in given)


def readable_by_name(given: Any, each: re.Pattern[str]) -> Any:
    """The same for an argument that may be a mapping from text to such text, too."""
    if not isinstance(given, Mapping):
        return readable(given)[0]
    read = dict(given)
    right = all(isinstance(part, str) for pair in read.items() for part in pair) and all(map(each.fullmatch, read.values()))
    return read if right else Unshown(given)


P = ParamSpec("P")
T = TypeVar("T")


def redacts(*checked: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorates a public method that takes no answers: what may be answers by mistake is refused, and no message or frame shows it.

    Args:
        checked: Arguments whose kind the method checks by itself; they are redacted only.

    Raises:
        ValueError: An argument is neither text, nor a number, a path, None or an object of this package.
        TypeError: The call does not have the method's arguments. It quotes none of them, and no unknown name.
    """

    def decorate(method: Callable[P, T]) -> Callable[P, T]:
        signature = inspect.signature(method)

        @wraps(method)
        def redacting(*args: P.args, **kwargs: P.kwargs) -> T:
            call = Sealed(_redacted, signature, "", None, (), args, kwargs)
            del args, kwargs  # from here on no frame shows them
            redacted = _its_own(call(), method, signature)
            for parameter, value in redacted.arguments.items():
                if isinstance(value, Unshown) and parameter not in checked:
                    raise ValueError(f"{parameter} must be text, a number or a path, got {value!r}")
            return method(*redacted.args, **redacted.kwargs)

        return redacting

    return decorate


def seals(name: str, read: Callable[..., Any], *, texts: tuple[str, ...] = ()) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorates a public method that takes answers or rows, so that no frame of it shows them, nor what stands in their place by mistake.

    In place of the argument `name` the method gets what `seal_of` turns into a sealed call of `read`, once; every other argument is
    `readable`.

    Args:
        name: The argument that has the answers.
        read: What is called under the seal, with that argument first.
        texts: Arguments that may be mappings from text to text, too.

    Raises:
        TypeError: The call does not have the method's arguments. It quotes none of them, and no unknown name.
    """

    def decorate(method: Callable[P, T]) -> Callable[P, T]:
        signature = inspect.signature(method)

        @wraps(method)
        def sealing(*args: P.args, **kwargs: P.kwargs) -> T:
            call = Sealed(_redacted, signature, name, read, texts, args, kwargs)
            del args, kwargs  # from here on no frame shows them
            redacted = _its_own(call(), method, signature)
            return method(*redacted.args, **redacted.kwargs)

        sealing.seals = name  # type: ignore[attr-defined]
        return sealing

    return decorate


def _its_own(redacted: inspect.BoundArguments | None, method: Callable[..., Any], signature: inspect.Signature) -> inspect.BoundArguments:
    """Returns a call's arguments. Raises TypeError if they are not the method's."""
    if redacted is None:
        raise TypeError(f"{method.__qualname__} takes {', '.join(list(signature.parameters)[1:])}; got other arguments")
    return redacted


def _redacted(
    signature: inspect.Signature, name: str, read: Callable[..., Any], texts: tuple[str, ...], args: Any, kwargs: Any
) -> inspect.BoundArguments | None:
    """Returns a call's arguments as its method may have them, or None if they are not the method's."""
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return None
    own = next(iter(signature.parameters))
    for parameter, value in bound.arguments.items():
        if parameter == name:
            bound.arguments[parameter] = _Handed(Sealed(read, value))
        elif parameter != own:
            bound.arguments[parameter] = readable_by_name(value, NAME) if parameter in texts else readable(value)[0]
    return bound


class _Handed:
    """Hands a sealed call over once, so that nothing refers to the answers after they were randomized."""

    __slots__ = ("_call",)

    def __init__(self, call: Sealed[Any]) -> None:
        self._call: Sealed[Any] | None = call

    def __repr__(self) -> str:
        return "<sealed>"

    def take(self) -> Sealed[Any] | None:
        """Returns the call the first time, then None."""
        call, self._call = self._call, None
        return call


def seal_of(argument: Any) -> Sealed[Any]:
    """Returns the sealed call that `seals` has put in an argument's place.

    Raises:
        TypeError: It is anything else, which may be answers, or was taken before.
    """
    call = argument.take() if isinstance(argument, _Handed) else None
    kind = type(argument).__name__
    del argument
    if call is None:
        raise TypeError(f"answers must be under a seal here, got {kind}: decorate the method with `seals`")
    return call


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
