"""Excel workbooks (Office Open XML): numbers are numbers, and no text is a formula."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from typing import Any

from deniable.errors import EstimateError
from deniable.estimate.present.table import Table
from deniable.extras import missing

MOST_ROWS = 1_048_575  # of a sheet, below its header
MOST_CHARACTERS = 32_767  # of a cell
_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")


def render(tables: Sequence[Table]) -> bytes:
    """Returns a workbook with a sheet for each table under its title: the header, which stays in view, and the rows.

    Numbers have 15 digits, as many as a spreadsheet shows. A missing value is an empty cell, and an infinite one the text inf. Characters
    that XML cannot hold are written as _xHHHH_, as in the format.

    Raises:
        MissingExtraError: openpyxl is missing.
        EstimateError: There are more rows, or a longer text, than a workbook holds.
    """
    if error := missing("a workbook", "xlsx"):
        raise error
    from openpyxl import Workbook

    for table in tables:
        _check(table)
    book = Workbook()
    book.remove(book.worksheets[0])
    for table in tables:
        sheet = book.create_sheet(table.title)
        sheet.freeze_panes = "A2"
        for i, row in enumerate((table.columns, *table.rows), start=1):
            for j, value in enumerate(row, start=1):
                cell = sheet.cell(i, j, plain := _plain(value))
                if isinstance(plain, str):
                    cell.data_type = "s"  # else a text that begins with = would be a formula, and #N/A an error
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def _check(table: Table) -> None:
    if len(table.rows) > MOST_ROWS:
        raise EstimateError(f"sheet {table.title}: a workbook holds at most {MOST_ROWS:,} rows below the header, got {len(table.rows):,}")
    for row in table.rows:
        for column, value in zip(table.columns, row, strict=True):
            if isinstance(value, str) and (length := len(_plain(value))) > MOST_CHARACTERS:
                where = f"sheet {table.title}, column {column}"
                raise EstimateError(f"{where}: a workbook holds texts of at most {MOST_CHARACTERS:,} characters, got {length:,}")


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return _UNWRITABLE.sub(lambda result: f"_x{ord(result[0]):04X}_", value) if isinstance(value, str) else value
