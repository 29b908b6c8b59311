"""Planning of a survey: sample size, precision, power, and the price of privacy. Needs the extra `deniable[estimate]`.

`plan` plans a whole survey, `outlook` and `proposals` help while you write one. The other functions are for one question: they take a
design, such as `private(question.channel)`.
"""

from __future__ import annotations

from deniable.extras import missing

if error := missing("deniable.plan", "estimate"):
    raise error

from deniable.plan.budget import split_or_sample
from deniable.plan.clusters import Clusters
from deniable.plan.half_widths import cell_half_width, half_width
from deniable.plan.means import mean_half_width
from deniable.plan.power import power, sample_size_for_power, smallest_effect
from deniable.plan.precision import NO_PRIVACY, Mechanism, curator, private, sample_size, std_error
from deniable.plan.proposals import outlook, proposals
from deniable.plan.result import Plan
from deniable.plan.slopes import SlopeOf, logit_slope
from deniable.plan.survey import plan

__all__ = [
    "NO_PRIVACY",
    "Clusters",
    "Mechanism",
    "Plan",
    "SlopeOf",
    "cell_half_width",
    "curator",
    "half_width",
    "logit_slope",
    "mean_half_width",
    "outlook",
    "plan",
    "power",
    "private",
    "proposals",
    "sample_size",
    "sample_size_for_power",
    "smallest_effect",
    "split_or_sample",
    "std_error",
]
