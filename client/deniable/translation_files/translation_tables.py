"""Translation tables: CSV or an Excel workbook with a row for each text, written and read so that spreadsheets change nothing.

A text that a spreadsheet would take for a formula, a date or a number gets a leading apostrophe in CSV. The reader removes it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from zipfile import BadZipFile, ZipFile

from deniable.errors import Problem, SurveyError
from deniable.extras import missing
from deniable.extras.openpyxl_warnings import without_warnings
from deniable.survey.translation import language_problem
from deniable.translation_files.translatable_texts import own_language, translatable_texts

MOST_BYTES = 2 << 20
MOST_UNPACKED = 16 << 20
MOST_ROWS = 20_000
MOST_COLUMNS = 50
DELIMITERS = (",", ";", "\t", "|")
_BOM_16 = (b"\xff\xfe", b"\xfe\xff")
_SEP_LINE = re.compile(r"sep=(.)\r?\n")
"""The first line by which Excel learns the delimiter."""
_FORMULA = r"[=+\-@＝＋－＠\t\r\n]"  # the first character of a formula, the wide ones in Japanese
_MONTH = "(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_READ_AS_VALUE = "|".join(
    (
        r"(?:0\d|\d{12}|\d+[\s.,:/%-])[\d\s.,:/%-]*\Z",  # 007, 1-2, 1.10, a number of more digits than a spreadsheet keeps
        rf"\d{{1,4}}[\s-]+{_MONTH}(?:[\s-]+\d{{1,4}})?\Z",
        rf"{_MONTH}[\s-]+\d{{1,4}}\Z",
        r"\d+[eE][+-]?\d+\Z",
        r"(?i:true|false)\Z",
    )
)
_CHANGED_BY_SPREADSHEETS = re.compile(rf"{_FORMULA}|{_READ_AS_VALUE}")
_MARKED = re.compile(rf"'+(?:{_FORMULA}|{_READ_AS_VALUE})")
_LANGUAGE_COLUMN = re.compile(r"translation\s*\(\s*([^()\s]+)\s*\)", re.IGNORECASE)
_ORIGINAL_COLUMN = re.compile(r"text\s*\([^()]*\)", re.IGNORECASE)
_WIDTHS = (28, 30, 60, 60, 40)  # of a workbook's columns, in characters
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class TranslationRow:
    """A row of a translated file. number: the row in a spreadsheet, for messages."""

    number: int
    key: str
    original: str
    translation: str


@dataclass(frozen=True)
class TranslationTable:
    """A translated file: the tag of its language, and its rows."""

    language: str
    rows: tuple[TranslationRow, ...]


def to_csv(document: Mapping[str, Any], language: str) -> bytes:
    """Returns a survey file's texts for a translator as CSV: UTF-8 with a byte order mark, by which Excel recognizes it."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    for row in _rows(document, language):
        writer.writerow([_marked(cell) if _CHANGED_BY_SPREADSHEETS.match(cell) else _escaped(cell) for cell in row])
    return out.getvalue().encode("utf-8-sig", "replace")


def to_workbook(document: Mapping[str, Any], language: str) -> bytes:
    """Returns a survey file's texts for a translator as an Excel workbook, whose cells are all text.

    Raises:
        MissingExtraError: openpyxl is not installed.
    """
    if error := missing("A workbook for translators", "xlsx"):
        raise error
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Alignment, Font

    book = Workbook(write_only=True)
    sheet = book.create_sheet("Translation")
    for letter, width in zip("ABCDE", _WIDTHS, strict=True):
        sheet.column_dimensions[letter].width = width
    sheet.freeze_panes = "A2"
    for number, row in enumerate(_rows(document, language)):
        cells = [WriteOnlyCell(sheet) for _ in row]
        for cell, text in zip(cells, row, strict=True):
            cell.value = _UNWRITABLE.sub("", _escaped(text)) or None
            cell.data_type = "s" if text else "n"  # never a formula
            cell.number_format = "@"  # text, so that an entry such as 1-2 becomes no date
            cell.alignment = Alignment(wrap_text=True, vertical="top")
            cell.font = Font(bold=number == 0)
        sheet.append(cells)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def read_table(raw: bytes) -> TranslationTable:
    """Reads a translated file: CSV in UTF-8 or UTF-16 with any usual delimiter, or a workbook (.xlsx).

    Raises:
        SurveyError: It is neither, is too large, or lacks a column.
        MissingExtraError: It is a workbook, and openpyxl is not installed.
    """
    if len(raw) > MOST_BYTES:
        raise _refusal(f"must be at most {MOST_BYTES >> 20} MiB, got more")
    if raw.startswith(b"PK\x03\x04"):
        return _table(_numbered(_workbook_rows(raw)))
    if raw.startswith(b"\xd0\xcf\x11\xe0"):
        raise _refusal("must be a workbook without a password in the format .xlsx, or CSV")
    text = _decoded(raw)
    sep_line = _SEP_LINE.match(text)
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = sep_line[1] if sep_line else max(DELIMITERS, key=first.count)
    return _table(_numbered(_csv_rows(text[sep_line.end() if sep_line else 0 :], delimiter)))


