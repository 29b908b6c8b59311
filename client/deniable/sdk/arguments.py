"""Argument validation of the client: arguments are checked before anything is opened or sent.

Answers are sealed and everything else is redacted first, so a ValueError may quote the argument that it names.
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

from deniable.device.redacted import Redacted
from deniable.device.sealed import Sealed
from deniable.survey.epsilon import parse_epsilon
from deniable.survey.parse import MAX_BATCH
from deniable.wire.link import DIGEST
from deniable.wire.submission import MAX_COUNT

NAME = re.compile("(?s).*")
"""Allowed names of columns and jobs: any text."""
LONGEST = 86_400
"""Longest timeout in seconds: one day."""


_READABLE = (str, Number, os.PathLike, type(None))


def readable(*arguments: Any) -> tuple[Any, ...]:
    """Returns text, numbers, paths, None and this package's objects unchanged, and a `Redacted` for each other argument."""
    return tuple(one if isinstance(one, _READABLE) or type(one).__module__.startswith("deniable.") else Redacted(one) for one in arguments)


def readable_by_name(argument: Any, each: re.Pattern[str]) -> Any:
    """Returns an argument as `readable` does, and a copy of a mapping from text to texts that match `each`."""
    if not isinstance(argument, Mapping):
        return readable(argument)[0]
    texts = dict(argument)
    valid = all(isinstance(part, str) for pair in texts.items() for part in pair) and all(map(each.fullmatch, texts.values()))
    return texts if valid else Redacted(argument)


P = ParamSpec("P")
T = TypeVar("T")


