"""Sheets of an XLSForm (https://xlsform.org), read by pyxform within limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from deniable.errors import Problem, SurveyError
from deniable.extras.openpyxl_warnings import without_warnings
from deniable.forms.languages import tag_of
from deniable.forms.texts import truncate
from deniable.forms.xlsform.dates import restore_dates
from deniable.forms.xlsform.elements import MOST_CELLS, refuse_many

MOST_UNPACKED = 8 << 20
MOST_ROWS = {"survey": 5000, "choices": 20_000}
_ALIASES = {"caption": "label", "list name": "list_name", "readonly": "read_only", "relevance": "relevant", "value": "name"}
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_BINDS = {"constraint", "readonly", "relevant", "required"}


def is_workbook(raw: bytes) -> bool:
    """Returns whether a file begins as .xlsx or .xls files do."""
    return raw.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0"))


def sheets_of(raw: bytes) -> tuple[Any, dict[str, str]]:
    """Returns the sheets as pyxform reads them, and what the spreadsheet program has changed to dates: the text by its date.

    Raises:
        SurveyError: The file is no workbook, is too large, or cannot be read.
    """
    from pyxform.errors import PyXFormError
    from pyxform.xls2json_backends import get_xlsform

    if not is_workbook(raw):
        raise SurveyError([Problem("file", "must be a workbook, .xlsx or .xls")])
    zipped = raw.startswith(b"PK")
    try:
        if _ENCRYPTED in raw:
            raise SurveyError([Problem("file", "must be a workbook without a password: remove the password, save, and import it again")])
        refuse_large(raw, zipped)
        with without_warnings():  # about what it ignores: colours of cells, lists to choose from
            sheets = get_xlsform(BytesIO(raw), ".xlsx" if zipped else ".xls")
        for name, most in MOST_ROWS.items():
            if (rows := len(getattr(sheets, name) or ())) > most:
                raise SurveyError([Problem("file", f"must have at most {most:,} rows in its sheet `{name}`, got {rows:,}")])
        return sheets, restore_dates(raw, sheets) if zipped else {}
    except SurveyError:
        raise
    except PyXFormError as error:
        why = truncate(str(error), 200) if "header" in str(error) else "PyXFormError"
        raise SurveyError([Problem("file", f"must be a workbook with an XLSForm; it cannot be read ({why})")]) from None
    except Exception as error:  # pyxform and what it reads with raise many kinds
        raise SurveyError([Problem("file", f"must be a workbook with an XLSForm; it cannot be read ({type(error).__name__})")]) from None


def refuse_large(raw: bytes, zipped: bool) -> None:
    """Checks the size of an unpacked workbook.

    Raises:
        SurveyError: It is too large.
    """
    archive = ZipFile(BytesIO(raw)) if zipped else None
    if (sum(part.file_size for part in archive.infolist()) if archive else len(raw)) > MOST_UNPACKED:
        raise SurveyError([Problem("file", f"must be at most {MOST_UNPACKED >> 20} MiB when it is unpacked, got more")])
    if archive:
        refuse_many(archive)
    else:
        _refuse_wide(raw)


def _refuse_wide(raw: bytes) -> None:
    """Checks the cells of an old workbook (.xls), whose reader fills all rows up to the last column.

    Raises:
        SurveyError: There are more than MOST_CELLS.
    """
    from xlrd import open_workbook

    sheets = open_workbook(file_contents=raw, ragged_rows=True)
    if sum(sheet.nrows * sheet.ncols for sheet in sheets.sheets()) > MOST_CELLS:
        raise SurveyError([Problem("file", f"must have at most {MOST_CELLS:,} cells, empty ones included, got more")])


Row = dict[tuple[str, str], str]
"""Cells by (column, language). The language is empty if the column has no language."""


def row_of(row: Mapping[str, Any]) -> Row:
    """Returns a row without its empty cells. If a column also occurs under an older name, the newer name wins."""
    cells = {key: str(value).strip() for key, value in row.items() if key is not None and value is not None and str(value).strip()}
    return {column_of(key): cells[key] for key in sorted(cells, key=lambda key: _split(key)[0] not in _ALIASES)}


def column_of(name: str) -> tuple[str, str]:
    """Returns a column's current name, and the language that follows it."""
    kind, language = _split(name)
    bound = language.lower()
    kind, language = (bound, "") if kind == "bind" and bound in _BINDS else (kind, language)
    return _ALIASES.get(kind, kind), language


def _split(name: str) -> tuple[str, str]:
    kind, *language = [part.strip() for part in str(name).replace("::", ":").split(":")]
    return kind.lower(), "::".join(language)


def is_yes(row: Row, column: str) -> bool:
    """Returns whether a column says yes, in any of the ways of forms."""
    return row.get((column, ""), "").lower() in ("yes", "true", "true()", "1")


def unify_names(rows: Iterable[Row], names: dict[str, str]) -> list[Row]:
    """Returns the rows with one name for each language: sheets may name it “English” and “(EN)”.

    Args:
        rows: The rows.
        names: The first name of each language by its tag; names of further languages are added.
    """
    return [{(column, _first_name(language, names)): text for (column, language), text in row.items()} for row in rows]


def _first_name(language: str, names: dict[str, str]) -> str:
    tag = tag_of(language)
    return names.setdefault(tag, language) if tag else language
