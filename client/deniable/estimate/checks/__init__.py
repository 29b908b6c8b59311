"""Did the method work? What honest coins can give, what made-up reports look like, and where too few reports were sent."""

from __future__ import annotations

from deniable.estimate.checks.made_up_reports import MadeUp, made_up
from deniable.estimate.checks.method import RangeCheck, Shift, check_range, known_prevalence, worst_case_shift, worst_case_shift_of_mean

__all__ = [
    "MadeUp",
    "RangeCheck",
    "Shift",
    "check_range",
    "known_prevalence",
    "made_up",
    "worst_case_shift",
    "worst_case_shift_of_mean",
]
