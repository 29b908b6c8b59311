"""Rows from mappings: columns are read and encoded at once, and mean what each row means by itself."""

from __future__ import annotations

from collections import OrderedDict, UserDict
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deniable.device.columns import ColumnBuilder, DictionaryColumn
from deniable.device.items import ExpectedKeys, item_lists, lookup
from deniable.device.perturb import randomize_records
from deniable.device.sources.mappings import Mappings
from deniable.device.sources.rows import RawRows
from deniable.device.tables import ExtraColumns, batches
from deniable.errors import AnswerError
from deniable.survey import Survey

SURVEY = Survey.from_dict(
    {
        "deniable": 1,
        "id": "s",
        "title": "T",
        "about": "A",
        "epsilon": 8,
        "groups": ["north", "1"],
        "questions": [
            {"id": "smokes", "text": "?", "type": "yes_no"},
            {"id": "mood", "text": "?", "type": "choice", "options": ["good", "1"], "required": False},
            {"id": "drugs", "text": "?", "type": "multi_choice", "options": ["tea", "plum"], "required": False},
            {"id": "hours", "text": "?", "type": "number", "low": 0, "high": 10},
            {"id": "why", "text": "?", "type": "choice", "options": ["a", "b"], "show_if": {"question": "smokes", "is": ["yes"]}},
        ],
    }
)


class Word(StrEnum):
    """A text that equals "yes" and has another name."""

    YES = "yes"


class Mode:
    """An object that is no text and equals one."""

    def __eq__(self, other: object) -> bool:
        return other == "yes"

    def __hash__(self) -> int:
        return hash("yes")


class Default(dict[str, Any]):
    """A dict that has an answer to everything, by one way of asking only."""

    def __missing__(self, key: str) -> Any:
        return "yes"


class PlainRows:
    """The reference: each row's answers are looked up by themselves, and columns are lists."""

    name, mark, repeatable, total = None, "", True, None

    def __init__(self, rows: Sequence[Any]) -> None:
        self._rows = rows

    def batches(self, names: Sequence[str], size: int, skip: int) -> Iterator[RawRows]:
        keys, lists = ExpectedKeys(names), item_lists(names)
        for start in range(skip, len(self._rows), size):
            rows = [keys.normalize(row) for row in self._rows[start : start + size]]
            broken = {
                number: "must be a mapping from question to answer" for number, row in enumerate(rows) if not isinstance(row, Mapping)
            }
            cells = [
                [""] * len(names) if number in broken else [lookup(row, name, lists) for name in names] for number, row in enumerate(rows)
            ]
            yield RawRows(len(rows), [list(column) for column in zip(*cells, strict=True)], broken)


def drawn() -> Any:
    """Words in a fixed order, so that equal draws give equal bytes."""
    generator = np.random.Generator(np.random.PCG64(5))
    return lambda count: generator.integers(0, 1 << 32, count, dtype=np.uint32)


def outcome(rows: Any, size: int, skip: int, extra: ExtraColumns) -> Any:
    """All that comes out of rows: categories, bytes, numbers, keys, rejected rows and the error at the end."""
    words, results = drawn(), list[Any]()
    try:
        for batch in batches(SURVEY, rows, words, size=size, skip=skip, extra=extra):
            records = randomize_records(SURVEY, batch.categories, words)
            results.append((batch.size, batch.categories.tolist(), records, batch.rows.tolist(), batch.groups.tolist()))
            results.append((batch.rejected, list(map(repr, batch.people)), list(map(repr, batch.keys))))
    except AnswerError as error:
        results.append(str(error))
    return results


