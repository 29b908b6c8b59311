"""From stored tallies to what the page of the groups shows: every group's figures, and two of the groups compared.

A survey may have hundreds of groups and of questions. The page has some of the questions, so many that their figures in all groups can be
computed and read at once; no others are computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby

from deniable.errors import EstimateError
from deniable.estimate import Comparison, Estimate, MeanRow, Row, compare, difference
from deniable.estimate.limits.interval import Interval
from deniable.estimate.tables import GroupDifferences, mean_rows, share_rows
from deniable.estimate.tables.groups import GroupFigures, against, figures_of
from deniable.estimate.tables.survey_means import estimate_of
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable.wire.tally import Tally
from deniable_server.pages import figures
from deniable_server.results.release import release_of
from deniable_server.results.results import group_of, interval_of
from deniable_server.store.protocol import Store

FIGURES = 250  # shown options times groups on a page, unless a single question has more


@dataclass(frozen=True)
class Compared:
    """What is randomized by itself, among the groups: each group's rows, and what sets the second of two groups apart.

    label: the option of a multiple choice that it is about, else empty. comparison: None where one of the two has no estimate.
    """

    item: Question
    label: str
    rows: Mapping[str, tuple[Row, ...]]
    comparison: Comparison | None

    def by_group(self, option: int) -> list[Row]:
        """One option's share in every group: a row for each, labelled by the group."""
        return [replace(rows[option], option=group) for group, rows in self.rows.items()]


@dataclass(frozen=True)
class ComparedMean:
    """A question's mean in each group, and that of the second of two groups less that of the first; None where there is none of one."""

    rows: Mapping[str, MeanRow]
    difference: Estimate | None


@dataclass(frozen=True)
class ComparedQuestion:
    """One question of the survey file among the groups.

    items: one, or one for each option of a multiple choice. mean: of a question with scores. apart: all groups less the first one.
    """

    question: Question
    items: tuple[Compared, ...]
    mean: ComparedMean | None
    apart: GroupDifferences

    @property
    def shown(self) -> tuple[tuple[str, Compared, int], ...]:
        """(label, what was randomized, its option) of each share that is shown: of two options one, of a multiple choice who chose it."""
        if self.question.labels:
            return tuple((one.label, one, 0) for one in self.items)
        (one,) = self.items
        names = figures.level_names(self.question)
        return tuple((names.get(option, option), one, place) for place, option in enumerate(one.item.shared[: _shown(one.item)]))

    @property
    def different(self) -> tuple[tuple[str, ...], int]:
        """The groups that differ from the first one in something, all differences of the question together; and of how many groups."""
        told = [row for row in self.apart.rows if row.difference and not (self.levels and row.option)]
        apart = tuple(dict.fromkeys(row.group for row in told if row.excludes_zero))
        return apart, len({row.group for row in told})

    @property
    def levels(self) -> bool:
        """Whether it is a number that was rounded to levels: its mean is right, and their shares are shown below it."""
        return self.question.levelled


@dataclass(frozen=True)
class Groups:
    """The groups of a survey, and two of them compared, question by question.

    sizes: how many records are counted of each group. withheld: those whose figures may not be released. pages: the survey's questions,
    divided into pages. page: which of them `questions` are, from 0.
    """

    sizes: Mapping[str, int]
    withheld: tuple[str, ...]
    first: str
    second: str
    interval: Interval
    pages: tuple[tuple[Question, ...], ...]
    page: int
    questions: tuple[ComparedQuestion, ...]

    def fewer_than(self, needed: int | None) -> list[tuple[str, int]]:
        """The groups of somebody, but of fewer people than are needed, with how many there are; None are more than anybody has."""
        return [(group, n) for group, n in self.sizes.items() if n and (needed is None or n < needed)]


