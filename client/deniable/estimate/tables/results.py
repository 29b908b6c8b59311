"""The estimates of a survey: plain records, and their forms for people, files and programs."""

from __future__ import annotations

import csv
import io
import json
import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from deniable.errors import EstimateError
from deniable.estimate.checks.made_up_reports import MadeUp

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what makes a spreadsheet read a cell's text as a formula


@dataclass(frozen=True)
class Row:
    """One option of one question.

    n, ones: reports, and those with this option's bit set. estimate, std_error, low, high: as in `Share`, the
    estimate unbiased and never clipped. adjusted: the estimate under shares >= 0 that add to 1. epsilon: the
    question's exact privacy loss. confidence, method, target: of low and high. chance_rate: the share of reports
    that have the bit set where nobody holds this option. warning: plain words, or empty.
    Without reports, and where there is no estimate for the target, estimate, std_error, low, high and adjusted are None.
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


@dataclass(frozen=True)
class MeanRow:
    """The mean of one question's scores, among those who answered it; in the unit of the scores.

    n: reports. mean, std_error, low, high: as in `mean`; None where there are no reports, too few answers to tell, or no mean for the
    target. warning: plain words, or empty.
    """

    question: str
    n: int
    mean: float | None
    std_error: float | None
    low: float | None
    high: float | None
    confidence: float
    target: str
    warning: str = ""

    @property
    def figures(self) -> tuple[str, str, str, str]:
        """mean, std_error, low and high as texts, with two digits of the standard error; empty where there are none."""
        if self.mean is None or self.std_error is None or self.low is None or self.high is None:
            return "", "", "", ""
        places = min(9, max(0, 1 - math.floor(math.log10(self.std_error)))) if self.std_error > 0 else 2
        mean, std_error, low, high = (f"{value:,.{places}f}" for value in (self.mean, self.std_error, self.low, self.high))
        return mean, std_error, low, high


HEADER = ("question", "option", "estimate", "std error", "interval", "adjusted")
MEANS_HEADER = ("question", "mean", "std error", "interval")
_ROW_KEYS = tuple(field.name for field in fields(Row))


@dataclass(frozen=True)
class Results:
    """The estimates of one survey.

    survey, title, digest: which survey, as published. n: reports. epsilon: what one submission gives away at most,
    exactly. rows: questions in order, each with its options in order. simultaneous: whether `confidence` holds for
    all intervals of a question together instead of for each alone. means: of the questions that have scores.
    group: the public group that these are of, or None for all groups together. by_hand: whether these are the reports of people who
    tossed coins themselves, which are never mixed with others. n_by_hand: how many such reports there are beside these. made_up: whether
    some of the reports look made up, and what would not show; None without reports. may_wait: how many more reports may have arrived,
    at most; a server counts them in batches, and does not say how many there are.
    """

    survey: str
    title: str
    digest: str
    n: int
    epsilon: float
    rows: tuple[Row, ...]
    simultaneous: bool = False
    means: tuple[MeanRow, ...] = ()
    group: str | None = None
    by_hand: bool = False
    n_by_hand: int = 0
    made_up: MadeUp | None = None
    may_wait: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; the rows come last, then the means."""
        head = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in ("rows", "means", "made_up")}
        head["made_up"] = self.made_up and asdict(self.made_up)
        return {**head, "rows": [asdict(row) for row in self.rows], "means": [asdict(row) for row in self.means]}

    @classmethod
    def from_dict(cls, source: Mapping[str, Any]) -> Results:
        """The inverse of `to_dict`; what stands behind `rows` above may be left out, as it was in older ones.

        Raises EstimateError where another key is missing, or one is unknown.
        """
        try:
            rows, means = tuple(Row(**row) for row in source["rows"]), tuple(MeanRow(**row) for row in source.get("means", ()))
            made_up = MadeUp(**found) if (found := source.get("made_up")) else None
            return cls(**{**source, "rows": rows, "means": means, "made_up": made_up})
        except (KeyError, TypeError, AttributeError) as error:
            raise EstimateError(f"the results must have the keys that to_dict gives: {error}") from None

    def to_json(self) -> str:
        """`to_dict` as JSON text, one line."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def to_csv(self, bom: bool = False) -> str:
        """One line per row under a header (RFC 4180); a missing value is an empty cell.

        Text that a spreadsheet would take for a formula gets a leading apostrophe; numbers stay numbers, negative
        ones too. bom: begin with the byte order mark by which some spreadsheets recognise UTF-8. Results of one group, or of
        records made by hand, say so in further columns, group and by_hand. Where reports look made up, each warning says so.
        """
        part = {**({} if self.group is None else {"group": self.group}), **({"by_hand": True} if self.by_hand else {})}
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow([*_ROW_KEYS, *part])
        alarm = [self.made_up.words] if self.made_up and self.made_up.alarm else []
        warned = (replace(row, warning="; ".join(filter(None, [row.warning, *alarm]))) for row in self.rows)
        writer.writerows([_harmless(value) for value in (*astuple(row), *part.values())] for row in warned)
        return ("\ufeff" if bom else "") + out.getvalue()

    def to_table(self) -> str:
        """Aligned text for a terminal: percentages and means with intervals, warnings as notes, and what is known of made-up reports."""
        cells = [(*HEADER, "")] + [(*percentages(row), self.notes.get(row.warning, "")) for row in self.rows]
        lines = [self.heading, self.caption, "", *_aligned(cells)]
        if self.means:
            means = [(*mean_cells(row), self.notes.get(row.warning, "")) for row in self.means]
            lines += ["", *_aligned([(*MEANS_HEADER, ""), *means], texts=1)]
        if self.notes:
            lines += ["", *(f"{mark} {one_line(warning)}" for warning, mark in self.notes.items())]
        if self.made_up:
            lines += ["", one_line(self.made_up.words)]
        return "\n".join(lines) + "\n"

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

    def plot(self, question: str | None = None) -> alt.VConcatChart:
        """An Altair chart of the estimates with their intervals: a panel a question, or that of one question only.

        Needs the extra `deniable[plot]`. Raises EstimateError without it, for an unknown question, and where nothing is estimated.
        """
        drawn: alt.VConcatChart = _plot().chart(self, question)
        return drawn

    def save_chart(self, path: str | Path, question: str | None = None) -> None:
        """Writes `plot` to a file that ends in .svg or .png; needs no browser. Raises EstimateError; OSError as `open` does."""
        if Path(path).suffix.lower() not in (".svg", ".png"):
            raise EstimateError(f"path must end in .svg or .png, got {str(path)!r}")
        _plot().save(self, Path(path), question)

    def _repr_html_(self) -> str:
        from deniable.estimate.present.html import page

        return page(self)

    @property
    def heading(self) -> str:
        """The survey in one line, and which part of its reports."""
        group = "" if self.group is None else f", group {one_line(self.group)}"
        return f"{one_line(self.title)} ({one_line(self.survey)}){group}{', made by hand' if self.by_hand else ''}"

    @property
    def notes(self) -> dict[str, str]:
        """A mark for each different warning: [1], [2], .."""
        said = [*(row.warning for row in self.rows), *(row.warning for row in self.means)]
        return {warning: f"[{i}]" for i, warning in enumerate(dict.fromkeys(filter(None, said)), start=1)}

    @property
    def caption(self) -> str:
        """What the figures are about: reports, privacy, intervals, target."""
        parts = [_reports(self.n), f"epsilon {self.epsilon:.4g} for the whole survey"]
        if self.rows:
            first, together = self.rows[0], ", holding together within a question" if self.simultaneous else ""
            parts += [f"{100 * first.confidence:g} % intervals ({first.method}){together}", f"target: {first.target}"]
        if self.n_by_hand:
            parts.append(f"{_reports(self.n_by_hand)} made by hand apart")
        if self.may_wait:
            parts.append(f"up to {self.may_wait:,} more may wait to be counted")
        return " · ".join(parts)


def _reports(n: int) -> str:
    return f"{n:,} report{'' if n == 1 else 's'}"


def _plot() -> ModuleType:
    """Loaded when a chart is wanted: the extra that it needs is large."""
    try:
        from deniable.estimate.present import chart
    except ModuleNotFoundError as error:
        raise EstimateError(f"charts need {error.name}: pip install 'deniable[plot]'") from None
    return chart


def percentages(row: Row) -> tuple[str, ...]:
    """A row's cells under HEADER."""
    interval = "" if row.low is None or row.high is None else f"{100 * row.low:.1f} – {100 * row.high:.1f} %"
    return (
        one_line(row.question),
        one_line(row.option),
        _percent(row.estimate),
        _percent(row.std_error),
        interval,
        _percent(row.adjusted),
    )


def mean_cells(row: MeanRow) -> tuple[str, ...]:
    """A mean's cells under MEANS_HEADER."""
    mean, std_error, low, high = row.figures
    return one_line(row.question), mean, std_error, f"{low} – {high}" if mean else ""


def one_line(text: str) -> str:
    """A text that cannot break the table nor steer the terminal: results may come from a server."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split()))


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"


def _aligned(cells: Sequence[Sequence[str]], texts: int = 2) -> list[str]:
    """Columns side by side, the first `texts` of them to the left, the numbers to the right."""
    widths = [max(_columns(row[i]) for row in cells) for i in range(len(cells[0]))]
    lines = ([_padded(cell, width, i < texts) for i, (cell, width) in enumerate(zip(row, widths, strict=True))] for row in cells)
    return ["  ".join(line).rstrip() for line in lines]


def _padded(cell: str, width: int, left: bool) -> str:
    space = " " * (width - _columns(cell))
    return cell + space if left else space + cell


def _columns(text: str) -> int:
    """How many columns a text takes on a terminal."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
