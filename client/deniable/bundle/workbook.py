"""Rows as a workbook (.xlsx, Office Open XML, ECMA-376), written as they come: cells are numbers or plain texts, and none is a formula."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import IO
from xml.sax.saxutils import escape

import numpy as np

from deniable.bundle import archive
from deniable.bundle.counted import Counted
from deniable.bundle.delimited import TEXTS
from deniable.bundle.variables import UNASKED, Variable
from deniable.errors import EstimateError

MOST_ROWS, MOST_COLUMNS = 1_048_575, 16_384  # of a sheet, below its header
MOST_CHARACTERS = 32_767  # of a cell
_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_CELLS = np.array([b"<c/>", *(b"<c><v>%s</v></c>" % text for text in TEXTS[1:])], dtype=object)

_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_OPEN = "http://schemas.openxmlformats.org"
_MAIN, _LINKS = f"{_OPEN}/spreadsheetml/2006/main", f"{_OPEN}/officeDocument/2006/relationships"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PANE = (
    '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>'
    "</sheetView></sheetViews>"
)


def write(counted: Counted, columns: tuple[Variable, ...], file: IO[bytes]) -> None:
    """The sheets rows, variables and values. Raises EstimateError where a sheet has no room for the records."""
    if problem := too_large(counted.n, len(columns)):
        raise EstimateError(f"rows.xlsx: {problem}")
    variables = [("variable", "label"), *((column.name, column.label) for column in columns)]
    values = [("variable", "value", "label"), *((column.name, *value) for column in columns for value in column.values.items())]
    entries = [archive.text(name, text.encode()) for name, text in _frame(("rows", "variables", "values")).items()]
    rows = archive.Entry("xl/worksheets/sheet1.xml", partial(_write_rows, counted, columns), counted.n * len(columns) * 20)
    texts = [archive.text(f"xl/worksheets/sheet{i}.xml", _sheet(rows)) for i, rows in ((2, variables), (3, values))]
    archive.write(file, [*entries, rows, *texts])


def too_large(n: int, columns: int) -> str:
    """Why a sheet cannot hold so many records; empty where it can."""
    if n > MOST_ROWS:
        return f"a sheet holds at most {MOST_ROWS:,} rows below its header, and there are {n:,} records"
    return f"a sheet holds at most {MOST_COLUMNS:,} columns, and there are {columns:,}" if columns > MOST_COLUMNS else ""


def _write_rows(counted: Counted, columns: tuple[Variable, ...], out: IO[bytes]) -> None:
    out.write(_sheet_head() + _row([column.name for column in columns]))
    for rows in counted.rows():
        out.write(b"".join(b"<row>%s</row>" % b"".join(row) for row in _CELLS[rows - UNASKED].tolist()))
    out.write(b"</sheetData></worksheet>")


def _sheet(rows: Iterable[Sequence[object]]) -> bytes:
    return _sheet_head() + b"".join(map(_row, rows)) + b"</sheetData></worksheet>"


def _sheet_head() -> bytes:
    return f'{_XML}<worksheet xmlns="{_MAIN}">{_PANE}<sheetData>'.encode()


def _row(cells: Sequence[object]) -> bytes:
    return f"<row>{''.join(map(_cell, cells))}</row>".encode()


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f"<c><v>{value}</v></c>"
    plain = _UNWRITABLE.sub(lambda found: f"_x{ord(found[0]):04X}_", str(value))[:MOST_CHARACTERS]
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(plain)}</t></is></c>'


def _frame(names: Sequence[str]) -> dict[str, str]:
    """What a workbook has beside its sheets."""
    numbers = range(1, len(names) + 1)
    types = "".join(f'<Override PartName="/xl/worksheets/sheet{i}.xml" ContentType="{_TYPE}.worksheet+xml"/>' for i in numbers)
    sheets = "".join(f'<sheet name="{name}" sheetId="{i}" r:id="rId{i}"/>' for i, name in enumerate(names, start=1))
    links = "".join(f'<Relationship Id="rId{i}" Type="{_LINKS}/worksheet" Target="worksheets/sheet{i}.xml"/>' for i in numbers)
    packed = f'xmlns="{_OPEN}/package/2006/relationships"'
    return {
        "[Content_Types].xml": f'{_XML}<Types xmlns="{_OPEN}/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>{types}</Types>',
        "_rels/.rels": f'{_XML}<Relationships {packed}><Relationship Id="rId1" Type="{_LINKS}/officeDocument" Target="xl/workbook.xml"/>'
        "</Relationships>",
        "xl/workbook.xml": f'{_XML}<workbook xmlns="{_MAIN}" xmlns:r="{_LINKS}"><sheets>{sheets}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f"{_XML}<Relationships {packed}>{links}</Relationships>",
    }
