"""Test of homogeneity: whether several groups of people have the same shares of a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.checks import few
from deniable.estimate.limits import normal
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.normal import HypothesisTest
from deniable.estimate.moments import applicability, counts, pseudo_answers
from deniable.estimate.tables import bootstrap, respondents
from deniable.mechanism import Channel
from deniable.survey import Survey
from deniable.wire.tally import Tally


@dataclass(frozen=True)
class GroupCounts:
    """One group's reports to a question.

    Attributes:
        n: Reports.
        ones: Reports with each bit set, shape (k,).
        interval: The requested interval.
    """

    n: int
    ones: NDArray[np.int64]
    interval: Interval

    @classmethod
    def of(cls, survey: Survey, tally: Tally, question: str, interval: Interval) -> GroupCounts:
        """Counts one group's reports. Raises EstimateError, also for a number whose levels have no shares."""
        item, n, ones = counts.counts(survey, tally, question)
        applicability.require_shares("difference of shares", item, instead="compare_groups has the difference of means; ")
        return cls(n, ones, respondents.about(interval, tally.n, [item]))


def homogeneity(
    survey: Survey, tallies: Mapping[str, Tally], question: str, *, confidence: float = 0.95, target: str = "population"
) -> HypothesisTest:
    """Tests whether G groups of other people each have the same shares of a question; (G - 1)(k - 1) degrees of freedom.

    tallies: by the group's name; groups without reports are left out.

    Raises:
        EstimateError: An argument breaks its rule, or fewer than two groups have reports.
    """
    interval = Interval(confidence, target=target)
    item, _ = counts.find(survey, question)
    groups = [GroupCounts.of(survey, tally, question, interval) for tally in tallies.values() if tally.n]
    if len(groups) < 2:
        raise EstimateError(f"there must be at least two groups with reports, got {len(groups)}")
    return same_shares(f"all {len(groups)} groups have the same shares of {item.id}", item.channel, groups)


def same_shares(what: str, channel: Channel, groups: Sequence[GroupCounts]) -> HypothesisTest:
    """Tests whether G groups have the same shares, by a score test of their distances from a common mean.

    The statistic is

        sum over g of  (s_g - m)' V_g^-1 (s_g - m),   m = (sum V_g^-1)^-1 sum V_g^-1 s_g,

    with the shares s_g of all categories but the last. V_g is the covariance that the group would have with the shares of all groups
    together, made possible ones (see `pseudo_answers.possible`): a small group's own says too little of it. If a report is one category
    and those shares are possible ones, this is Pearson's test of the table of reports. Its p-value is by a parametric bootstrap if
    expected counts are small (see `bootstrap`).
    """
    observed = [group.ones for group in groups]
    result = normal.chi_squared(what, float(_distance(observed, groups, channel)), (len(groups) - 1) * (channel.k - 1))
    total, n = np.sum(observed, axis=0), sum(group.n for group in groups)
    if min(group.n for group in groups) * min(np.minimum(total, n - total).tolist()) / n >= bootstrap.SMALL:
        return result
    if any(group.interval.sampling(group.n) < 1 for group in groups) or not bootstrap.feasible(n, [channel]):
        return replace(result, warning=few.test(True))
    alike, rng = pseudo_answers.possible(pseudo_answers.invert(total / n, [channel])), bootstrap.generator()
    draws = bootstrap.groups(alike, channel, [group.n for group in groups], rng)
    p_value = bootstrap.p_value(result.statistic, lambda sampled: _distance(sampled, groups, channel), draws)
    return replace(result, p_value=p_value, reference=bootstrap.REFERENCE)


def _distance(ones: Sequence[NDArray[np.int64]], groups: Sequence[GroupCounts], channel: Channel) -> FloatArray:
    """Returns the statistics of counts of each group, shape (.., k) each."""
    rates = np.sum(ones, axis=0) / sum(group.n for group in groups)
    together = pseudo_answers.each_possible(pseudo_answers.invert(rates, [channel]))
    shares = [pseudo_answers.invert(count / group.n, [channel])[..., :-1, None] for count, group in zip(ones, groups, strict=True)]
    precisions = [_precision(together, channel, group) for group in groups]
    pulls = sum(precision @ share for share, precision in zip(shares, precisions, strict=True))
    middle = np.linalg.solve(sum(precisions), pulls)
    gaps = [share - middle for share in shares]
    return np.asarray(sum((gap.swapaxes(-1, -2) @ own @ gap)[..., 0, 0] for gap, own in zip(gaps, precisions, strict=True)))


def _precision(shares: FloatArray, channel: Channel, group: GroupCounts) -> FloatArray:
    """Returns the inverse covariance of a group's estimated shares but the last, if its true answers have these."""
    spread = pseudo_answers.covariances(shares, channel, group.interval.sampling(group.n))[..., :-1, :-1]
    return group.n * np.asarray(np.linalg.inv(spread), dtype=np.float64)
