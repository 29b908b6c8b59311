"""Dictionary encoding of columns of answers: each distinct answer is encoded once, and rows refer to it by number."""

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

_BYTE = 1 << 8
_EXACT: tuple[set[type], ...] = ({str, type(None), object, bool}, {str, type(None), object, int})
"""Types among which equal values are the same answer. `object` is the type of MISSING and of invalid parts of answers."""


@dataclass(frozen=True)
class DictionaryColumn:
    """A column as its distinct values and each row's index among them, shape (n,); -1 where there is no value."""

    codes: NDArray[np.integer[Any]] = field(repr=False)
    values: list[Any] = field(repr=False)

    def __getitem__(self, row: int) -> Any:
        """Returns the value of one row, or None."""
        code = int(self.codes[row])
        return None if code < 0 else self.values[code]

    def tolist(self) -> list[Any]:
        """Returns each row's value, or None."""
        values = [*self.values, None]
        return [values[code] for code in self.codes.tolist()]


class ValueCodes(dict[Any, int]):
    """Numbers of distinct values, in order of appearance."""

    def __missing__(self, value: Any) -> int:
        self[value] = code = len(self)
        return code

    def encode(self, cells: Sequence[Any]) -> NDArray[np.integer[Any]]:
        """Returns the number of each cell, as bytes while there are few numbers."""
        if len(self) <= _BYTE:
            with suppress(ValueError):  # a number that is no byte
                return np.frombuffer(bytes(map(self.__getitem__, cells)), dtype=np.uint8)
        return np.fromiter(map(self.__getitem__, cells), dtype=np.int32, count=len(cells))


class ColumnBuilder:
    """A column that grows piece by piece: dictionary-encoded as long as that is exact, otherwise a list.

    1, 1.0 and True are one key of a dictionary, and an object may equal a text without being one. So only columns that mix no more types
    than one of `_EXACT` are encoded.
    """

    def __init__(self) -> None:
        self._numbers, self._types = ValueCodes(), set[type]()
        self._codes: list[NDArray[np.integer[Any]]] = [np.empty(0, dtype=np.uint8)]
        self._cells: list[Any] | None = None

    def extend(self, cells: Sequence[Any] | DictionaryColumn) -> None:
        """Adds the values of some rows."""
        values = [*cells.values, None] if isinstance(cells, DictionaryColumn) else cells
        self._types.update(map(type, values))
        if self._cells is None and not any(map(self._types.issubset, _EXACT)):
            self._cells = self.build().tolist()
        if self._cells is not None:
            self._cells += as_list(cells)
        elif isinstance(cells, DictionaryColumn):
            self._codes.append(np.array(list(map(self._numbers.__getitem__, values)), dtype=np.int32)[cells.codes])
        else:
            self._codes.append(self._numbers.encode(cells))

    def build(self) -> Any:
        """Returns the column."""
        if self._cells is not None:
            return self._cells
        return DictionaryColumn(np.concatenate(self._codes), list(self._numbers))


def categories(question: Question, column: Any, words: Words) -> NDArray[np.integer[Any]]:
    """Returns the categories of a column's answers, shape (n,); -1 for invalid ones. `words` round numbers."""
    distinct = _dictionary(column)
    if distinct is None:
        return round_stochastically(question, positions(question, as_list(column)), words)
    positions_of_values = positions(question, [*distinct.values, None])
    if question.rounds:
        return round_stochastically(question, positions_of_values[distinct.codes], words)
    narrow = np.floor(positions_of_values).astype(np.min_scalar_type(-question.k))
    return np.asarray(narrow[distinct.codes])


def from_arrow(column: Any) -> DictionaryColumn | list[Any]:
    """Returns an Arrow or polars column, dictionary-encoded. Numbers stay as they are, since few of them are equal."""
    with suppress(ImportError):  # polars can do without Arrow
        column = column.to_arrow() if hasattr(column, "to_arrow") else column
    if not hasattr(column, "dictionary_encode"):
        return _decimals_as_text(column.to_list())
    if hasattr(column.type, "value_type") and hasattr(column.type, "index_type"):  # dictionaries, which may differ between chunks
        column = column.cast(column.type.value_type)
    if str(column.type) not in ("string", "large_string", "bool"):
        return _decimals_as_text(column.to_pylist())
    whole = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    encoded = whole.dictionary_encode()
    return DictionaryColumn(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist())


def _decimals_as_text(values: Sequence[Any]) -> list[Any]:
    """Returns values with decimals as text."""
    return [format(value, "f") if isinstance(value, Decimal) else value for value in values]


def as_list(column: Any) -> Any:
    """Returns a column's values as a list."""
    return column.tolist() if hasattr(column, "tolist") else column


def _dictionary(column: Any) -> DictionaryColumn | None:
    """Returns a column of few distinct values, dictionary-encoded, or None if each value must be encoded by itself."""
    if isinstance(column, DictionaryColumn):
        return column
    if not hasattr(column, "factorize") or column.dtype == object:
        return None
    if column.dtype == bool:
        return DictionaryColumn(column.to_numpy().view(np.uint8), [False, True])
    codes, distinct = column.factorize()
    return DictionaryColumn(codes, distinct.tolist())
