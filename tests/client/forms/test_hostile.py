"""A workbook that is made to break its reader is refused in one line, or read; it takes neither memory nor time, nor another file."""

from __future__ import annotations

import io
import warnings
import zipfile
from pathlib import Path

import pytest
from tests.client.forms.test_mapper import CHOICES, Rows, verdicts, workbook

from deniable.errors import SurveyError
from deniable.forms import read_form
from deniable.forms.texts import distinct_labels, one_line
from deniable.survey import Survey
from deniable.survey.dump import to_yaml

SHEET = "xl/worksheets/sheet1.xml"
ROWS = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    '<row><c t="inlineStr"><is><t>type</t></is></c><c t="inlineStr"><is><t>name</t></is></c></row>'
    '<row><c t="inlineStr"><is><t>note</t></is></c><c t="inlineStr"><is><t>%s</t></is></c></row></sheetData></worksheet>'
)
HEAD = ("type", "name", "label")


def with_part(part: str, text: str) -> bytes:
    """A form one of whose parts is another text."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook())) as form, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name in {*form.namelist(), part}:
            made.writestr(name, text if name == part else form.read(name))
    return out.getvalue()


def test_what_a_workbook_has_beside_its_cells_is_left_out_without_a_word() -> None:
    """Programs write lists to choose from and colours that depend on cells, and openpyxl warns of each."""
    beside = '<extLst><ext uri="{CCE6A557-97BC-4b89-ADB6-D9C93CAAB3DF}"/></extLst></worksheet>'
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = read_form(with_part(SHEET, (ROWS % "hello").replace("</worksheet>", beside)))
    assert [line.name for line in found.report][:1] == ["hello"]
    assert [str(one.message) for one in told] == []


def entities(*, first: str) -> str:
    """A sheet with an entity of ten times ten times ... the first one."""
    each = "".join(f'<!ENTITY e{place} "{f"&e{place - 1};" * 10}">' for place in range(1, 9))
    return f"<!DOCTYPE x [<!ENTITY e0 {first}>{each}]>"


def test_the_sheet_that_is_put_in_place_of_another_is_read() -> None:
    """Control: the tests below would not see a sheet that is refused for its shape."""
    assert "hello" in verdicts(read_form(with_part(SHEET, ROWS % "hello")))


def test_entities_are_neither_unfolded_nor_fetched(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a secret")
    for sheet in (entities(first='"aaaaaaaaaa"') + ROWS % "&e8;", entities(first=f'SYSTEM "file://{tmp_path}/secret"') + ROWS % "&e0;"):
        with pytest.raises(SurveyError, match="it cannot be read") as refused:
            read_form(with_part(SHEET, sheet))
        assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("survey", "choices", "why"),
    [
        ([HEAD, *[("text", "a", "A")] * 5001], CHOICES, "must have at most 5,000 rows in its sheet `survey`, got 5,001"),
        ([HEAD, *[("select_one l", "a", "A")] * 40], [CHOICES[0], *[("l", "a", "A")] * 501], "at most 20,000 options in all its questions"),
    ],
)
def test_far_more_than_a_survey_can_have_is_refused_at_once(survey: Rows, choices: Rows, why: str) -> None:
    with pytest.raises(SurveyError, match=why):
        read_form(workbook(survey, choices))


def test_a_workbook_that_unpacks_to_very_much_is_not_unpacked() -> None:
    with pytest.raises(SurveyError, match="at most 8 MiB when it is unpacked"):
        read_form(with_part("xl/bomb.xml", " " * (9 << 20)))


def test_formulas_numbers_marks_of_direction_and_names_that_come_again_make_a_survey() -> None:
    survey: Rows = [
        HEAD,
        ("select_one yn", "=cmd|' /C calc'!A0", "=1+1"),
        *[("select_one yn", "again", "\u202eevil\u2066")] * 3,
        ("select_one n", 1, 2.5),  # type: ignore[list-item]
        (True, None, 7),  # type: ignore[list-item]
    ]
    choices: Rows = [("list_name", "name", "label"), *CHOICES[1:], ("n", 1, 1.0), ("n", 2.0, True)]  # type: ignore[list-item]
    found = read_form(workbook(survey, choices))
    questions = Survey.from_text(to_yaml(found.document)).questions
    assert [question.id for question in questions] == ["again", "again_2", "again_3", "q_1"]
    assert questions[-1].text == "2.5"
    assert found.document["questions"][-1]["options"] == ["1", "TRUE"]


def test_options_of_one_label_and_one_name_are_told_apart_however_many_there_are() -> None:
    assert distinct_labels(["x", "x", "x", "x (3)"], ["", "", "", ""]) == ["x", "x (2)", "x (3)", "x (3) (4)"]
    assert len(set(distinct_labels(["x" * 300] * 1024, ["y" * 300] * 1024))) == 1024


def test_what_only_begins_as_markup_stays() -> None:
    assert one_line("<a" * 3 + "< b > c") == "<a<a<a< b > c"


def with_cells(rows: int, cells: int, cell: str = "<c/>") -> bytes:
    """A form whose sheet has so many more rows, each of so many cells."""
    more = f"<row>{cell * cells}</row>" * rows
    return with_part(SHEET, (ROWS % "hello").replace("</sheetData>", f"{more}</sheetData>"))


def test_a_small_file_of_very_many_empty_cells_is_refused_before_any_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """14 kB unpack to 2 million cells, whose reading takes many seconds."""
    monkeypatch.setattr("pyxform.xls2json_backends.get_xlsform", lambda *_: pytest.fail("the reader was asked"))
    bomb = with_cells(997, 1900)
    assert len(bomb) < 20_000
    with pytest.raises(SurveyError, match="must have at most 200,000 cells, empty ones included, got more"):
        read_form(bomb)


@pytest.mark.parametrize("prefix", ["", "x:"])
def test_cells_are_counted_in_whatever_part_and_namespace_they_are(prefix: str) -> None:
    sheet = f'<{prefix}worksheet xmlns:x="urn:x">{f"<{prefix}c/>" * 200_001}</{prefix}worksheet>'
    with pytest.raises(SurveyError, match="must have at most 200,000 cells"):
        read_form(with_part("xl/other.bin", sheet))


@pytest.mark.parametrize("part", ["xl/styles.xml", "xl/sharedStrings.xml"])
def test_very_many_styles_or_texts_are_refused(part: str) -> None:
    root = "sst" if "Strings" in part else "styleSheet"
    with pytest.raises(SurveyError, match="more styles, texts or rows than a form needs"):
        read_form(with_part(part, f"<{root}>{'<a/>' * 1_000_001}</{root}>"))


def test_a_form_of_many_cells_is_read() -> None:
    """Control: up to the limit, the file is read as before."""
    assert "hello" in verdicts(read_form(with_cells(40, 1000)))


def test_an_old_workbook_with_a_cell_in_the_last_corner_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its reader fills all rows up to the last column, 16 million cells."""

    class Sheet:
        nrows, ncols = 65_536, 256

    class Book:
        def sheets(self) -> list[Sheet]:
            return [Sheet()]

    monkeypatch.setattr("xlrd.open_workbook", lambda **_: Book())
    monkeypatch.setattr("pyxform.xls2json_backends.get_xlsform", lambda *_: pytest.fail("the reader was asked"))
    with pytest.raises(SurveyError, match="must have at most 200,000 cells"):
        read_form(b"\xd0\xcf\x11\xe0" + bytes(100))
