"""Base class of results: text, HTML, CSV, JSON, workbook and pandas output."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from deniable.errors import EstimateError
from deniable.estimate.present import html, spreadsheet, text, workbook
from deniable.estimate.present.table import Table

if TYPE_CHECKING:
    import pandas as pd


class Tabular(ABC):
    """A result in tables. Methods with a path write UTF-8 to it, as in pandas, and without one return the text.

    Writing raises OSError as `open` does.
    """

    @abstractmethod
    def tables(self) -> tuple[Table, ...]:
        """Returns tables for people: cells are texts, with units, and notes explain them."""

    @abstractmethod
    def records(self) -> tuple[Table, ...]:
        """Returns tables for programs: every figure as a plain value, unrounded, under the column names of files and frames.

        Titles identify the tables.
        """

    def to_dict(self) -> dict[str, Any]:
        """Returns plain JSON types: the rows of each of `records` under its title.

        An infinite limit is None, since JSON has no infinity.
        """
        return {
            table.title: [{name: _finite_or_none(cell) for name, cell in row.items()} for row in table.dicts()] for table in self.records()
        }

    @overload
    def to_table(self, path: None = None) -> str: ...
    @overload
    def to_table(self, path: str | Path) -> None: ...
    def to_table(self, path: str | Path | None = None) -> str | None:
        """Returns aligned text for a terminal."""
        return _write_or_return(text.render(self.tables()), path)

    @overload
    def to_csv(self, path: None = None, *, bom: bool = False) -> str: ...
    @overload
    def to_csv(self, path: str | Path, *, bom: bool = False) -> None: ...
    def to_csv(self, path: str | Path | None = None, *, bom: bool = False) -> str | None:
        """Returns one line for each row of `records` under one header (RFC 4180).

        A missing value is an empty cell. Text that a spreadsheet would read as a formula gets a leading apostrophe. bom: begin with the
        byte order mark by which some spreadsheets recognise UTF-8.
        """
        return _write_or_return(spreadsheet.render(self.records(), bom), path)

    @overload
    def to_json(self, path: None = None) -> str: ...
    @overload
    def to_json(self, path: str | Path) -> None: ...
    def to_json(self, path: str | Path | None = None) -> str | None:
        """Returns `to_dict` as JSON text, one line."""
        return _write_or_return(json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False), path)

    def to_excel(self, path: str | Path) -> None:
        """Writes a workbook to a file that ends in .xlsx: a sheet for each of `records`, numbers as numbers, and no text as a formula.

        Raises:
            EstimateError: The path has another ending, or a workbook cannot hold the result: over a million rows, or a text of over 32,767
                characters.
            OSError: The file cannot be written.
        """
        if Path(path).suffix.lower() != ".xlsx":
            raise EstimateError(f"path must end in .xlsx, got {str(path)!r}")
        result = workbook.render(self.records())
        with open(path, "wb") as file:
            file.write(result)

    def to_frame(self, table: str | None = None) -> pd.DataFrame:
        """Returns a pandas DataFrame of the first of `records`, or of the one with this title. Raises EstimateError for another title."""
        import pandas as pd

        result = {one.title: one for one in self.records()}
        if table is not None and table not in result:
            raise EstimateError(f"table must be one of {', '.join(result)}, got {table!r}")
        chosen = next(iter(result.values())) if table is None else result[table]
        return pd.DataFrame(list(chosen.rows), columns=list(chosen.columns))

    def summary(self) -> str:
        """Returns the text of `to_table`, under the name that statsmodels uses."""
        return self.to_table()

    def __str__(self) -> str:
        return self.to_table()

    def _repr_html_(self) -> str:
        return html.page(self.tables())


def _finite_or_none(value: Any) -> Any:
    return None if isinstance(value, float) and math.isinf(value) else value


def _write_or_return(result: str, path: str | Path | None) -> str | None:
    if path is None:
        return result
    with open(path, "w", encoding="utf-8", newline="") as file:  # a CSV's line ends stay as they are
        file.write(result)
    return None
