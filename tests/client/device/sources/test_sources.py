"""The same table gives the same categories in every format; what cannot be read with certainty is refused, and no message has a cell."""

from __future__ import annotations

import csv
import gc
import gzip
import io
import json
import os
import tempfile
import traceback
import warnings
import zipfile
from decimal import Decimal
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import polars
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet

from deniable.device.sealed import Sealed
from deniable.device.sources import arrow_rows, as_rows
from deniable.device.sources.arrow_rows import ArrowRows
from deniable.device.sources.file import File
from deniable.device.tables import batches
from deniable.errors import AnswerError, MissingExtraError
from deniable.survey import Survey

OPTIONS = ["Käse", "a,b", "x;y", "tab and|", 'say "so"', "7"]
SURVEY = Survey.from_dict(
    {
        "deniable": 1,
        "id": "formats",
        "title": "T",
        "about": "A",
        "epsilon": 3,
        "questions": [
            {"id": "smokes", "text": "Q", "type": "yes_no"},
            {
                "id": "food",
                "text": "Q",
                "type": "choice",
                "options": OPTIONS,
                "required": False,
            },
            {"id": "age", "text": "Q", "type": "number", "low": 0, "high": 100, "levels": 11},
        ],
    }
)
MORE = {"id": "more", "text": "Q", "type": "yes_no", "epsilon": 1}
WIDER = Survey.from_dict({**SURVEY.to_dict(), "questions": [*SURVEY.to_dict()["questions"], MORE]})
NAMES = ("note", "smokes", "food", "age")
ROW = st.tuples(
    st.sampled_from(["", "n", "; , |"]),
    st.sampled_from(["yes", "no", "1", "0"]),
    st.sampled_from([*OPTIONS, None]),
    st.integers(0, 10).map(lambda n: n * 10),
)
"""Ages are levels, which no coin rounds."""


def words(n: int) -> np.ndarray:
    return np.zeros(n, dtype=np.uint32)


def read(rows, size=3, skip=0):
    """All categories and all that was left out, under a seal as everywhere."""
    found = Sealed(lambda: list(batches(SURVEY, as_rows(rows), words, size=size, skip=skip)))()
    return np.concatenate([batch.categories for batch in found], axis=1).tolist(), [one for batch in found for one in batch.rejected]


def refused(rows) -> str:
    with pytest.raises(AnswerError) as caught:
        read(rows)
    assert "CANARY" not in str(caught.value)
    return str(caught.value)


def text(rows, delimiter=",") -> str:
    made = io.StringIO(newline="")
    csv.writer(made, delimiter=delimiter).writerows([NAMES, *rows])
    return made.getvalue()


def workbook(path: Path, *sheets) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets):
        sheet = book.create_sheet(f"sheet {number}")
        for row in rows:
            sheet.append(list(row))
    book.save(path)
    return path


def every_format(folder: Path, rows):
    """The table in each format that is read."""
    dicts = [dict(zip(NAMES, row, strict=True)) for row in rows]
    for delimiter in (",", ";", "\t", "|"):
        for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32"):
            path = folder / f"{ord(delimiter)}{encoding}.csv"
            path.write_bytes(text(rows, delimiter).encode(encoding))
            yield path
        path = folder / f"{ord(delimiter)}.txt"
        path.write_bytes(text(rows, delimiter).encode("cp1252"))
        yield File(path, encoding="cp1252", delimiter=delimiter)
        yield File(io.BytesIO(text(rows, delimiter).encode("utf-16-be")), encoding="utf-16-be")
    lines = folder / "a.jsonl"
    lines.write_text("".join(f"{json.dumps(row)}\n" for row in dicts), encoding="utf-16")
    yield lines
    table = pyarrow.Table.from_pylist(dicts, schema=pyarrow.schema([(name, "string") for name in NAMES[:3]] + [("age", "int16")]))
    decimals = table.set_column(3, "age", pyarrow.array([Decimal(row[3]) / 1 for row in rows], pyarrow.decimal128(9, 3)))
    for name, one in {"whole": table, "decimals": decimals}.items():
        parquet.write_table(one, folder / f"{name}.parquet", row_group_size=2)
        yield folder / f"{name}.parquet"
    feather.write_feather(table, folder / "a.feather")
    yield folder / "a.feather"
    yield workbook(folder / "a.xlsx", [NAMES, *rows])
    frame = pd.DataFrame(dicts, columns=list(NAMES))
    yield from (frame, dicts, table, polars.from_arrow(table), polars.from_arrow(decimals))


