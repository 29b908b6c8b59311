"""Trends on the Waves page: each question over three or more waves of a study, with its slope."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from deniable.estimate import Estimate, Results, Row
from deniable.estimate.tables.trends import Trend, Trends, trends
from deniable.survey import Survey
from deniable.survey.comparability import mismatch
from deniable.survey.question import Question
from deniable_server.pages.chart import SHARE_TICKS, SHARES
from deniable_server.pages.figures import Figure, Unit, of_difference, of_share, text
from deniable_server.pages.trend_chart import TrendChart, trend_chart
from deniable_server.researchers.question_cards import axis_of
from deniable_server.researchers.study_waves import ListedWave
from deniable_server.results.analysis import NoRecordsError, require_records
from deniable_server.results.disclosure_control import Release, compute_once
from deniable_server.results.results import Records, estimates_of, interval_of, records_of
from deniable_server.store.protocol import Store
from deniable_server.web.errors import WithheldError

LEAST = 3
"""Waves with estimates that a trend needs."""


_LeftOut = tuple[tuple[str, str], ...]
"""(item, reason) of items without a trend."""


@dataclass(frozen=True)
class TrendRow:
    """A wave in the table of a trend: its number and the day of its publication. n: the answers, None without an estimate."""

    number: int
    published_on: str
    n: int | None
    figure: Figure | None


@dataclass(frozen=True)
class TrendBlock:
    """An option, or the mean, over the waves.

    Attributes:
        name: The option, or `Mean`.
        rows: All waves of the study, in order.
        slope: The change by one wave, or None if a wave has no estimate.
        warning: A warning about the slope, or an empty text.
    """

    name: str
    rows: tuple[TrendRow, ...]
    slope: Figure | None
    warning: str
    chart: TrendChart

    @property
    def words(self) -> str:
        """The slope in words: `+1.2 points a wave (+0.4 to +2.0), a rise`."""
        if self.slope is None:
            return "not estimated, since a wave has no estimate"
        figures, unit = text(self.slope), " points" if self.slope.unit is Unit.POINTS else ""
        effect = ("a rise" if self.slope.low > 0 else "a fall") if self.slope.excludes_zero else "no trend is shown"
        return f"{figures.value}{unit} a wave ({figures.interval}), {effect}"

    @property
    def description(self) -> str:
        """The chart in words: each wave with its figure and interval."""
        return "; ".join(f"wave {row.number}: {_in_words(row.figure)}" for row in self.rows)


@dataclass(frozen=True)
class QuestionTrend:
    """A question that three or more waves share: its mean if it has one, else its options; of two options the first."""

    question: Question
    blocks: tuple[TrendBlock, ...]


@dataclass(frozen=True)
class StudyTrends:
    """The trends of a study.

    Attributes:
        results: The results of each wave that has any, by survey.
        missing: (wave, reason) of the others.
        left_out: (question, reason) of its questions without one.
        table: The trends of all options and means, for download. Its times are the numbers of the waves.
        tables: The tables of the waves with results.
    """

    results: Mapping[str, Results]
    missing: tuple[tuple[ListedWave, str], ...]
    left_out: _LeftOut
    table: Trends
    tables: tuple[Release, ...]


def study_trends(store: Store, survey: Survey, study: Sequence[ListedWave], options: Mapping[str, str]) -> StudyTrends | None:
    """Estimates the trends of a survey's questions over the waves of its study. The caller must check the roles in all of them.

    Args:
        store: The server's store.
        survey: The survey whose questions are wanted.
        study: The waves, by number.
        options: confidence, method and target as in `results_of`.

    Returns:
        The trends, or None if fewer than three waves have results.

    Raises:
        EstimateError: An option is invalid.
    """
    interval = {name: options[name] for name in ("confidence", "method", "target") if name in options}
    confidence = interval_of(interval).confidence
    selected, results, missing = list[Records](), dict[str, Results](), list[tuple[ListedWave, str]]()
    for listed in study:
        try:
            records = records_of(store, listed.wave.survey, interval)
            one = estimates_of(records, interval)
            require_records(one.n)
        except (NoRecordsError, WithheldError) as error:
            missing.append((listed, str(error)))
        else:
            selected.append(records)
            results[listed.wave.survey] = one
    if len(results) < LEAST:
        return None
    tables = tuple(records.release for records in selected)
    rows, left_out = compute_once(
        tables,
        ("trends", survey.digest, interval_of(interval), tuple((one.wave.survey, one.wave.number) for one in study)),
        lambda: _rows(survey, study, {records.survey.id: estimates_of(records, interval) for records in selected}),
    )
    table = Trends(tuple(float(one.wave.number) for one in study), confidence, rows, left_out)
    return StudyTrends(results, tuple(missing), left_out, table, tables)


def _rows(survey: Survey, study: Sequence[ListedWave], results: Mapping[str, Results]) -> tuple[tuple[Trend, ...], _LeftOut]:
    """Estimates the trends of a survey's items. Returns also (item, reason) of the items without one."""
    shared = _SharedWaves(survey, study, results)
    left_out = tuple((item.id, "fewer than three waves have it") for item in survey.items if len(shared.waves(item)) < LEAST)
    return tuple(row for item in survey.items for row in shared.rows(item)), left_out


