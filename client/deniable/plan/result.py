"""Plan of a survey: the expected precision of each question, and its tables."""

from __future__ import annotations

import math
from dataclasses import asdict, astuple, dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import EstimateError
from deniable.estimate.present.figures import between, two_digits
from deniable.estimate.present.table import Table
from deniable.estimate.present.tabular import Tabular
from deniable.extras import missing
from deniable.plan.precision import NO_PRIVACY, Mechanism, curator, share_half_width

if TYPE_CHECKING:
    import altair as alt

_POINTS = 24  # along each line of the chart
_SPAN = 30  # times fewer and times more respondents than planned


@dataclass(frozen=True)
class QuestionPlan:
    """Expected precision of one question; shares and half-widths as fractions of 1.

    Attributes:
        question: The id of the question.
        options: The number of categories.
        part: The part of the survey's epsilon.
        people: The unit of `own` and `other`, such as 100 people.
        own: Of `people` who give an answer, those with it in their record.
        other: Of `people` who give another answer, those with it in their record.
        epsilon: The exact privacy loss.
        phi: P(bit set | another category).
        theta: P(bit set | this category).
        respondents: Reports about the question.
        share: The true share that half-widths are for.
        std_error: The standard error at that share.
        half_width: Half the width of the share's interval, as in `share_half_width`: tables, charts and sample sizes use it.
        half_width_no_privacy: The same without privacy.
        half_width_curator: The same with a trusted curator.
        respondents_no_privacy: People for the same precision without privacy.
        respondents_curator: People for the same precision with a trusted curator.
        mean_half_width: Half the width of the mean's interval, in the unit of the scores; None without scores.
        scale_low: The lowest score, or None.
        scale_high: The highest score, or None.
        difference_half_width: Half the width of the interval of a difference between the two groups of the plan.
        cell_half_width: Half the width of the interval of a cell, in the cross table with another question that is as private; None if no
            device asks two questions.
        cluster_half_width: `half_width` in the clusters of the plan; None without clusters.
        effective_people: The effective sample size in the clusters; None without clusters.
        smallest_share: The smallest share whose interval is above 0 in 80% of surveys; None if no share's is.
        smallest_difference: The smallest difference of the two groups, around one half, that a two-sided test finds in 80% of surveys;
            None if it finds none.
        smallest_group: People in a subgroup for a half-width of the plan's `group_half_width`; None above 10^12.
        chance_negative: The chance of an estimate below 0 if the true share is the plan's `rare`; None for a number without shares.
    """

    question: str
    options: int
    part: float
    people: int
    own: int
    other: int
    epsilon: float
    phi: float
    theta: float
    respondents: int
    share: float
    std_error: float
    half_width: float
    half_width_no_privacy: float
    half_width_curator: float
    respondents_no_privacy: int
    respondents_curator: int
    mean_half_width: float | None
    scale_low: float | None
    scale_high: float | None
    difference_half_width: float
    cell_half_width: float | None
    cluster_half_width: float | None
    effective_people: int | None
    smallest_share: float | None
    smallest_difference: float | None
    smallest_group: int | None
    chance_negative: float | None


@dataclass(frozen=True)
class SlopePlan:
    """Expected precision of a slope of a logit model, in log odds.

    Attributes:
        outcome: As in `SlopeOf`, like the next three.
        respondents: People who are asked both questions.
        slope: As in `Slope`, like the standard error, the half-width, the power and `refused`.
        half_width_no_privacy: The half-width without privacy.
    """

    outcome: str
    predictor: str
    shares: tuple[float, float]
    predictor_share: float
    respondents: int
    slope: float
    std_error: float
    half_width: float
    half_width_no_privacy: float
    power: float
    refused: float


