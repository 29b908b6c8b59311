"""Report of a survey: questions, method and results, as an HTML page with charts and as a document for editing (.docx).

`pdf` makes a PDF of the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from tempfile import TemporaryFile
from typing import IO, Any

from deniable import archive
from deniable.bundle import drawing, texts
from deniable.bundle.codebook import escape_markdown
from deniable.bundle.counted_records import CountedRecords
from deniable.errors import EstimateError
from deniable.estimate import Results
from deniable.estimate.present.figures import percent, percents
from deniable.estimate.present.table import Table
from deniable.estimate.present.text import one_line
from deniable.extras import missing
from deniable.survey.question import Question

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}"
    "table{border-collapse:collapse;margin:1rem 0}th,td{padding:.25rem .75rem;border-bottom:1px solid #d0d0d0;text-align:start}"
    ".n{text-align:right}th{hyphens:auto}svg{max-width:100%;height:auto}td{overflow-wrap:anywhere}@media(max-width:40rem){table{table-layout:fixed;width:100%}th,td{padding:.25rem;font-size:.75rem;overflow-wrap:anywhere}}"
    "h1,h2,p{overflow-wrap:anywhere}"
    "@media print{.question{break-before:page;break-inside:avoid}.question+:not(.question){break-before:page}}"
)
_MOST_ROWS = 2_000  # of tables of groups
_CHART_ROWS = 24  # of a chart, so that it fits on a page with its heading
_NO_TIME = datetime(1980, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class ReportSection:
    """A section of the report: a heading of a level from 1 to 3, then paragraphs, pictures and a table, if there are any.

    `is_question` begins a page when the report is printed, and stays on it if it fits.
    """

    heading: str
    level: int
    paragraphs: tuple[str, ...] = ()
    table: Table | None = None
    pictures: tuple[str, ...] = ()
    is_question: bool = False


def sections(counted: CountedRecords, results: tuple[Results, ...], licence: str) -> Iterator[ReportSection]:
    """Yields the report in order.

    Args:
        counted: The records.
        results: Their results, as `figures.estimate_all` returns them.
        licence: One of `texts.LICENCES`.
    """
    survey, everybody = counted.survey, results[0]
    yield ReportSection(survey.title, 1, (survey.about, *filter(None, (survey.contact, survey.ethics)), everybody.caption))
    for question in survey.questions:
        yield _question(question, everybody)
    if len(results) * len(everybody.rows) <= _MOST_ROWS:
        yield from (ReportSection(selection.heading, 2, (selection.caption,), _shares(selection)) for selection in results[1:])
    else:
        yield ReportSection("Groups", 2, ("The figures of each group are in estimates.csv: there are too many for this report.",))
    yield ReportSection("Method", 2, (texts.method(counted),))
    yield ReportSection(
        "How well answers are hidden", 2, (texts.odds(survey), texts.publishable(survey), *filter(None, (texts.observers(counted),)))
    )
    yield ReportSection("What to keep in mind", 2, texts.limits(counted))
    yield ReportSection("How to cite", 2, (texts.citation(counted),))
    yield ReportSection("Licence", 2, (texts.LICENCES[licence],))


def _question(question: Question, results: Results) -> ReportSection:
    own = results[question.id]
    n = max([row.n for row in own.rows] + [row.n for row in own.means])
    means = [
        f"Mean: {mean}, standard error {error}, 95% interval {low} to {high}."
        for mean, error, low, high in (row.figures for row in own.means)
        if mean
    ]
    paragraphs = (f"n = {n:,}", *means, *_warnings(question, own))
    return ReportSection(question.label, 2, paragraphs, _shares(own), _pictures(own, question.label), is_question=True)


def _warnings(question: Question, results: Results) -> list[str]:
    options: dict[str, list[str]] = {}
    for row in results.rows:
        if row.warning:
            options.setdefault(row.warning, []).append(one_line(row.question if question.labels else row.option))
    shares = [f"{', '.join(dict.fromkeys(names))}: {warning}." for warning, names in options.items()]
    return shares + [f"Mean: {mean.warning}." for mean in results.means if mean.warning]


def picture(results: Results, title: str) -> str:
    """Returns the chart of some results, empty if nothing is estimated."""
    try:
        return drawing.svg(results.panels(), title)
    except EstimateError:
        return ""


def _pictures(results: Results, title: str) -> tuple[str, ...]:
    """Returns the chart of some results as pictures that fit on a page each."""
    try:
        return tuple(drawing.svg(panels, title) for panels in drawing.split(results.panels(), _CHART_ROWS))
    except EstimateError:
        return ()


def _shares(results: Results) -> Table:
    rows = tuple(
        (
            one_line(row.question),
            one_line(row.option),
            f"{row.n:,}",
            percent(row.estimate),
            percents(row.low, row.high),
            percent(row.adjusted),
        )
        for row in results.rows
    )
    return Table("", ("question", "option", "n", "estimate", "95% interval", "adjusted"), rows, texts=2)


def to_markdown(report: list[ReportSection]) -> str:
    """Returns the report as Markdown, without the charts."""
    return "\n\n".join(block for section in report for block in _markdown(section)) + "\n"


def _markdown(section: ReportSection) -> Iterator[str]:
    yield f"{'#' * section.level} {escape_markdown(section.heading)}"
    yield from map(escape_markdown, section.paragraphs)
    if section.table:
        lines = (section.table.columns, ("---",) * len(section.table.columns), *section.table.rows)
        yield "\n".join(f"| {' | '.join(map(_markdown_cell, line))} |" for line in lines)


def _markdown_cell(cell: object) -> str:
    return "---" if cell == "---" else escape_markdown(str(cell))


def to_html(report: list[ReportSection], language: str = "en", direction: str = "ltr", author: str = "", style: str = _STYLE) -> str:
    """Returns a page that loads no other file.

    Args:
        report: The sections.
        language: The language of its words, as a tag.
        direction: The direction of this language, `ltr` or `rtl`.
        author: Its author, for the metadata of the page.
        style: The page's CSS.
    """
    body = "".join(map(_html, report))
    named = f'<meta name="author" content="{escape(one_line(author))}">' if author else ""
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(one_line(report[0].heading))}</title>'
    start = f'<!doctype html>\n<html lang="{language}" dir="{direction}">'
    return f"{start}<head>{head}{named}<style>{style}</style></head>\n<body><main>{body}</main></body></html>\n"


def _html(section: ReportSection) -> str:
    heading = f'<h{section.level} dir="auto">{escape(one_line(section.heading))}</h{section.level}>'
    paragraphs = "".join(f'<p dir="auto">{escape(text)}</p>' for text in section.paragraphs)
    content = f"{heading}{paragraphs}{''.join(section.pictures)}{_html_table(section.table) if section.table else ''}"
    kind = ' class="question"' if section.is_question else ""
    return f"<section{kind}>{content}</section>\n"


def _html_table(table: Table) -> str:
    kinds = [*[""] * table.texts, *[' class="n"'] * (len(table.columns) - table.texts)]
    head = "".join(f'<th scope="col"{kind}>{escape(name)}</th>' for kind, name in zip(kinds, table.columns, strict=True))
    rows = ("".join(f'<td dir="auto"{kind}>{escape(str(cell))}</td>' for kind, cell in zip(kinds, row, strict=True)) for row in table.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(f'<tr>{row}</tr>' for row in rows)}</tbody></table>"


def write_document(report: list[ReportSection], file: IO[bytes]) -> None:
    """Writes a .docx, without the charts, which are separate files.

    Raises:
        MissingExtraError: python-docx is missing.
    """
    if error := missing("report.docx", "docx"):
        raise error
    import docx

    document = docx.Document()
    about = document.core_properties
    about.author, about.comments, about.title = "", "", _printable(report[0].heading)[:255]
    about.created = about.modified = _NO_TIME
    for section in report:
        document.add_heading(_printable(one_line(section.heading)), section.level)
        for text in section.paragraphs:
            document.add_paragraph(_printable(text))
        if section.table:
            _add_table(document, section.table)
    with TemporaryFile() as buffer:
        document.save(buffer)
        buffer.seek(0)
        archive.copy_without_times(buffer, file)


def _add_table(document: Any, table: Table) -> None:
    """Adds a table as XML: python-docx would take minutes to add thousands of cells."""
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    head = '<w:tblPr><w:tblStyle w:val="LightList"/><w:tblW w:w="0" w:type="auto"/></w:tblPr>'
    grid = f"<w:tblGrid>{'<w:gridCol/>' * len(table.columns)}</w:tblGrid>"
    rows = "".join(f"<w:tr>{''.join(map(_cell, line))}</w:tr>" for line in (table.columns, *table.rows))
    document.element.body.insert_element_before(parse_xml(f"<w:tbl {nsdecls('w')}>{head}{grid}{rows}</w:tbl>"), "w:sectPr")


def _cell(text: object) -> str:
    return f'<w:tc><w:p><w:r><w:t xml:space="preserve">{escape(_printable(str(text)), quote=False)}</w:t></w:r></w:p></w:tc>'


def _printable(text: str) -> str:
    """Returns the text without characters that XML cannot hold."""
    return re.sub("[\ufffe\uffff]", "\ufffd", text)
