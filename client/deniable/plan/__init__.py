"""Before anybody is asked: precision, power, and the price of privacy. Needs the extra `deniable[estimate]`."""

from __future__ import annotations

from deniable.extras import missing

if error := missing("deniable.plan", "estimate"):
    raise error

from deniable.plan.budget import Asked, best, split_or_sample
from deniable.plan.power import (
    power_of_difference,
    power_of_share,
    sample_size_for_difference,
    sample_size_for_share,
    smallest_difference,
    smallest_share,
)
from deniable.plan.precision import (
    NO_PRIVACY,
    Mechanism,
    chance_negative,
    curator,
    expected_half_width,
    half_width,
    private,
    sample_size,
    std_error,
)
from deniable.plan.survey import Plan, QuestionPlan, plan

__all__ = [
    "NO_PRIVACY",
    "Asked",
    "Mechanism",
    "Plan",
    "QuestionPlan",
    "best",
    "chance_negative",
    "curator",
    "expected_half_width",
    "half_width",
    "plan",
    "power_of_difference",
    "power_of_share",
    "private",
    "sample_size",
    "sample_size_for_difference",
    "sample_size_for_share",
    "smallest_difference",
    "smallest_share",
    "split_or_sample",
    "std_error",
]
