"""Plan of a whole survey before it starts: the precision of every question, its power, and the price of privacy."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from deniable.errors import EstimateError
from deniable.mechanism import Channel, Window
from deniable.plan import power, precision
from deniable.plan.checked import check_confidence, check_count, check_half_width, check_probability, check_sizes
from deniable.plan.clusters import cluster_half_width, effective_people
from deniable.plan.figures import cell_half_width, difference_half_width
from deniable.plan.means import mean_half_width
from deniable.plan.precision import NO_PRIVACY, curator, private
from deniable.plan.result import Plan, QuestionPlan, SlopePlan
from deniable.plan.slopes import SlopeOf, logit_slope
from deniable.privacy.posterior import people, posterior_bound
from deniable.survey import Survey
from deniable.survey.question import Question

PUBLIC = "group"
"""What a survey's public groups are called as a predictor."""


def plan(
    survey: Survey,
    *,
    n: int | None = None,
    half_width: float | None = None,
    confidence: float = 0.95,
    share: float | None = None,
    group_half_width: float = 0.10,
    rare: float = 0.05,
    groups: tuple[int, int] | None = None,
    clusters: int | None = None,
    rho: float | None = None,
    slope: SlopeOf | None = None,
) -> Plan:
    """Plans a survey of n respondents, or of enough respondents for a half-width; give one of the two.

    half_width: wanted for the share of any option, a fraction (0.03 is three points). confidence: of the intervals.
    share: the true share to plan for, or None for the hardest to estimate. group_half_width: wanted for a
    subgroup's estimate. rare: the share for the chance of a negative estimate. groups: how many of the
    respondents are in each of two groups to be compared, or None for half of them in each. clusters: the number of clusters, such
    as clinics; rho: how the answers of two people of one correlate (see `plan.clusters`). slope: of a logit model of one question on
    another (see `plan.slopes`). Raises EstimateError.
    """
    if (n is None) == (half_width is None):
        raise EstimateError("n or half_width must be given, and not both")
    n = None if n is None else check_count("n", n)
    half_width = None if half_width is None else check_half_width(half_width)
    share = None if share is None else check_probability("share", share)
    confidence, rare = check_confidence(confidence), check_probability("rare", rare)
    group_half_width = check_half_width(group_half_width, "group_half_width")

    part = _part_asked(survey)
    pairs = _part_asked_another(survey)
    if (clusters is None) != (rho is None) or (clusters is not None and n is None):
        raise EstimateError("clusters, rho and n must be given together")
    item = None if groups is None else tuple(max(1, int(size * part)) for size in check_sizes(groups))
    target = _Wanted(confidence, share, group_half_width, rare, pairs, item, None if clusters is None else (clusters, rho or 0.0))

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
    about = (survey.id, survey.title, survey.epsilon, belief, needed, half_width, confidence, share, group_half_width, rare)
    planned = None if slope is None else _slope(survey, slope, needed, confidence)
    return Plan(*about, groups, clusters, rho, planned, rows, coins)


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
            f"the slope's questions must be asked together of somebody, got {n:,} people who are asked {survey.ask} of them"
        )
    figures = logit_slope(
        people, of.shares, of.predictor_share, outcome=coins[of.outcome], predictor=coins.get(of.predictor), confidence=confidence
    )
    openly = logit_slope(people, of.shares, of.predictor_share, confidence=confidence)
    message = (figures.slope, figures.std_error, figures.half_width, openly.half_width, figures.power, figures.refused)
    return SlopePlan(of.outcome, of.predictor, of.shares, of.predictor_share, people, *message)


def people_needed(survey: Survey, half_width: float = 0.10, *, confidence: float = 0.95, rough: bool = False) -> int:
    """Returns how many people must answer for every share of every question to have this half-width (0.10 is ten points either way).

    The less privacy a question takes, the fewer. rough: at once, from the standard error alone; if intervals are clipped at 0 and 1, as
    with few people, that is somewhat too many. Raises EstimateError.
    """
    half_width, confidence = check_half_width(half_width), check_confidence(confidence)
    channels = {item.channel for item in survey.items}
    one = _rough_size if rough else _sample_size
    return math.ceil(max(one(channel, half_width, confidence) for channel in channels) / _part_asked(survey))


def half_width_of(survey: Survey, n: int, *, confidence: float = 0.95, rough: bool = False) -> float:
    """Returns the largest half-width of a share of any question for n people, at least 1.

    It is the plan's, before any estimate: the same for all answers. rough: as in `people_needed`, somewhat
    too large. Raises EstimateError.
    """
    definition = max(1, int(check_count("n", n) * _part_asked(survey)))
    channels = {item.channel for item in survey.items}
    if rough:
        return max(min(0.5, precision.half_width(private(channel), definition, confidence=confidence)) for channel in channels)
    return max(_half_width(channel, definition, confidence) for channel in channels)


