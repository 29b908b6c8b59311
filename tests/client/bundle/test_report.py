"""The report as a page and as a document, the charts, and what the bundle says of itself."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Callable
from xml.etree import ElementTree

import docx
import pytest
from tests.client.bundle.conftest import SURVEYS, Made, counted_of

from deniable.bundle import Bundle
from deniable.bundle.drawing import svg
from deniable.errors import EstimateError
from deniable.estimate.present.figures import percent, percents
from deniable.estimate.present.table import Table
from deniable.estimate.present.text import one_line

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.slow
@pytest.mark.parametrize("survey", SURVEYS)
def test_the_document_has_every_figure_as_another_reader_sees_it(make: Callable[[str], Made], survey: str) -> None:
    made = make(survey)
    document = docx.Document(str(made.folder / "report.docx"))
    cells = [[cell.text for cell in row.cells] for table in document.tables[: len(made.survey.questions)] for row in table.rows]
    rows = [row for row in cells if row[0] != "question"]
    everybody = made.bundle.results[0]
    assert rows == [
        [
            one_line(row.question),
            one_line(row.option),
            f"{row.n:,}",
            percent(row.estimate),
            percents(row.low, row.high),
            percent(row.adjusted),
        ]
        for row in everybody.rows
    ]
    said = "\n".join(paragraph.text for paragraph in document.paragraphs)
    assert all(one_line(question.text) in said for question in made.survey.questions)
    few = survey != "wide"
    assert len(document.tables) == len(made.survey.questions) + (len(made.bundle.results) - 1 if few else 0)
    assert ("The figures of each group are in estimates.csv" in said) is not few
    for word in ("Warner", "Feldman", "How to cite", made.survey.digest, "CC BY 4.0", "50:50"):
        assert word in said, word


@pytest.mark.slow
@pytest.mark.parametrize("survey", SURVEYS)
def test_the_page_loads_nothing_runs_nothing_and_has_every_chart(make: Callable[[str], Made], survey: str) -> None:
    made = make(survey)
    page = (made.folder / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"<(script|link|img|iframe|object)|src=|href=|url\(|@import", page)
    assert page.count("<svg") == len(made.survey.questions) + (survey == "wide") * 8  # 200 options are 9 pictures of at most 24
    if survey == "every":
        assert "&lt;b&gt;" in page
        assert "<b>" not in page


def test_a_text_of_the_survey_that_is_html_would_be_found() -> None:
    counted = counted_of({**SURVEYS["coins"][0], "about": '<script src="x">'}, {})
    file = io.BytesIO()
    Bundle(counted).write("report.html", file)
    assert b"<script" not in file.getvalue()
    assert b"&lt;script src=&quot;x&quot;&gt;" in file.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("survey", SURVEYS)
def test_each_question_has_a_chart_that_says_in_words_what_it_shows(make: Callable[[str], Made], survey: str) -> None:
    made = make(survey)
    charts = sorted((made.folder / "charts").iterdir())
    assert [chart.name.split("-", 1)[1] for chart in charts] == [f"{question.id}.svg" for question in made.survey.questions]
    for chart, question in zip(charts, made.survey.questions, strict=True):
        tree = ElementTree.fromstring(chart.read_text(encoding="utf-8"))
        panels = made.bundle.results[0].panels(question.id)
        dots = list(tree.iter(f"{SVG}circle"))
        assert len(dots) == sum(len(panel.rows) for panel in panels)
        words = tree.attrib["aria-label"]
        assert one_line(question.text) in words
        for row in (row for panel in panels for row in panel.dicts() if row["unit"] == "%"):
            assert f"{100 * row['estimate']:z.1f}%" in words


def places(panel: Table) -> tuple[list[float], list[tuple[float, float]]]:
    """Where dots stand, and where intervals begin and end."""
    tree = ElementTree.fromstring(svg([panel], "T"))
    lines = [line.attrib for line in tree.iter(f"{SVG}line") if line.attrib["y1"] == line.attrib["y2"]]
    return [float(dot.attrib["cx"]) for dot in tree.iter(f"{SVG}circle")], [(float(line["x1"]), float(line["x2"])) for line in lines]


def test_marks_stand_where_their_figures_are() -> None:
    columns = ("label", "estimate", "low", "high", "lowest", "highest", "unit")
    rows = ((("a", 0.5, 0.25, 0.75, 0.0, 1.0, "%")), (("b", -0.5, 0.0, 0.1, 0.0, 1.0, "%")), (("c", 1.0, 0.9, 1.0, 0.0, 1.0, "%")))
    dots, intervals = places(Table("q", columns, rows))
    left, right = dots[1], dots[2]  # -50% and 100%: the ends of a scale that has room for both
    assert dots[0] == pytest.approx(left + (right - left) * 2 / 3, abs=0.02)
    assert intervals[0] == pytest.approx((left + (right - left) / 2, left + (right - left) * 5 / 6), abs=0.02)


def test_the_same_records_give_the_same_archive_and_other_records_another(make: Callable[[str], Made]) -> None:
    def packed(bundle: Bundle) -> bytes:
        file = io.BytesIO()
        bundle.write_zip(file)
        return file.getvalue()

    made = make("coins")
    first, second = packed(Bundle(made.counted)), packed(Bundle(made.counted))
    assert first == second
    assert packed(Bundle(counted_of(*SURVEYS["coins"]))) != first
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        sums = archive.read("SHA256SUMS").decode().splitlines()
        assert [line.split("  ")[1] for line in sums] == [name for name in archive.namelist() if name != "SHA256SUMS"]
        for line in sums:
            digest, name = line.split("  ")
            assert hashlib.sha256(archive.read(name)).hexdigest() == digest
            assert (made.folder / name).read_bytes() == archive.read(name), "each file alone is the one in the archive"


def test_the_readme_names_every_file_and_the_datasheet_counts_every_part(make: Callable[[str], Made]) -> None:
    made = make("coins")
    readme, sheet = ((made.folder / name).read_text(encoding="utf-8") for name in ("README.md", "datasheet.md"))
    assert all(f"`{name}`" in readme for name in made.bundle.files if not name.startswith(("charts/", "README", "report.pdf")))
    assert "report.pdf" not in readme
    assert "- North, by the person, with two real coins: 30" in sheet
    assert "There are 167:" in sheet


def test_more_records_than_a_sheet_holds_are_no_workbook_and_the_readme_says_so(
    make: Callable[[str], Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deniable.bundle.workbook.MOST_ROWS", 100)
    bundle, file = Bundle(make("coins").counted), io.BytesIO()
    assert "rows.xlsx" not in bundle.files
    bundle.write("README.md", file)
    assert b"`rows.xlsx` is left out: a sheet holds at most 100 rows below its header, and there are 167 records" in file.getvalue()
    with pytest.raises(EstimateError, match=r"rows\.xlsx is left out: a sheet holds at most 100 rows"):
        bundle.write("rows.xlsx", io.BytesIO())


def test_another_licence_or_file_is_refused_and_says_which_there_are(make: Callable[[str], Made]) -> None:
    with pytest.raises(EstimateError, match=r"licence must be one of cc-by-4\.0, cc0-1\.0, none, got 'mine'"):
        Bundle(make("coins").counted, "mine")
    with pytest.raises(EstimateError, match=r"the file must be one of README\.md, rows\.csv"):
        make("coins").bundle.write("rows.txt", io.BytesIO())


@pytest.mark.parametrize(
    ("survey", "said", "not_said"),
    [
        ("every", "Of these records, 70 were randomized by an organisation that had the answers", "two real coins;"),
        ("coins", "37 were randomized by the people themselves, who tossed two real coins", "an organisation"),
        ("asked", "Each device asked 2 of 4 blocks of questions, drawn at random", "at a time"),
    ],
)
def test_the_datasheet_says_who_tossed_the_coins_and_nothing_of_what_did_not_happen(
    make: Callable[[str], Made], survey: str, said: str, not_said: str
) -> None:
    sheet = (make(survey).folder / "datasheet.md").read_text(encoding="utf-8")
    assert said in sheet
    assert not_said not in sheet.replace("by an organisation that had the answers", "")
