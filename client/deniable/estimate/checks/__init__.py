"""Checks of the method: possible ranges of honest reports, detection of made-up reports, and warnings about too few reports."""

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
