"""Options that a spreadsheet program has changed to dates: "1-2" becomes 2 January."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from deniable.extras.openpyxl_warnings import without_warnings

_DATE = re.compile(r"\d{4}-\d\d-\d\d 00:00:00")
_SHEETS = ("survey", "choices")


def restore_dates(raw: bytes, sheets: Any) -> dict[str, str]:
    """Replaces dates in the cells of a form by the texts that they probably were.

    Args:
        raw: The workbook, .xlsx.
        sheets: The sheets as pyxform reads them, which are changed.

    Returns:
        The new text by the date, for the report. A date whose cell has the format of a whole date is its own text.
    """
    rows = [row for name in _SHEETS for row in getattr(sheets, name) or ()]
    if not any(_DATE.fullmatch(str(value)) for row in rows for value in row.values()):
        return {}
    texts = dict(_texts(raw))
    for row in rows:
        row.update({key: texts[str(value)] for key, value in row.items() if str(value) in texts})
    return texts


def _texts(raw: bytes) -> Iterator[tuple[str, str]]:
    from openpyxl import load_workbook

    with without_warnings():
        book = load_workbook(BytesIO(raw), data_only=True)
    for sheet in book.worksheets:
        for row in sheet.iter_rows() if sheet.title.lower() in _SHEETS else ():
            for cell in row:
                if isinstance(cell.value, datetime.datetime):
                    yield str(cell.value), _text(cell.value, str(cell.number_format))


def _text(date: datetime.datetime, number_format: str) -> str:
    """Returns what was probably typed. Spreadsheets show 1-2 as 2-Jan (or 1-Feb), and 3-20 as Mar-20."""
    parts = "".join(dict.fromkeys(re.sub(r"\[[^\]]*\]|[^dmy]", "", number_format.lower())))
    if parts in ("dm", "md"):
        return f"{min(date.day, date.month)}-{max(date.day, date.month)}"
    if parts == "my":
        return f"{date.month}-{date.year % 100}"
    return date.date().isoformat()
