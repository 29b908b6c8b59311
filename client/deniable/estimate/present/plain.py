"""Validation of plain records, as JSON has them, before anything is computed or printed from a server or a file."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Hashable, Mapping
from functools import cache
from typing import Any, TypeVar, cast, get_args, get_type_hints

from deniable.errors import EstimateError

_T = TypeVar("_T")
_MOST = 2**63  # counts stay below
_LONGEST = 1 << 16  # characters of a text

_RULES: dict[type, tuple[str, Callable[[Any], bool]]] = {
    str: (f"a text of at most {_LONGEST:,} characters", lambda value: type(value) is str and len(value) <= _LONGEST),
    bool: ("true or false", lambda value: type(value) is bool),
    int: ("a whole number from 0 to 2^63 - 1", lambda value: type(value) is int and 0 <= value < _MOST),
    float: ("a finite number", lambda value: _is_number(value)),
    type(None): ("null", lambda value: value is None),
}


def record(kind: type[_T], values: Mapping[str, Any]) -> _T:
    """Returns a dataclass from the values of its fields. A field that is not compared is no part of a record.

    Only fields of text, number, whole number (a count), truth value and None are checked.

    Raises:
        EstimateError: A field is missing, unknown, or of another kind.
    """
    try:
        if hidden := [name for name, field in kind.__dataclass_fields__.items() if not field.compare and name in values]:  # type: ignore[attr-defined]
            raise TypeError(f"unexpected key {hidden[0]}")
        result = kind(**values)
    except TypeError as error:
        raise EstimateError(f"{kind.__name__} must have the keys that to_dict gives: {error}") from None
    for name, types in _plain_fields(cast(Hashable, kind)).items():
        value = getattr(result, name)
        if not any(_RULES[one][1](value) for one in types):
            rule = " or ".join(_RULES[one][0] for one in types)
            raise EstimateError(f"{kind.__name__}.{name} must be {rule}, got {reprlib.repr(value)}")
    return result


@cache
def _plain_fields(kind: Any) -> dict[str, tuple[type, ...]]:
    hints = {name: get_args(hint) or (hint,) for name, hint in get_type_hints(kind).items()}
    return {name: types for name, types in hints.items() if all(one in _RULES for one in types)}


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < _MOST if isinstance(value, int) else math.isfinite(value)
