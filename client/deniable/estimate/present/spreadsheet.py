"""Tables as CSV (RFC 4180) that no spreadsheet takes for formulas."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from deniable.estimate.present.table import Table

_FORMULA = (*"=+-@＝＋－＠", "\t", "\r", "\n")  # what makes a spreadsheet read a cell's text as a formula, the wide ones in Japanese


def written(tables: Sequence[Table], bom: bool) -> str:
    """One header and the rows of all tables; a cell that a table does not have is empty, and so is a value that is missing.

    Where there are several tables, the first column, `figure`, has their titles. Text that a spreadsheet would take for a formula gets a
    leading apostrophe; numbers stay numbers, negative ones too. bom: begin with the byte order mark by which some spreadsheets
    recognise UTF-8.
    """
    columns = list(dict.fromkeys(name for table in tables for name in table.columns))
    figure = ["figure"] if len(tables) > 1 else []
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([*figure, *columns])
    for table in tables:
        for row in table.dicts():
            writer.writerow([_harmless(cell) for cell in ([table.title] * len(figure) + [row.get(name) for name in columns])])
    return ("\ufeff" if bom else "") + out.getvalue()


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
