"""Question cards of the results page: a chart of the options, or the mean of a number with its levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from deniable.estimate import MeanRow, Results, Row
from deniable.estimate.checks.plausibility import ABOVE, BELOW
from deniable.estimate.moments.applicability import LEVELS_NOTE
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable_server.pages import figures
from deniable_server.pages.chart import Histogram, Scale, histogram

_MOST_IN_SENTENCE = 5  # options


@dataclass(frozen=True)
class Card:
    """One question of the survey file and its estimates.

    rows: the options of its chart; of a multiple choice, the share that chose each of its options. levels: those of a number that was
    rounded to them, which are no options. mean: where the question has scores. others: of a multiple choice whose questions may be
    skipped, the shares that did not choose an option, or did not say.
    """

    question: Question
    rows: tuple[Row, ...]
    levels: tuple[Row, ...] = ()
    mean: MeanRow | None = None
    others: tuple[Row, ...] = ()

    @property
    def n(self) -> int:
        """Number of records with this question."""
        return max([*(row.n for row in (*self.rows, *self.levels)), *([self.mean.n] if self.mean else [])])

    @property
    def chance_rate(self) -> float | None:
        """Share of records that name an unchosen option; None if only the mean is estimated."""
        return next((row.chance_rate for row in (*self.rows, *self.levels)), None)

    @property
    def scale(self) -> Scale | None:
        """Scale of the mean, from the lowest score to the highest."""
        return scale_of(self.question)

    @cached_property
    def histogram(self) -> Histogram | None:
        """Histogram of the levels, or None without levels."""
        return histogram(self.levels) if self.levels else None

    @property
    def warnings(self) -> tuple[tuple[str, str], ...]:
        """Warnings as (options, text), each text once; options are empty if it concerns all of them.

        An estimate outside 0 to 100% has an arrow instead, which the page explains once.
        """
        warnings: dict[str, list[str]] = {}
        for row in (*self.rows, *self.levels, *self.others):
            if warning := _own(row.warning):
                warnings.setdefault(warning, []).append(row.option)
        if self.mean and (warning := self.mean.warning):
            warnings.setdefault(warning, ["" if self.mean.mean is None else "mean"])
        whole = {row.option for row in (*self.rows, *self.levels)}
        return tuple(("" if set(options) in (whole, {""}) else ", ".join(options), warning) for warning, options in warnings.items())

    @property
    def sentences(self) -> tuple[tuple[str, str], ...]:
        """Summary in words: (option, `between 18 and 27 of 100`), for the first of two options; empty for many options.

        A mean has one entry with an empty option. Empty if a limit is outside 0 to 100%.
        """
        if self.mean and self.scale:
            one, low, high = figures.mean(self.mean)
            return (("", f"between {low} and {high}"),) if one else ()
        first = self.rows[:1] if self._one_figure else self.rows
        if len(first) > _MOST_IN_SENTENCE or any(row.low is None or _outside(row) for row in first):
            return ()
        return tuple((row.option, figures.between(row.low, row.high)) for row in first)

    @property
    def outside(self) -> bool:
        """Whether limits of its shares leave 0 to 100%."""
        return any(_outside(row) for row in (*self.rows, *self.levels, *self.others))

    @property
    def _one_figure(self) -> bool:
        """Whether the share of the first option says all: of two, the other is what is left."""
        return len(self.question.categories) - (not self.question.required) == 2 and not self.question.labels

    @property
    def headline(self) -> tuple[str, str, str]:
        """What the summary says: of what, the figure, its interval. Of several options it says how wide their intervals are at most.

        Which of several options is ahead is no figure by itself: the greatest of several estimates is too great on average.
        """
        if self.mean and self.scale:
            one, low, high = figures.mean(self.mean)
            return (
                f"mean, from {figures.plain(self.scale.low)} to {figures.plain(self.scale.high)}",
                one or "–",
                f"{low} to {high}" if one else "–",
            )
        first = self.rows[0]
        if self._one_figure:
            return first.option, figures.percent(first.estimate), figures.interval(first.low, first.high)
        options = figures.several(len(self.rows), "option")
        widths = [(row.high - row.low) / 2 for row in self.rows if row.low is not None and row.high is not None]
        return "all options", options, f"±{figures.number(max(widths))} points or less" if widths else "–"


def widest_half(shown: Sequence[Card]) -> float | None:
    """Returns half the width of the widest interval of an option in the charts, or None without intervals."""
    halves = ((row.high - row.low) / 2 for card in shown for row in card.rows if row.low is not None and row.high is not None)
    return max(halves, default=None)


def scale_of(question: Question) -> Scale | None:
    """Returns the scale of a question's mean, or None without scores."""
    return Scale(question.scores[0], question.scores[-1]) if question.scores else None


def cards(survey: Survey, results: Results) -> tuple[Card, ...]:
    """Returns a card for each question, in the order of the survey."""
    rows: dict[str, list[Row]] = {}
    for row in results.rows:
        rows.setdefault(row.question, []).append(row)
    means = {row.question: row for row in results.means}
    return tuple(_card(question, rows, means.get(question.id)) for question in survey.questions)


def _card(question: Question, rows: dict[str, list[Row]], mean: MeanRow | None) -> Card:
    if question.labels:
        return _multiple(question, [rows[item.id] for item in question.items])
    own = tuple(rows.get(question.id, ()))
    if question.levelled:
        names = figures.level_names(question)
        levels = tuple(replace(row, option=names[row.option]) for row in own if row.option in names)
        return Card(question, own[len(levels) :], levels, mean)
    return Card(question, own, mean=mean)


def _multiple(question: Question, items: Sequence[Sequence[Row]]) -> Card:
    """Returns the card of a multiple choice. The first category of an item is 'chosen'; the second adds nothing if it is required."""
    each = list(zip(question.labels, items, strict=True))
    others = [replace(row, option=f"{label}: {row.option}") for label, rows in each for row in rows[1:] if len(rows) > 2]
    return Card(question, tuple(replace(rows[0], option=label) for label, rows in each), others=tuple(others))


def _own(warning: str) -> str:
    """Returns a warning without the notes that the page explains once (levels, estimates outside 0 to 100%)."""
    own = warning.removesuffix(LEVELS_NOTE).removesuffix("; ")
    return "" if own in (BELOW, ABOVE) else own


def _outside(row: Row) -> bool:
    """Returns whether a limit is outside 0 to 1, which one method allows."""
    return row.low is not None and row.high is not None and not 0 <= row.low <= row.high <= 1