@dataclass(frozen=True)
class Plan(Tabular):
    """Plan of one survey.

    Attributes:
        survey: The id of the survey.
        title: The title of the survey.
        epsilon: The privacy loss of a whole submission.
        belief: The highest belief in something about a person that seeing the whole record can make of 50%, rounded up.
        n: Respondents; if the plan is for a half-width, as many as it takes in every question.
        half_width: The half-width that the plan is for, or None.
        confidence: The confidence of the intervals.
        share: The true share that the plan is for, or None for the hardest.
        group_half_width: The half-width of `smallest_group`.
        rare: The true share of `chance_negative`.
        groups: The sizes of the two groups to compare, or None for half of the respondents each.
        clusters: The number of clusters, or None.
        rho: The correlation of answers in a cluster, or None.
        slope: The slope of a logit model, or None.
        rows: The questions in order.
        coins: The design of each question's coins.
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
    groups: tuple[int, int] | None
    clusters: int | None
    rho: float | None
    slope: SlopePlan | None
    rows: tuple[QuestionPlan, ...]
    coins: tuple[Mechanism, ...] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Returns plain JSON types, without `coins`; the rows come last."""
        return asdict(self, dict_factory=lambda pairs: {name: value for name, value in pairs if name != "coins"})

    def tables(self) -> tuple[Table, ...]:
        """Returns four tables, with one more for clusters and one for a slope, between a head and an explanation of their columns."""
        clusters = (_in_clusters(self),) if self.clusters else ()
        slope = (_of_slope(self.slope),) if self.slope else ()
        return _head(self), _protection(self), _precision(self), _other_figures(self), _power(self), *clusters, *slope, _legend(self)

    def records(self) -> tuple[Table, ...]:
        """Returns one row a question: the fields of `rows`."""
        return (Table("question", tuple(field.name for field in fields(QuestionPlan)), tuple(map(astuple, self.rows))),)

    def plot(self) -> alt.LayerChart:
        """Returns an Altair chart of the least precise question: half-width against respondents, for the three designs.

        `.save("plan.svg")` or `.save("plan.png")` writes it without a browser.

        Raises:
            EstimateError: The extra `deniable[plot]` is missing.
        """
        try:
            from deniable.plan.chart import chart
        except ModuleNotFoundError as error:
            raise EstimateError(str(missing("a chart", "plot") or error)) from None
        return chart(self.lines(), self.least_precise.respondents)

    def lines(self) -> Table:
        """Returns the rows of the chart, one for each design and number of respondents, in points, without rows above 100."""
        question = self.least_precise
        designs = {"private": self.coins[self.rows.index(question)], "trusted curator": curator(question.epsilon), "no privacy": NO_PRIVACY}
        spread = np.geomspace(max(10, question.respondents / _SPAN), question.respondents * _SPAN, _POINTS)
        numbers = np.unique(np.append(spread.round().astype(int), question.respondents)).tolist()
        widths = (
            (name, n, 100 * share_half_width(design, n, confidence=self.confidence, share=self.share))
            for name, design in designs.items()
            for n in numbers
        )
        about = (
            f"epsilon {question.epsilon:.4g}, {question.options} options",
            f"± percentage points ({100 * self.confidence:g}% confidence)",
        )
        note = f"{question.respondents:,} respondents: ± {100 * question.half_width:.2g} points"
        rows = tuple(row for row in widths if row[2] <= 100)
        return Table(f"How precise {question.question} will be", ("design", "n", "points"), rows, (note,), about)

    @property
    def least_precise(self) -> QuestionPlan:
        """The question that needs the most respondents."""
        return max(self.rows, key=lambda row: row.std_error * math.sqrt(row.respondents))


def _head(plan: Plan) -> Table:
    return Table(f"{plan.title} ({plan.survey})", (), (), about=_about(plan))


def _about(plan: Plan) -> tuple[str, ...]:
    aim = f"{plan.n:,} respondent{'' if plan.n == 1 else 's'}"
    if plan.half_width is not None:
        aim = f"ask {plan.n:,} people for ± {points(plan.half_width)} points in every question"
    return (
        f"{aim} · {100 * plan.confidence:g}% confidence · epsilon {plan.epsilon:.4g} for the whole survey",
        f"Someone who starts at 50:50 about a person can become at most {100 * plan.belief:.11g}% sure from the whole record.",
    )


def _protection(plan: Plan) -> Table:
    head = ("question", "part", "recorded, if given", "recorded, if not")
    rows = ((r.question, f"{r.part:.1%}", f"{r.own:,} of {r.people:,}", f"{r.other:,} of {r.people:,}") for r in plan.rows)
    return Table("How well an answer will be hidden, in people", head, tuple(rows))


def _precision(plan: Plan) -> Table:
    head = (
        "question",
        "options",
        "epsilon",
        "respondents",
        "private",
        "no privacy",
        "curator",
        "same without privacy",
        "same with a curator",
    )
    return Table("How precise a share will be, in percentage points", head, tuple(map(_precision_cells, plan.rows)))


def _precision_cells(row: QuestionPlan) -> tuple[str, ...]:
    widths = (row.half_width, row.half_width_no_privacy, row.half_width_curator)
    people = (row.respondents_no_privacy, row.respondents_curator)
    return (
        row.question,
        str(row.options),
        f"{row.epsilon:.4g}",
        f"{row.respondents:,}",
        *(f"± {points(width)}" for width in widths),
        *(f"{count:,}" for count in people),
    )


def _other_figures(plan: Plan) -> Table:
    head = ("question", "mean", "on the scale", "difference", "cell")
    return Table("How precise other figures will be", head, tuple(map(_other_cells, plan.rows)))


