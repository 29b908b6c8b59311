"""The report as PDF, as another reader sees it: every estimate, its outline and its tags; and what the layout engine may not do."""

from __future__ import annotations

import io
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pypdf
import pytest
from tests.client.bundle.conftest import SURVEYS, Made, counted_of
from tests.kit.patience import PATIENCE

from deniable import extras
from deniable.bundle import Bundle, pdf
from deniable.bundle.report import ReportSection, to_html
from deniable.errors import EstimateError, MissingExtraError
from deniable.estimate.present.figures import percent, percents
from deniable.estimate.present.table import Table
from deniable.estimate.present.text import one_line
from deniable.wire.part import Part


def pdf_of(bundle: Bundle) -> bytes:
    file = io.BytesIO()
    bundle.write("report.pdf", file)
    return file.getvalue()


def document_of(*sections: ReportSection, language: str = "en", direction: str = "ltr", author: str = "") -> pypdf.PdfReader:
    file = io.BytesIO()
    pdf.write_pdf(list(sections), file, language, direction, author)
    return pypdf.PdfReader(file)


def text_of(document: pypdf.PdfReader) -> str:
    """Returns the text without spaces, which depend on where lines end."""
    return "".join("".join(page.extract_text().split()) for page in document.pages)


@pytest.mark.slow
@pytest.mark.parametrize("survey", ["asked", "coins"])
def test_every_estimate_of_the_page_stands_in_the_pdf(make: Callable[[str], Made], survey: str) -> None:
    made = make(survey)
    document = pypdf.PdfReader(io.BytesIO(pdf_of(made.bundle)))
    text = text_of(document)
    for results in made.bundle.results[: 1 if survey == "asked" else None]:
        for row in results.rows:
            cells = (
                row.question,
                one_line(row.option),
                f"{row.n:,}",
                percent(row.estimate),
                percents(row.low, row.high),
                percent(row.adjusted),
            )
            line = "".join("".join(cells).split())
            assert line in text, line
    page = (made.folder / "report.html").read_text(encoding="utf-8")
    figures = re.findall(r"-?\d+\.\d%", re.sub(r'aria-label="[^"]*"', "", page))
    assert len(figures) > 8
    assert [figure for figure in figures if figure not in text] == []
    assert "99.9%" not in text or "99.9%" in figures  # the control: not every figure is found


@pytest.mark.slow
def test_each_question_has_a_page_and_a_bookmark(make: Callable[[str], Made]) -> None:
    made = make("asked")
    document = pypdf.PdfReader(io.BytesIO(pdf_of(made.bundle)))
    title, *rest = document.outline
    pages = {str(one.title): document.get_destination_page_number(one) for level in rest for one in level}
    labels = [question.label for question in made.survey.questions]
    starts = [pages[label] for label in labels]
    assert starts == sorted(set(starts))
    assert starts[0] == 1
    assert pages["Method"] not in starts
    assert str(title.title) == "A sample of questions"
    assert [page.extract_text().split()[-3:] for page in document.pages][2] == ["3", "/", str(len(document.pages))]


def test_the_pdf_is_tagged_and_says_what_it_is_and_embeds_its_fonts() -> None:
    table = Table("", ("Who", "n"), (("<b>a</b>", "1"),))
    document = document_of(ReportSection("A & <b>", 1, ("x",)), ReportSection("B", 2, (), table), author='Uni "A" & B')
    root = document.trailer["/Root"]
    assert document.metadata is not None
    assert (document.metadata.title, document.metadata.author) == ("A & <b>", 'Uni "A" & B')
    assert document.metadata.creation_date is None
    assert root["/Lang"] == "en"
    assert root["/MarkInfo"]["/Marked"]
    assert "/StructTreeRoot" in root
    assert root["/ViewerPreferences"]["/DisplayDocTitle"]
    assert b"pdfuaid" in root["/Metadata"].get_data() or b"pdfua/ns/id" in root["/Metadata"].get_data()
    assert [round(float(length)) for length in document.pages[0].mediabox[2:]] == [595, 842]
    for font in document.pages[0]["/Resources"]["/Font"].values():
        described = font.get_object()["/DescendantFonts"][0].get_object()["/FontDescriptor"]
        assert {"/FontFile", "/FontFile2", "/FontFile3"} & set(described)