@dataclass(frozen=True)
class _SharedWaves:
    """The trends of each item over the waves that ask it, which may be fewer than all of the study."""

    survey: Survey
    study: Sequence[ListedWave]
    results: Mapping[str, Results]
    computed: dict[tuple[int, ...], Mapping[str, list[Trend]]] = field(default_factory=dict)

    def waves(self, item: Question) -> tuple[int, ...]:
        """Returns the places of the waves with results that ask an item, with the same type, options and scale."""
        return tuple(place for place, listed in enumerate(self.study) if listed.wave.survey in self.results and _asks(listed, item))

    def rows(self, item: Question) -> list[Trend]:
        """Returns the trends of an item, with None for each wave that does not have it; empty for fewer than three waves."""
        places = self.waves(item)
        if len(places) < LEAST:
            return []
        if places not in self.computed:
            self.computed[places] = self._compute(places)
        return self.computed[places].get(item.id, [])

    def _compute(self, places: tuple[int, ...]) -> Mapping[str, list[Trend]]:
        waves = [self.study[place] for place in places]
        surveys, numbers = [one.published.survey for one in waves], [one.wave.number for one in waves]
        rows: dict[str, list[Trend]] = {}
        for row in trends(surveys, [self.results[survey.id] for survey in surveys], numbers).rows:
            by_place = dict(zip(places, row.waves, strict=True))
            padded = tuple(by_place.get(place) for place in range(len(self.study)))
            rows.setdefault(row.question, []).append(Trend(row.question, row.option, padded, row.slope))
        return rows


def _asks(listed: ListedWave, item: Question) -> bool:
    return any(other.id == item.id and mismatch(item, other) is None for other in listed.published.survey.items)


def question_trends(questions: Sequence[Question], study: Sequence[ListedWave], rows: Sequence[Trend]) -> Iterator[QuestionTrend]:
    """Yields the questions that have a trend, with their charts."""
    by_item: dict[str, list[Trend]] = {}
    for row in rows:
        by_item.setdefault(row.question, []).append(row)
    for question in questions:
        names = {item.id: label for item, label in zip(question.items, question.labels or ("",), strict=True)}
        own = [row for name in names for row in by_item.get(name, ())]
        means = [row for row in own if not row.option]
        chosen = means or _shares(question, own)
        if chosen:
            yield QuestionTrend(question, tuple(_block(question, names[row.question] or row.option, study, row) for row in chosen))


def _shares(question: Question, rows: Sequence[Trend]) -> list[Trend]:
    """Returns the options; of two the first, since the second is what remains; of a multiple choice the share that chose each one."""
    if not question.labels:
        return list(rows[:1] if question.k == 2 else rows)
    return list({row.question: row for row in reversed(rows)}.values())[::-1]


def _block(question: Question, name: str, study: Sequence[ListedWave], trend: Trend) -> TrendBlock:
    is_mean = not trend.option
    axis = (axis_of(question) if is_mean else None) or SHARES
    rows = tuple(_row(listed, value, is_mean) for listed, value in zip(study, trend.waves, strict=True))
    slope = of_difference(trend.slope, Unit.SCORE_DIFFERENCE if is_mean else Unit.POINTS) if trend.slope else None
    ticks, unit = (axis.ticks, "") if is_mean else (SHARE_TICKS, "%")
    chart = trend_chart([(row.number, row.figure) for row in rows], axis, ticks, unit)
    return TrendBlock(name or "Mean", rows, slope, trend.slope.warning if trend.slope else "", chart)


def _row(listed: ListedWave, value: Row | Estimate | None, is_mean: bool) -> TrendRow:
    figure = of_share(value) if value else None
    if figure and is_mean:
        figure = Figure(figure.value, figure.low, figure.high, Unit.SCORE)
    return TrendRow(listed.wave.number, listed.published.published_on, value.n if value and figure else None, figure)


def _in_words(figure: Figure | None) -> str:
    return f"{text(figure).value} ({text(figure).interval})" if figure else "no estimate"
