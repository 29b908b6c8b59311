"""Plausibility of a count under the declared coins, as a warning in plain words."""

from __future__ import annotations

from collections.abc import Iterable

import scipy

NO_REPORTS = "no reports yet"
BELOW = "below 0% by chance: fewer records name it than if no one had chosen it; plausible values are in the interval"
ABOVE = "above 100% by chance: more records name it than if everybody had chosen it; plausible values are in the interval"
_PER_BIT, _PER_SURVEY = 0.001, 0.01  # chances of a false alarm


def level(sizes: Iterable[int]) -> float:
    """Returns the level of the test of each bit in a survey of questions with k = sizes categories.

    0.001, or less for so many bits that a survey would raise a false alarm in more than 1 of 100 cases.
    The two bits of k = 2 are one test.
    """
    return min(_PER_BIT, _PER_SURVEY / sum(1 if k == 2 else k for k in sizes))


def remark(ones: int, n: int, phi: float, theta: float, alpha: float) -> str:
    """Returns the warning about `ones` of n, if the declared coins give rates from phi to theta; empty without one.

    One-sided exact binomial test against the nearest end at level alpha.
    """
    rate = ones / n
    if phi <= rate <= theta:
        return ""
    below = rate < phi
    chance = scipy.special.bdtr(ones, n, phi) if below else scipy.special.bdtrc(ones - 1, n, theta)
    if chance < alpha:
        limit, far = (f"at least {_percent(phi)}", "below") if below else (f"at most {_percent(theta)}", "above")
        return (
            f"{_count_text(ones, n)}. Honest coins give {limit} on average, whatever people answer, and by chance come this far {far} "
            f"in fewer than 1 of {1 / alpha:,.0f} surveys: some records are made up, or a client is faulty"
        )
    return BELOW if below else ABOVE


def _count_text(ones: int, n: int) -> str:
    """Returns how many of the records name an option, in words: all and none only where this is exact."""
    if ones in (0, n):
        return "all records name it" if ones else "no record names it"
    return f"{ones:,} of {n:,} records name it"


def _percent(rate: float) -> str:
    return f"{100 * rate:.3g}%"
