"""Results of a survey from its tally: the share of every option of every question."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from deniable.estimate.checks import plausibility
from deniable.estimate.checks.made_up_reports import made_up
from deniable.estimate.limits.interval import DEFAULT_METHOD, Interval
from deniable.estimate.limits.origin import Origin
from deniable.estimate.limits.proportion import Share, proportion
from deniable.estimate.moments import applicability, counts
from deniable.estimate.moments.shrinkage import adjusted
from deniable.estimate.samples.cluster_note import as_if_alone
from deniable.estimate.samples.sample import Sample
from deniable.estimate.samples.sampled_reports import SampledReports, as_sampled, together
from deniable.estimate.tables import respondents, sampled
from deniable.estimate.tables.results import Results, Row
from deniable.estimate.tables.survey_means import mean_rows
from deniable.mechanism import Window
from deniable.survey import Survey
from deniable.survey.layout import Field
from deniable.survey.question import Question
from deniable.wire.tally import Tally


def estimate(
    survey: Survey,
    reports: Tally | Mapping[str, Tally],
    *,
    confidence: float = 0.95,
    method: str = DEFAULT_METHOD,
    target: str = "population",
    simultaneous: bool = False,
    sample: Sample | None = None,
) -> Results:
    """Estimates the share of every option of every question from the tally of a survey's reports.

    A tally of no reports gives rows without estimates.

    Args:
        survey: The survey as published.
        reports: The tally of all reports, or a tally for each of the survey's public groups.
        confidence: As in `share`.
        method: As in `share`.
        target: As in `share`. For "respondents", if devices drew the questions, the draw is a part of the error, and for a number its
            rounding.
        simultaneous: Whether the intervals of a question's options (of a multiple choice: of all its items) hold together with probability
            `confidence` (Bonferroni), instead of each by itself.
        sample: How people were drawn, if not each by itself out of many; it needs the tallies of the groups.

    Raises:
        EstimateError: An argument breaks its rule, or the tally is not one of this survey.
    """
    interval = Interval(confidence, method, target)
    draws = as_sampled(survey, reports, sample)
    tally = reports if isinstance(reports, Tally) else together(reports)
    counts.check(survey, tally)
    if draws:
        interval = draws.about(interval)
    level = plausibility.level(q.channel.outputs for q in survey.items)
    origin = draws.origin if draws else Origin(counts.people_of(tally), survey.digest)
    request = _Request(replace(interval, everybody=tally.n), level, origin, draws, _families(survey) if simultaneous else {})
    rows = tuple(row for place in survey.record.fields for row in _rows(survey, tally, place, request))
    means = mean_rows(survey, tally, confidence=confidence, target=target, reports=draws)
    head = (survey.id, survey.title, survey.digest, tally.n, survey.epsilon)
    words = draws.words if draws else as_if_alone(survey, {} if isinstance(reports, Tally) else reports)
    return Results(*head, rows, simultaneous, means=means, made_up=made_up(survey, tally), sample=words)


def share_rows(survey: Survey, tally: Tally, items: Collection[Question], interval: Interval) -> tuple[Row, ...]:
    """Returns the rows that `estimate` has for some items of the survey, computed for these alone. Raises EstimateError as it does."""
    origin = Origin(counts.people_of(tally), survey.digest)
    request = _Request(replace(interval, everybody=tally.n), plausibility.level(q.channel.outputs for q in survey.items), origin)
    return tuple(row for item in items for row in _rows(survey, tally, counts.place_of(survey, item.id), request))


@dataclass(frozen=True)
class _Request:
    interval: Interval
    false_alarm: float
    origin: Origin
    sampled_reports: SampledReports | None = None
    families: Mapping[str, int] = field(default_factory=dict)

    def for_options(self, item: Question) -> Interval:
        """Returns the interval of each of an item's options; if requested, all intervals of the question hold together."""
        each = respondents.about(self.interval, self.interval.everybody, [item])
        size = self.families.get(item.id, 1)
        return replace(each, confidence=1 - each.alpha / size) if size > 1 else each


def _families(survey: Survey) -> dict[str, int]:
    """Returns the number of intervals of each item's question that are not redundant.

    The two intervals of two options are mirror images and count once; a multiple choice has an item for each of its options.
    """
    sizes = {question.id: sum(1 if item.k == 2 else item.k for item in question.items) for question in survey.questions}
    return {item.id: sizes[question.id] for question in survey.questions for item in question.items}


def _rows(survey: Survey, tally: Tally, place: Field, request: _Request) -> Iterator[Row]:
    question = place.item
    if not (tally.n if place.mask is None else tally.pairs[place.mask, place.mask]):  # no report was asked
        for option in question.shared:
            yield _row(question, option, None, None, request, plausibility.NO_REPORTS)
        return
    _, n, ones = counts.counts(survey, tally, question.id)
    phi, theta = float(question.channel.phi), float(question.channel.theta)
    note = applicability.LEVELS_NOTE if applicability.on_grid(question) else ""
    each = request.for_options(question)
    if request.sampled_reports and request.sampled_reports.takes_as_known(question.id):
        for option in question.categories:
            yield _row(question, option, None, None, request, sampled.KNOWN)
        return
    if isinstance(question.channel, Window):  # its levels have no shares, only a mean
        ones, note = ones[ones.size - len(question.shared) :], ""
    if request.sampled_reports:
        result = sampled.shares(request.sampled_reports, question, each)
    else:
        result = tuple(proportion(count, n, phi, theta, each) for count in ones.tolist())
    if isinstance(question.channel, Window):
        fitted = np.clip([one.estimate for one in result], 0.0, 1.0)
    else:
        fitted = sampled.adjusted_shares(request.sampled_reports, question) if request.sampled_reports else adjusted(ones, n, phi, theta)
    for option, one, possible in zip(question.shared, result, fitted.tolist(), strict=True):
        remark = plausibility.remark(one.ones, n, phi, theta, request.false_alarm)
        yield _row(question, option, one, possible, request, "; ".join(filter(None, [remark, note])))


def _row(question: Question, option: str, one: Share | None, fitted: float | None, request: _Request, warning: str) -> Row:
    return Row(
        question=question.id,
        option=option,
        n=one.n if one else 0,
        ones=one.ones if one else 0,
        estimate=one.estimate if one else None,
        std_error=one.std_error if one else None,
        low=one.low if one else None,
        high=one.high if one else None,
        adjusted=fitted,
        epsilon=question.epsilon,
        confidence=request.interval.confidence,
        method=one.method if one else request.interval.method,
        target=request.interval.target,
        chance_rate=float(question.channel.phi),
        warning=warning,
        origin=replace(request.origin, question=question.id, option=option, level=request.for_options(question).confidence),
    )
