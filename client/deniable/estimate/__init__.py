"""From counts of perturbed bits to shares, and how sure they are. Needs the extra `deniable[estimate]`."""

from __future__ import annotations

from deniable.extras import missing

if error := missing("deniable.estimate", "estimate"):
    raise error

from deniable.estimate.analysis import Analysis, analyse
from deniable.estimate.association import conditional_share, cramers_v, independence, odds_ratio, phi
from deniable.estimate.category import Share, share
from deniable.estimate.checks import check_range, known_prevalence, worst_case_shift, worst_case_shift_of_mean
from deniable.estimate.collected import RowDesigns, category_shares, collected
from deniable.estimate.collected_results import Collected, CollectedRow
from deniable.estimate.contrast import Comparison, between_options, compare, difference
from deniable.estimate.crosstable import Crosstab, crosstab, joint
from deniable.estimate.designs import CategoryDesign, Design
from deniable.estimate.inference import Estimate, HypothesisTest
from deniable.estimate.made_up import MadeUp, made_up
from deniable.estimate.means import Quantile, mean, quantile
from deniable.estimate.perturbed import Perturbed, perturbed
from deniable.estimate.questions import estimate
from deniable.estimate.regress import regress
from deniable.estimate.regression import Regression
from deniable.estimate.results import MeanRow, Results, Row
from deniable.estimate.scored import mean_rows
from deniable.estimate.simulate import Simulated, simulate
from deniable.estimate.weights import Weighted, effective_size, weighted_mean, weighted_shares

__all__ = [
    "Analysis",
    "CategoryDesign",
    "Collected",
    "CollectedRow",
    "Comparison",
    "Crosstab",
    "Design",
    "Estimate",
    "HypothesisTest",
    "MadeUp",
    "MeanRow",
    "Perturbed",
    "Quantile",
    "Regression",
    "Results",
    "Row",
    "RowDesigns",
    "Share",
    "Simulated",
    "Weighted",
    "analyse",
    "between_options",
    "category_shares",
    "check_range",
    "collected",
    "compare",
    "conditional_share",
    "cramers_v",
    "crosstab",
    "difference",
    "effective_size",
    "estimate",
    "independence",
    "joint",
    "known_prevalence",
    "made_up",
    "mean",
    "mean_rows",
    "odds_ratio",
    "perturbed",
    "phi",
    "quantile",
    "regress",
    "share",
    "simulate",
    "weighted_mean",
    "weighted_shares",
    "worst_case_shift",
    "worst_case_shift_of_mean",
]
