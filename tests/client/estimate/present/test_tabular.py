"""Every result prints, shows itself in a notebook, and becomes CSV, JSON and a frame, all with the same figures."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from deniable.estimate import analyse, collected, compare, designs
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
}


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
    assert str(result) == result.to_table() == result.summary()
    assert all(c.isprintable() or c == "\n" for c in str(result))
    for table in (table for table in result.tables() if table.columns):
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert all(isinstance(cell, str) for row in table.rows for cell in row)


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
