"""Reports by group with their sampling design: the input of every estimate from a sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from deniable.errors import EstimateError
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.origin import Origin
from deniable.estimate.moments import counts
from deniable.estimate.samples.design import SampleDesign
from deniable.estimate.samples.linear import Linear, linear
from deniable.estimate.samples.sample import Sample
from deniable.survey import Survey
from deniable.wire.tally import Tally


@dataclass(frozen=True, eq=False)
class SampledReports:
    """Tallies of the groups that were drawn, in any order, with their sampling design; groups without reports may be among them.

    Raises:
        EstimateError: The sample does not fit the survey or its reports.
    """

    survey: Survey
    tallies: Mapping[str, Tally]
    sample: Sample

    def __post_init__(self) -> None:
        require_groups(self.survey, self.tallies)
        self.sample.check(self.survey, self.tallies)
        if self.tally.n:
            self.design  # noqa: B018 - what is wrong with it shows here

    @cached_property
    def tally(self) -> Tally:
        """The sum of all tallies."""
        return together(self.tallies)

    @cached_property
    def design(self) -> SampleDesign:
        """The design of the groups that have reports. Raises EstimateError if there are too few."""
        if not self.tally.n:
            raise EstimateError("the tallies must hold at least 1 report, got 0: without reports there is no estimate")
        return SampleDesign(self.survey, {group: tally.n for group, tally in self.tallies.items()}, self.sample)

    def linear(self, *names: str, rounding: float | None = None) -> Linear:
        """Returns the shares of one question, or of the cells of two; see `linear`. Raises EstimateError."""
        key = (*names, rounding)
        if key not in self._estimates:
            self._estimates[key] = linear(self.design, [self.tallies[group] for group in self.design.groups], names, rounding)
        return self._estimates[key]

    @cached_property
    def _estimates(self) -> dict[tuple[str | float | None, ...], Linear]:
        return {}

    @property
    def origin(self) -> Origin:
        """The origin of the figures: these reports, and the clusters that were drawn."""
        name = self.sample.clusters
        clusters = frozenset(f"{name} {self.sample.value(name, group)}" for group, tally in self.tallies.items() if name and tally.n)
        return Origin(counts.people_of(self.tally), self.survey.digest, clusters=clusters)

    def takes_as_known(self, question: str) -> bool:
        """Returns whether this question's shares are margins of the sample, and so are not estimated."""
        return self.sample.question == question

    def about(self, interval: Interval) -> Interval:
        """Returns the interval with the degrees of freedom of the sample's errors.

        Raises:
            EstimateError: Its target is not the population.
        """
        if interval.target != "population":
            raise EstimateError("target must be population where a sample says how people were drawn from it, got respondents")
        return replace(interval, df=self.design.df, wider=self.design.wider) if self.tally.n else interval

    @property
    def words(self) -> str:
        """The assumptions of the figures, in one line."""
        return self.design.words if self.tally.n else ""


def as_sampled(survey: Survey, reports: Tally | Mapping[str, Tally], sample: Sample | None) -> SampledReports | None:
    """Returns the reports with their sampling design, or None without a sample.

    Raises:
        EstimateError: A sample comes with a single tally, or the tallies are not of the survey's groups.
    """
    if sample is not None and isinstance(reports, Tally):
        raise EstimateError("a sample needs the tally of each group, in a mapping, got one tally")
    if sample is None and not isinstance(reports, Tally):
        require_groups(survey, reports)
    return None if sample is None or isinstance(reports, Tally) else SampledReports(survey, reports, sample)


def require_groups(survey: Survey, tallies: Mapping[str, Tally]) -> None:
    """Requires that each tally is of one of the survey's groups, and that there is at least one.

    Raises:
        EstimateError: A tally is of no group.
    """
    if not survey.groups or not tallies or not set(tallies) <= set(survey.groups):
        raise EstimateError(f"tallies by group must name groups of survey {survey.id}, at least one, and nothing else")
    for tally in tallies.values():
        counts.check(survey, tally)


def together(tallies: Mapping[str, Tally]) -> Tally:
    """Returns the sum of the tallies."""
    return counts.summed(tallies.values())