def _other_cells(row: QuestionPlan) -> tuple[str, ...]:
    mean = scale = ""
    if row.mean_half_width is not None and row.scale_low is not None and row.scale_high is not None:
        mean, scale = f"± {two_digits(row.mean_half_width)}", between(row.scale_low, row.scale_high)
    cell = "none" if row.cell_half_width is None else f"± {points(row.cell_half_width)} points"
    return row.question, mean, scale, f"± {points(row.difference_half_width)} points", cell


def _power(plan: Plan) -> Table:
    head = ("question", "smallest share", "smallest difference", "smallest group", f"{100 * plan.rare:g}% shown below 0")
    return Table("What will show", head, tuple(map(_power_cells, plan.rows)))


def _in_clusters(plan: Plan) -> Table:
    title = f"How precise a share will be in {plan.clusters:,} clusters whose answers correlate with {plan.rho:g}"
    rows = ((r.question, f"± {points(r.cluster_half_width or 0.0)}", f"{r.effective_people:,}") for r in plan.rows)
    return Table(title, ("question", "in clusters", "as many alone"), tuple(rows))


def _of_slope(slope: SlopePlan) -> Table:
    title = f"How precise the slope of a logit model of {slope.outcome} on {slope.predictor} will be, in log odds"
    widths = (f"± {two_digits(width)}" for width in (slope.half_width, slope.half_width_no_privacy))
    odds = f"{two_digits(math.exp(slope.slope))} times the odds"
    row = (slope.predictor, f"{slope.respondents:,}", f"{slope.slope:.2f}", odds, *widths, _percent(slope.power))
    return Table(title, ("predictor", "people", "true slope", "that is", "interval", "openly", "shown"), (row,))


def _power_cells(row: QuestionPlan) -> tuple[str, ...]:
    difference = "none" if row.smallest_difference is None else f"{points(row.smallest_difference)} points"
    group = "none" if row.smallest_group is None else f"{row.smallest_group:,}"
    return (
        row.question,
        _percent(row.smallest_share),
        difference,
        group,
        "" if row.chance_negative is None else _percent(row.chance_negative),
    )


def _legend(plan: Plan) -> Table:
    groups = "two groups, half of the respondents each" if plan.groups is None else "two groups of {:,} and {:,}".format(*plan.groups)
    clusters = {
        "in clusters": "half the width of the interval of one option's share, in points; the tables above are of people drawn one by one",
        "as many alone": "people drawn one by one who would tell as much",
    }
    slope = {
        "people": "who are asked the outcome and the predictor",
        "true slope": "by which the log odds of the outcome are higher with the predictor",
        "that is": "as an odds ratio",
        "interval": "half the width of the interval of the estimated slope",
        "openly": "the same of as many people without privacy",
        "shown": "how often that interval lies beside 0",
    }
    lines = {
        "part": "of the survey's epsilon that the question takes",
        "recorded, if given": "so many of the people who give an answer have it in their record",
        "recorded, if not": "so many of the people who give another answer have that one in their record",
        "private": "half the width of the interval of one option's share, at the share where it is widest or the one you gave",
        "": "of a number that has no shares: of its mean, as a part of its range; so are the other figures of shares",
        "no privacy": "the same people asked openly",
        "curator": "the same people, trusting one party who adds Laplace noise of scale 1/epsilon to each published count",
        "same …": "so many people would be enough for the same precision without privacy, or with a curator",
        "mean": "half the width of the interval of a number's or a scale's mean, in its own unit, at the answers that make it widest",
        "difference": f"the same for the difference of one option's shares in {groups}",
        "cell": "the same for a cell of the cross table with another question that is as private",
        "smallest share": f"in 80% of surveys the {100 * plan.confidence:g}% interval of its estimate lies above 0",
        "smallest difference": f"of {groups}, found in 80% of surveys (two-sided test, {100 * (1 - plan.confidence):.3g}%)",
        "smallest group": f"people in a subgroup for an estimate of ± {points(plan.group_half_width)} points",
        f"{100 * plan.rare:g}% shown below 0": f"how often the estimate is negative by chance where {100 * plan.rare:g}% hold an option",
        **(clusters if plan.clusters else {}),
        **(slope if plan.slope else {}),
    }
    return Table("", ("column", "what it says"), tuple(lines.items()), texts=2)


def points(share: float) -> str:
    """Returns a share in percentage points, with one decimal, or with two digits if it is small."""
    points = 100 * share
    return f"{points:.1f}" if points >= 0.95 else f"{points:.2g}"


def _percent(share: float | None) -> str:
    if share is None:
        return "none"
    return f"{100 * share:.1f}%" if share >= 0.0005 or share == 0 else "< 0.1%"
