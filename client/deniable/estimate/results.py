"""The estimates of a survey: plain records, and their forms for people, files and programs."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from typing import TYPE_CHECKING, Any

from deniable.errors import EstimateError

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what makes a spreadsheet read a cell's text as a formula


@dataclass(frozen=True)
class Row:
    """One option of one question.

    n, ones: reports, and those with this option's bit set. estimate, std_error, low, high: as in `Share`, the
    estimate unbiased and never clipped. adjusted: the estimate under shares >= 0 that add to 1. epsilon: the
    question's exact privacy loss. confidence, method, target: of low and high. chance_rate: the share of reports
    that have the bit set where nobody holds this option. warning: plain words, or empty.
    Without reports estimate, std_error, low, high and adjusted are None.
    """

    question: str
    option: str
    n: int
    ones: int
    estimate: float | None
    std_error: float | None
    low: float | None
    high: float | None
    adjusted: float | None
    epsilon: float
    confidence: float
    method: str
    target: str
    chance_rate: float
    warning: str


_ROW_KEYS = tuple(field.name for field in fields(Row))


@dataclass(frozen=True)
class Results:
    """The estimates of one survey.

    survey, title, digest: which survey, as published. n: reports. epsilon: what one submission gives away at most,
    exactly. rows: questions in order, each with its options in order. simultaneous: whether `confidence` holds for
    all intervals of a question together instead of for each alone.
    """

    survey: str
    title: str
    digest: str
    n: int
    epsilon: float
    rows: tuple[Row, ...]
    simultaneous: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; the rows come last."""
        head = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "rows"}
        return {**head, "rows": [asdict(row) for row in self.rows]}

    @classmethod
    def from_dict(cls, source: Mapping[str, Any]) -> Results:
        """The inverse of `to_dict`. Raises EstimateError where a key is missing or unknown."""
        try:
            rows = tuple(Row(**row) for row in source["rows"])
            return cls(**{**source, "rows": rows})
        except (KeyError, TypeError) as error:
            raise EstimateError(f"the results must have the keys that to_dict gives: {error}") from None

    def to_json(self) -> str:
        """`to_dict` as JSON text, one line."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def to_csv(self, bom: bool = False) -> str:
        """One line per row under a header (RFC 4180); a missing value is an empty cell.

        Text that a spreadsheet would take for a formula gets a leading apostrophe; numbers stay numbers, negative
        ones too. bom: begin with the byte order mark by which some spreadsheets recognise UTF-8.
        """
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(_ROW_KEYS)
        writer.writerows([_harmless(value) for value in astuple(row)] for row in self.rows)
        return ("\ufeff" if bom else "") + out.getvalue()

    def to_table(self) -> str:
        """Aligned text for a terminal: percentages with intervals, and the warnings as notes under the table."""
        notes = {warning: f"[{i}]" for i, warning in enumerate(dict.fromkeys(row.warning for row in self.rows if row.warning), start=1)}
        header = ("question", "option", "estimate", "std error", "interval", "adjusted", "")
        cells = [header] + [(*_percentages(row), notes.get(row.warning, "")) for row in self.rows]
        lines = [f"{_one_line(self.title)} ({_one_line(self.survey)})", self._caption(), "", *_aligned(cells)]
        return "\n".join(lines + ([""] if notes else []) + [f"{mark} {_one_line(warning)}" for warning, mark in notes.items()]) + "\n"

    def summary(self) -> str:
        """The same text as `to_table`."""
        return self.to_table()

    def to_frame(self) -> pd.DataFrame:
        """A pandas DataFrame, one line per row, the row's fields as columns."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows], columns=list(_ROW_KEYS))

    def conf_int(self) -> pd.DataFrame:
        """A pandas DataFrame with the columns low and high, indexed by question and option."""
        return self.to_frame().set_index(["question", "option"])[["low", "high"]]

    def _caption(self) -> str:
        parts = [f"{self.n:,} reports", f"epsilon {self.epsilon:.4g} for the whole survey"]
        if self.rows:
            first, together = self.rows[0], ", holding together within a question" if self.simultaneous else ""
            parts += [f"{100 * first.confidence:g} % intervals ({first.method}){together}", f"target: {first.target}"]
        return " · ".join(parts)


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _percentages(row: Row) -> tuple[str, ...]:
    interval = "" if row.low is None or row.high is None else f"{100 * row.low:.1f} – {100 * row.high:.1f} %"
    return (
        _one_line(row.question),
        _one_line(row.option),
        _percent(row.estimate),
        _percent(row.std_error),
        interval,
        _percent(row.adjusted),
    )


def _one_line(text: str) -> str:
    """A text that cannot break the table nor steer the terminal: results may come from a server."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split()))


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"


def _aligned(cells: Sequence[Sequence[str]]) -> list[str]:
    """Columns side by side, the first two to the left, the numbers to the right."""
    widths = [max(_columns(row[i]) for row in cells) for i in range(len(cells[0]))]
    return ["  ".join(_padded(cell, width, i) for i, (cell, width) in enumerate(zip(row, widths, strict=True))).rstrip() for row in cells]


def _padded(cell: str, width: int, column: int) -> str:
    space = " " * (width - _columns(cell))
    return cell + space if column < 2 else space + cell


def _columns(text: str) -> int:
    """How many columns a text takes on a terminal."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
