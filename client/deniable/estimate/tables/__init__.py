"""Tables of estimates from a survey's tally: shares, means, cross tables, differences, waves, groups and weighted shares."""

from __future__ import annotations

from deniable.estimate.tables.association import conditional_share, cramers_v, independence, odds_ratio, phi_coefficient
from deniable.estimate.tables.changes import compare_changes
from deniable.estimate.tables.correlation import correlation
from deniable.estimate.tables.differences import Difference, between_options, contrast, difference_in_differences
from deniable.estimate.tables.groups import GroupDifferences, compare_groups
from deniable.estimate.tables.homogeneity import homogeneity
from deniable.estimate.tables.shares import share_rows
from deniable.estimate.tables.survey_means import mean_rows
from deniable.estimate.tables.trends import trend
from deniable.estimate.tables.waves import Change, Waves, compare_waves
from deniable.estimate.tables.weighted import Weighted, effective_size, weighted_mean, weighted_shares

__all__ = [
    "Change",
    "Difference",
    "GroupDifferences",
    "Waves",
    "Weighted",
    "between_options",
    "compare_changes",
    "compare_groups",
    "compare_waves",
    "conditional_share",
    "contrast",
    "correlation",
    "cramers_v",
    "difference_in_differences",
    "effective_size",
    "homogeneity",
    "independence",
    "mean_rows",
    "odds_ratio",
    "phi_coefficient",
    "share_rows",
    "trend",
    "weighted_mean",
    "weighted_shares",
]
