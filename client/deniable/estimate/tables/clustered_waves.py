"""Changes between two waves in the same clusters: changes within each cluster determine the error of the difference.

With z what a cluster's reports add to the error of a wave's figure, the cluster adds the second wave's z less the first wave's to the
error of the difference, and

    V = sum over strata of m / (m - 1) sum (z - mean z)^2

as for a single wave; a cluster that only one wave has adds its part of this wave. Effects that are the same in a cluster in both waves
cancel. Student's t has the fewer degrees of freedom of the two waves. A finite population of clusters is not used: the limits are as for a
large population.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deniable.errors import EstimateError
from deniable.estimate.limits import normal
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.normal import Estimate
from deniable.estimate.limits.origin import together
from deniable.estimate.moments import counts
from deniable.estimate.samples.linear import NO_VARIANCE, Linear
from deniable.estimate.samples.sample import GROUP
from deniable.estimate.samples.sampled_reports import SampledReports
from deniable.estimate.tables import sampled
from deniable.estimate.tables.survey_means import scores_of


def common(first: SampledReports, second: SampledReports) -> int:
    """Returns how many clusters both waves have."""
    return len(first.origin.clusters & second.origin.clusters)


def change(first: SampledReports, second: SampledReports, question: str, option: str, interval: Interval) -> Estimate:
    """Returns an option's share in the second wave less its share in the first, or the change of the mean if `option` is empty.

    Raises:
        EstimateError: A wave has no such figure, or the two have their clusters in different strata.
    """
    before, after = (_line(wave, question, option) for wave in (first, second))
    variance = max(_spread(first, before, second, after), float(before.coins[0, 0] + after.coins[0, 0]), NO_VARIANCE)
    certainty = [wave.design.endless for wave in (first, second)]
    df, wider = min(one for one, _ in certainty), max(one for _, one in certainty)
    reach = 1.0 if option else _range(first, question)
    value, present = float(after.shares[0] - before.shares[0]), replace(interval, df=df, wider=wider)
    result = normal.limited("second wave less first", before.n + after.n, value, variance, present, (-reach, reach))
    return replace(result, origin=together([first.origin, second.origin]))


def _line(wave: SampledReports, question: str, option: str) -> Linear:
    """Returns the figure as a single one, shape (1,), with what each group adds to its error."""
    item, _ = counts.find(wave.survey, question)
    if option:
        return wave.linear(question).sums(np.eye(item.k)[[counts.option_index(item, option)]])
    return sampled.line_of_mean(wave, question, scores_of(item) or ())


def _range(wave: SampledReports, question: str) -> float:
    present = [score for score in scores_of(counts.find(wave.survey, question)[0]) or () if score is not None]
    return max(present) - min(present)


def _spread(first: SampledReports, before: Linear, second: SampledReports, after: Linear) -> float:
    """Returns the variance of the difference, from what each cluster adds to both figures."""
    apart: dict[str, float] = {}
    strata: dict[str, str] = {}
    for sign, wave, line in ((-1.0, first, before), (1.0, second, after)):
        sample = wave.sample
        for group, part in zip(wave.design.groups, line.parts[:, 0].tolist(), strict=True):
            cluster = sample.value(sample.clusters or GROUP, group)
            stratum = sample.value(sample.strata, group) if sample.strata else ""
            if strata.setdefault(cluster, stratum) != stratum:
                raise EstimateError(f"cluster {cluster} must be in one stratum in both waves")
            apart[cluster] = apart.get(cluster, 0.0) + sign * part
    total = 0.0
    for stratum in set(strata.values()):
        inside = np.array([part for cluster, part in apart.items() if strata[cluster] == stratum])
        total += float(((inside - inside.mean()) ** 2).sum()) * len(inside) / (len(inside) - 1)
    return total
