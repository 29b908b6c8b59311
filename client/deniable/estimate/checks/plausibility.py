"""Does a count look like the coins that were declared? In plain words, or not at all."""

from __future__ import annotations

from collections.abc import Iterable

from scipy.special import bdtr, bdtrc

NO_REPORTS = "no reports yet"
_PER_BIT, _PER_SURVEY = 0.001, 0.01  # chances of a false alarm


def level(sizes: Iterable[int]) -> float:
    """The level of the test of each bit in a survey of questions with k = sizes categories.

    0.001, or less where there are so many bits that a survey would raise a false alarm in more than 1 of 100 cases.
    The two bits of k = 2 are one test.
    """
    return min(_PER_BIT, _PER_SURVEY / sum(1 if k == 2 else k for k in sizes))


def remark(ones: int, n: int, phi: float, theta: float, alpha: float) -> str:
    """What to say about `ones` of n where the declared coins give rates from phi to theta; empty if there is nothing.

    One-sided exact binomial test against the nearest end at level alpha.
    """
    rate = ones / n
    if phi <= rate <= theta:
        return ""
    below = rate < phi
    chance = bdtr(ones, n, phi) if below else bdtrc(ones - 1, n, theta)
    if chance < alpha:
        return (
            f"this option's bit is set in {_percent(rate)} of the reports; coins tossed as declared set it in {_percent(phi)} to "
            f"{_percent(theta)}, and chance strays this far beyond in fewer than 1 of {1 / alpha:,.0f} surveys: "
            "the coins may not have been tossed as declared"
        )
    if below:
        return (
            f"below 0 by chance: the coins drew this option in {_percent(rate)} of the reports, where {_percent(phi)} are expected "
            "if nobody holds it; the interval says what is plausible"
        )
    return (
        f"above 100 % by chance: the coins drew this option in {_percent(rate)} of the reports, where {_percent(theta)} are expected "
        "if everybody holds it; the interval says what is plausible"
    )


def _percent(rate: float) -> str:
    return f"{100 * rate:.4g} %"
