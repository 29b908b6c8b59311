"""Results of reports collected by hand: plain records, and their forms for people, files and programs."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING, Any

from deniable.estimate.limits.interval import require_confidence
from deniable.estimate.present.figures import percent, percents
from deniable.estimate.present.table import Table, footnote_lines, footnotes
from deniable.estimate.present.tabular import Tabular

if TYPE_CHECKING:
    import pandas as pd


_COLUMNS = ("group", "category", "n", "estimate", "std error", "interval", "")


@dataclass(frozen=True)
class CollectedRow:
    """Estimate of one category in one group.

    Attributes:
        group: The group, "" for everybody.
        n: The group's reports.
        ones: Reports that name this category.
        estimate, std_error, low, high, confidence, method, target: As in `Share`.
        warning: A warning in plain words, or empty.
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


@dataclass(frozen=True)
class Collected(Tabular):
    """Estimates from reports collected by hand.

    Attributes:
        variable: The question.
        design: The design, in words.
        n: Reports.
        epsilon: The privacy loss of a report, None if unbounded.
        rows: The categories, group by group.
    """

    variable: str
    design: str
    n: int
    epsilon: float | None
    rows: tuple[CollectedRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """Returns plain JSON types; the rows come last."""
        return {"variable": self.variable, "design": self.design, "n": self.n, "epsilon": self.epsilon, "rows": self.records()[0].dicts()}

    def tables(self) -> tuple[Table, ...]:
        """Returns one row a category; with a column for the groups if there are any."""
        marks, grouped = footnotes([row.warning for row in self.rows]), any(row.group for row in self.rows)
        rows = tuple((*_cells(row), marks.get(row.warning, "")) for row in self.rows)
        first = 0 if grouped else 1
        return (Table(self._caption(), _COLUMNS[first:], tuple(row[first:] for row in rows), footnote_lines(marks), texts=2 - first),)

    def records(self) -> tuple[Table, ...]:
        """Returns the fields of `rows`."""
        return (Table("share", tuple(field.name for field in fields(CollectedRow)), tuple(map(astuple, self.rows))),)

    def conf_int(self, *, alpha: float | None = None, confidence: float | None = None) -> pd.DataFrame:
        """Returns a pandas DataFrame with the columns low and high, indexed by group and category.

        Arguments are as in `Results.conf_int`.

        Raises:
            EstimateError: `collected` used another confidence.
        """
        require_confidence(alpha, confidence, self.rows[0].confidence, "collected(..., confidence=...) has others")
        return self.to_frame().set_index(["group", "category"])[["low", "high"]]

    def _caption(self) -> str:
        first = self.rows[0]
        loss = "unbounded" if self.epsilon is None else f"{self.epsilon:.4g}"
        parts = [f"{self.variable}: {self.design}", f"epsilon {loss}", f"{self.n:,} reports"]
        return " · ".join([*parts, f"{100 * first.confidence:g}% intervals ({first.method})", f"target: {first.target}"])


def _cells(row: CollectedRow) -> tuple[str, ...]:
    return row.group, row.category, f"{row.n:,}", percent(row.estimate), percent(row.std_error), percents(row.low, row.high)
