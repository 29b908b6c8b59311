"""Plan of a whole survey before it starts: the precision of every question, its power, and the price of privacy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from deniable.errors import EstimateError
from deniable.mechanism import Channel, Window
from deniable.plan import precision
from deniable.plan.arguments import check_confidence, check_count, check_half_width, check_probability, check_sizes
from deniable.plan.clusters import Clusters, cluster_half_width, effective_people
from deniable.plan.half_widths import cell_half_width, difference_half_width
from deniable.plan.means import mean_half_width
from deniable.plan.power import smallest_effect
from deniable.plan.precision import NO_PRIVACY, Mechanism, curator, private
from deniable.plan.result import Plan, QuestionPlan, SlopePlan
from deniable.plan.slopes import SlopeOf, logit_slope
from deniable.privacy.posterior import people, posterior_bound
from deniable.survey import Survey
from deniable.survey.question import Question

PUBLIC = "group"
"""Name of a survey's public groups as a predictor."""

GROUP_HALF_WIDTH = 0.10
"""The half-width that the column "smallest group" is for."""

RARE = 0.05
"""The true share that the chance of a negative estimate is for."""


def plan(
    survey: Survey,
    *,
    n: int | None = None,
    half_width: float | None = None,
    confidence: float = 0.95,
    share: float | None = None,
    groups: tuple[int, int] | None = None,
    clusters: Clusters | None = None,
    slope: SlopeOf | None = None,
) -> Plan:
    """Plans a survey of n respondents, or of enough respondents for a half-width; give one of the two.

    Args:
        survey: The survey.
        n: Respondents.
        half_width: The largest half-width of the share of any option, as a fraction (0.03 is three points).
        confidence: The confidence of the intervals.
        share: The true share to plan for, by default the hardest to estimate.
        groups: The sizes of two groups to compare, by default half of the respondents each.
        clusters: The clusters that the n respondents come from, such as clinics.
        slope: A slope of a logit model of one question on another.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    if (n is None) == (half_width is None):
        raise EstimateError("n or half_width must be given, and not both")
    n = None if n is None else check_count("n", n)
    half_width = None if half_width is None else check_half_width(half_width)
    share = None if share is None else check_probability("share", share)
    confidence = check_confidence(confidence)
    if clusters is not None and n is None:
        raise EstimateError("clusters must be used with n, not with half_width")
    part = _part_asked(survey)
    sizes = None if groups is None else tuple(max(1, int(size * part)) for size in check_sizes(groups))
    target = _Target(confidence, share, _part_asked_another(survey), sizes, clusters)

    @cache
    def values(channel: Channel) -> dict[str, Any]:
        coins = private(channel)
        each = max(1, int(n * part)) if n else precision.sample_size(coins, half_width or 0.0, confidence=confidence, share=share)
        return _values(channel, each, target)

    rows = tuple(_row(q, values(q.channel), survey.epsilon, confidence) for q in survey.items)
    needed = n or math.ceil(max(row.respondents for row in rows) / part)
    if groups is not None and sum(groups) > needed:
        raise EstimateError(f"groups must have at most the {needed:,} respondents together, got {sum(groups):,}")
    belief, coins = float(posterior_bound(survey.odds) / 100), tuple(private(question.channel) for question in survey.items)
    return Plan(
        survey=survey.id,
        title=survey.title,
        epsilon=survey.epsilon,
        belief=belief,
        n=needed,
        half_width=half_width,
        confidence=confidence,
        share=share,
        group_half_width=GROUP_HALF_WIDTH,
        rare=RARE,
        groups=groups,
        clusters=None if clusters is None else clusters.count,
        rho=None if clusters is None else clusters.rho,
        slope=None if slope is None else _slope(survey, slope, needed, confidence),
        rows=rows,
        coins=coins,
    )


def questions_of_slopes(survey: Survey) -> tuple[str, ...]:
    """Returns the ids of the questions that can be the outcome or the predictor of a planned slope: questions with two answers."""
    return tuple(item.id for item in survey.items if isinstance(item.channel, Channel) and item.channel.k == 2)


def _slope(survey: Survey, of: SlopeOf, n: int, confidence: float) -> SlopePlan:
    """Returns the slope for people who are asked both questions, if each person is asked a sample."""
    outcomes = questions_of_slopes(survey)
    predictors = (*outcomes, *([PUBLIC] if survey.groups else []))
    for what, name, names in (("outcome", of.outcome, outcomes), ("predictor", of.predictor, predictors)):
        if name not in names:
            raise EstimateError(f"the slope's {what} must be a question with two answers ({', '.join(names) or 'none here'}), got {name!r}")
    if of.outcome == of.predictor:
        raise EstimateError(f"the slope's predictor must be another question than its outcome, got {of.predictor!r} twice")
    coins = {item.id: item.channel for item in survey.items}
    people = int(n * _part_asked(survey) * (_part_asked_another(survey) if of.predictor in coins else 1.0))
    if not people:
        raise EstimateError(
            f"n is too small for the slope: no one of {n:,} people, asked {survey.ask} of the questions each, answers both of its questions"
        )
    figures = logit_slope(
        people, of.shares, of.predictor_share, outcome=coins[of.outcome], predictor=coins.get(of.predictor), confidence=confidence
    )
    openly = logit_slope(people, of.shares, of.predictor_share, confidence=confidence)
    precision_of_slope = (figures.slope, figures.std_error, figures.half_width, openly.half_width, figures.power, figures.refused)
    return SlopePlan(of.outcome, of.predictor, of.shares, of.predictor_share, people, *precision_of_slope)


def people_needed(survey: Survey, half_width: float = 0.10, *, confidence: float = 0.95, rough: bool = False) -> int:
    """Returns how many people must answer for every share of every question to have a half-width.

    Args:
        survey: The survey.
        half_width: The half-width (0.10 is ten points either way).
        confidence: The confidence of the intervals.
        rough: Whether to use the standard error alone, which takes no time. Where intervals are clipped at 0 and 1, as with few people,
            the result is somewhat too large.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    half_width, confidence = check_half_width(half_width), check_confidence(confidence)
    channels = {item.channel for item in survey.items}
    size = _rough_size if rough else _sample_size
    return math.ceil(max(size(channel, half_width, confidence) for channel in channels) / _part_asked(survey))


