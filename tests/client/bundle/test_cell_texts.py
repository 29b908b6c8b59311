"""The text of rows: what joining each cell by itself would give, whatever their lengths, and with missing values."""

from __future__ import annotations

import io
import tempfile
import zipfile
from itertools import chain

import pytest

from deniable.bundle import Bundle, CountedRecords
from deniable.bundle.variables import MISSING
from deniable.estimate.present.workbook import cell, row
from deniable.simulate import simulate
from deniable.survey import Survey
from deniable.wire.part import Part

N = 5_000
OPTIONS = [f"option {i}" for i in range(12)]
ASKED = [
    {"id": "a", "text": "?", "type": "yes_no"},
    {"id": "b", "text": "?", "type": "choice", "options": OPTIONS},
    {"id": "c", "text": "?", "type": "choice", "options": OPTIONS[:3]},
]
ALL = {"deniable": 1, "id": "s", "title": "T", "about": "A.", "epsilon": 6, "questions": ASKED}


@pytest.mark.parametrize("keys", [{}, {"ask": 2}, {"questions": ASKED[:1]}], ids=["all", "missing values", "two columns"])
def test_csv_and_workbook_have_the_same_cells_as_rows_joined_one_by_one(keys: dict[str, object]) -> None:
    survey = Survey.from_dict({**ALL, **keys})
    with tempfile.TemporaryFile() as file:
        file.write(simulate(survey, {item.id: [1 / item.k] * item.k for item in survey.items}, n=N).reports)
        bundle = Bundle(CountedRecords(survey, {Part(): N}, file))
        csv, xlsx = io.BytesIO(), io.BytesIO()
        bundle.write("rows.csv", csv)
        bundle.write("rows.xlsx", xlsx)
        codes = list(chain.from_iterable(rows.tolist() for rows in bundle.counted.rows()))
    expected = [",".join("" if code == MISSING else str(code) for code in line) for line in codes]
    assert csv.getvalue().decode().split("\r\n")[1:] == [*expected, ""]
    with zipfile.ZipFile(xlsx) as archive:
        assert archive.testzip() is None
        sheet = archive.read("xl/worksheets/sheet1.xml")
    rows = b"".join(row(cell(None if code == MISSING else code) for code in line) for line in codes)
    assert sheet.endswith(b"</row>" + rows + b"</sheetData></worksheet>")
    assert len(codes) == N