# --- write ----------------------------------------------------------------------------------------------------------------------


def _rows(document: Mapping[str, Any], language: str) -> Iterator[tuple[str, ...]]:
    """Yields the header and the rows."""
    yield "key", "where", f"text ({own_language(document)})", f"translation ({language})", "note"
    for text in translatable_texts(document, language):
        yield text.key, text.place, text.original, text.translation, text.note


def _escaped(text: str) -> str:
    """Returns a text so that the reader does not take its own apostrophe for an added one."""
    return _marked(text) if _MARKED.match(text) else text


def _marked(text: str) -> str:
    return f"'{text}"


def _unmarked(text: str) -> str:
    return text[1:] if _MARKED.match(text) else text


# --- read ----------------------------------------------------------------------------------------------------------------------

_Numbered = Iterable[tuple[int, Sequence[str]]]
"""Rows with their numbers in the file."""


def _table(rows: _Numbered) -> TranslationTable:
    """Returns the table of rows; the first row that is not empty is the header."""
    filled = ((number, row) for number, row in rows if any(map(str.strip, row)))
    header = [cell.strip() for cell in next(filled, (0, ()))[1]]
    key = next((index for index, name in enumerate(header) if name.lower() == "key"), None)
    original = next((index for index, name in enumerate(header) if _ORIGINAL_COLUMN.fullmatch(name)), None)
    translation = next((index for index, name in enumerate(header) if _LANGUAGE_COLUMN.fullmatch(name)), None)
    if key is None or original is None or translation is None:
        raise _refusal("must have the columns of the downloaded file: “key”, “text (…)” and “translation (…)” with the languages")
    language = _LANGUAGE_COLUMN.sub(r"\1", header[translation])
    if broken := language_problem(language):
        raise _refusal(f"must name the language of its translations: “translation ({language})” {broken}")
    return TranslationTable(
        language, tuple(TranslationRow(number, *(_cell(row, index) for index in (key, original, translation))) for number, row in filled)
    )


def _cell(row: Sequence[str], index: int) -> str:
    text = row[index].replace("\r\n", "\n").replace("\r", "\n") if index < len(row) else ""
    return _unmarked(text).strip()


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-16" if raw.startswith(_BOM_16) else "utf-8-sig")
    except UnicodeDecodeError:
        raise _refusal("must be UTF-8: in Excel, save it as “CSV UTF-8” or as a workbook (.xlsx)") from None


def _csv_rows(text: str, delimiter: str) -> Iterator[Sequence[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        yield from reader
    except csv.Error:
        raise _refusal(f"must be CSV: the quotes in line {reader.line_num:,} do not match") from None


def _numbered(rows: Iterable[Sequence[str]]) -> Iterator[tuple[int, Sequence[str]]]:
    """Yields rows with their numbers in a spreadsheet."""
    for number, row in enumerate(rows, 1):
        if number > MOST_ROWS + 1:
            raise _refusal(f"must have at most {MOST_ROWS:,} rows, got more")
        yield number, row


def _workbook_rows(raw: bytes) -> Sequence[Sequence[str]]:
    """Returns the rows of a workbook's first sheet."""
    if error := missing("A translated workbook", "xlsx"):
        raise error
    from openpyxl import load_workbook

    try:
        if sum(part.file_size for part in ZipFile(io.BytesIO(raw)).infolist()) > MOST_UNPACKED:
            raise _refusal(f"must be at most {MOST_UNPACKED >> 20} MiB when it is unpacked, got more")
        with without_warnings():
            sheet = load_workbook(io.BytesIO(raw), read_only=True).worksheets[0]
            sheet.reset_dimensions()  # some programs write wrong dimensions, which would lose rows
            rows = sheet.iter_rows(max_row=MOST_ROWS + 2, max_col=MOST_COLUMNS, values_only=True)
            return [[_value_text(value) for value in row] for row in islice(rows, MOST_ROWS + 2)]
    except SurveyError:
        raise
    except BadZipFile:
        raise _refusal("must be a workbook (.xlsx) or CSV; it is damaged") from None
    except Exception as error:  # openpyxl raises many kinds
        raise _refusal(f"must be a workbook (.xlsx) or CSV; it cannot be read ({type(error).__name__})") from None


def _value_text(value: Any) -> str:
    """Returns a cell's value as text: a whole number without decimals."""
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _refusal(rule: str) -> SurveyError:
    return SurveyError([Problem("file", rule)])