def test_a_chart_is_a_figure_with_its_words(make: Callable[[str], Made]) -> None:
    made = make("coins")
    [section] = [one for one in made.bundle._report if one.heading == "stole?"]
    document = document_of(ReportSection("T", 1), section)
    figures = [one for one in elements(document.trailer["/Root"]["/StructTreeRoot"]) if one.get("/S") == "/Figure"]
    assert len(figures) == 1
    assert figures[0]["/Alt"].startswith("stole?. yes: ")


def elements(node: pypdf.generic.DictionaryObject) -> Iterator[pypdf.generic.DictionaryObject]:
    yield node
    children = node.get("/K", [])
    for child in children if isinstance(children, list) else [children]:
        child = child.get_object()
        if isinstance(child, dict):
            yield from elements(child)  # type: ignore[arg-type]


def test_texts_have_the_direction_of_their_letters_and_charts_have_none_of_their_own() -> None:
    bundle = Bundle(counted_of(SURVEYS["every"][0], {Part("North"): 40}))
    [section] = [one for one in bundle._report if one.heading.startswith("@Which")]
    page = pdf._page([section], "en", "ltr", "")
    assert '<td dir="rtl">مدينة</td>' in page
    assert re.search(r'<span dir="rtl" style="[^"]+">مدينة</span>', page)
    assert '<td dir="ltr">+Red</td>' in page
    assert "<text" not in page
    assert 'dir="auto"' not in page
    assert "<text" in to_html([section])


def test_a_page_in_arabic_is_from_right_to_left() -> None:
    document = document_of(ReportSection("دراسة", 1, ("مدينة 12",)), language="ar", direction="rtl")
    places: list[float] = []
    document.pages[0].extract_text(visitor_text=lambda text, _, matrix, *rest: places.append(matrix[4]) if text.strip() else None)
    assert document.trailer["/Root"]["/Lang"] == "ar"
    assert max(places) > 400  # points: the right half of the page


def test_a_question_of_many_options_is_split_between_rows(make: Callable[[str], Made]) -> None:
    [section] = [one for one in make("wide").bundle._report if one.is_question]
    assert [picture.count("<circle") for picture in section.pictures] == [24] * 8 + [8]


def test_the_same_report_gives_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    code = (
        "import sys; from deniable.bundle import pdf; from deniable.bundle.report import ReportSection as S\n"
        "pdf.write_pdf([S('A title', 1, ('one', 'مدينة')), S('B', 2)], sys.stdout.buffer, author='x')"
    )
    made = {subprocess.check_output([sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}) for seed in ("1", "2")}
    assert len(made) == 1
    assert made.pop().startswith(b"%PDF-1.7")


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A socket that would notice a request."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def hostile(server: socket.socket, secret: Path) -> str:
    secret.write_text('<svg xmlns="http://www.w3.org/2000/svg"><rect width="9" height="9"/></svg>')
    address = f"http://127.0.0.1:{server.getsockname()[1]}/x.png"
    return f'<img src="{address}"><img src="{secret.as_uri()}"><link rel="stylesheet" href="{address}"><style>@import "{address}"</style>'