def redacts(*checked: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorates a public method that takes no answers: answers passed by mistake are refused, and no message or frame shows them.

    Args:
        checked: Arguments whose kind the method checks by itself; they are redacted only.

    Raises:
        ValueError: An argument is neither text, nor a number, a path, None or an object of this package.
        TypeError: The call does not have the method's arguments. The message quotes none of them, and no unknown name.
    """

    def decorate(method: Callable[P, T]) -> Callable[P, T]:
        signature = inspect.signature(method)

        @wraps(method)
        def redacting(*args: P.args, **kwargs: P.kwargs) -> T:
            call = Sealed(_redacted, signature, "", None, (), args, kwargs)
            del args, kwargs  # no frame shows them after this
            redacted = _valid_call(call(), method, signature)
            for parameter, value in redacted.arguments.items():
                if isinstance(value, Redacted) and parameter not in checked:
                    raise ValueError(f"{parameter} must be text, a number or a path, got {value!r}")
            return method(*redacted.args, **redacted.kwargs)

        return redacting

    return decorate


def seals(name: str, read: Callable[..., Any], *, texts: tuple[str, ...] = ()) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorates a public method that takes answers or rows, so that no frame of it shows them, nor answers passed as another argument.

    In place of the argument `name` the method gets an object that `seal_of` turns into a sealed call of `read`, once; every other
    argument is `readable`.

    Args:
        name: The argument that has the answers.
        read: The function to call under the seal, with that argument first.
        texts: Arguments that may also be mappings from text to text.

    Raises:
        TypeError: The call does not have the method's arguments. The message quotes none of them, and no unknown name.
    """

    def decorate(method: Callable[P, T]) -> Callable[P, T]:
        signature = inspect.signature(method)

        @wraps(method)
        def sealing(*args: P.args, **kwargs: P.kwargs) -> T:
            call = Sealed(_redacted, signature, name, read, texts, args, kwargs)
            del args, kwargs  # no frame shows them after this
            redacted = _valid_call(call(), method, signature)
            return method(*redacted.args, **redacted.kwargs)

        sealing.seals = name  # type: ignore[attr-defined]
        return sealing

    return decorate


def _valid_call(
    redacted: inspect.BoundArguments | None, method: Callable[..., Any], signature: inspect.Signature
) -> inspect.BoundArguments:
    """Returns a call's arguments.

    Raises:
        TypeError: They are not the method's.
    """
    if redacted is None:
        raise TypeError(f"{method.__qualname__} takes {', '.join(list(signature.parameters)[1:])}; got other arguments")
    return redacted


def _redacted(
    signature: inspect.Signature, name: str, read: Callable[..., Any], texts: tuple[str, ...], args: Any, kwargs: Any
) -> inspect.BoundArguments | None:
    """Returns a call's arguments in the form that its method gets, or None if they are not the method's."""
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return None
    own = next(iter(signature.parameters))
    for parameter, value in bound.arguments.items():
        if parameter == name:
            bound.arguments[parameter] = _SealedArgument(Sealed(read, value))
        elif parameter != own:
            bound.arguments[parameter] = readable_by_name(value, NAME) if parameter in texts else readable(value)[0]
    return bound


class _SealedArgument:
    """A sealed call that can be taken once, so that nothing refers to the answers after they were randomized."""

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
    """Returns the sealed call that `seals` has put in place of an argument.

    Raises:
        TypeError: It is anything else, which may be answers, or was taken before.
    """
    call = argument.take() if isinstance(argument, _SealedArgument) else None
    kind = type(argument).__name__
    del argument
    if call is None:
        raise TypeError(f"answers must be under a seal here, got {kind}: decorate the method with `seals`")
    return call


def checked_cap(name: str, cap: float | str) -> float:
    """Returns a cap on epsilon, from a number, `inf` or `ln x`.

    Args:
        name: The argument's name, for the message.
        cap: The cap as the caller wrote it.

    Raises:
        ValueError: It is not above 0, or not a number.
    """
    try:
        most = float(cap)
    except (TypeError, ValueError):
        with suppress(ValueError):
            return parse_epsilon(cap, most=inf)
        most = 0.0
    if not most > 0:
        raise ValueError(f"{name} must be a number above 0 or `ln x`, got {cap!r}")
    return most


def checked_floor(name: str, records: Any) -> int:
    """Returns a floor for the batches of a survey, a whole number from 1 to MAX_BATCH. Raises ValueError otherwise."""
    if (whole := _whole(records)) is None or not 1 <= whole <= MAX_BATCH:
        raise ValueError(f"{name} must be a whole number from 1 to {MAX_BATCH:,}, got {records!r}")
    return whole


def checked_pin(pin: Any) -> str | dict[str, str] | None:
    """Returns a digest, or a mapping from survey id to digest. Raises ValueError for anything else."""
    if pin is None or (isinstance(pin, str) and DIGEST.fullmatch(pin)):
        return pin
    if isinstance(pin, dict):  # of digests: `readable_by_name` checked them
        return pin
    raise ValueError(f"pin must be 64 lower-case hexadecimal digits, or a mapping from survey id to such, got {pin!r}")


def checked_timeout(seconds: Any) -> float:
    """Returns seconds, above 0 and at most LONGEST. Raises ValueError otherwise."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= LONGEST:
        raise ValueError(f"timeout must be a number of seconds, above 0 and at most {LONGEST:,}, got {seconds!r}")
    return float(seconds)


def checked_retries(times: Any) -> int:
    """Returns a whole number of at least 0. Raises ValueError otherwise."""
    if (whole := _whole(times)) is None or whole < 0:
        raise ValueError(f"retries must be a whole number of at least 0, got {times!r}")
    return whole


def checked_batch(rows: Any) -> int:
    """Returns a whole number from 1 to the most records of a submission. Raises ValueError otherwise."""
    if (whole := _whole(rows)) is None or not 1 <= whole <= MAX_COUNT:
        raise ValueError(f"batch must be a whole number from 1 to {MAX_COUNT:,}, got {rows!r}")
    return whole


def checked_file(name: str, path: Any) -> str | Path | None:
    """Returns the path of a file, or None. Raises ValueError otherwise; `name` is the argument's name."""
    if not (path is None or isinstance(path, str | os.PathLike)):
        raise ValueError(f"{name} must be the path of a file, got {path!r}")
    return path if path is None or isinstance(path, str) else Path(path)


def check_columns(columns: Any, **named: Any) -> None:
    """Checks the mapping from question to column, and that each other argument is a name or None. Raises ValueError."""
    for argument, name in named.items():
        if not (name is None or isinstance(name, str)):
            raise ValueError(f"{argument} must be {'a name' if argument == 'job' else 'the name of a column'}, as text, got {name!r}")
    if not (columns is None or isinstance(columns, dict)):
        raise ValueError(f"columns must be a mapping from question id to the name of its column, as text, got {columns!r}")


def check_person(person: Any) -> None:
    """Checks that a person's key is not redacted; the ledger checks the rest. Raises ValueError."""
    if isinstance(person, Redacted):
        raise ValueError(f"person must be text or a whole number, the same in each survey, got {person!r}")


def check_on_invalid(choice: Any) -> None:
    """Checks the choice of what to do with invalid rows. Raises ValueError."""
    if not (isinstance(choice, str) and choice in ("raise", "skip")):
        raise ValueError(f"on_invalid must be raise or skip, got {choice!r}")


def _whole(number: Any) -> int | None:
    """Returns a whole number of Python or NumPy; None for anything else, booleans included."""
    return None if isinstance(number, bool) or not isinstance(number, Integral) else int(number)
