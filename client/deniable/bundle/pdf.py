"""Report as PDF: tagged for screen readers (PDF/UA), with bookmarks, page numbers and embedded fonts, laid out by WeasyPrint.

The layout engine gets no files and no network. The same report gives the same bytes where the fonts are the same.
"""

from __future__ import annotations

import logging
import re
import threading
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, Any

from deniable.bundle import drawing
from deniable.bundle.report import ReportSection, to_html
from deniable.errors import EstimateError
from deniable.extras import missing
from deniable.survey import Survey

MOST_ROWS = 2_500
"""The most rows of tables and charts, as of 250 questions with 5 options: about 45 seconds of computing, and 700 MB of memory."""

_SCALE = 0.79  # CSS pixels for each pixel of a chart: as wide as the page
_STYLE = (
    '@page{size:A4;margin:18mm 20mm 20mm;@bottom-center{content:counter(page) " / " counter(pages);font:9pt sans-serif;color:#595959}}'
    "body{font:10pt/1.4 sans-serif;margin:0;color:#1b1b1b}h1{font-size:18pt}h2{font-size:13pt}h1,h2,h3{line-height:1.2;break-after:avoid}"
    "h1,h2,h3,p,td{overflow-wrap:anywhere}table{border-collapse:collapse;margin:3mm 0}tr{break-inside:avoid}"
    "th,td{padding:1mm 2.5mm;border-bottom:.5pt solid #d0d0d0;text-align:start;vertical-align:top}"
    ".n{text-align:right}td.n{white-space:nowrap}td:not(.n){min-width:17mm}"  # short words stay whole, where only long ones may break
    ".question{break-before:page;break-inside:avoid}.question+:not(.question){break-before:page}"
    f".chart{{position:relative;direction:ltr;text-align:left;break-inside:avoid;width:{drawing.WIDTH * _SCALE:g}px}}"
    ".chart svg{display:block}.chart span{position:absolute;white-space:nowrap;unicode-bidi:isolate}"
    f".chart span{{font-size:{13 * _SCALE:.2f}px;line-height:{20 * _SCALE:.2f}px}}"
)
_GROUP = re.compile(r'<g transform="translate\(0 ([\d.]+)\)">(.*?)</g>', re.DOTALL)
_TEXT = re.compile(r'<text x="([-\d.]+)" y="([-\d.]+)"([^>]*)>([^<]*)</text>')
_SIZE = re.compile(r' width="([\d.]+)" height="([\d.]+)" role="img" aria-label="([^"]*)"([^>]*)>')
_AUTO = re.compile(r'(<(?:h\d|p|td|span)[^>]*) dir="auto"([^>]*>)([^<]*)')


def write_pdf(report: list[ReportSection], file: IO[bytes], language: str = "en", direction: str = "ltr", author: str = "") -> None:
    """Writes a .pdf. The parameters are as for `to_html`.

    Raises:
        MissingExtraError: WeasyPrint or one of its libraries is missing.
        EstimateError: The report has too many rows, or no font has its characters.
    """
    if error := missing("a PDF", "pdf"):
        raise error
    if (n := rows(report)) > MOST_ROWS:
        raise EstimateError(f"a PDF must have at most {MOST_ROWS:,} rows of tables and charts, got {n:,}: choose the HTML or the Word file")
    with _named_fonts() as absent:
        content = _render(_page(report, language, direction, author))
    if absent:
        characters = ", ".join(f"{chr(code)} (U+{code:04X})" for code in absent[:5])
        raise EstimateError(
            f"the fonts must have every character of a PDF, got none with {characters}: install one, or choose another file"
        )
    file.write(content)


def too_large(survey: Survey) -> str:
    """Returns why there is no PDF of a survey's report, or an empty text. Each row of a table is in a chart, too."""
    n = 2 * sum(item.k for item in survey.items)
    return f"a PDF has at most {MOST_ROWS:,} rows of tables and charts, and there are {n:,}" if n > MOST_ROWS else ""


