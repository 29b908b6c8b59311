"""Every result prints, shows itself in a notebook, and becomes CSV, JSON and a frame, all with the same figures."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from openpyxl import Workbook, load_workbook

from deniable.errors import EstimateError
from deniable.estimate import Estimate, analyse, collected, compare, designs
from deniable.estimate.checks import made_up
from deniable.estimate.present.table import Table
from deniable.estimate.present.tabular import Tabular
from deniable.estimate.tables import weighted_shares
from deniable.plan import plan
from deniable.simulate import simulate
from deniable.survey import Survey

BOLD = "<b>yes</b>"  # an option that would be markup, a formula or a command if nothing were done about it
FORMULA = "=1+1"
STEERS = "\x1b[2J\nno"
SURVEY = Survey.from_dict(
    {
        "deniable": 1,
        "id": "study",
        "title": "A <study>",
        "about": "A",
        "epsilon": 4,
        "questions": [
            {"id": "smokes", "text": "Q", "type": "yes_no"},
            {"id": "party", "text": "Q", "type": "choice", "options": [BOLD, FORMULA, "Blue"]},
            {"id": "mood", "text": "Q", "type": "scale", "options": ["bad", "good"]},
        ],
    }
)


@cache
def made() -> Any:
    return simulate(SURVEY, {"smokes": [0.3, 0.7], "party": [0.2, 0.5, 0.3], "mood": [0.5, 0.5]}, 3000)


RESULTS: dict[str, Callable[[], Tabular]] = {
    "Results": lambda: analyse(SURVEY, made().tally).results,
    "Analysis": lambda: analyse(SURVEY, made().tally),
    "Crosstab": lambda: analyse(SURVEY, made().tally).crosstab("smokes", "party"),
    "Crosstab of three": lambda: analyse(SURVEY, made().reports).crosstab("smokes", "party", "mood"),
    "Comparison": lambda: compare(SURVEY, made().tally, made().tally, "party"),
    "MadeUp": lambda: made_up(SURVEY, made().tally),  # type: ignore[dict-item,return-value]
    "Weighted": lambda: weighted_shares(SURVEY, made().bits, np.ones(3000), "party"),
    "Regression": lambda: analyse(SURVEY, made().reports).regress("smokes ~ mood"),
    "Regression of three": lambda: analyse(SURVEY, made().reports).regress("party ~ smokes"),
    "Collected": lambda: collected(["yes", "no", "no"] * 50, designs.warner(0.75), by=[BOLD, FORMULA, STEERS] * 50),
    "Plan": lambda: plan(SURVEY, n=1000),
    "Estimate": lambda: analyse(SURVEY, made().tally).mean("mood"),
    "Quantile": lambda: analyse(SURVEY, made().tally).quantile("party"),
    "HypothesisTest": lambda: compare(SURVEY, made().tally, made().tally, "party").test,
}
ONE_LINE = ("Estimate", "HypothesisTest", "Quantile")  # what prints as a sentence


@pytest.mark.parametrize("name", RESULTS)
def test_csv_frame_and_records_have_the_same_names_and_figures(name: str) -> None:
    result = RESULTS[name]()
    tables = result.records()
    lines = list(csv.DictReader(io.StringIO(result.to_csv(), newline="")))
    assert len(lines) == sum(len(table.rows) for table in tables) > 0
    for table, line in ((table, line) for table, part in zip(tables, parts(tables, lines), strict=True) for line in part):
        assert {*table.columns} <= {*line}
    for table, part in zip(tables, parts(tables, lines), strict=True):
        frame = result.to_frame(table.title).reset_index()
        for row, line, shown in zip(table.dicts(), part, frame.to_dict("records"), strict=True):
            assert {key: same(row[key], line[key]) and same(row[key], shown[key]) for key in table.columns} == dict.fromkeys(
                table.columns, True
            )


def parts(tables: tuple[Table, ...], lines: list[dict[str, str]]) -> list[list[dict[str, str]]]:
    """The lines of each table."""
    ends = np.cumsum([0, *(len(table.rows) for table in tables)])
    return [lines[start:stop] for start, stop in pairwise(ends)]


def same(value: Any, shown: Any) -> bool:
    """Whether a cell, as text or in a frame, is this value."""
    if value is None:
        return shown in ("", None) or (isinstance(shown, float) and math.isnan(shown))
    if isinstance(value, str):
        return bool(shown == value or (value.startswith(("=", "+", "-", "@", "\t", "\r")) and shown == f"'{value}"))
    return str(shown) == str(value) if isinstance(value, bool) else float(shown) == value


@pytest.mark.parametrize("name", RESULTS)
def test_json_is_one_line_of_plain_types(name: str) -> None:
    result = RESULTS[name]()
    assert "\n" not in result.to_json()
    assert json.loads(result.to_json()) == json.loads(json.dumps(result.to_dict()))


@pytest.mark.parametrize("name", RESULTS)
def test_printing_gives_aligned_lines_that_nothing_steers(name: str) -> None:
    result = RESULTS[name]()
    assert result.summary() == result.to_table()
    assert "\n" not in str(result) if name in ONE_LINE else str(result) == result.to_table()
    assert all(c.isprintable() or c == "\n" for c in str(result))
    for table in (table for table in result.tables() if table.columns):
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert all(isinstance(cell, str) for row in table.rows for cell in row)


def test_a_limit_that_nothing_bounds_is_null_in_json_which_has_no_other_word_and_inf_elsewhere() -> None:
    found = Estimate("odds ratio", 30, 1.5, 2.5, 0.0, math.inf, 0.95, "population")
    (row,) = json.loads(found.to_json())["estimate"]
    assert (row["low"], row["high"]) == (0.0, None)
    assert found.to_csv().splitlines()[1] == "odds ratio,30,1.5,2.5,0.0,inf,0.95,population,"
    assert found.to_frame()["high"].tolist() == [math.inf]
    assert str(found).endswith("95% 0 to inf")


class _Tags(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags |= {tag, *(name for name, _ in attrs)}


@pytest.mark.parametrize("name", RESULTS)
def test_a_notebook_shows_a_table_in_which_no_text_is_markup(name: str) -> None:
    found = _Tags(RESULTS[name]()._repr_html_()).tags
    assert "table" in found
    assert found <= {"div", "p", "strong", "br", "small", "table", "thead", "tbody", "tr", "th", "td", "style", "scope"}


def test_the_markup_test_sees_a_text_that_is_not_escaped() -> None:
    assert "b" in _Tags(RESULTS["Results"]()._repr_html_().replace("&lt;", "<").replace("&gt;", ">")).tags


@pytest.mark.parametrize("name", RESULTS)
def test_a_workbook_has_a_sheet_for_each_table_with_the_same_cells_as_numbers_and_texts(name: str, tmp_path: Path) -> None:
    result, path = RESULTS[name](), tmp_path / "result.xlsx"
    assert result.to_excel(path) is None
    tables, book = result.records(), load_workbook(path)
    assert book.sheetnames == [table.title for table in tables]
    for table, sheet in zip(tables, book.worksheets, strict=True):
        head, *rows = sheet.iter_rows(values_only=True)
        assert head == table.columns
        assert [tuple(map(typed, row)) for row in rows] == [tuple(map(typed, row)) for row in table.rows]
        assert sheet.freeze_panes == "A2"
    assert formulas(path) == 0


def typed(value: Any) -> tuple[str, Any]:
    """A cell and its kind; workbooks have one kind of number, and no empty text."""
    if value is None or value == "":
        return "nothing", None
    kinds = {bool: "truth", np.bool_: "truth", str: "text"}
    kind = kinds.get(type(value), "number")
    return kind, as_excel_reads(value) if kind == "text" else pytest.approx(float(value), rel=1e-14)


def as_excel_reads(text: str) -> str:
    """Without the escapes of the format (ECMA-376, ST_Xstring), which openpyxl leaves as they are."""
    return re.sub("_x([0-9A-F]{4})_", lambda found: chr(int(found[1], 16)), text)


def formulas(path: Path) -> int:
    """How many cells of a workbook are formulas, in the file itself."""
    with ZipFile(path) as file:
        return sum(file.read(name).count(b"<f>") + file.read(name).count(b"<f ") for name in file.namelist() if "worksheets/" in name)


def test_a_formula_in_a_workbook_would_be_noticed(tmp_path: Path) -> None:
    book = Workbook()
    book.worksheets[0].append([FORMULA])
    book.save(tmp_path / "formula.xlsx")
    assert formulas(tmp_path / "formula.xlsx") == 1


class Given(Tabular):
    """One cell."""

    def __init__(self, cell: Any, rows: int = 1) -> None:
        self.cell, self.n = cell, rows

    def tables(self) -> tuple[Table, ...]:
        return self.records()

    def records(self) -> tuple[Table, ...]:
        return (Table("one", ("cell",), ((self.cell,),) * self.n),)


LOOKS_LIKE_ANOTHER_KIND = ["=1+1", "+1", "-1", "@SUM(A1)", "'=1", "{=1}", "#N/A", "1e5", "TRUE", " =1", "\t=1"]
IS_WRITTEN_OTHERWISE = ["a\nb", "<b>&amp;", "_x0041_", "x_", STEERS, "\r\x00\ud800\uffff"]


@pytest.mark.parametrize("text", LOOKS_LIKE_ANOTHER_KIND + IS_WRITTEN_OTHERWISE)
def test_a_text_in_a_workbook_stays_this_text(text: str, tmp_path: Path) -> None:
    Given(text).to_excel(tmp_path / "text.xlsx")
    cell = load_workbook(tmp_path / "text.xlsx")["one"]["A2"]
    assert (as_excel_reads(cell.value), cell.data_type) == (text, "s")
    assert formulas(tmp_path / "text.xlsx") == 0


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_what_no_workbook_has_a_number_for_is_a_text(value: float, tmp_path: Path) -> None:
    Given(value).to_excel(tmp_path / "limit.xlsx")
    assert load_workbook(tmp_path / "limit.xlsx")["one"]["A2"].value == str(value)


@pytest.mark.parametrize(
    ("result", "rule"),
    [
        (Given("a" * 32_768), "sheet one, column cell: a workbook holds texts of at most 32,767 characters, got 32,768"),
        (Given(1, rows=1_048_576), "sheet one: a workbook holds at most 1,048,575 rows below the header, got 1,048,576"),
    ],
    ids=["a long text", "many rows"],
)
def test_what_a_workbook_cannot_hold_is_refused_and_nothing_is_written(result: Tabular, rule: str, tmp_path: Path) -> None:
    with pytest.raises(EstimateError, match=rule):
        result.to_excel(tmp_path / "result.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_a_workbook_is_named_as_one(tmp_path: Path) -> None:
    with pytest.raises(EstimateError, match=r"path must end in \.xlsx, got 'results.xls'"):
        Given(1).to_excel("results.xls")
