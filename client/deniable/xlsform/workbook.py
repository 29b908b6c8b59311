"""The sheets of a workbook, as pyxform reads them (https://xlsform.org says what stands in one)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from deniable.errors import Problem, SurveyError

MOST_UNPACKED = 32 << 20


def is_workbook(raw: bytes) -> bool:
    """Whether a file begins as .xlsx or .xls files do."""
    return raw.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0"))


def sheets_of(raw: bytes) -> Any:
    """The sheets as pyxform reads them."""
    from pyxform.xls2json_backends import get_xlsform

    if not is_workbook(raw):
        raise SurveyError([Problem("file", "must be a workbook, .xlsx or .xls")])
    zipped = raw.startswith(b"PK")
    try:
        if zipped and sum(part.file_size for part in ZipFile(BytesIO(raw)).infolist()) > MOST_UNPACKED:
            raise SurveyError([Problem("file", f"must be at most {MOST_UNPACKED >> 20} MiB when it is unpacked, got more")])
        return get_xlsform(BytesIO(raw), ".xlsx" if zipped else ".xls")
    except SurveyError:
        raise
    except Exception as error:  # pyxform and what it reads with raise many kinds
        raise SurveyError([Problem("file", f"must be a workbook with an XLSForm; it cannot be read ({type(error).__name__})")]) from None


Row = dict[tuple[str, str], str]
"""Cells by (column, language), the language empty where the column has none."""


def row_of(row: Mapping[str, Any]) -> Row:
    """A row without its empty cells."""
    return {
        column_of(key): str(value).strip() for key, value in row.items() if key is not None and value is not None and str(value).strip()
    }


def column_of(name: str) -> tuple[str, str]:
    """A column's name, and the language behind it."""
    kind, _, language = re.sub(r"\s*::?\s*", "::", str(name).strip()).partition("::")
    return kind.lower(), language


def label_of(row: Row, language: str, column: str = "label") -> str:
    """What stands in a column in this language, or in the form's only one."""
    return row.get((column, language), row.get((column, ""), ""))
