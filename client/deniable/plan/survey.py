"""A whole survey before it starts: how precise every question will be, what will show, and what privacy costs."""

from __future__ import annotations

import math
from dataclasses import asdict, astuple, dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any

from deniable.errors import EstimateError
from deniable.estimate.present.table import Table
from deniable.estimate.present.tabular import Tabular
from deniable.mechanism import Channel
from deniable.plan import power, precision
from deniable.plan.precision import NO_PRIVACY, check_count, check_inside, check_probability, curator, private
from deniable.plan.tables import tables_of
from deniable.privacy.accounting import posterior
from deniable.survey import Survey

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True)
class QuestionPlan:
    """What to expect of one question; all shares and widths as fractions of 1.

    options: its categories. epsilon: its exact privacy loss. phi, theta: P(bit set | another category), P(bit set |
    this category). respondents: reports that this row is about. share: the
    true share that errors and widths are for. std_error, half_width: by formula, as used to find respondents from a
    half-width; expected_half_width: half the mean width of the interval that an estimate will really have.
    half_width_no_privacy, half_width_curator: of the same people with the two other designs.
    respondents_no_privacy, respondents_curator: people with whom those are as precise as the coins are here.
    smallest_share: that a one-sided 5 % test tells from 0 in 80 % of surveys. smallest_difference: around one half,
    between two groups that are half of the respondents each, that a two-sided 5 % test finds in 80 % of surveys.
    Both are None where not even the largest would show. smallest_group: people in a subgroup for whom the half-width
    reaches the plan's group_half_width. chance_negative: of an estimate below 0 where the true share is the plan's `rare`.
    """

    question: str
    options: int
    epsilon: float
    phi: float
    theta: float
    respondents: int
    share: float
    std_error: float
    half_width: float
    expected_half_width: float
    half_width_no_privacy: float
    half_width_curator: float
    respondents_no_privacy: int
    respondents_curator: int
    smallest_share: float | None
    smallest_difference: float | None
    smallest_group: int
    chance_negative: float


@dataclass(frozen=True)
class Plan(Tabular):
    """The plan of one survey. `n` respondents are given, or enough for `half_width` in every question.

    epsilon: of a whole submission. belief: the most that 50 % belief in something about a person can become by
    seeing all that the server has. share, group_half_width, rare: as in `plan`. rows: the questions in order.
    """

    survey: str
    title: str
    epsilon: float
    belief: float
    n: int
    half_width: float | None
    confidence: float
    share: float | None
    group_half_width: float
    rare: float
    rows: tuple[QuestionPlan, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; the rows come last."""
        return asdict(self)

    def tables(self) -> tuple[Table, ...]:
        """Two tables, and what their columns mean."""
        return tables_of(self)

    def records(self) -> tuple[Table, ...]:
        """One row a question: the fields of `rows`."""
        return (Table("question", tuple(field.name for field in fields(QuestionPlan)), tuple(map(astuple, self.rows))),)

    def plot(self) -> alt.LayerChart:
        """An Altair chart of the least precise question: half-width against respondents, for the three designs.

        `.save("plan.svg")` or `.save("plan.png")` writes it without a browser. Raises EstimateError where the extra
        `deniable[plot]` is missing.
        """
        try:
            from deniable.plan.chart import chart
        except ModuleNotFoundError as error:
            raise EstimateError(f"charts need {error.name}: pip install 'deniable[plot]'") from None
        return chart(self)

    @property
    def least_precise(self) -> QuestionPlan:
        """The question that needs the most respondents."""
        return max(self.rows, key=lambda row: row.std_error * math.sqrt(row.respondents))


def plan(
    survey: Survey,
    *,
    n: int | None = None,
    half_width: float | None = None,
    confidence: float = 0.95,
    share: float | None = None,
    group_half_width: float = 0.10,
    rare: float = 0.05,
) -> Plan:
    """Says what n respondents will tell, or how many respondents a half-width takes; give one of the two.

    half_width: wanted for the share of any option, a fraction (0.03 is three points). confidence: of the intervals.
    share: the true share to plan for, or None for the one that is hardest to estimate. group_half_width: what a
    subgroup's estimate should have. rare: the share for which the chance of a negative estimate is given.
    Raises EstimateError.
    """
    if (n is None) == (half_width is None):
        raise EstimateError("n or half_width must be given, and not both")
    if n is not None:
        check_count("n", n)
    check_probability("rare", rare)
    check_inside("group_half_width", group_half_width)

    part = 1.0 if survey.ask is None else survey.ask / len(survey.blocks)  # of the respondents, who are asked a question

    @cache
    def values(channel: Channel) -> dict[str, Any]:
        each = (
            max(1, int(n * part)) if n else precision.sample_size(private(channel), half_width or 0.0, confidence=confidence, share=share)
        )
        return _values(channel, each, confidence, share, group_half_width, rare)

    rows = tuple(QuestionPlan(question=q.id, **values(q.channel)) for q in survey.items)
    needed = n or math.ceil(max(row.respondents for row in rows) / part)
    belief = posterior(0.5, survey.epsilon)[1]
    return Plan(survey.id, survey.title, survey.epsilon, belief, needed, half_width, confidence, share, group_half_width, rare, rows)


def _values(channel: Channel, n: int, confidence: float, share: float | None, group_half_width: float, rare: float) -> dict[str, Any]:
    """A row without its question's name."""
    coins, trusted = private(channel), curator(channel.epsilon)
    half = precision.half_width(coins, n, confidence=confidence, share=share)

    def as_precise(design: precision.Mechanism) -> int:
        return precision.sample_size(design, min(half, 1 - 1e-9), confidence=confidence, share=share)

    return {
        "options": channel.k,
        "epsilon": channel.epsilon,
        "phi": coins.q0,
        "theta": coins.q1,
        "respondents": n,
        "share": coins.hardest_share if share is None else share,
        "std_error": precision.std_error(coins, n, share),
        "half_width": half,
        "expected_half_width": precision.expected_half_width(coins, n, confidence=confidence, share=share),
        "half_width_no_privacy": precision.half_width(NO_PRIVACY, n, confidence=confidence, share=share),
        "half_width_curator": precision.half_width(trusted, n, confidence=confidence, share=share),
        "respondents_no_privacy": as_precise(NO_PRIVACY),
        "respondents_curator": as_precise(trusted),
        "smallest_share": power.smallest_share(coins, n),
        "smallest_difference": power.smallest_difference(coins, max(1, n // 2)),
        "smallest_group": precision.sample_size(coins, group_half_width, confidence=confidence, share=share),
        "chance_negative": precision.chance_negative(coins, n, rare),
    }