def _rough_size(channel: Channel, half_width: float, confidence: float) -> int:
    return precision.fewest(lambda n: precision.half_width(private(channel), n, confidence=confidence) <= half_width)


@lru_cache(maxsize=4096)  # up to half a second of computing, which a page of many surveys asks for again and again
def _sample_size(channel: Channel, half_width: float, confidence: float) -> int:
    return precision.sample_size(private(channel), half_width, confidence=confidence)


@lru_cache(maxsize=4096)
def _half_width(channel: Channel, n: int, confidence: float) -> float:
    return precision.planned_half_width(private(channel), n, confidence=confidence)


def _part_asked(survey: Survey) -> float:
    """Returns the part of the respondents who are asked a question."""
    return 1.0 if survey.ask is None else survey.ask / len(survey.blocks)


def _part_asked_another(survey: Survey) -> float:
    """Returns the part of the people who are asked a question that are asked another one too."""
    return 1.0 if survey.ask is None else (survey.ask - 1) / max(1, len(survey.blocks) - 1)


@dataclass(frozen=True)
class _Wanted:
    confidence: float
    share: float | None
    group_half_width: float
    rare: float
    pairs: float
    groups: tuple[int, ...] | None
    clusters: tuple[int, float] | None

    def compared(self, n: int) -> int | tuple[int, int]:
        """Returns the two groups of n people who are asked, as `power_of_difference` takes them."""
        return max(1, n // 2) if self.groups is None else (self.groups[0], self.groups[1])


def _row(question: Question, values: Mapping[str, Any], epsilon: float, confidence: float) -> QuestionPlan:
    """Returns the row of a question: the channel's values with its name, its part of the survey's epsilon, and its scores."""
    mean: dict[str, float | None] = dict.fromkeys(("mean_half_width", "scale_low", "scale_high"))
    if (scores := question.scores) is not None:
        half = mean_half_width(question.channel, scores, values["respondents"], confidence=confidence)
        mean = {"mean_half_width": half, "scale_low": min(scores), "scale_high": max(scores)}
    return QuestionPlan(question=question.id, part=question.channel.epsilon / epsilon, **{**values, **mean})


def _values(channel: Channel, n: int, wanted: _Wanted) -> dict[str, Any]:
    """Returns the values that questions of one channel have in common."""
    coins, trusted, of_people, confidence = private(channel), curator(channel.epsilon), people(channel), wanted.confidence
    share = precision.widest_share(coins, n, confidence=confidence) if wanted.share is None else wanted.share
    half = precision.planned_half_width(coins, n, confidence=confidence, share=wanted.share if coins.number else share)
    both = 0 if isinstance(channel, Window) else int(n * wanted.pairs)  # of a window's levels there are no cells

    def of(design: precision.Mechanism) -> float:
        return precision.planned_half_width(design, n, confidence=confidence, share=wanted.share)

    def as_precise(design: precision.Mechanism) -> int:
        return precision.sample_size(design, min(half, 1 - 1e-9), confidence=confidence, share=wanted.share)

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
        "difference_half_width": difference_half_width(coins, wanted.compared(n), confidence=confidence, share=wanted.share),
        "cell_half_width": cell_half_width(channel, channel, both, confidence=confidence) if both else None,
        **_in_clusters(coins, n, wanted),
        "smallest_share": _smallest(power.smallest_share, coins, n, confidence),
        "smallest_difference": _smallest(power.smallest_difference, coins, wanted.compared(n), confidence),
        "smallest_group": precision.within_most(
            lambda: precision.sample_size(coins, wanted.group_half_width, confidence=confidence, share=wanted.share)
        ),
        "chance_negative": None if coins.number else precision.chance_negative(coins, n, wanted.rare),
    }


def _smallest(of: Callable[..., float | None], coins: precision.Mechanism, n: int | tuple[int, int], confidence: float) -> float | None:
    """Returns the smallest share or difference that shows at this confidence; 0 where so little confidence lets any show by chance."""
    try:
        return of(coins, n, alpha=1 - confidence)
    except EstimateError:
        return 0.0


def _in_clusters(coins: precision.Mechanism, n: int, wanted: _Wanted) -> dict[str, float | int | None]:
    if wanted.clusters is None:
        return {"cluster_half_width": None, "effective_people": None}
    half, people = (
        of(coins, n, *wanted.clusters, confidence=wanted.confidence, share=wanted.share) for of in (cluster_half_width, effective_people)
    )
    return {"cluster_half_width": half, "effective_people": int(people)}
