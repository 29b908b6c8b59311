"""Variables: the columns of a survey's table, with names that every statistics program accepts, labels, and a code for each value.

All cells are whole numbers. An item of two categories has a column of 1 (the first is recorded) and 0. An item whose coins report one of
several categories has a column with the category's number, from 1. If they report more than one, each category has a column of 0 and 1. The
categories of a number with a window are its outputs.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.survey import Survey
from deniable.survey.layout import Field
from deniable.survey.question import Question
from deniable.wire.part import MODES, Mode

MISSING = -1
"""The code of a missing value: the person was not asked, or the group is withheld. Each file format has its own missing value."""

LONGEST = 32
"""The most characters of a name (Stata's limit)."""

_SPSS = "all and by eq ge gt le lt ne not or to with"
_STATA = "_all _b byte _coef _cons double e float if in int long _n _N _pi _pred r _rc _skip strl using with"
_R = "if else repeat while function for next break true false null inf nan na na_integer_ na_real_ na_character_ na_complex_ t f c"
RESERVED = frozenset(f"{_SPSS} {_STATA} {_R}".lower().split()) | {word.lower() for word in keyword.kwlist}
_NUMBERED_TYPE = re.compile(r"str\d+")  # of Stata

MODE_LABELS: Mapping[Mode, str] = {
    "device": "by the person's own device",
    "by_hand": "by the person, with two real coins",
    "organisation": "by an organisation that had the answers",
}


@dataclass(frozen=True)
class Variable:
    """A column of the table.

    Attributes:
        name: Its name.
        label: Its description.
        values: The label of each code.
        field: The item that it records, or None for a public value.
        category: The category that it records, from 0, if each category has a column of its own.
    """

    name: str
    label: str
    values: Mapping[int, str]
    field: Field | None = None
    category: int | None = None

    def codes(self, bits: NDArray[np.bool_]) -> NDArray[np.int16]:
        """Returns the column of an item, from unpacked records, shape (n, record_bits)."""
        assert self.field is not None
        item, stored = self.field.item, bits[:, self.field.bits]
        if self.category is not None:
            column = stored[:, self.category] if self.category < len(item.recorded) - 1 else stored.sum(axis=1) < item.d
        elif len(item.recorded) == 2:
            column = stored[:, 0]
        else:
            column = np.where(stored.any(axis=1), stored.argmax(axis=1) + 1, len(item.recorded))
        codes = column.astype(np.int16)
        if self.field.mask is not None:
            codes[~bits[:, self.field.mask]] = MISSING
        return codes


@dataclass(frozen=True)
class Option:
    """A recorded value of an item, a category or an output: a record has it if the column `variable` is `code`."""

    item: Question
    category: int
    variable: str
    code: int

    @property
    def label(self) -> str:
        """Its text."""
        return self.item.recorded[self.category]


def variables(survey: Survey, withheld: Collection[str] = ()) -> tuple[Variable, ...]:
    """Returns the columns in order: mode, group if the survey has groups, then the columns of each item.

    Args:
        survey: The survey.
        withheld: Groups without a code. If all groups are withheld, there is no column for them.
    """
    names = _Names()
    columns = [Variable(names.new("mode"), "who randomized the answers", {i: MODE_LABELS[mode] for i, mode in enumerate(MODES, start=1)})]
    name = names.new("group") if survey.groups else ""
    if labels := {code: group for code, group in enumerate(survey.groups, start=1) if group not in withheld}:
        columns.append(Variable(name, "group", labels))
    for question in survey.questions:
        for item, label in zip(question.items, question.labels or ("",), strict=True):
            columns += _item_columns(names, question, survey.record.field(item.id), label)
    return tuple(columns)


def options(columns: Sequence[Variable]) -> tuple[Option, ...]:
    """Returns the recorded values of all items, in the order of an estimate's rows."""
    return tuple(option for column in columns if column.field for option in _options(column, column.field.item))


def _options(column: Variable, item: Question) -> Iterator[Option]:
    if column.category is not None:
        yield Option(item, column.category, column.name, 1)
        return
    size = len(item.recorded)
    for category in range(size):
        yield Option(item, category, column.name, 1 - category if size == 2 else category + 1)


def _item_columns(names: _Names, question: Question, field: Field, label: str) -> Iterator[Variable]:
    item, stem = field.item, f"{question.id}_{label}" if label else question.id
    about = f"recorded {label}" if label else "recorded"
    size = len(item.recorded)
    if size > 2 and item.d > 1:
        for category, option in enumerate(item.categories):
            name = names.new(f"{stem}_{option}", f"{stem}_{category + 1}")
            yield Variable(
                name, f"{about} option {category + 1}, {option}: {question.label}", {1: "recorded", 0: "not recorded"}, field, category
            )
        return
    first = names.new(stem, f"{question.id}_{question.labels.index(label) + 1}" if label else None)
    codes = (1, 0) if size == 2 else range(1, size + 1)
    yield Variable(first, f"{about}: {question.label}", dict(zip(codes, item.recorded, strict=True)), field)


class _Names:
    """Names that differ from each other, in lower case too."""

    def __init__(self) -> None:
        self._lower: set[str] = set()

    def new(self, text: str, fallback: str | None = None) -> str:
        """Returns an unused name like the text, or like the fallback if a name can have too few of the text's letters."""
        name = _legal(text if fallback is None or _is_mostly_ascii(text) else fallback)
        candidate, number = name, 1
        while candidate.lower() in self._lower or _is_reserved(candidate):
            number += 1
            tail = f"_{number}"
            candidate = name[: LONGEST - len(tail)].rstrip("_") + tail
        self._lower.add(candidate.lower())
        return candidate


def _legal(text: str) -> str:
    """Returns a name of letters, digits and single underscores that begins with a letter."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    name = re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_")
    return (name if name[:1].isalpha() else f"v_{name}")[:LONGEST].rstrip("_")


def _is_mostly_ascii(text: str) -> bool:
    """Returns whether a name can have at least half of the letters and digits behind the question's id."""
    letters = [letter for letter in unicodedata.normalize("NFKD", text.partition("_")[2]) if letter.isalnum()]
    return 2 * sum(letter.isascii() for letter in letters) >= max(1, len(letters))


def _is_reserved(name: str) -> bool:
    return name.lower() in RESERVED or bool(_NUMBERED_TYPE.fullmatch(name.lower()))
