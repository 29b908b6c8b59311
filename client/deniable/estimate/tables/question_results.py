"""Base class of results with rows for questions: selection by question, and charts."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

from deniable.errors import EstimateError, UnknownNameError
from deniable.estimate.moments.applicability import LEVELS_NOTE
from deniable.estimate.present.figures import between, decimals, fixed
from deniable.estimate.present.table import Table
from deniable.estimate.present.tabular import Tabular
from deniable.extras import missing

if TYPE_CHECKING:
    import altair as alt

_ITEM = re.compile(r"(?P<question>[^\[]+)\[(?P<item>.*)\]", re.DOTALL)  # an item of a multiple choice, such as drugs[tea]

PANEL = ("label", "estimate", "low", "high", "lowest", "highest", "unit")
"""The columns of a panel of a chart."""


class PlottedShare(Protocol):
    """One option of one question in a chart."""

    @property
    def question(self) -> str:
        """The id of the question."""

    @property
    def option(self) -> str:
        """The option."""

    @property
    def estimate(self) -> float | None:
        """The share."""

    @property
    def low(self) -> float | None:
        """The lower limit."""

    @property
    def high(self) -> float | None:
        """The upper limit."""

    @property
    def warning(self) -> str:
        """Plain words, or empty."""


class PlottedMean(Protocol):
    """The mean of one question in a chart."""

    @property
    def question(self) -> str:
        """The id of the question."""

    @property
    def mean(self) -> float | None:
        """The mean."""

    @property
    def std_error(self) -> float | None:
        """The standard error."""

    @property
    def low(self) -> float | None:
        """The lower limit."""

    @property
    def high(self) -> float | None:
        """The upper limit."""

    @property
    def scale_low(self) -> float:
        """The least score."""

    @property
    def scale_high(self) -> float:
        """The largest score."""


class QuestionResults(Tabular):
    """Results with a row for each option of each question, and one for each mean."""

    if TYPE_CHECKING:

        @property
        def rows(self) -> Sequence[PlottedShare]:
            """The rows of options."""

        @property
        def means(self) -> Sequence[PlottedMean]:
            """The rows of means."""

    @property
    @abstractmethod
    def chart_title(self) -> str:
        """The title of a chart."""

    @property
    @abstractmethod
    def caption(self) -> str:
        """The subject of the figures: reports, privacy, intervals, target."""

    def __len__(self) -> int:
        return len(self.rows)

    def __contains__(self, question: object) -> bool:
        return any(question in names_of(row.question) for part in (self.rows, self.means) for row in part)

    def require_question(self, question: str) -> None:
        """Requires results of this question. Raises UnknownNameError."""
        if question not in self:
            present = (row.question for part in (self.rows, self.means) for row in part)
            raise UnknownNameError.of("the question must be one of the results", question, present)

    def plot(self, question: str | None = None) -> alt.VConcatChart:
        """Returns an Altair chart of the estimates with their intervals: a panel a question, or one question only.

        A question with scores has its mean on their scale first, and then its options. A multiple choice has one panel, with the
        share of each item. Needs the extra `deniable[plot]`.

        Raises:
            EstimateError: The extra is missing, the question is unknown, or nothing is estimated.
        """
        chart: alt.VConcatChart = _charts().chart(self.panels(question), self.chart_title, self.caption)
        return chart

    def save_chart(self, path: str | Path, question: str | None = None) -> None:
        """Writes `plot` to a file that ends in .svg or .png; needs no browser. Raises EstimateError; OSError as `open` does."""
        if Path(path).suffix.lower() not in (".svg", ".png"):
            raise EstimateError(f"path must end in .svg or .png, got {str(path)!r}")
        _charts().save(self.panels(question), self.chart_title, self.caption, Path(path))

    def panels(self, question: str | None = None) -> tuple[Table, ...]:
        """Returns the tables of a chart, one a panel, with the columns label, estimate, low, high, lowest, highest (of the scale), unit.

        Raises:
            EstimateError: The question is unknown, or nothing is estimated.
        """
        if question is not None:
            self.require_question(question)
        rows = [row for row in self.rows if question is None or question in names_of(row.question)]
        means = [row for row in self.means if question is None or question in names_of(row.question)]
        averages = {row.question: _mean_panel(row) for row in means if row.mean is not None}
        groups: dict[str, list[PlottedShare]] = {}
        for row in rows:
            if row.estimate is not None:
                groups.setdefault(names_of(row.question)[0], []).append(row)
        panels = [panel for name, group in groups.items() for panel in (averages.pop(name, None), _share_panel(name, group)) if panel]
        panels += averages.values()  # numbers without other estimates
        if not panels:
            raise EstimateError("a chart needs at least 1 estimate, got 0")
        return tuple(panels)


def names_of(question: str) -> tuple[str, ...]:
    """Returns the names that select a question: the multiple choice that it is an item of, and its own id."""
    result = _ITEM.fullmatch(question)
    return (result["question"], question) if result else (question,)


def figures_of_mean(row: PlottedMean) -> tuple[str, str, str, str]:
    """Returns mean, std_error, low and high as texts, with two digits of the standard error; empty without a mean."""
    if row.mean is None or row.std_error is None or row.low is None or row.high is None:
        return "", "", "", ""
    places = decimals(row.std_error)
    mean, std_error, low, high = (fixed(value, places) for value in (row.mean, row.std_error, row.low, row.high))
    return mean, std_error, low, high


def mean_cells(row: PlottedMean) -> tuple[str, ...]:
    """Returns the cells of a mean in a table for people: question, mean, std error, interval, scale."""
    mean, std_error, low, high = figures_of_mean(row)
    return row.question, mean, std_error, f"{low} – {high}" if mean else "", between(row.scale_low, row.scale_high)


def _charts() -> ModuleType:
    """Loads the chart module on first use: the extra that it needs is large."""
    try:
        from deniable.estimate.present import chart
    except ModuleNotFoundError as error:
        raise EstimateError(str(missing("a chart", "plot") or error)) from None
    return chart


def _mean_panel(row: PlottedMean) -> Table:
    return Table(row.question, PANEL, (("mean", row.mean, row.low, row.high, row.scale_low, row.scale_high, ""),))


def _share_panel(name: str, rows: Sequence[PlottedShare]) -> Table:
    """Returns the options of a question; of a multiple choice each item, by the share of people who chose it."""
    items = [(result["item"], row) for row in rows if (result := _ITEM.fullmatch(row.question)) and row.option == "yes"]
    labelled = items or [(row.option, row) for row in rows]
    note = "numbers were rounded at random to these levels" if any(LEVELS_NOTE in row.warning for row in rows) else ""
    cells = tuple((label, row.estimate, row.low, row.high, 0.0, 1.0, "%") for label, row in labelled)
    return Table(name, PANEL, cells, notes=(note,) if note else ())
