"""Privacy accounting: privacy loss in one survey, in several, in the shuffled reports of many, and in a ledger of each person."""

from __future__ import annotations

from deniable.privacy.accounting import advanced, exact, groups, household, mixed, posterior_range, submission, waves
from deniable.privacy.posterior import posterior_bound
from deniable.privacy.published import published
from deniable.privacy.shuffling import shuffled, shuffled_at_least, shuffled_question

__all__ = [
    "advanced",
    "exact",
    "groups",
    "household",
    "mixed",
    "posterior_bound",
    "posterior_range",
    "published",
    "shuffled",
    "shuffled_at_least",
    "shuffled_question",
    "submission",
    "waves",
]
