"""A column means the same however its library keeps it: as words, coded, in pieces, as true and false, with gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest

from deniable.device.columns import DictionaryColumn, categories, from_arrow
from deniable.device.entropy import os_words
from deniable.device.sources import as_rows
from deniable.device.tables import batches
from deniable.survey import Survey

SURVEY = Survey.from_dict(
    {
        "deniable": 1,
        "id": "s",
        "title": "T",
        "about": "A",
        "questions": [{"id": "q", "text": "?", "type": "yes_no", "required": False, "epsilon": 1}],
    }
)
(QUESTION,) = SURVEY.items
WORDS = ["yes", None, "no", "YES ", "", "no", None, "perhaps"]
MEANT = [0, 2, 1, 0, 2, 1, 2, -1]
FLAGS = [True, None, False, True, None, False, None, True]
MEANT_FLAGS = [0, 2, 1, 0, 2, 1, 2, 0]
TEXTS = pyarrow.array(WORDS)


def chunked(array: Any) -> Any:
    """In two pieces, each of which, where it is coded, has a dictionary of its own."""
    return pyarrow.chunked_array([array.slice(0, 3), array.slice(3)])


def read(rows: Any) -> list[int]:
    return [int(one) for batch in batches(SURVEY, as_rows(rows), os_words, size=3) for one in _of(batch)]


def _of(batch: Any) -> list[int]:
    """The categories, -1 for a row that was left out."""
    found = dict(zip(batch.rows.tolist(), batch.categories[0].tolist(), strict=True))
    found |= {one.row: -1 for one in batch.rejected}
    return [found[row] for row in sorted(found)]


FRAMES = {
    "pandas, words": pd.DataFrame({"q": WORDS}),
    "pandas, objects": pd.DataFrame({"q": WORDS}, dtype=object),
    "pandas, categories": pd.DataFrame({"q": WORDS}).astype("category"),
    "Arrow, words": pyarrow.table({"q": TEXTS}),
    "Arrow, long words": pyarrow.table({"q": TEXTS.cast("large_string")}),
    "Arrow, coded": pyarrow.table({"q": TEXTS.dictionary_encode()}),
    "Arrow, coded in pieces": pyarrow.table(
        {"q": pyarrow.chunked_array([TEXTS.slice(0, 3).dictionary_encode(), TEXTS.slice(3).dictionary_encode()])}
    ),
    "Arrow, in pieces": pyarrow.table({"q": chunked(TEXTS)}),
    "polars, words": polars.DataFrame({"q": WORDS}),
    "polars, categories": polars.DataFrame({"q": polars.Series(WORDS, dtype=polars.Categorical)}),
}
FLAGGED = {
    "pandas, with gaps": pd.DataFrame({"q": pd.array(FLAGS, dtype="boolean")}),
    "pandas, objects": pd.DataFrame({"q": FLAGS}, dtype=object),
    "Arrow": pyarrow.table({"q": pyarrow.array(FLAGS)}),
    "polars": polars.DataFrame({"q": FLAGS}),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_words_mean_the_same_in_every_frame(frame: str) -> None:
    assert read(FRAMES[frame]) == MEANT


@pytest.mark.parametrize("frame", FLAGGED)
def test_so_do_true_and_false(frame: str) -> None:
    assert read(FLAGGED[frame]) == MEANT_FLAGS


def test_a_column_of_nothing_but_true_and_false_needs_no_search() -> None:
    assert read(pd.DataFrame({"q": [True, False, True, True]})) == [0, 1, 0, 0]


def test_polars_without_arrow_is_read_value_by_value(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: Any) -> None:
        raise ModuleNotFoundError

    monkeypatch.setattr(polars.Series, "to_arrow", none)
    assert read(FRAMES["polars, words"]) == MEANT
    assert isinstance(from_arrow(polars.Series(WORDS)), list)


def test_numbers_that_are_equal_and_mean_different_things_are_told_apart() -> None:
    """1, 1.0 and True are one key of a dict; "1" is none of these."""
    options = ["1", "x"]
    source = {"id": "q", "text": "?", "type": "choice", "options": options, "epsilon": 1}
    survey = Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "questions": [source]})
    mixed = [True, 1, "1", 1.0, np.int64(1), [1], "x", None]
    alone = [categories(survey.items[0], [one], os_words)[0] for one in mixed]
    assert categories(survey.items[0], mixed, os_words).tolist() == alone
    assert categories(survey.items[0], mixed[:-3], os_words).tolist() == alone[:-3]


def test_a_coded_column_is_each_rows_value() -> None:
    column = DictionaryColumn(np.array([1, 0, -1, 1]), ["a", "b"])
    assert column.tolist() == ["b", "a", None, "b"]
    assert "a" not in repr(column).replace("DictionaryColumn", "")
