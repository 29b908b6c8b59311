"""What is told of a file, and that neither it nor an answer in its place is in any message or frame."""

from __future__ import annotations

import io
import os
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from deniable.device.sources import as_rows
from deniable.device.sources.file import File
from deniable.errors import DeniableError

TOKEN = "CANARY4711"
ROWS = [{"smokes": TOKEN}] * 3
TABLE = f"smokes,party\n{TOKEN},Red\n"


def shown(call: Callable[[], Any]) -> str:
    """The message, and all local variables of every frame but this file's, as a report of the error has them."""
    with pytest.raises((ValueError, OSError, DeniableError)) as caught:
        call()
    report = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    frames = [frame for frame in report.stack if frame.filename != __file__]
    return "\n".join([str(caught.value), *(f"{name} = {value}" for frame in frames for name, value in (frame.locals or {}).items())])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((ROWS,), "file must be a path or an open file, got list"),
        ((pd.DataFrame(ROWS),), "file must be a path or an open file, got DataFrame"),
        ((pd.DataFrame({"read": [TOKEN]}),), "file must be a path or an open file, got DataFrame"),
        ((TABLE.encode(),), "file must be a path or an open file, got bytes"),
        (("a.csv", ROWS), "encoding must be text, or left out, got list"),
        (("a.csv", None, ROWS), "delimiter must be text, or left out, got list"),
        (("a.xlsx", None, None, ROWS), "sheet must be text, or left out, got list"),
        (("a.csv", None, None, None, ROWS), "jsonl must be true or false, got list"),
    ],
)
def test_what_is_no_file_and_no_option_is_refused_by_its_type_and_not_shown(given, told):
    report = shown(lambda: File(*given))
    assert report.startswith(told)
    assert TOKEN not in report


def test_a_table_as_text_in_the_place_of_a_file_is_not_shown_where_an_option_is_wrong():
    assert TOKEN not in shown(lambda: File(TABLE, encoding="klingon"))
    assert TOKEN not in shown(lambda: File(TABLE, delimiter=";;"))
    assert TOKEN not in shown(lambda: File(TABLE, sheet="a"))
    assert TOKEN not in shown(lambda: File(TABLE, encoding=5))  # type: ignore[arg-type]


def test_a_file_does_not_show_what_it_was_made_of():
    assert repr(File(TABLE)) == "File(encoding=None, delimiter=None, sheet=None, jsonl=False, decimal=None)"
    assert TOKEN not in repr(File(Path(TABLE), delimiter=";"))


@pytest.mark.parametrize(
    "text",
    [TABLE, f"yes,{TOKEN}", f'{{"smokes": "{TOKEN}"}}', TOKEN * 500, f"{TOKEN}\0", f"{TOKEN}\ud800"],
    ids=["a table", "a row", "an object", "too long", "a zero byte", "half a character"],
)
@pytest.mark.parametrize("made", [str, Path, File, lambda text: File(Path(text))], ids=["text", "path", "file", "file of a path"])
def test_a_text_that_is_no_files_name_is_not_quoted(made, text):
    with pytest.raises(FileNotFoundError, match="names no file; it is not quoted, since it may be an answer") as caught:
        as_rows(made(text))
    assert str(caught.value).startswith("rows must be the path of a file that exists, a data frame or an iterable of mappings, got a text")
    assert TOKEN not in repr(vars(caught.value)) + str(caught.value) + repr(caught.value.filename)


def test_a_path_that_looks_like_one_is_named_where_nothing_is_there_and_a_text_is_not(tmp_path):
    with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path / "none.csv"))):
        as_rows(tmp_path / "none.csv")
    with pytest.raises(FileNotFoundError, match="it is not quoted"):
        as_rows(str(tmp_path / "none.csv"))


def test_any_name_that_a_file_has_can_be_read(tmp_path):
    for name in ("a, b; c.csv", "{a}.csv", *([] if os.name == "nt" else ["two\nlines.csv"])):
        (tmp_path / name).write_text("smokes\nyes\n")
        for file in (str(tmp_path / name), tmp_path / name, File(str(tmp_path / name))):
            assert [raw.size for raw in as_rows(file).batches(["smokes"], 5, 0)] == [1]


def test_whatever_has_a_path_is_a_file(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"smokes": "yes"}\n')
    (entry,) = os.scandir(tmp_path)
    assert File(entry).kind == "jsonl"
    assert [raw.size for raw in as_rows(entry).batches(["smokes"], 5, 0)] == [1]
    assert File(io.StringIO()).kind == "csv"


def test_a_frame_with_a_column_called_read_is_a_frame():
    (raw,) = as_rows(pd.DataFrame({"read": ["yes"]})).batches(["read"], 5, 0)
    assert list(raw.columns[0]) == ["yes"]
