"""Note on clusters: figures without a sample count everybody as drawn alone; with the groups as clusters intervals would be wider."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from deniable.estimate.arrays import FloatArray
from deniable.estimate.limits import normal
from deniable.estimate.limits.interval import Interval
from deniable.survey import Survey
from deniable.wire.tally import Tally

FEWEST = 5  # groups, from which on their spread is worth a figure

_ALONE = "people count as sampled one by one, whatever their group"


def as_if_alone(survey: Survey, tallies: Mapping[str, Tally]) -> str:
    """Returns a note for figures of a survey with groups, empty for any other. tallies: by group, if known."""
    if not survey.groups:
        return ""
    sampled = [tally for tally in tallies.values() if tally.n]
    if len(sampled) < FEWEST:
        return f"{_ALONE}; with the groups as clusters, intervals would be wider"
    wider = max(1.0, float(np.median(_widths(survey, sampled))))
    return f"{_ALONE}; with the groups as clusters, intervals would typically be {wider:.1f} times as wide"


def _widths(survey: Survey, tallies: list[Tally]) -> FloatArray:
    """Returns how many times wider the interval of each stored bit's rate is with the groups as clusters, and so of any share."""
    ones = np.array([tally.ones for tally in tallies], dtype=np.float64)
    totals = np.ones_like(ones)
    bits = [place for field in survey.record.fields for place in range(field.bits.start, field.bits.stop)]
    for field in survey.record.fields:
        totals[:, field.bits] = (np.array([tally.n for tally in tallies]) if field.mask is None else ones[:, field.mask])[:, None]
    ones, n = ones[:, bits], totals[:, bits]
    rates = ones.sum(axis=0) / np.maximum(n.sum(axis=0), 1.0)
    between = ((ones - n * rates) ** 2).sum(axis=0) * len(tallies) / (len(tallies) - 1)
    alone = n.sum(axis=0) * rates * (1 - rates)
    varies = alone > 0
    result: FloatArray = np.sqrt(between[varies] / alone[varies]) if varies.any() else np.ones(1)
    return result * normal.stretch(Interval(df=len(tallies) - 1))