def test_html_in_a_survey_is_text_and_nothing_is_loaded(listener: socket.socket, tmp_path: Path) -> None:
    title = hostile(listener, tmp_path / "x.svg")[:150]
    bundle = Bundle(counted_of({**SURVEYS["coins"][0], "title": title, "about": title}, {Part("North"): 20}))
    document = pypdf.PdfReader(io.BytesIO(pdf_of(bundle)))
    assert document.metadata is not None
    assert document.metadata.title == title
    assert "".join(title.split()) in text_of(document)
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_the_layout_engine_could_load_nothing_if_a_page_asked_for_it(
    listener: socket.socket, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert pdf._render(f'<html lang="en"><title>T</title>{hostile(listener, tmp_path / "x.svg")}')
    refused = [message for message in caplog.messages if message.endswith("a report loads nothing")]
    assert len(refused) == 4  # two images, two style sheets
    assert sum("file:" in message for message in refused) == 1
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_the_control_without_the_refusal_an_address_is_asked(listener: socket.socket, tmp_path: Path) -> None:
    from weasyprint import HTML
    from weasyprint.urls import URLFetcher

    HTML(string=hostile(listener, tmp_path / "x.svg"), url_fetcher=URLFetcher(timeout=0.1)).write_pdf()
    listener.settimeout(PATIENCE)
    connection, _ = listener.accept()
    connection.close()


def test_a_report_of_too_many_rows_is_refused_and_not_offered(make: Callable[[str], Made], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MOST_ROWS", 7)
    table = Table("", ("Who",), tuple((str(i),) for i in range(8)))
    with pytest.raises(EstimateError, match="a PDF must have at most 7 rows of tables and charts, got 8: choose the HTML or the Word file"):
        document_of(ReportSection("T", 1, (), table))
    bundle = Bundle(make("coins").counted)
    assert bundle.omitted_files["report.pdf"] == "a PDF has at most 7 rows of tables and charts, and there are 8"
    assert "report.pdf" not in bundle.files


def test_the_bound_for_the_list_of_files_counts_the_rows_of_a_report_without_groups(make: Callable[[str], Made]) -> None:
    made = make("asked")
    survey = made.survey
    assert pdf.rows(made.bundle._report) == 2 * sum(item.k for item in survey.items) - 1


def test_a_character_that_no_font_has_is_named() -> None:
    with pytest.raises(EstimateError, match=r"the fonts must have every character of a PDF, got none with .* \(U\+F1234\)"):
        document_of(ReportSection("T", 1, ("\U000f1234",)))


def test_a_machine_without_a_font_says_so(tmp_path: Path) -> None:
    (tmp_path / "fonts.conf").write_text(f'<?xml version="1.0"?><fontconfig><dir>{tmp_path}/none</dir></fontconfig>')
    code = (
        "import io; from deniable.bundle import pdf; from deniable.bundle.report import ReportSection\n"
        "pdf.write_pdf([ReportSection('T', 1)], io.BytesIO())"
    )
    environment = {**os.environ, "FONTCONFIG_FILE": str(tmp_path / "fonts.conf")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(
        "EstimateError: a PDF needs a font, and none is installed: install one, such as Debian's fonts-dejavu-core"
    )


def test_without_the_package_or_its_libraries_the_message_names_them(make: Callable[[str], Made], monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = Bundle(make("coins").counted)
    assert "report.pdf" in bundle.files
    monkeypatch.setattr(extras, "_loads", lambda name: "harfbuzz" not in name)
    libraries = "Debian's libpangoft2-1.0-0 and libharfbuzz-subset0, or Homebrew's pango"
    with pytest.raises(MissingExtraError, match=f"a PDF needs libraries beside the extra pdf: {libraries}"):
        document_of(ReportSection("T", 1))
    with pytest.raises(EstimateError, match=f"report.pdf is left out: the server lacks the libraries of the extra pdf, {libraries}"):
        pdf_of(Bundle(make("coins").counted))
    monkeypatch.setitem(extras._PACKAGES, "pdf", ("no_such_package",))
    with pytest.raises(MissingExtraError, match="a PDF needs the extra pdf: pip install"):
        document_of(ReportSection("T", 1))
    with pytest.raises(EstimateError, match=r"report\.pdf is left out: the server lacks the extra pdf"):
        pdf_of(Bundle(make("coins").counted))


def test_the_archive_has_no_pdf(make: Callable[[str], Made]) -> None:
    bundle = make("coins").bundle
    assert [entry.name for entry in bundle._entries() if entry.name.endswith(".pdf")] == []
