"""The estimates of reports collected by hand: plain records, and their forms for people, files and programs."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, astuple, dataclass, fields
from typing import TYPE_CHECKING, Any

from deniable.estimate.tables.results import _aligned, _harmless, _percent, one_line

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class CollectedRow:
    """One category in one group. group: "" for everybody. n: reports of the group; ones: those that name this category.

    estimate, std_error, low, high, confidence, method, target: as in `Share`. warning: plain words, or empty.
    """

    group: str
    category: str
    n: int
    ones: int
    estimate: float
    std_error: float
    low: float
    high: float
    confidence: float
    method: str
    target: str
    warning: str


_KEYS = tuple(field.name for field in fields(CollectedRow))


@dataclass(frozen=True)
class Collected:
    """The estimates. variable: what was asked. design: in words. n: reports. epsilon: what one gives away at most, None if unbounded."""

    variable: str
    design: str
    n: int
    epsilon: float | None
    rows: tuple[CollectedRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; the rows come last."""
        head = {"variable": self.variable, "design": self.design, "n": self.n, "epsilon": self.epsilon}
        return {**head, "rows": [asdict(row) for row in self.rows]}

    def to_json(self) -> str:
        """`to_dict` as JSON text, one line."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def to_csv(self) -> str:
        """One line per row under a header (RFC 4180); text that a spreadsheet would take for a formula gets an apostrophe."""
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(_KEYS)
        writer.writerows([_harmless(value) for value in astuple(row)] for row in self.rows)
        return out.getvalue()

    def to_table(self) -> str:
        """Aligned text for a terminal: percentages with intervals, and the warnings as notes under the table."""
        notes = {warning: f"[{i}]" for i, warning in enumerate(dict.fromkeys(row.warning for row in self.rows if row.warning), start=1)}
        header = ("group", "category", "n", "estimate", "std error", "interval", "")
        cells = [header] + [(*_cells(row), notes.get(row.warning, "")) for row in self.rows]
        if not any(row.group for row in self.rows):
            cells = [("", *line[1:]) for line in cells]
        lines = [line.lstrip() if not cells[0][0] else line for line in _aligned(cells)]
        told = [f"{mark} {one_line(warning)}" for warning, mark in notes.items()]
        return "\n".join([self._caption(), "", *lines, *([""] if told else []), *told]) + "\n"

    def summary(self) -> str:
        """The same text as `to_table`."""
        return self.to_table()

    def to_frame(self) -> pd.DataFrame:
        """A pandas DataFrame, one line per row, the row's fields as columns."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows], columns=list(_KEYS))

    def conf_int(self) -> pd.DataFrame:
        """A pandas DataFrame with the columns low and high, indexed by group and category."""
        return self.to_frame().set_index(["group", "category"])[["low", "high"]]

    def _caption(self) -> str:
        first = self.rows[0]
        loss = "unbounded" if self.epsilon is None else f"{self.epsilon:.4g}"
        parts = [f"{one_line(self.variable)}: {self.design}", f"epsilon {loss}", f"{self.n:,} reports"]
        return " · ".join([*parts, f"{100 * first.confidence:g} % intervals ({first.method})", f"target: {first.target}"])


def _cells(row: CollectedRow) -> tuple[str, ...]:
    interval = f"{100 * row.low:.1f} – {100 * row.high:.1f} %"
    return one_line(row.group), one_line(row.category), f"{row.n:,}", _percent(row.estimate), _percent(row.std_error), interval