@settings(max_examples=12, deadline=None)
@given(st.lists(ROW, min_size=1, max_size=9))
@pytest.mark.slow
def test_the_same_table_gives_the_same_categories_in_every_format(rows):
    expected = [[0 if row[1] in ("yes", "1") else 1 for row in rows]]
    labels = SURVEY.questions[1].categories
    expected += [[labels.index(row[2]) if row[2] else len(labels) - 1 for row in rows], [row[3] // 10 for row in rows]]
    with tempfile.TemporaryDirectory() as folder:
        for source in every_format(Path(folder), rows):
            assert read(source) == (expected, []), source


@pytest.mark.parametrize("name", ["a.xlsx", "a.parquet", "a.feather", "a.csv"])
def test_any_number_of_rows_can_be_left_out_and_a_gap_in_a_workbook_is_no_row(tmp_path, name):
    rows = [["", "yes", "7", 10 * n] for n in range(11)]
    sources = {getattr(source, "name", ""): source for source in every_format(tmp_path, rows) if isinstance(source, Path)}
    sources["a.csv"] = sources["44utf-8.csv"]
    sources["a.parquet"] = sources["whole.parquet"]
    workbook(tmp_path / "a.xlsx", [[], NAMES, *rows[:4], [None] * 4, [], *rows[4:], []])
    for skip in (0, 1, 5, 10):
        assert read(sources[name], size=4, skip=skip)[0][2] == list(range(skip, 11))


def test_a_header_that_more_than_one_delimiter_could_mean_is_refused(tmp_path):
    ambiguous = "\tsmokes\t,\tfood\t,\tage\t\nyes,CANARY,10\n"
    assert "more than one delimiter, , and tab: say which" in refused(File(io.StringIO(ambiguous)))
    assert read(File(io.StringIO(ambiguous.replace("CANARY", "7")), delimiter=","))[0] == [[0], [5], [1]]
    path = tmp_path / "a.csv"
    path.write_text("age;smokes;food\n0,5;yes;7\n")
    assert read(path)[1][0].question == "age"  # a decimal comma is no number here, and no delimiter either
    assert "missing: smokes, food, age" in refused(File(path, delimiter=","))


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (text([("", "yes", "Käse", 10)]).encode("cp1252"), "must be UTF-8 text, but is not: name its encoding, such as cp1252"),
        (text([("", "yes", "CANARY", 10)]).encode("utf-16-le"), "has zero bytes, as UTF-16 without a mark has"),
        (text([("", "yes", "CANARY", 10)]).encode("utf-16-be"), "has zero bytes, as UTF-16 without a mark has"),
        (b"PK\x03\x04CANARY", "begins like a .xlsx, .ods or .zip file: if it is a workbook"),
        (b"PAR1\x15CANARY", "begins like a .parquet file"),
        (b"\xd0\xcf\x11\xe0CANARY", "begins like a .xls or, with a password, .xlsx file: save it"),
    ],
)
def test_text_of_an_unknown_encoding_and_what_is_no_text_are_refused(tmp_path, raw, told):
    path = tmp_path / "a.csv"
    path.write_bytes(raw)
    assert told in refused(path)


def test_a_mark_and_another_encoding_that_is_named_are_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(text([("", "yes", "Käse", 10)]).encode("utf-16"))
    assert "must be cp1252 text, but begins with the mark of UTF-16" in refused(File(path, encoding="cp1252"))
    assert read(File(path, encoding="utf-16-le")) == read(path)


def test_an_encoding_is_known_however_its_name_is_written(tmp_path):
    path = tmp_path / "a.csv"
    for marked, names in {"utf-8-sig": ("utf8", "U8", "utf_8", "UTF-8", "utf-8-sig"), "utf-16": ("utf16", "U16", "UTF_16LE")}.items():
        path.write_bytes(text([("", "yes", "Käse", 10)]).encode(marked))
        for name in names:
            assert read(File(path, encoding=name)) == ([[0], [0], [1]], []), name
    assert "must be utf8 text, but begins with the mark of UTF-16" in refused(File(path, encoding="utf8"))