def half_width_of(survey: Survey, n: int, *, confidence: float = 0.95, rough: bool = False) -> float:
    """Returns the largest half-width of a share of any question for n people, before any estimate.

    Args:
        survey: The survey.
        n: Respondents, at least 1.
        confidence: The confidence of the intervals.
        rough: As in `people_needed`; the result is somewhat too large.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    reports = max(1, int(check_count("n", n) * _part_asked(survey)))
    channels = {item.channel for item in survey.items}
    if rough:
        return max(min(0.5, precision.normal_half_width(private(channel), reports, confidence=confidence)) for channel in channels)
    return max(_half_width(channel, reports, confidence) for channel in channels)


def _rough_size(channel: Channel, half_width: float, confidence: float) -> int:
    return precision.fewest(lambda n: precision.normal_half_width(private(channel), n, confidence=confidence) <= half_width)


@lru_cache(maxsize=4096)  # takes up to half a second, and a page of many surveys repeats it
def _sample_size(channel: Channel, half_width: float, confidence: float) -> int:
    return precision.sample_size(private(channel), half_width, confidence=confidence)


@lru_cache(maxsize=4096)
def _half_width(channel: Channel, n: int, confidence: float) -> float:
    return precision.share_half_width(private(channel), n, confidence=confidence)


def _part_asked(survey: Survey) -> float:
    """Returns the part of the respondents who are asked a question."""
    return 1.0 if survey.ask is None else survey.ask / len(survey.blocks)


def _part_asked_another(survey: Survey) -> float:
    """Returns the part of the people who are asked a question that are asked another one too."""
    return 1.0 if survey.ask is None else (survey.ask - 1) / max(1, len(survey.blocks) - 1)


@dataclass(frozen=True)
class _Target:
    """The target of a plan: its arguments, and the part of a question's respondents who are asked another one too."""

    confidence: float
    share: float | None
    pairs: float
    groups: tuple[int, ...] | None
    clusters: Clusters | None

    def sizes(self, n: int) -> tuple[int, int]:
        """Returns the sizes of the two groups among n people who are asked a question."""
        return (max(1, n // 2), max(1, n // 2)) if self.groups is None else (self.groups[0], self.groups[1])


def _row(question: Question, values: Mapping[str, Any], epsilon: float, confidence: float) -> QuestionPlan:
    """Returns the row of a question: the channel's values with its name, its part of the survey's epsilon, and its scores."""
    mean: dict[str, float | None] = dict.fromkeys(("mean_half_width", "scale_low", "scale_high"))
    if (scores := question.scores) is not None:
        half = mean_half_width(question.channel, scores, values["respondents"], confidence=confidence)
        mean = {"mean_half_width": half, "scale_low": min(scores), "scale_high": max(scores)}
    return QuestionPlan(question=question.id, part=question.channel.epsilon / epsilon, **{**values, **mean})


def _values(channel: Channel, n: int, target: _Target) -> dict[str, Any]:
    """Returns the values that questions of one channel have in common."""
    coins, trusted, of_people, confidence = private(channel), curator(channel.epsilon), people(channel), target.confidence
    share = precision.widest_share(coins, n, confidence=confidence) if target.share is None else target.share
    half = precision.share_half_width(coins, n, confidence=confidence, share=target.share if coins.number else share)
    both = 0 if isinstance(channel, Window) else int(n * target.pairs)  # a window's levels have no cells

    def of(design: Mechanism) -> float:
        return precision.share_half_width(design, n, confidence=confidence, share=target.share)

    def as_precise(design: Mechanism) -> int:
        return precision.sample_size(design, min(half, 1 - 1e-9), confidence=confidence, share=target.share)

    return {
        "options": channel.k,
        "people": of_people.of,
        "own": of_people.own,
        "other": of_people.other,
        "epsilon": channel.epsilon,
        "phi": coins.q0,
        "theta": coins.q1,
        "respondents": n,
        "share": share,
        "std_error": precision.std_error(coins, n, share),
        "half_width": half,
        "half_width_no_privacy": of(NO_PRIVACY),
        "half_width_curator": of(trusted),
        "respondents_no_privacy": as_precise(NO_PRIVACY),
        "respondents_curator": as_precise(trusted),
        "difference_half_width": difference_half_width(coins, target.sizes(n), confidence=confidence, share=target.share),
        "cell_half_width": cell_half_width(channel, channel, both, confidence=confidence) if both else None,
        **_in_clusters(coins, n, target),
        "smallest_share": _smallest_effect(coins, n, confidence),
        "smallest_difference": _smallest_effect(coins, target.sizes(n), confidence),
        "smallest_group": precision.within_most(
            lambda: precision.sample_size(coins, GROUP_HALF_WIDTH, confidence=confidence, share=target.share)
        ),
        "chance_negative": None if coins.number else precision.chance_negative(coins, n, RARE),
    }


def _smallest_effect(coins: Mechanism, n: int | tuple[int, int], confidence: float) -> float | None:
    """Returns the smallest share or difference that is found; 0 where so little confidence lets chance find any."""
    try:
        return smallest_effect(coins, n, alpha=1 - confidence)
    except EstimateError:
        return 0.0


def _in_clusters(coins: Mechanism, n: int, target: _Target) -> dict[str, float | int | None]:
    if target.clusters is None:
        return {"cluster_half_width": None, "effective_people": None}
    half, people = (
        of(coins, n, target.clusters, confidence=target.confidence, share=target.share) for of in (cluster_half_width, effective_people)
    )
    return {"cluster_half_width": half, "effective_people": int(people)}
