"""What every reader must do alike with odd tables, and every file of a kind that none reads: it is read right, or its message helps."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import polars
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from deniable import AnswerError, File, Survey
from deniable.device.entropy import os_words
from deniable.device.sealed import Sealed
from deniable.device.sources import as_rows
from deniable.device.tables import ExtraColumns, batches

SMOKES = {"id": "smokes", "text": "Q", "type": "yes_no"}
WARD = {"id": "ward", "text": "Q", "type": "choice", "options": ["7", "8", "1.0"], "required": False}
AGE = {"id": "age", "text": "Q", "type": "number", "low": 0, "high": 10, "levels": 11, "required": False}
STUDY = Survey.from_dict(
    {"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 7, "groups": ["1", "2"], "questions": [SMOKES, WARD, AGE]}
)

Table = dict[str, list[Any]]
Made = Callable[[Path, Table], Any]


def dicts(table: Table) -> list[dict[str, Any]]:
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def written(write: Callable[[Table, Path], None], name: str) -> Made:
    def made(folder: Path, table: Table) -> Path:
        write(table, folder / name)
        return folder / name

    return made


def csv(delimiter: str = ",", encoding: str = "utf-8", first: str = "", end: str = "\n", quote: str = "") -> Callable[[Table, Path], None]:
    def write(table: Table, path: Path) -> None:
        cells = [list(table), *([("" if cell is None else str(cell)) for cell in row] for row in zip(*table.values(), strict=True))]
        lines = [delimiter.join(f"{quote}{cell}{quote}" for cell in row) + end for row in cells]
        path.write_bytes((first + "".join(lines)).encode(encoding))

    return write


def excel(table: Table, path: Path) -> None:
    book = openpyxl.Workbook()
    for row in [list(table), *zip(*table.values(), strict=True)]:
        book.active.append(list(row))
    book.save(path)


def jsonl(table: Table, path: Path) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in dicts(table)))


READERS: dict[str, Made] = {
    "csv": written(csv(), "a.csv"),
    "csv, cell by cell": written(csv(quote='"'), "a.csv"),
    "csv of Excel": written(csv(";", "utf-8-sig", end="\r\n"), "a.csv"),
    "csv that says sep": written(csv(";", first="sep=;\r\n", end="\r\n"), "a.csv"),
    "csv that says sep behind a mark": written(csv("\t", "utf-16", first="sep=\t\n"), "a.csv"),
    "csv by tabs": written(csv("\t"), "a.tsv"),
    "csv in UTF-16": written(csv(encoding="utf-16"), "a.txt"),
    "open csv": lambda folder, table: io.StringIO(written(csv(first="sep=,\n"), "a.csv")(folder, table).read_text()),
    "json": written(jsonl, "a.json"),
    "jsonl": written(jsonl, "a.jsonl"),
    "excel": written(excel, "a.xlsx"),
    "parquet": written(lambda table, path: parquet.write_table(pa.table(table), path), "a.parquet"),
    "feather": written(lambda table, path: feather.write_feather(pa.table(table), path), "a.feather"),
    "dicts": lambda _, table: dicts(table),
    "a generator": lambda _, table: iter(dicts(table)),
    "pandas": lambda _, table: pd.DataFrame(table),
    "polars": lambda _, table: polars.DataFrame(table),
    "lazy polars": lambda _, table: polars.LazyFrame(table),
    "arrow": lambda _, table: pa.table(table),
}
each_reader = pytest.mark.parametrize("reader", READERS)


def read(rows: Any, size: int = 1000, skip: int = 0, **options: Any) -> list[tuple[int, ...]]:
    """The categories of every row; all of them must be right."""

    def whole() -> list[Any]:
        return list(batches(STUDY, as_rows(rows), os_words, size=size, skip=skip, **options))

    found = Sealed(whole)()
    assert [str(one) for batch in found for one in batch.rejected] == []
    columns = [[*batch.categories, batch.groups] for batch in found]
    return [tuple(map(int, row)) for batch in columns for row in zip(*batch, strict=True)]


def refusal(rows: Any) -> str:
    with pytest.raises(AnswerError) as caught:
        read(rows)
    assert "CANARY" not in str(caught.value)
    return str(caught.value)


PLAIN: Table = {"smokes": ["yes", "no"] * 3, "ward": ["8", None] * 3, "age": ["3", "0"] * 3}
EXPECTED = [(0, 1, 3, -1), (1, 3, 0, -1)] * 3


@each_reader
@pytest.mark.parametrize("size", [2, 1000])
def test_the_same_table_is_read_alike_by_every_reader(tmp_path: Path, reader: str, size: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(READERS[reader](tmp_path, PLAIN), size) == EXPECTED
        assert read(READERS[reader](tmp_path, PLAIN), size, skip=3) == EXPECTED[3:]


@each_reader
@pytest.mark.parametrize("there", ["Smokes", "Smokes ", " Smokes"])
@pytest.mark.parametrize("named", ["Smokes", "Smokes ", " Smokes"])
def test_blanks_around_a_columns_name_do_not_count(tmp_path: Path, reader: str, there: str, named: str) -> None:
    rows = READERS[reader](tmp_path, {there: PLAIN["smokes"], " ward ": PLAIN["ward"], "age": PLAIN["age"]})
    assert read(rows, columns={"smokes": named}) == EXPECTED


@each_reader
def test_two_columns_that_differ_by_blanks_alone_are_refused(tmp_path: Path, reader: str) -> None:
    assert "more than once" in refusal(READERS[reader](tmp_path, {**PLAIN, "smokes ": ["CANARY"] * 6}))


@each_reader
def test_whole_numbers_may_have_become_floats(tmp_path: Path, reader: str) -> None:
    """pandas makes them where a number of the column is missing."""
    table: Table = {"smokes": [1.0, 0.0], "ward": [8.0, None], "age": [3.0, 0.0], "clinic": [2.0, 1.0]}
    assert read(READERS[reader](tmp_path, table), extra=ExtraColumns("clinic")) == [(0, 1, 3, 1), (1, 3, 0, 0)]


@pytest.mark.parametrize("reader", ["csv", "dicts", "pandas"])
@pytest.mark.parametrize("argument", ["group_column", "person_column", "row_key"])
def test_the_column_without_a_name_that_pandas_writes_for_an_index_can_be_used(tmp_path: Path, reader: str, argument: str) -> None:
    rows = READERS[reader](tmp_path, {"": ["1", "2", "1", "2", "1", "2"], **PLAIN})
    groups = [0, 1, 0, 1, 0, 1] if argument == "group_column" else [-1] * 6
    assert read(rows, extra=ExtraColumns(**{argument: ""})) == [(*row[:3], group) for row, group in zip(EXPECTED, groups, strict=True)]


def test_an_option_that_is_written_with_zeros_is_that_option() -> None:
    assert read([{"smokes": "1.0", "ward": "1.0"}]) == [(0, 2, 11, -1)]


def odd_files() -> Iterator[tuple[str, bytes, str]]:
    """Name and content of files that no reader reads, and what helps."""
    text = b"smokes,ward,age\nCANARY,8,3\n"
    yield (
        "a.xls",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1CANARY",
        "must be text, but begins like a .xls or, with a password, .xlsx file",
    )
    yield "a.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1CANARY", "a workbook (.xlsx), but begins like a .xls or, with a password, .xlsx file"
    yield "a.ods", b"PK\3\4CANARY", "begins like a .xlsx, .ods or .zip file"
    yield "a.xlsx", b"PK\3\4CANARY", "must be a workbook (.xlsx), but cannot be read as one"
    yield "a.xlsx", text, "must be a workbook (.xlsx), but cannot be read as one"
    yield "a.csv.gz", gzip.compress(text), "begins like a compressed (.gz, .bz2, .xz, .zst) file: unpack it"
    yield "a.csv.bz2", bz2.compress(text), "unpack it"
    yield "a.csv.xz", lzma.compress(text), "unpack it"
    yield "a.parquet", gzip.compress(text), "a Parquet or Arrow file, as its name says, but begins like a compressed"
    yield "a.arrow", b"PAR1CANARY", "begins like a .parquet file"
    yield "a.csv", b"ARROW1\0\0CANARY", "begins like a .arrow file: if it is one, say so by its name"
    yield "a.sav", b"$FL2@(#) CANARY", "begins like a SPSS or Stata file: save it as .xlsx or CSV"
    yield "a.pdf", b"%PDF-1.7 CANARY", "begins like a .pdf file"
    yield "a.json", b'[{"smokes": "CANARY"}]', "with one object a line, but begins like a JSON (an array) file: write one object a line"
    yield "a.jsonl", b'\xef\xbb\xbf\n [\n{"smokes": "CANARY"}]', "begins like a JSON (an array) file"
    yield "a.csv", b'[{"smokes": "CANARY"}]', "begins like a JSON (an array) file"
    yield "a.txt", b'{"smokes": "CANARY"}\n', "begins like a JSON file: if it has one JSON object a line, say so by the name .jsonl"
    yield "a.xls", b"<html><table><td>CANARY</td></table>", "begins like a HTML or XML file: save it as .xlsx"


@pytest.mark.parametrize(("name", "content", "message"), list(odd_files()), ids=range(len(list(odd_files()))))
def test_a_file_that_cannot_be_read_is_named_by_its_kind_with_what_to_do(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    assert message in refusal(tmp_path / name)
    if not name.endswith(("xlsx", "parquet", "arrow")):
        assert message in refusal(File(io.BytesIO(content), jsonl="json" in name))
