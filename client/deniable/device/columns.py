"""Columns of many answers: each distinct answer is encoded once, and rows refer to it by number."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.device.encode import positions, round_stochastically
from deniable.device.randomize import Words
from deniable.survey.question import Question


@dataclass(frozen=True)
class Coded:
    """A column as its distinct values and each row's index among them, shape (n,); -1 where there is no value."""

    codes: NDArray[np.integer[Any]] = field(repr=False)
    values: list[Any] = field(repr=False)

    def tolist(self) -> list[Any]:
        """Returns each row's value, or None."""
        values = [*self.values, None]
        return [values[code] for code in self.codes.tolist()]


class Texts(dict[str, int]):
    """Numbers distinct texts in the order in which they come."""

    def __missing__(self, text: str) -> int:
        self[text] = code = len(self)
        return code


def categories(question: Question, column: Any, words: Words) -> NDArray[np.integer[Any]]:
    """Returns the categories of a column's answers, shape (n,); -1 where an answer has none. `words` round numbers."""
    coded = _coded(column)
    if coded is None:
        return round_stochastically(question, positions(question, listed(column)), words)
    places = positions(question, [*coded.values, None])
    if question.rounds:
        return round_stochastically(question, places[coded.codes], words)
    narrow = np.floor(places).astype(np.min_scalar_type(-question.k))
    return np.asarray(narrow[coded.codes])


def of_arrow(column: Any) -> Coded | list[Any]:
    """Returns a column of Arrow or polars in coded form. Numbers stay as they are: few are equal."""
    with suppress(ImportError):  # polars can do without Arrow
        column = column.to_arrow() if hasattr(column, "to_arrow") else column
    if not hasattr(column, "dictionary_encode"):
        return _plain(column.to_list())
    if hasattr(column.type, "value_type") and hasattr(column.type, "index_type"):  # dictionary-encoded, each chunk perhaps by itself
        column = column.cast(column.type.value_type)
    if str(column.type) not in ("string", "large_string", "bool"):
        return _plain(column.to_pylist())
    whole = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    encoded = whole.dictionary_encode()
    return Coded(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist())


def _plain(values: Sequence[Any]) -> list[Any]:
    """Returns values with decimals as text."""
    return [format(value, "f") if isinstance(value, Decimal) else value for value in values]


def listed(column: Any) -> Any:
    """Returns a column's values as a list."""
    return column.tolist() if hasattr(column, "tolist") else column


def _coded(column: Any) -> Coded | None:
    """Returns a column of few distinct values in coded form, or None if each value must be encoded by itself."""
    if isinstance(column, Coded):
        return column
    if not hasattr(column, "factorize") or column.dtype == object:
        return None
    if column.dtype == bool:
        return Coded(column.to_numpy().view(np.uint8), [False, True])
    codes, distinct = column.factorize()
    return Coded(codes, distinct.tolist())
