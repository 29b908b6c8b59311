"""Subpopulation: estimates of all questions among people with one true answer, without a list of these people.

A share among them is a ratio of two sums of a cross table's cells, with Fieller's limits: the figure of `association.conditional_share`,
and of a row of the server's cross table. A mean is such a ratio, too. Only counts of pairs of bits are used, which cross tables release.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, overload

import numpy as np

from deniable.errors import EstimateError, UnknownNameError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.normal import Estimate
from deniable.estimate.moments import applicability, counts, pseudo_answers
from deniable.estimate.present.figures import percent, percents
from deniable.estimate.present.table import Table, footnote_lines, footnotes
from deniable.estimate.present.tabular import Tabular
from deniable.estimate.present.text import one_line
from deniable.estimate.tables.association import conditional_share
from deniable.estimate.tables.crosstab import Crosstab
from deniable.estimate.tables.means import about_middle, checked_scores, ratio_about
from deniable.estimate.tables.question_results import QuestionResults, mean_cells, names_of
from deniable.estimate.tables.results import MeanRow
from deniable.estimate.tables.survey_means import scores_of
from deniable.mechanism import Window
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable.survey.types.base import NO_ANSWER
from deniable.wire.tally import Tally

LARGER_ERRORS = (
    "All reports are used. Errors are larger than among everybody, since no report shows for certain whether it is from these people."
)


@dataclass(frozen=True)
class AnswerFilter:
    """The people of a subpopulation, by one true answer.

    Attributes:
        question: The id of a question of the survey file.
        option: One of its answers; of a multiple choice, the option that these people chose.
        item: The item that devices randomize: the question itself, or an option of a multiple choice.
        category: The category of the item.
    """

    question: str
    option: str
    item: Question
    category: str

    @property
    def words(self) -> str:
        """The filter as the command line takes it: `smokes=yes`."""
        return f"{self.question}={self.option}"

    @classmethod
    def of(cls, survey: Survey, question: str, option: str) -> AnswerFilter:
        """Returns the filter of an answer.

        Args:
            survey: The survey.
            question: The id of a question, or of an item of a multiple choice.
            option: One of its options; of a multiple choice, an option that people choose.

        Raises:
            EstimateError: The question or the option is unknown, or the question is a number that is rounded at random.
        """
        multiple = next((one for one in survey.questions if one.id == question and one.labels), None)
        if multiple is None:
            item, _ = counts.find(survey, question)
            category = option
        else:
            if option not in multiple.labels:
                raise UnknownNameError.of(f"the option must be one of question {question}", option, multiple.labels)
            item = multiple.items[multiple.labels.index(option)]
            category = item.categories[0]
        applicability.require_shares("subpopulation", item)
        applicability.require("conditional share", [item.id] if applicability.on_grid(item) else [])
        answers = answers_of(item)
        if category not in answers:
            raise UnknownNameError.of(f"the option must be an answer to question {question}", option, answers)
        return cls(question, option, item, category)

    @classmethod
    def parse(cls, survey: Survey, text: str) -> AnswerFilter:
        """Returns the filter that a text such as `smokes=yes` names. Ids and options may have equals signs, too.

        Raises:
            EstimateError: As `of`, or the text has another form.
        """
        ids = {one.id for several in (survey.questions, survey.items) for one in several}
        parts = text.split("=")
        for place in range(1, len(parts)):
            if (question := "=".join(parts[:place])) in ids:
                return cls.of(survey, question, "=".join(parts[place:]))
        if len(parts) < 2:
            raise EstimateError(f"among must be a question and an answer, such as smokes=yes, got {text!r}")
        return cls.of(survey, parts[0], "=".join(parts[1:]))


def answers_of(item: Question) -> tuple[str, ...]:
    """Returns the answers to an item that a subpopulation may have: all categories but "no answer"."""
    return tuple(category for category in item.categories if item.required or category != NO_ANSWER)


def others_of(survey: Survey, among: AnswerFilter, questions: Collection[str] | None = None) -> list[Question]:
    """Returns the items to estimate among a subpopulation: all but the filter's own.

    Args:
        survey: The survey.
        among: The people.
        questions: The ids of questions, or of items of a multiple choice; by default all.

    Raises:
        EstimateError: A question is unknown.
    """
    items = [item for item in survey.items if item.id != among.item.id]
    if questions is None:
        return items
    ids = {one.id: {item.id for item in one.items} for one in survey.questions} | {item.id: {item.id} for item in survey.items}
    if unknown := [name for name in questions if name not in ids]:
        raise UnknownNameError.of(f"the question must be one of survey {survey.id}", unknown[0], ids)
    selected = set[str]().union(*(ids[name] for name in questions))
    return [item for item in items if item.id in selected]


@dataclass(frozen=True)
class ShareAmong:
    """One option of one question among the people of a subpopulation.

    Attributes:
        question, option: The id of the question, and the option.
        n: All reports used, of these people and of others.
        estimate, std_error, low, high: As of `conditional_share`, the estimate never clipped; None if the figure is refused.
        epsilon: The question's exact privacy loss.
        confidence, target: Of low and high.
        warning: The reason for a refusal, another warning, or empty.
    """

    question: str
    option: str
    n: int
    estimate: float | None
    std_error: float | None
    low: float | None
    high: float | None
    epsilon: float
    confidence: float
    target: str
    warning: str


_ROW_KEYS = tuple(one.name for one in fields(ShareAmong))
_MEAN_FIELDS = ("question", "n", "mean", "std_error", "low", "high", "epsilon", "confidence", "target", "warning")
_MEAN_KEYS = tuple("estimate" if name == "mean" else name for name in _MEAN_FIELDS)
_PART_KEYS = ("question", "option", "n", "estimate", "std_error", "low", "high", "epsilon", "confidence", "target", "warning")
_SHARES = ("question", "option", "estimate", "std error", "interval", "")
_MEANS = ("question", "mean", "std error", "interval", "scale", "")


@dataclass(frozen=True)
class Subpopulation(QuestionResults):
    """Estimates of a survey's questions among people with one true answer.

    It prints as a table; iterating gives its rows, and `people["mood"]` the rows of one question.

    Attributes:
        survey, title, digest: The survey as published.
        among: The people.
        part: Their share of everybody.
        n: Reports, of these people and of all others.
        epsilon: The exact privacy loss of one submission, at most.
        rows: The questions in order, each with its options in order; without the filter's own.
        means: The means of the questions with scores, among these people if they answered.
        group: As in `Results`.
        by_hand: As in `Results`.
    """

    survey: str
    title: str
    digest: str
    among: AnswerFilter
    part: Estimate
    n: int
    epsilon: float
    rows: tuple[ShareAmong, ...]
    means: tuple[MeanRow, ...]
    group: str | None = None
    by_hand: bool = False

    @overload
    def __getitem__(self, key: str) -> Subpopulation: ...
    @overload
    def __getitem__(self, key: tuple[str, str]) -> ShareAmong: ...
    def __getitem__(self, key: str | tuple[str, str]) -> Subpopulation | ShareAmong:
        """Returns the figures of one question, all items of a multiple choice together; or the row of a question and an option.

        Raises:
            UnknownNameError: There is no such question or option; it is also a KeyError.
        """
        question, option = key if isinstance(key, tuple) else (key, None)
        self.require_question(question)
        rows = tuple(row for row in self.rows if question in names_of(row.question))
        means = tuple(row for row in self.means if question in names_of(row.question))
        if option is None:
            return replace(self, rows=rows, means=means)
        result = next((row for row in rows if (row.question, row.option) == (question, option)), None)
        if result is None:
            raise UnknownNameError.of(f"the option must be one of question {question}", option, (row.option for row in rows))
        return result

    def __iter__(self) -> Iterator[ShareAmong]:
        return iter(self.rows)

    @property
    def chart_title(self) -> str:
        """The title of a chart."""
        return self.heading

    @property
    def heading(self) -> str:
        """The survey and the subpopulation in one line."""
        group = "" if self.group is None else f", group {one_line(self.group)}"
        by_hand = ", made by hand" if self.by_hand else ""
        return f"{one_line(self.title)} ({one_line(self.survey)}){group}{by_hand}, among {one_line(self.among.words)}"

    @property
    def caption(self) -> str:
        """The subject of the figures: reports, the share of these people, privacy, intervals, target."""
        part = f"{percent(self.part.estimate)} of people ({percents(self.part.low, self.part.high)})"
        reports = f"{self.n:,} report{'' if self.n == 1 else 's'}"
        level = f"{100 * self.part.confidence:g}% intervals · target: {self.part.target}"
        return f"{part} · {reports} · epsilon {self.epsilon:.4g} for the whole survey · {level}"

    def tables(self) -> tuple[Table, ...]:
        """Returns the means, if there are any, with their scales; then the shares, and the notes on both."""
        marks = footnotes([row.warning for part in (self.means, self.rows) for row in part])
        notes = (*footnote_lines(marks), LARGER_ERRORS)
        cells = tuple(
            (
                row.question,
                row.option,
                percent(row.estimate),
                percent(row.std_error),
                percents(row.low, row.high),
                marks.get(row.warning, ""),
            )
            for row in self.rows
        )
        shares = Table("", _SHARES, cells, notes, texts=2)
        means = Table("", _MEANS, tuple((*mean_cells(row), marks.get(row.warning, "")) for row in self.means))
        first, *rest = [means, shares] if self.means else [shares]
        if self.means and not self.rows:  # of numbers through windows there is nothing else
            first, rest = replace(means, notes=notes), []
        return replace(first, title=self.heading, about=(self.caption,)), *rest

    def records(self) -> tuple[Table, ...]:
        """Returns `share`, the fields of `rows`; `mean`, the fields of `means`; and `part`, the share of these people.

        Each row names the subpopulation, in the column among. Rows of one group, or of records made by hand, have further columns.
        """
        more = {
            "among": self.among.words,
            **({} if self.group is None else {"group": self.group}),
            **({"by_hand": True} if self.by_hand else {}),
        }
        keys, cells = tuple(more), tuple(more.values())
        rows = tuple((*(getattr(row, name) for name in _ROW_KEYS), *cells) for row in self.rows)
        means = tuple((*(getattr(row, name) for name in _MEAN_FIELDS), *cells) for row in self.means)
        one = self.part
        figures = one.n, one.estimate, one.std_error, one.low, one.high, self.among.item.epsilon, one.confidence, one.target, one.warning
        part = (self.among.question, self.among.option, *figures, *cells)
        return (
            Table("share", (*_ROW_KEYS, *keys), rows),
            Table("mean", (*_MEAN_KEYS, *keys), means),
            Table("part", (*_PART_KEYS, *keys), (part,)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Returns plain JSON types: the survey and its part, then the rows of each of `records` under its title."""
        rows = Tabular.to_dict(replace(self, group=None, by_hand=False))
        head = {"survey": self.survey, "title": self.title, "digest": self.digest, "among": self.among.words, "n": self.n}
        return {**head, "epsilon": self.epsilon, "group": self.group, "by_hand": self.by_hand, **rows}


