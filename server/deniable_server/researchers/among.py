"""Results among people with one true answer: the selection, and a card for each question.

Disclosure control: everything here is computed from the tally that a cross table of the same records uses, and with its numbers. The
records are selected by `records_of`, which checks the minimum, the group and the batches before anything is computed or taken from the
cache. So the page releases nothing that cross tables do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deniable.errors import EstimateError
from deniable.estimate import MeanRow
from deniable.estimate.tables.subpopulation import AnswerFilter, ShareAmong, Subpopulation, answers_of
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable_server.pages.chart import ChartAxis
from deniable_server.pages.figures import Figure, of_mean, of_share
from deniable_server.pages.paging import Paging
from deniable_server.researchers.crosstabs import MOST_CELLS
from deniable_server.researchers.question_cards import axis_of
from deniable_server.results.analysis import analyse_records, require_records
from deniable_server.results.results import Records, interval_of, records_of
from deniable_server.store.protocol import Store

MOST_CELLS_OF_PAGE = 10_000
"""Cells of all cross tables of a page, about two seconds of computing; further questions are for the command line."""
TOO_LARGE = "the cross table with the filter is too large for this page: use the command line"
_MOST_IN_SENTENCE = 5  # options


@dataclass(frozen=True)
class AmongCard:
    """A question among the people of a subpopulation.

    Attributes:
        rows: The options with an estimate; of a multiple choice, the share that chose each option.
        mean: The mean of a question with scores.
        refusals: Why figures are missing, and other warnings, each text once.
    """

    question: Question
    rows: tuple[ShareAmong, ...]
    mean: MeanRow | None
    refusals: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of records with the filter and this question; 0 without estimates."""
        return max([*(row.n for row in self.rows), *([self.mean.n] if self.mean else [])], default=0)

    @property
    def axis(self) -> ChartAxis | None:
        """Axis of the mean, from the lowest score to the highest."""
        return axis_of(self.question)

    @property
    def sentences(self) -> tuple[tuple[str, Figure], ...]:
        """The figures of the summary sentence, as (option, figure): the mean, one of two options, or few options; else empty."""
        if self.mean and self.axis:
            mean = of_mean(self.mean)
            return (("", mean),) if mean else ()
        rows = self.rows[:1] if len(answers_of(self.question.items[0])) == 2 and not self.question.labels else self.rows
        shares = tuple((row.option, share) for row in rows if (share := of_share(row)))
        return shares if len(shares) <= _MOST_IN_SENTENCE else ()


@dataclass(frozen=True)
class AmongPage:
    """The questions of a page among the people of a subpopulation.

    Attributes:
        people: The library's figures, for the downloads.
        cards: The cards, in the order of the survey.
    """

    people: Subpopulation
    cards: tuple[AmongCard, ...]


def filter_questions(survey: Survey) -> list[Question]:
    """Returns the questions whose answers can select people: all except numbers that were rounded."""
    return [question for question in survey.questions if not any(item.rounds for item in question.items)]


def answer_filter(survey: Survey, options: Mapping[str, str]) -> AnswerFilter | None:
    """Returns the selected answer, or None if no question is selected.

    Args:
        survey: The survey.
        options: among, the id of a question; answer, by default the first; of: the question whose answer it is. If that is another
            question, since a form was sent with a new question and the old answer, the first answer is selected.

    Raises:
        EstimateError: An option is invalid.
    """
    if not (name := options.get("among", "")):
        return None
    question = next((one for one in filter_questions(survey) if one.id == name), None)
    if question is None:
        raise EstimateError(f"among must be the id of a question of survey {survey.id} that is no rounded number")
    answers = choices(question)
    answer = options.get("answer", "") if options.get("of", name) == name else ""
    if answer and answer not in answers:
        raise EstimateError(f"answer must be one of the answers to the question, such as {answers[0]}")
    return AnswerFilter.of(survey, name, answer or answers[0])


