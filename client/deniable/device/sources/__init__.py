"""Sources of rows: mappings, data frames, and files of text, Parquet, Arrow and Excel.

Ambiguous input is refused, with advice; nothing is guessed from answers. Everything is read under a seal, and no message quotes a cell.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from deniable.device.sources.arrow_rows import ArrowRows
from deniable.device.sources.csv_rows import CsvRows
from deniable.device.sources.excel_rows import ExcelRows
from deniable.device.sources.file import File
from deniable.device.sources.file_rows import FileRows
from deniable.device.sources.frame import Frame
from deniable.device.sources.json_rows import JsonRows
from deniable.device.sources.mappings import Mappings
from deniable.device.sources.rows import Rows
from deniable.errors import AnswerError

_KINDS: dict[str, type[FileRows]] = {"csv": CsvRows, "jsonl": JsonRows, "parquet": ArrowRows, "arrow": ArrowRows, "xlsx": ExcelRows}


def as_rows(rows: Any) -> Rows:
    """Returns the row source of a path, a `File`, an open file, a data frame (pandas, polars, Arrow), or an iterable of mappings."""
    if isinstance(rows, FileRows | Mappings | Frame):
        return rows
    if isinstance(rows, File):
        return _KINDS[rows.kind](rows)
    if isinstance(rows, str | os.PathLike) or callable(getattr(rows, "read", None)):  # a column of a data frame may be called read
        return as_rows(File(rows))
    if callable(getattr(rows, "collect", None)):  # a lazy frame of polars
        return as_rows(rows.collect())
    if hasattr(rows, "columns") and (hasattr(rows, "iloc") or (hasattr(rows, "slice") and hasattr(rows, "__len__"))):
        return Frame(rows)
    if isinstance(rows, Iterable) and not isinstance(rows, Mapping | bytes):
        return Mappings(rows)
    raise AnswerError(f"rows must be an iterable of mappings, a data frame or the path of a file, got {type(rows).__name__}")
