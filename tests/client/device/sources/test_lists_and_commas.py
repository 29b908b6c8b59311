"""Multiple choices in one column of lists, and numbers with a decimal comma: read as if they had been written the other way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
from pyarrow import parquet

from deniable import AnswerError, File, Survey
from deniable.device.entropy import os_words
from deniable.device.perturb import perturb_one
from deniable.device.sources import as_rows
from deniable.device.tables import batches
from deniable.wire.public import Public

DRUGS = {"id": "drugs", "text": "Which?", "type": "multi_choice", "options": ["tea", "kef"]}
HOURS = {"id": "hours", "text": "How many?", "type": "number", "low": 0, "high": 80, "levels": 161, "required": False}
SIZE = {"id": "size", "text": "Which size?", "type": "choice", "options": ["1,5", "2.5"]}


def survey(*questions: dict[str, Any]) -> Survey:
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 7, "questions": list(questions)})


def read(rows: Any, *questions: dict[str, Any]) -> tuple[list[list[int]], list[tuple[int, str]]]:
    """The categories of the rows that are right, a list for each item; and the number and the rule of each wrong answer."""
    found = list(batches(survey(*questions), as_rows(rows), os_words, size=1000))
    rejected = [(one.row, one.reason) for batch in found for one in batch.rejected]
    return np.concatenate([batch.categories for batch in found], axis=1).tolist(), rejected


LISTS = {"drugs": [["tea"], [], ["kef", "tea"]]}


def frames(folder: Path) -> dict[str, Any]:
    parquet.write_table(pa.table(LISTS), folder / "lists.parquet")
    return {
        "pandas": pd.DataFrame(LISTS),
        "polars": polars.DataFrame(LISTS),
        "arrow": pa.table(LISTS),
        "parquet": folder / "lists.parquet",
        "parquet by pandas": pd.read_parquet(folder / "lists.parquet"),  # whose cells are arrays
        "items": pd.DataFrame({"drugs[tea]": ["yes", "no", "yes"], "drugs[kef]": ["no", "no", "yes"]}),
    }


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "parquet", "parquet by pandas", "items"])
def test_a_column_of_lists_is_read_as_its_items_are(tmp_path: Path, kind: str) -> None:
    assert read(frames(tmp_path)[kind], DRUGS) == ([[0, 1, 0], [1, 1, 0]], [])


def test_a_list_with_another_option_is_a_wrong_row() -> None:
    _, rejected = read(pd.DataFrame({"drugs": [["tea"], ["CANARY"], "tea"]}), DRUGS)
    assert [row for row, _ in rejected] == [2, 2, 3, 3]
    assert "CANARY" not in str(rejected)


def test_a_table_with_both_forms_is_refused() -> None:
    both = pd.DataFrame({"drugs": [["tea"]], "drugs[tea]": ["yes"]})
    with pytest.raises(AnswerError, match=r"must have one column for a multiple choice or one for each of its items, got both for drugs$"):
        read(both, DRUGS)
    with pytest.raises(AnswerError, match=r"missing: drugs\[kef\]"):
        read(pd.DataFrame({"drugs[tea]": ["yes"]}), DRUGS)


def test_a_list_is_refused_in_the_words_of_a_list() -> None:
    def refusal(answers: dict[str, Any]) -> str:
        with pytest.raises(AnswerError) as caught:
            perturb_one(answers, survey(DRUGS), Public(None, None, None))
        return str(caught.value)

    assert refusal({"drugs": ["coffee"]}) == "drugs: the answer must be a list of options, each one of tea, kef"
    assert refusal({}) == "drugs: is missing"
    assert refusal({"drugs[tea]": "perhaps", "drugs[kef]": "no"}) == "drugs[tea]: the answer must be one of yes, no"


def csv(folder: Path, *lines: str) -> Path:
    file = folder / "hours.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


@pytest.mark.parametrize("times", [1, 600])
def test_decimal_commas_are_read_where_the_file_is_said_to_have_them(tmp_path: Path, times: int) -> None:
    file = csv(tmp_path, "size;hours", *["1,5;37,5", "2.5;40", "1,5;"] * times)
    assert read(File(file, decimal=","), SIZE, HOURS) == ([[0, 1, 0] * times, [75, 80, 161] * times], [])
    _, rejected = read(file, SIZE, HOURS)
    assert len(rejected) == times
    assert rejected[0][1] == "must be a number from 0 to 80; if the file has decimal commas, say so: decimal=',' or --decimal ,"


@pytest.mark.parametrize("number", ["1.5", "1.234,5", "1,2,3", ",", "3,5e"])
def test_a_point_beside_decimal_commas_is_no_number(tmp_path: Path, number: str) -> None:
    """In such a file 1.234 means more than a thousand: nothing is guessed."""
    _, rejected = read(File(csv(tmp_path, "hours;other", f"{number};x"), decimal=","), HOURS)
    assert rejected == [(1, "must be a number from 0 to 80")]


def test_a_comma_is_not_both_delimiter_and_decimal() -> None:
    with pytest.raises(ValueError, match="decimal must be another character than delimiter, got , for both"):
        File("x.csv", delimiter=",", decimal=",")
    for wrong in (";", "", "point", 5):
        with pytest.raises(ValueError, match=r"^decimal must be "):
            File("x.csv", decimal=wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="decimal must be left out for a xlsx file"):
        File("x.xlsx", decimal=",")
