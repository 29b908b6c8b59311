"""One form of a key for every spelling: a person has one account, and a row is sent once, whatever file they come in."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.device.columns import as_list
from deniable.device.sources import as_rows
from deniable.privacy.person_keys import key_problem, normal_form

WHOLE = st.integers(-(2**53) + 1, 2**53 - 1)
VISIBLE = st.text(st.characters(categories=["L", "Nd", "P"]), min_size=1, max_size=12)
WIDE = str.maketrans("0123456789", "０１２３４５６７８９")
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")


def spellings(number: int) -> list[Any]:
    """The ways in which a spreadsheet, pandas, JSON or a person may write a whole number."""
    plain = str(number)
    sign, digits = ("-", plain[1:]) if number < 0 else ("", plain)
    exact = [number, np.int64(number), float(number), np.float64(number), plain, f" {plain} ", f"{plain}\u00a0", f"{plain}.0", f"{plain}."]
    return [*exact, f"{sign}00{digits}", f"{number:.16e}", repr(float(number)), plain.translate(WIDE), plain.translate(ARABIC)]


@given(WHOLE)
def test_every_spelling_of_a_whole_number_is_one_key(number: int) -> None:
    assert {normal_form(one) for one in spellings(number)} == {str(number)}


@given(WHOLE, WHOLE)
def test_different_numbers_stay_different(one: int, other: int) -> None:
    assert (normal_form(one) == normal_form(float(other))) == (one == other)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.one_of(WHOLE.map(str), VISIBLE), min_size=1, max_size=6), st.booleans())
def test_what_pandas_writes_of_a_column_that_it_read_is_the_same_keys_or_refused(keys: list[str], gap: bool) -> None:
    """gap: one cell of the column is missing, so that whole numbers become floats."""
    file = io.StringIO()
    pd.DataFrame({"who": [*keys, *([None] if gap else [])], "x": 1}).to_csv(file, index=False)
    file.seek(0)
    again = pd.read_csv(file, keep_default_na=False, na_values=[""])["who"].tolist()[: len(keys)]
    for key, cell in zip(keys, again, strict=True):
        if normal_form(key) is not None and not isinstance(cell, bool):
            assert normal_form(cell) in (normal_form(key), None)


@pytest.mark.parametrize("key", ["17.5", 17.5, "1.5e0", "9007199254740993.0", float(2**60), "1e400", float("inf")])
def test_a_number_that_a_float_may_have_changed_is_refused_with_that_reason(key: Any) -> None:
    assert normal_form(key) is None
    assert "looks like a number that went through a float" in key_problem(key)


@pytest.mark.parametrize("mark", ["\u200b", "\u200d", "\u00ad", "\ufeff", "\u202e", "\ufe0f", "\U000e0061", "\u034f", "\u3164", "\x00"])
@pytest.mark.parametrize("key", ["17", "ada"])
def test_a_character_that_does_not_show_is_refused(mark: str, key: str) -> None:
    for spelled in (key + mark, mark + key, key[0] + mark + key[1:]):
        assert normal_form(spelled) is None
        assert "characters that do not show" in key_problem(spelled)


@pytest.mark.parametrize(("one", "other"), [("á", "a\u0301"), ("ﬁn", "fin"), ("a  b", "a\u2003b"), (str(10**19), 10**19)])
def test_texts_that_read_alike_are_one_key(one: Any, other: Any) -> None:
    assert normal_form(one) == normal_form(other) is not None


@pytest.mark.parametrize("key", [None, True, np.True_, float("nan"), pd.NA, "", " \n", b"17", ["17"]])
def test_what_is_no_key_is_refused(key: Any) -> None:
    assert normal_form(key) is None
    assert key_problem(key) == "must be text or a whole number"


def cells(rows: Any) -> list[Any]:
    return [cell for stretch in as_rows(rows).batches(["who"], 10, 0) for cell in as_list(stretch.columns[0])]


def test_every_door_reads_a_person_as_the_same_key(tmp_path: Path) -> None:
    lines = tmp_path / "rows.jsonl"
    lines.write_text("\n".join(json.dumps({"who": who}) for who in (17, 17.0, "17", "17.0", "017")))
    table = tmp_path / "rows.csv"
    table.write_text("who\n17\n17.0\n017\n1.7e1\n")
    pd.read_csv(table).to_csv(tmp_path / "again.csv", index=False)
    doors = [lines, table, tmp_path / "again.csv", pd.DataFrame({"who": [17, None]})[:1], [{"who": 17}, {"who": "17.0"}, {"who": 17.0}]]
    assert [{normal_form(cell) for cell in cells(door)} for door in doors] == [{"17"}] * len(doors)


def test_a_minus_sign_is_a_minus() -> None:
    assert normal_form("\u221217") == normal_form("-17") == normal_form(-17) == "-17"


def test_a_number_has_at_most_4000_digits() -> None:
    assert normal_form("1" * 4000) == "1" * 4000
    assert (normal_form("1" * 4001), key_problem("1" * 4001)) == (None, "must have at most 4,000 digits")
