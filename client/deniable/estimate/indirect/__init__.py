"""Indirect questioning without a single channel: two groups, checks of the crosswise design, counts, scrambled numbers.

Each is a function of counts or columns, and returns `Estimates`: a figure for each unknown, their assumptions, and
a test if there is one.
"""

from __future__ import annotations

from deniable.estimate.indirect.counted import list_experiment, repeated_kuk
from deniable.estimate.indirect.crosswise_checks import anchored_crosswise, extended_crosswise
from deniable.estimate.indirect.estimates import Estimates
from deniable.estimate.indirect.quantities import Scrambling, network_scale_up, scrambled_mean
from deniable.estimate.indirect.two_groups import (
    Group,
    cheater_detection,
    stochastic_lie_detector,
    unrelated_question_in_two_groups,
)

__all__ = [
    "Estimates",
    "Group",
    "Scrambling",
    "anchored_crosswise",
    "cheater_detection",
    "extended_crosswise",
    "list_experiment",
    "network_scale_up",
    "repeated_kuk",
    "scrambled_mean",
    "stochastic_lie_detector",
    "unrelated_question_in_two_groups",
]
