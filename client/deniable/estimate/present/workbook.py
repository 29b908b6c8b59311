"""Excel workbooks (.xlsx, Office Open XML, ECMA-376), written as their rows come: numbers are numbers, and no text is a formula."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from numbers import Real
from typing import IO, NamedTuple
from xml.sax.saxutils import escape

import numpy as np

from deniable import archive
from deniable.errors import EstimateError
from deniable.estimate.present.table import Table

MOST_ROWS, MOST_COLUMNS = 1_048_575, 16_384  # of a sheet, below its header
MOST_CHARACTERS = 32_767  # of a cell
_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")

_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_OPEN = "http://schemas.openxmlformats.org"
_MAIN, _LINKS = f"{_OPEN}/spreadsheetml/2006/main", f"{_OPEN}/officeDocument/2006/relationships"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_LEVEL = 1  # of compression: a higher one takes most of the time, for a sheet of much the same size
_FROZEN_HEADER = (
    '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>'
    "</sheetView></sheetViews>"
)


class Sheet(NamedTuple):
    """A sheet of a workbook.

    Attributes:
        name: Its name.
        header: The cells of its first row, which stays in view.
        rows: The other rows as XML (see `row`): any number of them in each chunk.
        size: The most bytes that it may have; needed for a sheet that may have more than 2 GiB.
    """

    name: str
    header: Sequence[object]
    rows: Iterable[bytes]
    size: int = 0


def write(file: IO[bytes], sheets: Sequence[Sheet]) -> None:
    """Writes a workbook. The same sheets give the same bytes, and no sheet is in memory as a whole."""
    entries = [archive.text_entry(name, text.encode()) for name, text in _package([sheet.name for sheet in sheets]).items()]
    entries += [
        archive.ArchiveEntry(f"xl/worksheets/sheet{number}.xml", partial(_write_sheet, sheet), sheet.size, _LEVEL)
        for number, sheet in enumerate(sheets, start=1)
    ]
    archive.write(file, entries)


def row(cells: Iterable[bytes]) -> bytes:
    """Returns a row as XML."""
    return b"<row>%s</row>" % b"".join(cells)


def cell(value: object) -> bytes:
    """Returns a cell as XML.

    A number has as many digits as identify it. A missing value and an empty text are an empty cell, and an infinite number is a text.
    Characters that XML cannot hold are written as _xHHHH_, as the format does.
    """
    if value is None or value == "":
        return b"<c/>"
    if isinstance(value, bool | np.bool_):
        return b'<c t="b"><v>%d</v></c>' % bool(value)
    if isinstance(value, Real) and math.isfinite(value):
        return f"<c><v>{value}</v></c>".encode()
    text = _writable(str(value))[:MOST_CHARACTERS]
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(text)}</t></is></c>'.encode()


def render(tables: Sequence[Table]) -> bytes:
    """Returns a workbook with a sheet for each table under its title.

    Raises:
        EstimateError: There are more rows, or a longer text, than a workbook holds.
    """
    for table in tables:
        _check(table)
    file = io.BytesIO()
    write(file, [Sheet(table.title, table.columns, _rows(table)) for table in tables])
    return file.getvalue()


def _rows(table: Table) -> Iterator[bytes]:
    return (row(map(cell, values)) for values in table.rows)


def _check(table: Table) -> None:
    if len(table.rows) > MOST_ROWS:
        raise EstimateError(f"sheet {table.title}: a workbook holds at most {MOST_ROWS:,} rows below the header, got {len(table.rows):,}")
    for values in table.rows:
        for column, value in zip(table.columns, values, strict=True):
            if isinstance(value, str) and (length := len(_writable(value))) > MOST_CHARACTERS:
                where = f"sheet {table.title}, column {column}"
                raise EstimateError(f"{where}: a workbook holds texts of at most {MOST_CHARACTERS:,} characters, got {length:,}")


def _writable(text: str) -> str:
    return _UNWRITABLE.sub(lambda match: f"_x{ord(match[0]):04X}_", text)


def _write_sheet(sheet: Sheet, file: IO[bytes]) -> None:
    file.write(f'{_XML}<worksheet xmlns="{_MAIN}">{_FROZEN_HEADER}<sheetData>'.encode() + row(map(cell, sheet.header)))
    for chunk in sheet.rows:
        file.write(chunk)
    file.write(b"</sheetData></worksheet>")


def _package(names: Sequence[str]) -> dict[str, str]:
    """Returns the parts of a workbook that list its sheets."""
    numbers = range(1, len(names) + 1)
    types = "".join(f'<Override PartName="/xl/worksheets/sheet{i}.xml" ContentType="{_TYPE}.worksheet+xml"/>' for i in numbers)
    sheets = "".join(f'<sheet name="{_attribute(name)}" sheetId="{i}" r:id="rId{i}"/>' for i, name in enumerate(names, start=1))
    links = "".join(f'<Relationship Id="rId{i}" Type="{_LINKS}/worksheet" Target="worksheets/sheet{i}.xml"/>' for i in numbers)
    namespace = f'xmlns="{_OPEN}/package/2006/relationships"'
    return {
        "[Content_Types].xml": f'{_XML}<Types xmlns="{_OPEN}/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>{types}</Types>',
        "_rels/.rels": f'{_XML}<Relationships {namespace}><Relationship Id="rId1" Type="{_LINKS}/officeDocument" Target="xl/workbook.xml"/>'
        "</Relationships>",
        "xl/workbook.xml": f'{_XML}<workbook xmlns="{_MAIN}" xmlns:r="{_LINKS}"><sheets>{sheets}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f"{_XML}<Relationships {namespace}>{links}</Relationships>",
    }


def _attribute(text: str) -> str:
    return escape(_writable(text), {'"': "&quot;"})