def opened(folder: Path, raw: bytes):
    """An open file of each kind, all with the same in it."""
    (folder / "a.csv").write_bytes(raw)
    (folder / "a.gz").write_bytes(gzip.compress(raw))
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        archive.writestr("a.csv", raw)
    yield from (io.BytesIO(raw), io.StringIO(raw.decode()), io.TextIOWrapper(io.BytesIO(raw), "utf-8"))
    for options in ({}, {"buffering": 0}, {"mode": "rb+"}):
        yield open(folder / "a.csv", **{"mode": "rb", **options})  # noqa: SIM115 - whoever asked for it closes it
    yield gzip.open(folder / "a.gz", "rb")  # noqa: SIM115 - likewise
    archive = zipfile.ZipFile(folder / "a.zip")
    yield archive.open("a.csv")
    archive.close()


def test_a_file_that_was_given_open_stays_open(tmp_path):
    for file in opened(tmp_path, text([("", "yes", "Käse", 10)]).encode()):
        assert read(file)[0] == [[0], [0], [1]]
        gc.collect()
        assert not file.closed, file
        file.close()


def test_a_file_that_was_given_open_stays_open_when_it_is_refused_or_left(tmp_path):
    rows = text([("", "yes", "Käse", 10)] * 9).encode()
    for file in opened(tmp_path, b"PK\3\4smokes\nyes\n"):
        refused(file)  # text, for want of the columns
        gc.collect()
        assert not file.closed, file
        file.close()
    for file in opened(tmp_path, rows):
        assert next(as_rows(file).batches(["smokes"], 2, 0)).size == 2
        gc.collect()
        assert not file.closed, file
        file.close()


def test_a_file_that_its_owner_closes_meanwhile_is_no_harm(tmp_path):
    for file in opened(tmp_path, text([("", "yes", "Käse", 10)] * 9).encode()):
        rows = as_rows(file).batches(["smokes"], 2, 0)
        next(rows)
        file.close()
        del rows
        gc.collect()


@pytest.mark.parametrize("name", ["a.xlsx", "a.parquet", "a.arrow"])
def test_a_file_that_is_not_what_its_name_says_is_refused_without_what_it_holds(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"smokes,food,age\nCANARY,CANARY,CANARY\n")
    assert "as its name says" in refused(path) or "a workbook" in refused(path)
    (tmp_path / f"b{name}").write_bytes(b"PK\x03\x04PAR1CANARY")
    assert "CANARY" not in refused(tmp_path / f"b{name}")


def test_columns_that_are_missing_are_told_in_every_format_and_no_others(tmp_path):
    for source in every_format(tmp_path, [("CANARY", "yes", "7", 10)]):
        if isinstance(source, list) or getattr(source, "suffix", "") == ".jsonl":
            continue  # each row may have keys of its own
        with pytest.raises(AnswerError, match="missing: more; found: smokes, food, age, 1 other, not"):
            list(batches(WIDER, as_rows(source), words, size=3))


def test_a_workbook_is_read_as_it_is_or_refused(tmp_path):
    row = ("", "yes", "7", 10)
    two = workbook(tmp_path / "two.xlsx", [NAMES, row], [NAMES, row, row])
    assert "has 2 sheets, so say which one" in refused(two)
    assert len(read(File(two, sheet="sheet 1"))[0][0]) == 2
    assert "has no sheet of that name" in refused(File(two, sheet="CANARY"))
    (formula,) = read(workbook(tmp_path / "formula.xlsx", [NAMES, ("", "yes", '="CANARY"', 10), row]))[1]
    assert str(formula) == "row 1: must have values, got a formula"
    assert read(workbook(tmp_path / "beside.xlsx", [NAMES, ("=1+1", "yes", "7", 10)]))[1] == []


def test_a_warning_about_a_cell_is_not_shown_whatever_another_thread_does_with_warnings_meanwhile(tmp_path, monkeypatch):
    """The control: read by openpyxl alone, the warning quotes the answer."""
    path = tmp_path / "a.xlsx"
    book = openpyxl.Workbook()
    book.active.append(NAMES)
    book.active.append(["", "yes", "7", 98765432101234])
    book.active["D2"].number_format = "yyyy-mm-dd"
    book.save(path)
    with pytest.warns(UserWarning, match="98765432101234"):
        list(openpyxl.load_workbook(path, read_only=True).active.iter_rows())

    def out_of_range(*_, **__):
        """While a row is read another thread may do this: filters of warnings belong to all of them."""
        warnings.simplefilter("always")
        raise OverflowError

    monkeypatch.setattr("openpyxl.worksheet._reader.from_excel", out_of_range)
    with warnings.catch_warnings(record=True) as shown:
        assert [found.question for found in read(path)[1]] == ["age"]
    assert shown == []


