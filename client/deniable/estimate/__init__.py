"""From counts of perturbed bits to shares, and how sure they are. Needs the extra `deniable[estimate]`."""

from __future__ import annotations

from deniable.estimate.category import Share, share
from deniable.estimate.questions import estimate
from deniable.estimate.results import Results, Row

__all__ = ["Results", "Row", "Share", "estimate", "share"]