def _share_cells(row: ShareAmong) -> tuple[str, ...]:
    return row.question, row.option, percent(row.estimate), percent(row.std_error), percents(row.low, row.high)


class SmallSubpopulationError(EstimateError):
    """The share of a subpopulation is not clearly above 0, so nothing can be said about these people.

    Attributes:
        part: The share.
    """

    def __init__(self, message: str, part: Estimate) -> None:
        super().__init__(message, part)
        self.part = part

    def __str__(self) -> str:
        return str(self.args[0])


TableOf = Callable[[str, str], Crosstab]
"""Returns the cross table of two questions."""


def require_present(part: Estimate, quantile: float) -> None:
    """Requires a subpopulation whose share is clearly above 0, which is when Fieller's limits of a ratio to it are bounded.

    Args:
        part: The share of these people.
        quantile: The distance of a limit in standard errors.

    Raises:
        SmallSubpopulationError: It is not.
    """
    if part.estimate <= quantile * part.std_error:
        raise SmallSubpopulationError(
            f"{part.what}: the share of these people must be clearly above 0, got {percent(part.estimate)} with a standard error of "
            f"{percent(part.std_error)}; more reports, or a larger epsilon, are needed",
            part,
        )


def estimates_among(
    survey: Survey,
    tally: Tally | None,
    among: AnswerFilter,
    items: Collection[Question],
    table_of: TableOf,
    interval: Interval,
) -> tuple[tuple[ShareAmong, ...], tuple[MeanRow, ...]]:
    """Estimates the shares and means of some items among the people of a subpopulation.

    Args:
        survey: The survey as published.
        tally: The counted reports; None for a sample, which has no means of numbers through windows.
        among: The people.
        items: The items, without the filter's own.
        table_of: Returns the cross table of two items.
        interval: The confidence and the target of the limits.

    Returns:
        A row for each option, and one for each item with scores. A figure that is refused is None, with the reason as its warning.
    """
    rows: list[ShareAmong] = []
    means: list[MeanRow] = []
    for item in items:
        if isinstance(item.channel, Window):
            means.append(_mean_row(item, partial(_mean_through_window, survey, tally, among, item, interval), interval))
            continue
        table: Crosstab | None = None
        problem = ""
        try:
            table = table_of(among.item.id, item.id)
            chosen = table.cells({among.item.id: among.category})
            require_present(_margin(table, chosen, among), table.interval.quantile)
        except EstimateError as error:
            table, problem = None, str(error)
        rows += [_share_row(item, option, among, table, problem, interval) for option in item.shared]
        if scores_of(item) is not None:
            means.append(_mean_row(item, partial(_mean, table, among, item), interval, problem))
    return tuple(rows), tuple(means)


