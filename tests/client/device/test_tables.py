"""Rows from every kind of input, and what is told, without an answer, about those that cannot be sent."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from deniable.device.entropy import os_words
from deniable.device.perturb import perturb_one
from deniable.device.sources import as_rows
from deniable.device.sources.csv_rows import CsvRows
from deniable.device.sources.file import File
from deniable.device.sources.json_rows import JsonRows
from deniable.device.sources.mappings import Mappings
from deniable.device.tables import batches
from deniable.errors import AnswerError, RejectedRow
from deniable.survey import Survey
from deniable.wire.public import Public


def read(study, rows, size=3, **options):
    """All categories, one list per question, and all that was left out."""
    found = list(batches(study, as_rows(rows), os_words, size=size, **options))
    categories = np.concatenate([batch.categories for batch in found], axis=1) if found else np.empty((2, 0))
    return categories.tolist(), [reason for batch in found for reason in batch.rejected]


def csv(text: str) -> CsvRows:
    return CsvRows(File(io.StringIO(text, newline="")))


def broken(study, rows, **options) -> str:
    with pytest.raises(AnswerError) as caught:
        read(study, rows, **options)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return str(caught.value)


def test_each_kind_of_input_gives_the_same_categories(study, tmp_path):
    rows = [
        {"smokes": "yes", "party": "Blue"},
        {"smokes": "no", "party": "2"},
        {"smokes": "NO", "party": "Red"},
        {"smokes": "1", "party": "1"},
    ]
    frame = pd.DataFrame(rows)
    path = tmp_path / "answers.csv"
    frame.to_csv(path, index=False)
    frame.to_json(tmp_path / "answers.jsonl", orient="records", lines=True)
    for source in (rows, tuple(rows), iter(rows), frame, frame.astype("category"), frame.astype(object), path, tmp_path / "answers.jsonl"):
        assert read(study, source) == ([[0, 1, 1, 0], [2, 4, 0, 3]], [])


def test_rows_that_were_dealt_with_are_left_out(study, tmp_path):
    rows = [{"smokes": "yes", "party": p} for p in ("Red", "Green", "Blue", "1", "?")]
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "a.csv", index=False)
    for source in (rows, iter(rows), frame, tmp_path / "a.csv"):
        categories, rejected = read(study, source, skip=3)
        assert categories == [[0], [3]]
        assert [found.row for found in rejected] == [5]


def test_a_frame_may_hold_booleans_numbers_and_gaps(study):
    frame = pd.DataFrame({"smokes": [True, False, True], "party": [1, 2, 1]})
    assert read(study, frame) == ([[0, 1, 0], [3, 4, 3]], [])
    gaps = pd.DataFrame({"smokes": pd.array([True, None, False], dtype="boolean"), "party": ["Red", "Green", None]})
    for frame in (gaps, gaps.astype(object)):
        categories, rejected = read(study, frame)
        assert categories == [[0], [0]]
        assert [(found.row, found.question) for found in rejected] == [(2, "smokes"), (3, "party")]


def test_odd_objects_are_no_answers_and_no_crash(study):
    odd = [pd.NA, np.array([1, 0]), None, float("nan"), object(), b"yes", [], {}, 2, complex(1)]
    categories, rejected = read(study, [{"smokes": value, "party": value} for value in odd])
    assert categories == [[], []]
    assert {found.row for found in rejected} == set(range(1, len(odd) + 1))


def test_other_columns_their_order_and_a_byte_order_mark_do_not_matter(study, tmp_path):
    path = tmp_path / "excel.csv"
    path.write_bytes('party, name, smokes\r\nRed, Zoë, yes\r\n\r\n"Green", "a,\r\nb", no\r\n'.encode("utf-8-sig"))
    assert read(study, path) == ([[0, 1], [0, 1]], [])


def test_questions_can_have_columns_of_other_names(study):
    assert read(study, csv("q1,q2\nyes,Red\n"), columns={"smokes": "q1", "party": "q2"}) == ([[0], [0]], [])


def test_a_row_with_another_number_of_cells_is_left_out_as_a_whole(study):
    categories, rejected = read(study, csv("smokes,party\nyes,Red\nyes\nyes,Red,CANARY\nno,Green\n"))
    assert categories == [[0, 1], [0, 1]]
    assert rejected == [
        RejectedRow(2, "", "must have 2 cells, as the header has, got 1"),
        RejectedRow(3, "", "must have 2 cells, as the header has, got 3"),
    ]


def test_a_stretch_without_a_whole_row_is_left_out_as_any_other(study):
    assert [found.row for found in read(study, csv("smokes,party\nyes\nno\n"), size=1)[1]] == [1, 2]
    assert [found.row for found in read(study, ["a", "b", "c"], size=2)[1]] == [1, 2, 3]


def test_a_line_that_is_no_json_object_is_left_out(study):
    lines = '{"smokes": true, "party": 1}\n\nCANARY\n["CANARY"]\n{"smokes": "CANARY"}\n{"smokes": "yes", "party": 1, "smokes": "no"}\n'
    categories, rejected = read(study, JsonRows(File(io.StringIO(lines))))
    assert categories == [[0], [3]]
    assert [str(found) for found in rejected] == [
        "row 2: must be a JSON object with each name once",
        "row 3: must be a JSON object with each name once",
        "row 4, smokes: must be one of yes, no",
        "row 4, party: is missing",
        "row 5: must be a JSON object with each name once",
    ]


MOODS = Survey.from_dict(
    {
        "deniable": 1,
        "id": "moods",
        "title": "T",
        "about": "A",
        "epsilon": 4,
        "questions": [
            {"id": "smokes", "text": "Q", "type": "yes_no"},
            {"id": "mood", "text": "Q", "type": "choice", "options": ["good", "bad"], "required": False},
        ],
    }
)
DRUGS = Survey.from_dict(
    {
        "deniable": 1,
        "id": "drugs",
        "title": "T",
        "about": "A",
        "epsilon": 4,
        "questions": [{"id": "drugs", "text": "Q", "type": "multi_choice", "options": ["tea", "plum"], "required": False}],
    }
)


def lines(rows) -> JsonRows:
    return JsonRows(File(io.StringIO("".join(f"{json.dumps(row)}\n" for row in rows))))


@pytest.mark.parametrize("made", [list, iter, lines], ids=["a list", "a generator", "JSON lines"])
@pytest.mark.parametrize(
    ("survey", "key", "columns", "wanted"),
    [
        (MOODS, "Mood", {}, "mood"),
        (MOODS, " Mood ", {}, "mood"),
        (MOODS, "stimmung", {"mood": "Stimmung"}, "Stimmung"),
        (DRUGS, "Drugs", {}, "drugs"),
        (DRUGS, "drugs[Tea]", {}, "drugs[tea]"),
    ],
)
def test_a_key_that_is_nearly_a_questions_is_refused_in_a_row_without_that_question(survey, made, key, columns, wanted):
    """It would count as no answer, for everybody. Other rows may leave the question out."""
    rows = [{"smokes": "yes", "CANARY": "CANARY"}, {"smokes": "yes", key: "CANARY"}]
    message = broken(survey, made(rows), columns=columns)
    assert message == f"rows must have a key for each question, as written; missing (but for capitals or spaces): {wanted}"


@pytest.mark.parametrize("made", [list, iter, lines], ids=["a list", "a generator", "JSON lines"])
def test_an_optional_question_may_be_left_out_and_other_keys_are_left_alone(made):
    rows = [{"smokes": "yes", "note": "x"}, {"smokes": "no", "mood": "bad", "Mood": "a note"}, {"smokes": "no", "moods": 1}] * 2
    assert read(MOODS, made(rows)) == ([[0, 1, 1] * 2, [2, 1, 2] * 2], [])
    assert read(MOODS, made([{"smokes": "yes"}])) == ([[0], [2]], [])
    if made is not lines:
        assert read(MOODS, made([{"smokes": "yes", 5: 1, ("mood",): 2}])) == ([[0], [2]], [])


def test_a_key_that_is_nearly_a_questions_is_noticed_after_rows_that_have_both():
    rows = [{"smokes": "no", "mood": "bad", "Mood": "a note"}, {"smokes": "no", "Mood": "bad"}]
    assert broken(MOODS, rows).endswith("(but for capitals or spaces): mood")


def test_a_multiple_choice_in_both_forms_is_a_wrong_answer():
    """Nobody knows which was meant, even where they agree."""
    rows = [{"drugs": ["tea"], "drugs[tea]": said} for said in ("no", "yes")]
    for source in (rows, lines(rows)):
        assert [str(found) for found in read(DRUGS, source)[1]] == [
            f"row {row}, drugs[tea]: must be one of yes, no, no answer" for row in (1, 2)
        ]
    for row in rows:
        with pytest.raises(AnswerError) as caught:
            perturb_one(row, DRUGS, Public())
        assert str(caught.value) == "drugs[tea]: the answer must be one of yes, no, no answer"


def test_a_multiple_choice_in_either_form_is_an_answer():
    assert read(DRUGS, [{"drugs": ["tea"]}, {"drugs[tea]": "yes", "drugs[plum]": "no"}, {"drugs[tea]": "no"}]) == (
        [[0, 0, 1], [1, 1, 2]],
        [],
    )


def test_missing_columns_are_told_all_at_once(study):
    for source, others in (
        (csv("a,b\n"), "2 others, not shown, since they may be answers"),
        (csv(""), "no column"),
        (pd.DataFrame({"a": [1]}), "1 other, not shown, since it may be an answer"),
    ):
        assert broken(study, source).endswith(f"missing: smokes, party; found: {others}")
    assert "; missing: party; found: smokes, 1 other, not" in broken(study, csv("smokes,CANARY\nyes,x\n"))
    assert "; missing: smokes (but for capitals or spaces); found: party, 1 other, not" in broken(study, csv("Smokes,party\nyes,x\n"))
    assert broken(study, csv("smokes\nyes\n")).endswith("; missing: party; found: smokes")


def test_a_file_without_a_header_does_not_betray_its_first_row(study):
    assert "CANARY" not in broken(study, csv("CANARY,CANARY\nCANARY,CANARY\n"))


def test_a_column_that_is_there_twice_is_an_error(study):
    assert "more than once: smokes" in broken(study, csv("smokes,party,smokes\nyes,Red,no\n"))
    assert "more than once: smokes" in broken(study, pd.DataFrame([[1, 0, "Red"]], columns=["smokes", "smokes", "party"]))


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"smokes,party\nyes,R\xe9d CANARY\n", "must be UTF-8 text, but is not"),
        (b'smokes,party\n"yes,CANARY\nno,Red\n', "is not well-formed CSV: unexpected end of data"),
        (b'smokes,party\n"yes"CANARY,Red\n', "is not well-formed CSV: ',' expected after '\"'"),
        (b"smokes,party\n" + b"C" * 200_000 + b",Red\n", "is not well-formed CSV: field larger than field limit"),
    ],
)
def test_text_that_cannot_be_read_is_told_by_place_and_not_by_content(study, tmp_path, raw, told):
    path = tmp_path / "a.csv"
    path.write_bytes(raw)
    message = broken(study, path)
    assert told in message
    assert str(path) in message
    assert "CANARY" not in message


def test_json_lines_in_another_encoding_are_told_likewise(study, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"smokes": "CANARY\xe9"}\n')
    assert broken(study, path) == f"{path}: must be UTF-8 text, but is not: name its encoding, such as cp1252"


@pytest.mark.parametrize("rows", [5, None, {"smokes": ["yes"]}, b"smokes"])
def test_what_is_no_table_is_refused(rows):
    with pytest.raises(AnswerError, match="rows must be an iterable of mappings, a data frame or the path of a file, got"):
        as_rows(rows)


def test_only_a_path_has_a_name_and_only_what_can_be_read_twice_says_so(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\n")
    file = as_rows(path)
    assert (file.name, file.repeatable) == (str(path), True)
    assert as_rows(Path(path)).mark == file.mark
    path.write_text("a\nb\n")
    assert as_rows(path).mark != file.mark
    assert (csv("").name, csv("").repeatable) == (None, False)
    assert (Mappings([]).repeatable, Mappings(iter([])).repeatable) == (True, False)


def test_a_file_that_is_not_there_is_the_usual_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        as_rows(tmp_path / "none.csv")
