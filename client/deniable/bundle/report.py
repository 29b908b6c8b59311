"""The report: what was asked, how, and what came out; as one page of HTML with its charts, and as a document to be edited."""

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
from deniable.bundle.counted import Counted
from deniable.errors import EstimateError
from deniable.estimate import Results
from deniable.estimate.present.figures import percent, percents
from deniable.estimate.present.table import Table
from deniable.estimate.present.text import one_line
from deniable.extras import missing
from deniable.survey.question import Question

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}"
    "table{border-collapse:collapse;margin:1rem 0}th,td{padding:.25rem .75rem;border-bottom:1px solid #d0d0d0;text-align:right}"
    "th:nth-child(-n+2),td:nth-child(-n+2){text-align:start}th{hyphens:auto}svg{max-width:100%;height:auto}td{overflow-wrap:anywhere}@media(max-width:40rem){table{table-layout:fixed;width:100%}th,td{padding:.25rem;font-size:.75rem;overflow-wrap:anywhere}}"
    "h1,h2,p{overflow-wrap:anywhere}"
)
_MOST_ROWS = 2_000  # of tables of groups
_NO_TIME = datetime(1980, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Part:
    """A heading (level 1 to 3), paragraphs, a table and a picture, as far as there are any."""

    heading: str
    level: int
    paragraphs: tuple[str, ...] = ()
    table: Table | None = None
    picture: str = ""


def parts(counted: Counted, results: tuple[Results, ...], licence: str) -> Iterator[Part]:
    """The report in order. results: as `figures.of` gives them."""
    survey, everybody = counted.survey, results[0]
    yield Part(survey.title, 1, (survey.about, *filter(None, (survey.contact, survey.ethics)), everybody.caption))
    for question in survey.questions:
        yield _question(question, everybody)
    if len(results) * len(everybody.rows) <= _MOST_ROWS:
        yield from (Part(part.heading, 2, (part.caption,), _shares(part)) for part in results[1:])
    else:
        yield Part("Groups", 2, ("The figures of each group are in estimates.csv: there are too many to be read here.",))
    yield Part("Method", 2, (texts.method(counted),))
    yield Part("How well answers are hidden", 2, (texts.odds(survey), texts.PUBLISHABLE, *filter(None, (texts.observers(counted),))))
    yield Part("What to keep in mind", 2, texts.limits(counted))
    yield Part("How to cite", 2, (texts.citation(counted),))
    yield Part("Licence", 2, (texts.LICENCES[licence],))


def _question(question: Question, results: Results) -> Part:
    own = results[question.id]
    means = [
        f"Mean: {mean}, standard error {error}, 95% interval {low} to {high}."
        for mean, error, low, high in (m.figures for m in own.means)
        if mean
    ]
    said: dict[str, list[str]] = {}
    for row in own.rows:
        if row.warning:
            said.setdefault(row.warning, []).append(one_line(row.question if question.labels else row.option))
    warnings = [f"{', '.join(dict.fromkeys(options))}: {warning}." for warning, options in said.items()]
    warnings += [f"Mean: {mean.warning}." for mean in own.means if mean.warning]
    return Part(
        question.text,
        2,
        (f"n = {max([*(row.n for row in own.rows), *(row.n for row in own.means)]):,}", *means, *warnings),
        _shares(own),
        picture(own, question.text),
    )


def picture(results: Results, title: str) -> str:
    """The chart of some results; empty where nothing is estimated."""
    try:
        return drawing.svg(results.panels(), title)
    except EstimateError:
        return ""


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


def to_html(made: list[Part]) -> str:
    """A page that loads nothing."""
    body = "".join(map(_html, made))
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(one_line(made[0].heading))}</title>'
    return f'<!doctype html>\n<html lang="en"><head>{head}<style>{_STYLE}</style></head>\n<body><main>{body}</main></body></html>\n'


def _html(part: Part) -> str:
    heading = f'<h{part.level} dir="auto">{escape(one_line(part.heading))}</h{part.level}>'
    said = "".join(f'<p dir="auto">{escape(text)}</p>' for text in part.paragraphs)
    return f"{heading}{said}{part.picture}{_html_table(part.table) if part.table else ''}\n"


def _html_table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.columns)
    rows = "".join(f"<tr>{''.join(f'<td dir={chr(34)}auto{chr(34)}>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in table.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def write_document(made: list[Part], file: IO[bytes]) -> None:
    """A .docx, without the charts, which are files of their own. Raises MissingExtraError without python-docx."""
    if error := missing("report.docx", "docx"):
        raise error
    import docx

    document = docx.Document()
    about = document.core_properties
    about.author, about.comments, about.title = "", "", _plain(made[0].heading)[:255]
    about.created = about.modified = _NO_TIME
    for part in made:
        document.add_heading(_plain(one_line(part.heading)), part.level)
        for text in part.paragraphs:
            document.add_paragraph(_plain(text))
        if part.table:
            _add_table(document, part.table)
    with TemporaryFile() as saved:
        document.save(saved)
        saved.seek(0)
        archive.copy_without_times(saved, file)


def _add_table(document: Any, table: Table) -> None:
    """Written as XML at once: cell by cell, thousands of them would take minutes."""
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    head = '<w:tblPr><w:tblStyle w:val="LightList"/><w:tblW w:w="0" w:type="auto"/></w:tblPr>'
    grid = f"<w:tblGrid>{'<w:gridCol/>' * len(table.columns)}</w:tblGrid>"
    rows = "".join(f"<w:tr>{''.join(map(_cell, line))}</w:tr>" for line in (table.columns, *table.rows))
    document.element.body.insert_element_before(parse_xml(f"<w:tbl {nsdecls('w')}>{head}{grid}{rows}</w:tbl>"), "w:sectPr")


def _cell(text: object) -> str:
    return f'<w:tc><w:p><w:r><w:t xml:space="preserve">{escape(_plain(str(text)), quote=False)}</w:t></w:r></w:p></w:tc>'


def _plain(text: str) -> str:
    """What XML can hold."""
    return re.sub("[\ufffe\uffff]", "\ufffd", text)