def _margin(table: Crosstab, chosen: FloatArray, among: AnswerFilter) -> Estimate:
    value, variance = float((chosen * table.shares).sum()), table.variance_of(chosen)
    return Estimate(among.words, table.n, value, variance**0.5, 0.0, 1.0, table.confidence, table.target)


def _share_row(item: Question, option: str, among: AnswerFilter, table: Crosstab | None, problem: str, interval: Interval) -> ShareAmong:
    one: Estimate | None = None
    if table is not None:
        try:
            one = conditional_share(table, {item.id: option}, {among.item.id: among.category})
        except EstimateError as error:
            problem = str(error)
    about = item.epsilon, interval.confidence, interval.target
    if one is None:
        return ShareAmong(item.id, option, 0, None, None, None, None, *about, problem)
    return ShareAmong(item.id, option, one.n, one.estimate, one.std_error, one.low, one.high, *about, one.warning)


def _mean_row(item: Question, mean_of: Callable[[], Estimate | None], interval: Interval, problem: str = "") -> MeanRow:
    ends, one = (min(item.scores or (0.0,)), max(item.scores or (1.0,))), None
    try:
        one = mean_of()
    except EstimateError as error:
        problem = str(error)
    if one is None:
        return MeanRow(item.id, 0, None, None, None, None, item.epsilon, interval.confidence, interval.target, *ends, problem)
    figures = one.estimate, one.std_error, one.low, one.high
    return MeanRow(item.id, one.n, *figures, item.epsilon, one.confidence, one.target, *ends, one.warning, origin=one.origin)


