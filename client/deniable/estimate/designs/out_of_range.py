"""Warnings about an estimated share below 0 or above 1."""

from __future__ import annotations

import scipy

_FALSE_ALARM = 0.001


def warning(estimate: float, chance: float) -> str:
    """Returns the warning about an estimate outside [0, 1], else "". `chance`: of one as far outside, with the truth at the nearer end."""
    if 0 <= estimate <= 1:
        return ""
    where = "below 0" if estimate < 0 else "above 100%"
    if chance >= _FALSE_ALARM:
        return f"{where} by chance: the estimate is unbiased and not clipped; plausible values are in the interval"
    return (
        f"{where} by more than chance (in fewer than 1 of {1 / _FALSE_ALARM:,.0f} surveys): "
        "the design may not be the one declared, or people did not follow it"
    )


def tail(estimate: float, std_error: float) -> float:
    """Returns the normal chance of an estimate this far outside [0, 1]."""
    outside = max(-estimate, estimate - 1)
    return float(scipy.special.ndtr(-outside / std_error)) if std_error > 0 else 0.0
