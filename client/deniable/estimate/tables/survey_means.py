"""Means of all questions of a survey that have scores."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress

from deniable.errors import EstimateError
from deniable.estimate.checks import plausibility
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.normal import Estimate
from deniable.estimate.samples.sampled_reports import SampledReports
from deniable.estimate.tables import sampled
from deniable.estimate.tables.means import mean
from deniable.estimate.tables.results import MeanRow
from deniable.survey import Survey
from deniable.survey.question import Question
from deniable.wire.tally import Tally

_TOO_FEW = "too few answered this question to give a mean of those who did"


def scores_of(question: Question) -> list[float | None] | None:
    """Returns a score for each category, None for no answer; None if the question has no scores."""
    if question.scores is None:
        return None
    return [*question.scores, *[None] * (question.k - len(question.scores))]


def mean_rows(
    survey: Survey,
    tally: Tally,
    *,
    items: Collection[Question] | None = None,
    confidence: float = 0.95,
    target: str = "population",
    reports: SampledReports | None = None,
) -> tuple[MeanRow, ...]:
    """Returns the mean of every scale and number, in order, among people who answered; without a mean, a row with the reason.

    Args:
        survey: The survey as published.
        tally: The counted reports.
        items: The items to compute, by default all.
        confidence: The confidence of the limits.
        target: "population" or "respondents".
        reports: The reports with their sampling design, if there is one.
    """
    interval = Interval(confidence, target=target)
    scored = [(item, scores) for item in (survey.items if items is None else items) if (scores := scores_of(item)) is not None]
    of_sample = [] if reports is None else [item.id for item, _ in scored if reports.takes_as_known(item.id)]

    def mean_of(item: Question, scores: list[float | None]) -> Estimate:
        if reports is not None:
            return sampled.mean(reports, item.id, scores, interval)
        return mean(survey, tally, item.id, scores, confidence=interval.confidence, target=interval.target)

    return tuple(_row(tally, item, scores, interval, mean_of) for item, scores in scored if item.id not in of_sample)


def estimate_of(row: MeanRow) -> Estimate | None:
    """Returns the estimate in a row of a mean, or None without a mean."""
    if row.mean is None or row.std_error is None or row.low is None or row.high is None:
        return None
    figures = row.mean, row.std_error, row.low, row.high
    return Estimate(f"mean of {row.question}", row.n, *figures, row.confidence, row.target, row.warning, origin=row.origin)


def _row(
    tally: Tally,
    item: Question,
    scores: list[float | None],
    interval: Interval,
    mean_of: Callable[[Question, list[float | None]], Estimate],
) -> MeanRow:
    one: Estimate | None = None
    with suppress(EstimateError):  # no reports, or too few that answered for a mean among them
        one = mean_of(item, scores)
    present = [score for score in scores if score is not None]
    epsilon, ends = item.epsilon, (min(present), max(present))
    if one and None in scores and (one.low, one.high) == ends:  # possibly no respondent answered
        one = None
    if one is None:
        empty = plausibility.NO_REPORTS if not tally.n else _TOO_FEW
        return MeanRow(item.id, tally.n, None, None, None, None, epsilon, interval.confidence, interval.target, *ends, empty)
    figures = one.estimate, one.std_error, one.low, one.high
    return MeanRow(item.id, one.n, *figures, epsilon, one.confidence, one.target, *ends, one.warning, origin=one.origin)