def choices(question: Question) -> tuple[str, ...]:
    """Returns the answers to a question of the survey file that can select people; of a multiple choice, its options."""
    return question.labels or answers_of(question)


def among_page(store: Store, survey_id: str, options: Mapping[str, str], among: AnswerFilter, paging: Paging) -> AmongPage:
    """Returns the figures of the questions of a page, computed once for the same counts and options.

    Args:
        store: The server's store.
        survey_id: The survey.
        options: As in `results_of`.
        among: The people.
        paging: The page.

    Raises:
        EstimateError: An option is invalid, or the share of these people is not clearly above 0.
        NoRecordsError: No records are counted.
        WithheldError: There are too few records.
    """
    selected, interval = records_of(store, survey_id, options), interval_of(options)
    require_records(selected.n)
    key = "among", selected.group, interval, among.question, among.option, paging
    return selected.release.compute_once(key, lambda: _page(selected, options, among, paging))


def people_of(store: Store, survey_id: str, options: Mapping[str, str], among: AnswerFilter, question: str) -> Subpopulation:
    """Returns the figures of one question. Raises what `among_page` raises; EstimateError for an unknown question."""
    selected = records_of(store, survey_id, options)
    items = [item for one in selected.survey.questions if one.id == question for item in one.items if item.id != among.item.id]
    if any(item.k * among.item.k > MOST_CELLS for item in items):
        raise EstimateError(f"question {question}: {TOO_LARGE}")
    return analyse_records(selected, interval_of(options)).among(among.question, among.option, questions=[question])


def _page(selected: Records, options: Mapping[str, str], among: AnswerFilter, paging: Paging) -> AmongPage:
    questions, room, fitting = paging.part(selected.survey.questions), MOST_CELLS_OF_PAGE, list[str]()
    for question in questions:
        cells = [item.k * among.item.k for item in question.items if item.id != among.item.id and item.shared == item.categories]
        if sum(cells) <= room and max(cells, default=0) <= MOST_CELLS:
            room -= sum(cells)
            fitting.append(question.id)
    people = analyse_records(selected, interval_of(options)).among(among.question, among.option, questions=fitting)
    others = [question for question in questions if question.id != among.question or question.labels]
    cards = (_card(question, people, question.id in fitting) for question in others)
    return AmongPage(people, tuple(card for card in cards if card.rows or card.mean or card.refusals))


def _card(question: Question, people: Subpopulation, fits: bool) -> AmongCard:
    if not fits:
        return AmongCard(question, (), None, (TOO_LARGE,))
    if question.id not in people:
        return AmongCard(question, (), None, ())
    figures = people[question.id]
    labels = {item.id: label for item, label in zip(question.items, question.labels, strict=True)} if question.labels else {}
    rows = tuple(row for row in figures.rows if not labels or row.option == question.items[0].categories[0])
    mean = next(iter(figures.means), None)
    warnings = dict.fromkeys(warning for warning in (*(row.warning for row in rows), *(row.warning for row in figures.means)) if warning)
    if question.levelled and mean is not None:  # levels are not options: their shares are refused, and the mean is the figure
        rows, warnings = (), dict.fromkeys([mean.warning] if mean.warning else [])
    estimated = tuple(_labelled(row, labels.get(row.question)) for row in rows if row.estimate is not None)
    return AmongCard(question, estimated, mean if mean and mean.mean is not None else None, tuple(warnings))


def _labelled(row: ShareAmong, label: str | None) -> ShareAmong:
    return row if label is None else ShareAmong(**{**vars(row), "option": label})


def shared_refusals(cards: Sequence[AmongCard]) -> tuple[str, ...]:
    """Returns the refusals that all cards share, for one place on the page; empty if a card has a figure."""
    if not cards or any(card.rows or card.mean for card in cards):
        return ()
    first = cards[0].refusals
    return first if all(card.refusals == first for card in cards) else ()
