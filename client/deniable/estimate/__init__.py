"""Estimator: shares, means and models from perturbed reports, with confidence intervals. Needs the extra `deniable[estimate]`.

Start with `analyse` for the reports of a survey: tables, means, cross tables, comparisons, regressions and charts are methods of its
result. Use `collected` for reports that were collected by hand. The packages `tables`, `regression`, `designs` and `checks` hold the rest.
"""

from __future__ import annotations

from deniable.extras import missing

if error := missing("deniable.estimate", "estimate"):
    raise error

from deniable.estimate.analysis import Analysis, analyse
from deniable.estimate.designs.reports import collected
from deniable.estimate.designs.results import Collected
from deniable.estimate.limits.normal import Estimate, HypothesisTest
from deniable.estimate.limits.proportion import Share, share
from deniable.estimate.regression.fit import regress
from deniable.estimate.regression.result import Regression
from deniable.estimate.regression.variable import PerturbedVariable
from deniable.estimate.samples.sample import Sample
from deniable.estimate.tables.crosstab import Crosstab, crosstab, joint
from deniable.estimate.tables.differences import Comparison, compare, difference
from deniable.estimate.tables.means import mean, quantile
from deniable.estimate.tables.results import MeanRow, Results, Row
from deniable.estimate.tables.shares import estimate

__all__ = [
    "Analysis",
    "Collected",
    "Comparison",
    "Crosstab",
    "Estimate",
    "HypothesisTest",
    "MeanRow",
    "PerturbedVariable",
    "Regression",
    "Results",
    "Row",
    "Sample",
    "Share",
    "analyse",
    "collected",
    "compare",
    "crosstab",
    "difference",
    "estimate",
    "joint",
    "mean",
    "quantile",
    "regress",
    "share",
]