def groups_of(store: Store, survey_id: str, options: Mapping[str, str]) -> Groups:
    """The groups of a survey that has some, compared.

    options: may hold confidence, method and target, as in `results_of`; first and second, two of the groups; question, the id of one that
    is on the page. Raises EstimateError naming what is wrong, and WithheldError for a group with too few records to show; others with too
    few are left out.
    """
    survey = store.surveys.published(survey_id).survey
    interval = interval_of(options)
    release = release_of(store, survey)
    release.require()
    sizes, shown = {group: release.n(group) for group in survey.groups}, release.groups
    first = group_of(survey, "first", options.get("first")) or [*shown, *survey.groups][0]
    second = group_of(survey, "second", options.get("second")) or next(group for group in (*shown, *survey.groups) if group != first)
    if first == second:
        raise EstimateError("second must be another group than first")
    pages = tuple(_pages(survey))
    page = _page(pages, options.get("question"))
    others = sum(n > 0 for group, n in sizes.items() if group in shown and group != first)
    among = _Among(survey, (first, second), interval, others, pages[page])
    for group in (first, second):
        release.require(group)
    for group in shown:
        among.add(group, release.tally(group))
    return Groups(sizes, release.withheld, first, second, interval, pages, page, tuple(map(among.compared, pages[page])))


def _pages(survey: Survey) -> Iterator[tuple[Question, ...]]:
    """The questions in order, on each page as many as have FIGURES figures, and at least one."""
    page: list[Question] = []
    room = FIGURES
    for question in survey.questions:
        figures = len(survey.groups) * (sum(map(_shown, question.items)) or 1)
        if page and figures > room:
            yield tuple(page)
            page, room = [], FIGURES
        page.append(question)
        room -= figures
    yield tuple(page)


def _shown(item: Question) -> int:
    """How many options are shown: of two, the second is the first one's mirror image."""
    return len(item.shared) - (len(item.shared) == 2)


def _page(pages: Sequence[Sequence[Question]], wanted: str | None) -> int:
    """The page with the question that somebody asked for, by its id; the first where nobody did."""
    if wanted is None:
        return 0
    for number, page in enumerate(pages):
        if any(question.id == wanted for question in page):
            return number
    raise EstimateError("question must be the id of one of the survey's questions")


class _Among:
    """Some questions among the groups. Of each group's tally the rows are kept; the tallies themselves of the two that are compared.

    others: how many groups are compared with the first one.
    """

    def __init__(self, survey: Survey, pair: tuple[str, str], interval: Interval, others: int, questions: Sequence[Question]) -> None:
        self._survey, self._pair, self._interval, self._others, self._questions = survey, pair, interval, others, questions
        items = [item for question in questions for item in question.items]
        self._tallies: dict[str, Tally] = {}
        self._rows: dict[str, dict[str, tuple[Row, ...]]] = {item.id: {} for item in items}
        self._means: dict[str, dict[str, MeanRow]] = {}
        self._figures: dict[str, dict[str, GroupFigures]] = {question.id: {} for question in questions}

    def add(self, group: str, tally: Tally) -> None:
        """The next group."""
        for question in self._questions:
            self._figures[question.id][group] = figures_of(self._survey, tally, question, self._interval, self._others)
            self._estimate(group, tally, question)
        if group in self._pair:
            self._tallies[group] = tally

    def _estimate(self, group: str, tally: Tally, question: Question) -> None:
        interval = self._interval
        for name, found in groupby(share_rows(self._survey, tally, question.items, interval), lambda row: row.question):
            self._rows[name][group] = tuple(found)
        for row in mean_rows(self._survey, tally, items=question.items, confidence=interval.confidence, target=interval.target):
            self._means.setdefault(row.question, {})[group] = row

    def compared(self, question: Question) -> ComparedQuestion:
        """One question, once all groups were added."""
        labels = question.labels or ("",)
        items = tuple(self._item(item, label) for item, label in zip(question.items, labels, strict=True))
        means = self._means.get(question.id)
        apart = against(self._pair[0], question, self._interval, self._others, self._figures[question.id])
        return ComparedQuestion(question, items, self._mean(question, means) if means else None, apart)

    def _item(self, item: Question, label: str) -> Compared:
        rows, comparison = self._rows[item.id], None
        if item.shared == item.categories and all(rows[group][0].estimate is not None for group in self._pair):
            first, second = (self._tallies[group] for group in self._pair)
            confidence, target = self._interval.confidence, self._interval.target
            comparison = compare(self._survey, first, second, item.id, confidence=confidence, target=target)
        return Compared(item, label, rows, comparison)

    def _mean(self, question: Question, means: Mapping[str, MeanRow]) -> ComparedMean:
        first, second = (estimate_of(means[group]) for group in self._pair)
        found = None
        if first and second:
            with suppress(EstimateError):  # no error in either: too few reports
                found = difference(second, first, what=f"mean of {question.id}: second less first")
        return ComparedMean(means, found)
