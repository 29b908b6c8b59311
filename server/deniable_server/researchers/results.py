"""From stored tallies to the estimates that pages, downloads and the API show."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from deniable.errors import EstimateError
from deniable.estimate import Comparison, Estimate, MeanRow, Results, Row, analyse, compare, difference
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable.wire.part import Part
from deniable.wire.tally import Tally
from deniable_server.store import protocol
from deniable_server.store.protocol import Published, Store


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

    items: one, or one for each option of a multiple choice. mean: of a question with scores.
    """

    question: Question
    items: tuple[Compared, ...]
    mean: ComparedMean | None

    @property
    def levels(self) -> bool:
        """Whether it is a number that was rounded to levels: its mean is right, and their shares are shown below it."""
        return self.question.rounds


@dataclass(frozen=True)
class Groups:
    """All groups' results, by label, and two of the groups, compared question by question."""

    results: Mapping[str, Results]
    first: str
    second: str
    questions: tuple[ComparedQuestion, ...]


def results_of(store: Store, survey_id: str, options: Mapping[str, str]) -> Results:
    """Estimates of all questions, shares and means.

    options: may hold confidence (0.95 by default), method and target; group, one of the survey's, for that one only; by_hand, 1 for
    the reports of those who answered with real coins, which are in no other results. Raises EstimateError naming what is wrong.
    """
    published = store.surveys.published(survey_id)
    survey = published.survey
    group, by_hand = _group(survey, "group", options.get("group") or None), _by_hand(survey, options.get("by_hand") or "0")
    confidence, method, target = _interval(options)
    apart = protocol.by_hand(survey, group)
    tally = store.submissions.tally(survey_id, apart if by_hand else protocol.estimated(survey, group))
    found = analyse(survey, tally, confidence=confidence, method=method, target=target).results
    if by_hand:
        return replace(found, group=group, by_hand=True, may_wait=may_wait(published, apart))
    counts = store.submissions.counts(survey_id)
    of_organisations = [part for part in protocol.estimated(survey, group) if part.mode == "organisation"]
    n_by_hand, n_organisation = counted(counts, apart), counted(counts, of_organisations)
    return replace(
        found,
        group=group,
        n_by_hand=n_by_hand,
        n_organisation=n_organisation,
        may_wait=may_wait(published, protocol.estimated(survey, group)),
    )


def counted(counts: Mapping[Part, int], parts: Collection[Part]) -> int:
    """How many records these parts have together."""
    return sum(counts.get(part, 0) for part in parts)


def may_wait(published: Published, parts: Collection[Part]) -> int:
    """How many records of these parts may have arrived and wait, at most: each part waits for a batch of its own.

    How many there are is not for anybody to know: who watched the number would see each arrival.
    """
    return len(parts) * (published.survey.batch - 1) if published.is_open else 0


def groups_of(store: Store, survey_id: str, options: Mapping[str, str]) -> Groups:
    """The groups of a survey that has some, compared. options: as above but for group and by_hand; first and second, two of the groups.

    Raises EstimateError naming what is wrong.
    """
    survey = store.surveys.published(survey_id).survey
    first = _group(survey, "first", options.get("first")) or survey.groups[0]
    second = _group(survey, "second", options.get("second")) or next(group for group in survey.groups if group != first)
    if first == second:
        raise EstimateError("second must be another group than first")
    common = {key: value for key, value in options.items() if key not in ("group", "by_hand")}
    results = {group: results_of(store, survey_id, {**common, "group": group}) for group in survey.groups}
    tallies = [store.submissions.tally(survey_id, protocol.estimated(survey, group)) for group in (first, second)]
    pair = _Pair(survey, (first, second), (tallies[0], tallies[1]))
    return Groups(results, first, second, tuple(_question(pair, question, results) for question in survey.questions))


@dataclass(frozen=True)
class _Pair:
    """The two groups that are compared, and their tallies."""

    survey: Survey
    groups: tuple[str, str]
    tallies: tuple[Tally, Tally]


def _question(pair: _Pair, question: Question, results: Mapping[str, Results]) -> ComparedQuestion:
    labels = question.labels or ("",)
    items = tuple(_compared(pair, item, label, results) for item, label in zip(question.items, labels, strict=True))
    means = {group: row for group, found in results.items() for row in found.means if row.question == question.id}
    return ComparedQuestion(question, items, _mean(pair, question, means) if means else None)


def _compared(pair: _Pair, item: Question, label: str, results: Mapping[str, Results]) -> Compared:
    rows = {group: tuple(row for row in found.rows if row.question == item.id) for group, found in results.items()}
    first, second = (rows[group][0] for group in pair.groups)
    if first.estimate is None or second.estimate is None:
        return Compared(item, label, rows, None)
    return Compared(item, label, rows, compare(pair.survey, *pair.tallies, item.id, confidence=first.confidence, target=first.target))


def _mean(pair: _Pair, question: Question, means: Mapping[str, MeanRow]) -> ComparedMean:
    first, second = (_estimate(means[group]) for group in pair.groups)
    scores = question.scores or (0.0,)
    span = scores[-1] - scores[0]
    found = None
    if first and second:
        with suppress(EstimateError):  # no error in either: too few reports
            found = difference(
                second, first, confidence=first.confidence, bounds=(-span, span), what=f"mean of {question.id}: second less first"
            )
    return ComparedMean(means, found)


def _estimate(row: MeanRow) -> Estimate | None:
    if row.mean is None or row.std_error is None or row.low is None or row.high is None:
        return None
    return Estimate(f"mean of {row.question}", row.n, row.mean, row.std_error, row.low, row.high, row.confidence, row.target, row.warning)


def _group(survey: Survey, name: str, label: str | None) -> str | None:
    if label is not None and not survey.groups:
        raise EstimateError(f"{name} must be left out: survey {survey.id} has no groups")
    if label is not None and label not in survey.groups:
        raise EstimateError(f"{name} must be one of the groups of survey {survey.id}: {', '.join(survey.groups)}")
    return label


def _by_hand(survey: Survey, written: str) -> bool:
    if written not in ("0", "1"):
        raise EstimateError("by_hand must be 1, or left out")
    if written == "1" and not survey.coins_can_answer:
        raise EstimateError(f"by_hand must be left out: two coins cannot answer survey {survey.id}")
    return written == "1"


def _interval(options: Mapping[str, str]) -> tuple[float, str, str]:
    try:
        confidence = float(options.get("confidence", "0.95"))
    except ValueError:
        raise EstimateError("confidence must be a number between 0 and 1") from None
    return confidence, options.get("method", "feldman-cousins"), options.get("target", "population")