def _mean(table: Crosstab | None, among: AnswerFilter, item: Question) -> Estimate | None:
    """Returns the mean of an item's scores among these people if they answered it, from the cross table. Raises EstimateError."""
    if table is None:
        return None
    values, counted = checked_scores(scores_of(item) or (), item)
    middle, weights = about_middle(values, counted)
    chosen = table.cells({among.item.id: among.category})
    axis = table.axis(item.id)
    over, under = (chosen * row.reshape([-1 if place == axis else 1 for place in range(2)]) for row in weights)
    parts, covariance = (float((over * table.shares).sum()), float((under * table.shares).sum())), table.covariance_of(over, under)
    result = _ratio(item, among, middle, (table.n, parts, covariance), table.interval)
    return replace(result, warning=result.warning or table.too_few(under), origin=table.origin)


def _mean_through_window(survey: Survey, tally: Tally | None, among: AnswerFilter, item: Question, interval: Interval) -> Estimate:
    """Returns the mean of a number whose reports hold its mean only. Raises EstimateError."""
    if tally is None:
        raise EstimateError(f"mean of {item.id}: not of a sample, since its reports hold its mean only; a survey can name `bins`")
    questions, n, together = counts.pair_counts(survey, tally, among.item.id, item.id)
    channels = [question.channel for question in questions]
    shares = pseudo_answers.invert(together / n, channels)
    values, counted = checked_scores(scores_of(item) or (), item)
    middle, weights = about_middle(values, counted)
    chosen = np.array([category == among.category for category in among.item.categories], dtype=np.float64)
    rows = np.array([np.outer(chosen, row).ravel() for row in weights])
    interval = replace(interval, everybody=tally.n, rounding=1.0)
    covariance = pseudo_answers.covariance_of(rows, shares, channels, interval.sampling(n)) / n
    over, under = (rows @ shares.ravel()).tolist()
    return _ratio(item, among, middle, (n, (over, under), covariance), interval)


def _ratio(
    item: Question, among: AnswerFilter, middle: float, figures: tuple[int, tuple[float, float], FloatArray], interval: Interval
) -> Estimate:
    n, parts, covariance = figures
    scores = item.scores or ()
    error = max(float(covariance[1, 1]), 0.0) ** 0.5
    answered = Estimate(f"{among.words}, with an answer to {item.id}", n, parts[1], error, 0.0, 1.0, interval.confidence, interval.target)
    require_present(answered, interval.quantile)
    what = f"mean of {item.id} among {among.words}"
    return ratio_about(middle, what, n, parts, covariance, interval, (min(scores), max(scores)))