OPTIONS = st.lists(st.sampled_from(["tea", "plum", "tea ", "TEA"]), max_size=2)
ANSWERS = {
    "smokes": st.sampled_from(["yes", "no", "NO", " yes", "?", True, False, 1, 0, 1.0, 2, Word.YES, Mode(), None, b"yes", [], np.int64(1)]),
    "mood": st.sampled_from(["good", "1", 1, 1.0, True, None, "", " ", "no answer", float("nan"), "bad", {}]),
    "drugs": st.one_of(
        OPTIONS, OPTIONS.map(tuple), OPTIONS.map(set), st.sampled_from([None, "", "tea", 1, ["tea", 1], [[]], np.array(["tea"])])
    ),
    "drugs[tea]": st.sampled_from(["yes", "no", True, None, 7]),
    "drugs[plum]": st.sampled_from(["yes", "no", 1, 0, ""]),
    "hours": st.one_of(st.integers(-1, 11), st.floats(0, 10), st.sampled_from(["3", "3.5", "3,5", True, None, 10**30])),
    "why": st.sampled_from(["a", "b", None, ""]),
    "area": st.sampled_from(["north", "1", 1, True, 1.0, "south", None]),
    "who": st.sampled_from(["ann", 5, "5", 5.0, None, True, ["ann"]]),
}
PLAIN = {"smokes": "yes", "mood": "good", "drugs": ["tea"], "hours": 3, "why": "a", "area": "north", "who": "ann"}
TYPICAL = st.fixed_dictionaries({name: ANSWERS[name] for name in PLAIN})
NOTES = st.fixed_dictionaries({}, optional={" mood ": ANSWERS["mood"], "Mood": st.just("x"), "note": st.just("x"), 5: st.just(1)})
FREE = st.builds(lambda row, notes: {**row, **notes}, st.fixed_dictionaries({}, optional=ANSWERS), NOTES)
ROW = st.one_of(
    TYPICAL, TYPICAL, FREE, FREE.map(OrderedDict), FREE.map(UserDict), FREE.map(Default), st.sampled_from([None, "row", 5, ["yes"]])
)
EXTRA = st.builds(ExtraColumns, st.sampled_from(["area", None]), st.sampled_from(["who", None]), st.none())


@settings(max_examples=150, deadline=None)
@given(st.lists(ROW, max_size=12), st.integers(1, 9), st.integers(0, 3), EXTRA)
@example(
    [PLAIN, {**PLAIN, "smokes": Mode()}, {**PLAIN, "smokes": Word.YES}, {**PLAIN, "mood": True}, {**PLAIN, "mood": 1}], 9, 0, ExtraColumns()
)
@example(
    [{**PLAIN, "drugs": None}, {**PLAIN, "drugs[tea]": "yes"}, {"smokes": "no", "drugs[tea]": "yes", "hours": 1}], 9, 0, ExtraColumns()
)
@example([PLAIN, 5, {"smokes": "CANARY", **{key: value for key, value in PLAIN.items() if key != "hours"}}], 2, 0, ExtraColumns("area"))
def test_columns_of_mappings_are_each_rows_own_answers(rows: list[Any], size: int, skip: int, extra: ExtraColumns) -> None:
    expected = outcome(PlainRows(rows), size, skip, extra)
    assert outcome(Mappings(rows), size, skip, extra) == expected
    assert outcome(Mappings(iter(rows)), size, skip, extra) == expected


@pytest.mark.parametrize("broken", ["equal", "missing"])
def test_the_comparison_notices_a_wrong_column(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Control: without the rule about types, and with another place for missing answers."""
    rows = [PLAIN, {**PLAIN, "smokes": Mode()}, {key: value for key, value in PLAIN.items() if key != "smokes"}]
    expected = outcome(PlainRows(rows), 9, 0, ExtraColumns())
    assert outcome(Mappings(rows), 9, 0, ExtraColumns()) == expected
    if broken == "equal":
        monkeypatch.setattr("deniable.device.columns._EXACT", ({str, object, Mode, int, type(None), list},))
    else:
        monkeypatch.setattr("deniable.device.items.MISSING", "no")
    assert outcome(Mappings(rows), 9, 0, ExtraColumns()) != expected


def test_rows_are_taken_from_a_generator_only_when_they_are_needed() -> None:
    taken = list[int]()

    def rows() -> Iterator[Any]:
        for number in range(1_300):
            taken.append(number)
            yield PLAIN

    read = batches(SURVEY, Mappings(rows()), drawn(), size=700)
    assert next(read).size == 700
    assert len(taken) == 700
    assert [batch.size for batch in read] == [600]


def test_a_column_is_encoded_until_types_mix() -> None:
    builder = ColumnBuilder()
    builder.extend(["a", None, "b"])
    builder.extend(DictionaryColumn(np.array([1, -1, 0]), ["a", "c"]))
    encoded = builder.build()
    assert isinstance(encoded, DictionaryColumn)
    assert encoded.tolist() == ["a", None, "b", "c", None, "a"]
    builder.extend([1])
    builder.extend([True, 1.0])
    assert builder.build() == ["a", None, "b", "c", None, "a", 1, True, 1.0]


def test_a_column_of_many_values_is_encoded_exactly() -> None:
    builder, values = ColumnBuilder(), [f"w{number % 700}" for number in range(2_000)]
    for start in range(0, 2_000, 90):
        builder.extend(values[start : start + 90])
    assert builder.build().tolist() == values
