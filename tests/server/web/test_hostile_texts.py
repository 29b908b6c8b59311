"""What somebody attacks with who may write a text stays a text: in every page of researchers, and in every file for a spreadsheet."""

from __future__ import annotations

import csv
import html
import io
from html.parser import HTMLParser

import pytest
from tests.server.web.conftest import HOSTILE, Site

SHEETS = (
    ("researchers.download", {"kind": "csv"}),
    ("researchers.group_file", {"question": "b", "kind": "csv"}),
    ("among.download", {"among": "a", "kind": "csv"}),
    ("building.download", {"rows": "a", "columns": "b", "kind": "csv"}),
    ("data.download", {"name": "codebook.csv"}),
    ("data.download", {"name": "estimates.csv"}),
    ("data.download", {"name": "rows.csv"}),
)


class _Reader(HTMLParser):
    """What became markup of HOSTILE."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [tag] * (tag == "xss") + [key for key, _ in attrs if key == "onxss"]


def markup(page: str) -> list[str]:
    reader = _Reader()
    reader.feed(page)
    return [*reader.found, *("rendered twice" for _ in range("1>49" in page or "1&gt;49" in page))]


def formulas(sheet: str) -> list[str]:
    """The cells, headings too, that a spreadsheet takes for a formula. Numbers are none."""

    def number(cell: str) -> bool:
        try:
            return float(cell) is not None
        except ValueError:
            return False

    return [cell for row in csv.reader(io.StringIO(sheet)) for cell in row if cell[:1] in set("=+-@\t\r\n") - {""} and not number(cell)]


@pytest.mark.slow
def test_a_text_is_a_text_in_every_page_and_file(everything: Site) -> None:
    pages = everything.pages
    assert {name: markup(page.text) for name, page in pages.items() if markup(page.text)} == {}
    said = [name for name, page in pages.items() if "xss onxss=1" in page.text]
    assert {"researchers.surveys", "researchers.survey", "drafting.edit", "members.page", "survey_keys.page", "inviting.page"} <= set(said)
    sheets = {f"{name} {more}": everything.get(name, **more) for name, more in SHEETS}
    assert {name: sheet.status_code for name, sheet in sheets.items()} == dict.fromkeys(sheets, 200)
    assert {name: formulas(sheet.text) for name, sheet in sheets.items() if formulas(sheet.text)} == {}
    assert {name for name in said if not markup(html.unescape(pages[name].text))} == set()  # what they would be without their escapes


@pytest.mark.parametrize("cell", [HOSTILE, f"+{HOSTILE}", "-x", "@x", "\tx"])
def test_a_formula_in_a_sheet_is_noticed_and_a_number_is_none(cell: str) -> None:
    out = io.StringIO()
    csv.writer(out).writerows([["-1.5", "x", cell], [cell, "-2e-3", f"'{cell}"]])
    assert formulas(out.getvalue()) == [cell, cell]
