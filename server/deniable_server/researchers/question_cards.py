"""Question cards of the results page: a chart of the options, or the mean of a number with its levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from deniable.estimate import MeanRow, Results, Row
from deniable.estimate.checks.plausibility import ABOVE, BELOW
from deniable.estimate.moments.applicability import LEVELS_NOTE
from deniable.survey import Survey
from deniable.survey.comprehension import right_answer
from deniable.survey.question import Question
from deniable_server.pages import figures
from deniable_server.pages.chart import ChartAxis, Histogram, histogram
from deniable_server.pages.figures import Figure

_MOST_IN_SENTENCE = 5  # options


@dataclass(frozen=True)
class Summary:
    """A question's line in the table of contents.

    Attributes:
        name: The mean, the first of two options, or all options.
        figure: The figure; None without an estimate, and for several options.
        options: The number of options if there are several, else 0.
        widest: Half the width of their widest interval; None without intervals.
    """

    name: str
    figure: Figure | None = None
    options: int = 0
    widest: float | None = None


@dataclass(frozen=True)
class Card:
    """A question of the survey file and its estimates.

    Attributes:
        rows: The options of its chart; of a multiple choice, the share that chose each option.
        levels: The levels of a number that was rounded to them; they are not options.
        mean: The mean of a question with scores.
        others: Of a multiple choice that may be skipped, the shares that did not choose an option, or did not say.
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
    def axis(self) -> ChartAxis | None:
        """Axis of the mean, from the lowest score to the highest."""
        return axis_of(self.question)

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
    def sentences(self) -> tuple[tuple[str, Figure], ...]:
        """The figures that the summary sentence has, as (option, figure); of two options only the first.

        A mean has one entry with an empty option. Empty for many options, without estimates, and if a limit is outside 0 to 100%.
        """
        if self.mean and self.axis:
            mean = figures.of_mean(self.mean)
            return (("", mean),) if mean else ()
        rows = self.rows[:1] if self._has_one_figure else self.rows
        shares = [(row.option, share) for row in rows if (share := figures.of_share(row)) and not _is_outside(row)]
        return tuple(shares) if len(shares) == len(rows) <= _MOST_IN_SENTENCE else ()

    @property
    def right(self) -> tuple[str, Figure] | None:
        """The right answer to a statement of the comprehension check, and the share that gave it; None for any other question."""
        answer = right_answer(self.question)
        shares = (figures.of_share(row) for row in self.rows if row.option == answer and not _is_outside(row))
        share = next((share for share in shares if share), None)
        return (answer, share) if answer and share else None

    @property
    def is_outside(self) -> bool:
        """Whether limits of its shares leave 0 to 100%."""
        return any(_is_outside(row) for row in (*self.rows, *self.levels, *self.others))

    @property
    def _has_one_figure(self) -> bool:
        """Whether the share of the first option is enough: the second of two is what remains."""
        return len(self.question.categories) - (not self.question.required) == 2 and not self.question.labels

    @property
    def summary(self) -> Summary:
        """The question's line in the table of contents.

        It never names the leading option of several: the largest of several estimates is too large on average.
        """
        if self.mean and self.axis:
            ends = figures.plain(self.axis.low), figures.plain(self.axis.high)
            return Summary("mean, from {} to {}".format(*ends), figures.of_mean(self.mean))
        if self._has_one_figure:
            return Summary(self.rows[0].option, figures.of_share(self.rows[0]))
        return Summary("all options", options=len(self.rows), widest=widest_half([self]))


def widest_half(cards: Sequence[Card]) -> float | None:
    """Returns half the width of the widest interval of an option in the charts, or None without intervals."""
    shares = (figures.of_share(row) for card in cards for row in card.rows)
    return max(((share.high - share.low) / 2 for share in shares if share), default=None)


def axis_of(question: Question) -> ChartAxis | None:
    """Returns the axis of a question's mean, or None without scores."""
    return ChartAxis(question.scores[0], question.scores[-1]) if question.scores else None


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
    options = tuple(rows.get(question.id, ()))
    if question.levelled:
        names = figures.level_names(question)
        levels = tuple(replace(row, option=names[row.option]) for row in options if row.option in names)
        return Card(question, options[len(levels) :], levels, mean)
    return Card(question, options, mean=mean)


def _multiple(question: Question, items: Sequence[Sequence[Row]]) -> Card:
    """Returns the card of a multiple choice. The first category of an item is 'chosen'; the second adds nothing if it is required."""
    each = list(zip(question.labels, items, strict=True))
    others = [replace(row, option=f"{label}: {row.option}") for label, rows in each for row in rows[1:] if len(rows) > 2]
    return Card(question, tuple(replace(rows[0], option=label) for label, rows in each), others=tuple(others))


def _own(warning: str) -> str:
    """Returns a warning without the notes that the page explains once (levels, estimates outside 0 to 100%)."""
    text = warning.removesuffix(LEVELS_NOTE).removesuffix("; ")
    return "" if text in (BELOW, ABOVE) else text


def _is_outside(row: Row) -> bool:
    """Returns whether a limit is outside 0 to 1, which one method allows."""
    return row.low is not None and row.high is not None and not 0 <= row.low <= row.high <= 1
