"""Planning of a survey: sample size, precision, power, and the price of privacy. Needs the extra `deniable[estimate]`."""

from __future__ import annotations

from deniable.extras import missing

if error := missing("deniable.plan", "estimate"):
    raise error

from deniable.plan.budget import QuestionSampling, best, split_or_sample
from deniable.plan.clusters import cluster_half_width, clusters_needed, effective_people, people_in_each, rho_of_log_odds
from deniable.plan.figures import cell_half_width, difference_half_width
from deniable.plan.means import mean_half_width
from deniable.plan.power import (
    power_of_difference,
    power_of_interval,
    power_of_share,
    sample_size_for_difference,
    sample_size_for_share,
    smallest_difference,
    smallest_share,
)
from deniable.plan.precision import (
    NO_PRIVACY,
    Mechanism,
    SampleSizeError,
    chance_negative,
    curator,
    expected_half_width,
    half_width,
    planned_half_width,
    private,
    sample_size,
    std_error,
    widest_share,
    within_most,
)
from deniable.plan.progress import Progress, progress
from deniable.plan.proposals import ROUGH, Outlook, Proposal, outlook, proposals, verdict, widest
from deniable.plan.result import Plan, QuestionPlan, SlopePlan
from deniable.plan.slopes import Slope, SlopeOf, logit_slope
from deniable.plan.survey import half_width_of, people_needed, plan, questions_of_slopes

__all__ = [
    "NO_PRIVACY",
    "ROUGH",
    "Mechanism",
    "Outlook",
    "Plan",
    "Progress",
    "Proposal",
    "QuestionPlan",
    "QuestionSampling",
    "SampleSizeError",
    "Slope",
    "SlopeOf",
    "SlopePlan",
    "best",
    "cell_half_width",
    "chance_negative",
    "cluster_half_width",
    "clusters_needed",
    "curator",
    "difference_half_width",
    "effective_people",
    "expected_half_width",
    "half_width",
    "half_width_of",
    "logit_slope",
    "mean_half_width",
    "outlook",
    "people_in_each",
    "people_needed",
    "plan",
    "planned_half_width",
    "power_of_difference",
    "power_of_interval",
    "power_of_share",
    "private",
    "progress",
    "proposals",
    "questions_of_slopes",
    "rho_of_log_odds",
    "sample_size",
    "sample_size_for_difference",
    "sample_size_for_share",
    "smallest_difference",
    "smallest_share",
    "split_or_sample",
    "std_error",
    "verdict",
    "widest",
    "widest_share",
    "within_most",
]
