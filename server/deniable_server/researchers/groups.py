"""Groups page: estimates of every group, each group's difference from a reference, and two groups compared.

A survey may have hundreds of groups and questions. A page has as many questions as can be computed and read at once for all groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
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
from deniable_server.pages.figures import level_names
from deniable_server.results.disclosure_control import Release, release_of
from deniable_server.results.results import group_of, interval_of
from deniable_server.store.protocol import Store

FIGURES = 250  # options times groups on a page, unless a single question has more


@dataclass(frozen=True)
class GroupedItem:
    """A question, or an option of a multiple choice, by group: the unit that the device randomizes.

    Attributes:
        label: The option of a multiple choice, else empty.
        categories: The options of the item.
        rows: The shares of each group, in the order of the categories.
        comparison: The second of the two compared groups less the first; None if one of them has no estimate.
    """

    label: str
    categories: tuple[str, ...]
    rows: Mapping[str, tuple[Row, ...]]
    comparison: Comparison | None


@dataclass(frozen=True)
class GroupedMean:
    """The mean of a question in each group, and the second compared group less the first; None if one of them has no estimate."""

    rows: Mapping[str, MeanRow]
    difference: Estimate | None


@dataclass(frozen=True)
class GroupedShare:
    """A share that the page shows, by group. option: its name in results; name: as the page writes it."""

    option: str
    name: str
    rows: Mapping[str, Row]


@dataclass(frozen=True)
class GroupedQuestion:
    """A question of the survey file, by group.

    Attributes:
        items: One item, or one for each option of a multiple choice.
        mean: The mean of a question with scores.
        differences: Each group less the reference.
    """

    question: Question
    items: tuple[GroupedItem, ...]
    mean: GroupedMean | None
    differences: GroupDifferences

    @property
    def shares(self) -> tuple[GroupedShare, ...]:
        """The shares that the page shows: one of two options; of a multiple choice, the share that chose each option."""
        if self.question.labels:
            return tuple(_share(item, 0, item.label, item.label) for item in self.items)
        names, (item,) = level_names(self.question), self.items
        options = self.question.shared[: _n_shown(self.question)]
        return tuple(_share(item, index, option, names.get(option, option)) for index, option in enumerate(options))

    @property
    def significant(self) -> tuple[tuple[str, ...], int]:
        """The groups with a significant difference from the reference, and the number of groups with a known difference."""
        rows = [row for row in self.differences.rows if row.difference and not (self.levels and row.option)]
        return tuple(dict.fromkeys(row.group for row in rows if row.excludes_zero)), len({row.group for row in rows})

    @property
    def levels(self) -> bool:
        """Whether it is a number that was rounded to levels: its mean is correct, and its levels are folded below."""
        return self.question.levelled


def _share(item: GroupedItem, index: int, option: str, name: str) -> GroupedShare:
    return GroupedShare(option, name, {group: rows[index] for group, rows in item.rows.items()})


@dataclass(frozen=True)
class Groups:
    """The groups of a survey, question by question.

    Attributes:
        sizes: The number of counted records of each group.
        withheld: The groups whose estimates may not be released.
        first: The reference, which is the first compared group.
        second: The second compared group.
        interval: The confidence and the target of the intervals.
        pages: The survey's questions, divided into pages.
        page: The index of this page.
        questions: The questions of this page.
        release: The table of all groups.
    """

    sizes: Mapping[str, int]
    withheld: tuple[str, ...]
    first: str
    second: str
    interval: Interval
    pages: tuple[tuple[Question, ...], ...]
    page: int
    questions: tuple[GroupedQuestion, ...]
    release: Release

    def smaller_than(self, needed: int | None) -> list[tuple[str, int]]:
        """Returns the groups with records, but fewer than needed, with their sizes. None: more are needed than any group has."""
        return [(group, n) for group, n in self.sizes.items() if n and (needed is None or n < needed)]


def groups_of(store: Store, survey_id: str, options: Mapping[str, str]) -> Groups:
    """Returns the estimates of a survey with groups. Groups with too few records are left out.

    Args:
        store: The server's store.
        survey_id: The survey.
        options: confidence, method and target as in `results_of`; first and second, two of the groups; question, the id of a question
            on the page. All are optional.

    Raises:
        EstimateError: An option is invalid.
        WithheldError: The survey, or a selected group, has too few records.
    """
    survey = store.surveys.published(survey_id).survey
    interval = interval_of(options)
    release = release_of(store, survey)
    release.require()
    sizes, released = {group: release.n(group) for group in survey.groups}, release.groups
    order = (*released, *survey.groups)
    first = group_of(survey, "first", options.get("first")) or order[0]
    second = group_of(survey, "second", options.get("second")) or next(group for group in order if group != first)
    if first == second:
        raise EstimateError("second must be another group than first")
    pages = tuple(_pages(survey))
    page = _page_with(pages, options.get("question"))
    for group in (first, second):
        release.require(group)
    pair, ids = (first, second), tuple(question.id for question in pages[page])
    questions = release.compute_once(("groups", pair, interval, ids), lambda: _grouped(release, pair, interval, pages[page]))
    return Groups(sizes, release.withheld, first, second, interval, pages, page, questions, release)


def _grouped(release: Release, pair: tuple[str, str], interval: Interval, questions: Sequence[Question]) -> tuple[GroupedQuestion, ...]:
    """Estimates some questions in each group that may be released."""
    others = sum(release.n(group) > 0 for group in release.groups if group != pair[0])
    estimates = _GroupEstimates(release.survey, pair, interval, others, questions)
    for group in release.groups:
        estimates.add(group, release.tally(group))
    return tuple(map(estimates.question, questions))


def _pages(survey: Survey) -> Iterator[tuple[Question, ...]]:
    """Divides the questions into pages of FIGURES figures or fewer, and at least one question."""
    page: list[Question] = []
    room = FIGURES
    for question in survey.questions:
        figures = len(survey.groups) * (sum(map(_n_shown, question.items)) or 1)
        if page and figures > room:
            yield tuple(page)
            page, room = [], FIGURES
        page.append(question)
        room -= figures
    yield tuple(page)


def _n_shown(item: Question) -> int:
    """Returns how many options of an item the page shows: the second of two mirrors the first."""
    return len(item.shared) - (len(item.shared) == 2)


def _page_with(pages: Sequence[Sequence[Question]], question_id: str | None) -> int:
    """Returns the index of the page with a question; the first page for None. Raises EstimateError for an unknown question."""
    if question_id is None:
        return 0
    for index, page in enumerate(pages):
        if any(question.id == question_id for question in page):
            return index
    raise EstimateError("question must be the id of one of the survey's questions")


class _GroupEstimates:
    """Estimates of some questions in each group. Only the tallies of the two compared groups are kept in memory."""

    def __init__(self, survey: Survey, pair: tuple[str, str], interval: Interval, others: int, questions: Sequence[Question]) -> None:
        """Starts without a group. others: the number of groups that are compared with the first of the pair."""
        self._survey, self._pair, self._interval, self._others, self._questions = survey, pair, interval, others, questions
        items = [item for question in questions for item in question.items]
        self._tallies: dict[str, Tally] = {}
        self._rows: dict[str, dict[str, tuple[Row, ...]]] = {item.id: {} for item in items}
        self._means: dict[str, dict[str, MeanRow]] = {}
        self._figures: dict[str, dict[str, GroupFigures]] = {question.id: {} for question in questions}

    def add(self, group: str, tally: Tally) -> None:
        """Adds a group."""
        for question in self._questions:
            self._figures[question.id][group] = figures_of(self._survey, tally, question, self._interval, self._others)
            self._estimate(group, tally, question)
        if group in self._pair:
            self._tallies[group] = tally

    def _estimate(self, group: str, tally: Tally, question: Question) -> None:
        interval = self._interval
        for name, rows in groupby(share_rows(self._survey, tally, question.items, interval), lambda row: row.question):
            self._rows[name][group] = tuple(rows)
        for row in mean_rows(self._survey, tally, items=question.items, confidence=interval.confidence, target=interval.target):
            self._means.setdefault(row.question, {})[group] = row

    def question(self, question: Question) -> GroupedQuestion:
        """Returns a question by group, after all groups were added."""
        labels = question.labels or ("",)
        items = tuple(self._item(item, label) for item, label in zip(question.items, labels, strict=True))
        means = self._means.get(question.id)
        differences = against(self._pair[0], question, self._interval, self._others, self._figures[question.id])
        return GroupedQuestion(question, items, self._mean(question, means) if means else None, differences)

    def _item(self, item: Question, label: str) -> GroupedItem:
        rows, comparison = self._rows[item.id], None
        if item.shared == item.categories and all(rows[group][0].estimate is not None for group in self._pair):
            first, second = (self._tallies[group] for group in self._pair)
            confidence, target = self._interval.confidence, self._interval.target
            comparison = compare(self._survey, first, second, item.id, confidence=confidence, target=target)
        return GroupedItem(label, tuple(item.categories), rows, comparison)

    def _mean(self, question: Question, means: Mapping[str, MeanRow]) -> GroupedMean:
        first, second = (estimate_of(means[group]) for group in self._pair)
        change = None
        if first and second:
            with suppress(EstimateError):  # no error in either: too few reports
                change = difference(second, first, what=f"mean of {question.id}: second less first")
        return GroupedMean(means, change)