def rows(report: list[ReportSection]) -> int:
    """Returns the rows of tables and charts, on which the time and the memory depend."""
    tables = (len(section.table.rows) for section in report if section.table)
    return sum(tables) + sum(picture.count("<circle") for section in report for picture in section.pictures)


def _page(report: list[ReportSection], language: str, direction: str, author: str) -> str:
    """Returns the HTML page to be laid out; WeasyPrint does not know `dir="auto"`."""
    sections = [replace(section, pictures=tuple(map(_with_texts, section.pictures))) for section in report]
    page = to_html(sections, language, direction, author, _STYLE)
    return _AUTO.sub(lambda match: f'{match[1]} dir="{_direction(match[3])}"{match[2]}{match[3]}', page)


def _direction(text: str) -> str:
    """Returns the direction of a text by its first letter that has one."""
    first = next((kind for kind in map(unicodedata.bidirectional, text) if kind in ("L", "R", "AL")), "L")
    return "ltr" if first == "L" else "rtl"


def _with_texts(svg: str) -> str:
    """Returns a chart whose texts are elements of the page: WeasyPrint draws an SVG's texts letter by letter: wrong for Arabic."""
    texts = "".join(_element(float(group[1]), *text.groups()) for group in _GROUP.finditer(svg) for text in _TEXT.finditer(group[2]))
    shapes = _TEXT.sub("", svg)
    drawing_with_title = _SIZE.sub(
        lambda match: f' width="{float(match[1]) * _SCALE:g}" height="{float(match[2]) * _SCALE:g}"{match[4]}><title>{match[3]}</title>',
        shapes,
        count=1,
    )
    return f'<div class="chart">{drawing_with_title}{texts}</div>'


def _element(top: float, x: str, y: str, style: str, text: str) -> str:
    """Returns a text of a chart. `top`: where its panel begins."""
    left = float(x) * _SCALE
    if 'text-anchor="end"' in style:
        place = f"right:{drawing.WIDTH * _SCALE - left:.2f}px"
    elif 'text-anchor="middle"' in style:
        place = f"left:{left - 50:.2f}px;width:100px;text-align:center"
    else:
        place = f"left:{left:.2f}px"
    look = ";font-weight:600" if "font-weight" in style else ";color:#595959" if "fill=" in style else ""
    return f'<span dir="auto" style="top:{(top + float(y) - 14) * _SCALE:.2f}px;{place}{look}">{text}</span>'


def _render(page: str) -> bytes:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "No fonts configured|FontConfig cannot load", UserWarning)
        try:
            from weasyprint import HTML
            from weasyprint.urls import URLFetcher
        except UserWarning:  # without a font Pango would end the process
            raise EstimateError("a PDF needs a font, and none is installed: install one, such as Debian's fonts-dejavu-core") from None

    class NoFetcher(URLFetcher):  # type: ignore[misc]  # WeasyPrint has no types
        """Refuses every file and every address."""

        def fetch(self, url: str, headers: Any = None) -> Any:
            raise ValueError("a report loads nothing")

    content: bytes = HTML(string=page, url_fetcher=NoFetcher()).write_pdf(pdf_variant="pdf/ua-1")
    return content


@contextmanager
def _named_fonts() -> Iterator[list[int]]:
    """Collects the characters that no font has, as WeasyPrint's log names them, and keeps this thread's log quiet."""
    absent: list[int] = []
    thread = threading.get_ident()

    def keep(record: logging.LogRecord) -> bool:
        if record.thread != thread:
            return True
        message = record.getMessage()
        if message.startswith(".notdef") and (code := re.search(r"\(U\+([0-9A-F]+)\)", message)):
            absent.append(int(code[1], 16))
        return False

    log = logging.getLogger("weasyprint")
    log.addFilter(keep)
    try:
        yield absent
    finally:
        log.removeFilter(keep)
