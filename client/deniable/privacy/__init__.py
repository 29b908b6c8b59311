"""Privacy accounting: privacy loss in one survey, in several, in the shuffled reports of many, and in a ledger of each person."""

from __future__ import annotations

from deniable.privacy.accounting import (
    advanced_composition,
    group_privacy,
    heterogeneous_composition,
    optimal_composition,
    parallel_composition,
    posterior_range,
    sequential_composition,
    submission_epsilon,
)
from deniable.privacy.posterior import posterior_bound
from deniable.privacy.published import published
from deniable.privacy.shuffling import question_shuffling_bound, shuffling_bound, shuffling_lower_bound

__all__ = [
    "advanced_composition",
    "group_privacy",
    "heterogeneous_composition",
    "optimal_composition",
    "parallel_composition",
    "posterior_bound",
    "posterior_range",
    "published",
    "question_shuffling_bound",
    "sequential_composition",
    "shuffling_bound",
    "shuffling_lower_bound",
    "submission_epsilon",
]