@pytest.mark.parametrize(
    ("file", "options", "told"),
    [
        ("a.xlsx", {"encoding": "cp1252"}, "encoding must be left out for a xlsx file"),
        ("a.parquet", {"delimiter": ";", "sheet": "x"}, "delimiter and sheet must be left out for a parquet file"),
        ("a.jsonl", {"delimiter": ";"}, "delimiter must be left out"),
        ("a.csv", {"delimiter": ";;"}, "delimiter must be one character, got ';;'"),
        ("a.csv", {"encoding": "klingon"}, "encoding must be one that Python knows, such as cp1252, got 'klingon'"),
        ("a.csv", {"encoding": "rot13"}, "encoding must be one that Python knows"),
    ],
)
def test_an_option_that_a_kind_does_not_have_is_refused(file, options, told):
    with pytest.raises(ValueError, match=told):
        File(file, **options)


@pytest.mark.parametrize(("name", "package"), [("a.parquet", "pyarrow"), ("a.arrow", "pyarrow"), ("a.xlsx", "openpyxl")])
def test_without_the_extra_it_is_named(tmp_path, monkeypatch, name, package):
    (tmp_path / name).write_bytes(b"")
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"{name} needs the extra tables: pip install '{package}"):
        read(tmp_path / name)


def test_an_error_while_rows_are_dropped_shows_none_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stops early closes its file, and an error of that is reported by Python itself, with the frames that it passed."""
    parquet.write_table(pyarrow.table({"smokes": ["CANARY"] * 9}), tmp_path / "a.parquet")

    def broken(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(parquet.ParquetFile, "__exit__", broken)
    rows = ArrowRows(File(tmp_path / "a.parquet"))._batches(["smokes"], 5, 0)
    assert next(rows).columns[0].tolist() == ["CANARY"] * 5
    with pytest.raises(OSError, match="Input/output") as caught:
        rows.close()  # type: ignore[attr-defined]
    frames = [frame for frame, _ in traceback.walk_tb(caught.tb) if frame.f_code.co_filename == arrow_rows.__file__]
    assert frames
    assert [name for frame in frames for name, value in frame.f_locals.items() if "CANARY" in repr(value)] == []


def grown(path: Path) -> None:
    """Whoever writes it had stopped in the middle of a row."""
    with open(path, "a") as file:
        file.write("es\n")


def replaced(path: Path) -> None:
    """By the same rows in another order: of one size, and of one time, as copies have it."""
    status, (header, *rows) = path.stat(), path.read_text().splitlines()
    path.with_suffix(".new").write_text("\n".join([header, *reversed(rows)]))
    os.utime(path.with_suffix(".new"), ns=(status.st_atime_ns, status.st_mtime_ns))
    path.with_suffix(".new").replace(path)


@pytest.mark.parametrize("change", [grown, replaced])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, change):
    """Its rows would be sent twice, or not at all, or with an answer that is half written."""
    path = tmp_path / "rows.csv"
    path.write_text("smokes\n" + "no\n" * 3 + "y")
    rows = as_rows(path).batches(["smokes"], 2, 0)
    assert next(rows).columns[0].tolist() == ["no", "no"]
    change(path)
    with pytest.raises(AnswerError, match="must not change while it is read"):
        next(rows)


@pytest.mark.skipif(os.name != "posix", reason="pipes have names on POSIX")
def test_a_pipe_is_refused_by_its_path_and_read_where_it_is_open(tmp_path):
    """A file is opened more than once: of a pipe, what was read first would be missing."""
    os.mkfifo(tmp_path / "rows.jsonl")
    with pytest.raises(OSError, match="must be a file that can be read again from its start"):
        read(tmp_path / "rows.jsonl")
    there, end = os.pipe()
    os.write(end, b'{"smokes": "yes"}\n')
    os.close(end)
    with os.fdopen(there, "rb") as file:
        assert [raw.size for raw in as_rows(File(file, jsonl=True)).batches(["smokes"], 5, 0)] == [1]
