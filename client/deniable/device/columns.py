"""A column of many answers becomes categories: each different answer is looked up once, and the others are numbers of those."""

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
    """A column as its different values and the number of each row's among them, shape (n,); -1 where there is nothing."""

    codes: NDArray[np.integer[Any]] = field(repr=False)
    values: list[Any] = field(repr=False)

    def tolist(self) -> list[Any]:
        """Each row's value, None where there is nothing."""
        values = [*self.values, None]
        return [values[code] for code in self.codes.tolist()]


class Texts(dict[str, int]):
    """Numbers different texts in the order in which they come."""

    def __missing__(self, text: str) -> int:
        self[text] = code = len(self)
        return code


def categories(question: Question, column: Any, words: Words) -> NDArray[np.integer[Any]]:
    """The categories of a column's answers, shape (n,); -1 where an answer means none. `words` round numbers."""
    known = _coded(column)
    if known is None:
        return round_stochastically(question, positions(question, listed(column)), words)
    places = positions(question, [*known.values, None])
    if question.rounds:
        return round_stochastically(question, places[known.codes], words)
    narrow = np.floor(places).astype(np.min_scalar_type(-question.k))
    return np.asarray(narrow[known.codes])


def of_arrow(column: Any) -> Coded | list[Any]:
    """A column of Arrow's or of polars'. Numbers stay as they are: few are alike."""
    with suppress(ImportError):  # polars can do without Arrow
        column = column.to_arrow() if hasattr(column, "to_arrow") else column
    if not hasattr(column, "dictionary_encode"):
        return _plain(column.to_list())
    if hasattr(column.type, "value_type") and hasattr(column.type, "index_type"):  # it is encoded, and each part of it may be by itself
        column = column.cast(column.type.value_type)
    if str(column.type) not in ("string", "large_string", "bool"):
        return _plain(column.to_pylist())
    whole = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    known = whole.dictionary_encode()
    return Coded(known.indices.fill_null(-1).to_numpy(zero_copy_only=False), known.dictionary.to_pylist())


def _plain(values: Sequence[Any]) -> list[Any]:
    """A decimal is what it is as text."""
    return [format(value, "f") if isinstance(value, Decimal) else value for value in values]


def listed(column: Any) -> Any:
    """A column's values one by one."""
    return column.tolist() if hasattr(column, "tolist") else column


def _coded(column: Any) -> Coded | None:
    """A column that has few different values, or None where they must be looked at one by one."""
    if isinstance(column, Coded):
        return column
    if not hasattr(column, "factorize") or column.dtype == object:
        return None
    if column.dtype == bool:
        return Coded(column.to_numpy().view(np.uint8), [False, True])
    codes, distinct = column.factorize()
    return Coded(codes, distinct.tolist())
