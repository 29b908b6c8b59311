"""The columns of a survey's table: names that every statistics program takes, labels with the full text, and a number for each value.

All cells are whole numbers. An item of two categories has a column of 1 (the first was recorded) and 0; one whose coins name a single one
of several has a column with its number, from 1; where they name more, each category has a column of 0 and 1. What is recorded of a number
that goes through a window is one of its outputs.
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

UNASKED = -1
"""In place of a number where somebody was not asked, or a group is withheld; every file writes it as its own kind of missing value."""

LONGEST = 32
"""Characters of a name: what Stata takes."""

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
    """One column. label: what it is, in words. values: what each number stands for.

    field: the item whose coins it shows, None for what is public. category: which of its bits has this column, from 0, where each
    has one of its own.
    """

    name: str
    label: str
    values: Mapping[int, str]
    field: Field | None = None
    category: int | None = None

    def codes(self, bits: NDArray[np.bool_]) -> NDArray[np.int16]:
        """The column of an item, from unpacked records, shape (n, record_bits)."""
        assert self.field is not None
        item, stored = self.field.item, bits[:, self.field.bits]
        if self.category is not None:
            found = stored[:, self.category] if self.category < len(item.recorded) - 1 else stored.sum(axis=1) < item.d
        elif len(item.recorded) == 2:
            found = stored[:, 0]
        else:
            found = np.where(stored.any(axis=1), stored.argmax(axis=1) + 1, len(item.recorded))
        codes = found.astype(np.int16)
        if self.field.mask is not None:
            codes[~bits[:, self.field.mask]] = UNASKED
        return codes


@dataclass(frozen=True)
class Option:
    """One bit of one item, a category or an output, and where it is in the table: recorded where the column `variable` is `code`."""

    item: Question
    category: int
    variable: str
    code: int

    @property
    def label(self) -> str:
        return self.item.recorded[self.category]


def variables(survey: Survey, withheld: Collection[str] = ()) -> tuple[Variable, ...]:
    """The columns in order: mode, group where the survey has groups, then those of each item.

    withheld: groups that are not told apart, and so have no number; where these are all, there is no such column.
    """
    names = _Names()
    found = [Variable(names.new("mode"), "randomized by whom", {i: MODE_LABELS[mode] for i, mode in enumerate(MODES, start=1)})]
    name = names.new("group") if survey.groups else ""
    if labels := {code: group for code, group in enumerate(survey.groups, start=1) if group not in withheld}:
        found.append(Variable(name, "group", labels))
    for question in survey.questions:
        for item, label in zip(question.items, question.labels or ("",), strict=True):
            found += _of_item(names, question, survey.record.field(item.id), label)
    return tuple(found)


def options(columns: Sequence[Variable]) -> tuple[Option, ...]:
    """The bits of all items, in the order of an estimate's rows."""
    return tuple(one for column in columns if column.field for one in _options(column, column.field.item))


def _options(column: Variable, item: Question) -> Iterator[Option]:
    if column.category is not None:
        yield Option(item, column.category, column.name, 1)
        return
    size = len(item.recorded)
    for category in range(size):
        yield Option(item, category, column.name, 1 - category if size == 2 else category + 1)


def _of_item(names: _Names, question: Question, field: Field, label: str) -> Iterator[Variable]:
    item, stem = field.item, f"{question.id}_{label}" if label else question.id
    about = f"recorded {label}" if label else "recorded"
    size = len(item.recorded)
    if size > 2 and item.d > 1:
        for category, option in enumerate(item.categories):
            name = names.new(f"{stem}_{option}", f"{stem}_{category + 1}")
            yield Variable(
                name, f"{about} option {category + 1}, {option}: {question.text}", {1: "recorded", 0: "not recorded"}, field, category
            )
        return
    first = names.new(stem, f"{question.id}_{question.labels.index(label) + 1}" if label else None)
    codes = (1, 0) if size == 2 else range(1, size + 1)
    yield Variable(first, f"{about}: {question.text}", dict(zip(codes, item.recorded, strict=True)), field)


class _Names:
    """Names that are all different, whether or not a program tells capitals from small letters."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, wanted: str, otherwise: str | None = None) -> str:
        """A name like the wanted one, or like the other where little of the wanted one can be written in it."""
        name = _legal(wanted)
        if otherwise is not None and not _telling(wanted):
            name = _legal(otherwise)
        found, number = name, 1
        while found.lower() in self._taken or _is_reserved(found):
            number += 1
            tail = f"_{number}"
            found = name[: LONGEST - len(tail)].rstrip("_") + tail
        self._taken.add(found.lower())
        return found


def _legal(text: str) -> str:
    """Letters, digits and single underscores, a letter first."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    name = re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_")
    return (name if name[:1].isalpha() else f"v_{name}")[:LONGEST].rstrip("_")


def _telling(text: str) -> bool:
    """Whether at least half of a text's letters and digits can stand in a name."""
    marks = [one for one in unicodedata.normalize("NFKD", text.partition("_")[2]) if one.isalnum()]
    return 2 * sum(one.isascii() for one in marks) >= max(1, len(marks))


def _is_reserved(name: str) -> bool:
    return name.lower() in RESERVED or bool(_NUMBERED_TYPE.fullmatch(name.lower()))
