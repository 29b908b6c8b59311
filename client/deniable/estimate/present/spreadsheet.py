"""CSV output (RFC 4180) that spreadsheets do not read as formulas."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from deniable.estimate.present.table import Table

_FORMULA = (*"=+-@＝＋－＠", "\t", "\r", "\n")  # first characters of a formula, the wide ones in Japanese


def render(tables: Sequence[Table], bom: bool) -> str:
    """Returns CSV with one header and the rows of all tables; cells that a table does not have, and missing values, are empty.

    If there are several tables, the first column, `figure`, has their titles. Text that a spreadsheet would read as a formula gets a
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
