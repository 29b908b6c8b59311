"""Too few reports for an interval that rests on a normal error: a rule that can be read off the counts, and what to say.

A mean of pseudo-answers is nearly normal once enough reports have the bit set and enough have it not, whatever the epsilon. Below `FEW` of
either kind the interval can miss the truth far more often than it says, the more so the less noise there is. benchmarks/small_groups.py
measures it; docs/reference/methods.md has the figures. Single shares need no rule: their intervals are exact.
"""

from __future__ import annotations

FEW = 8  # reports of a kind
NOTE = f"* fewer than {FEW} reports name this cell, or all but so few do: its interval can miss the truth far more often than it says"

_MISSES = "which can miss the truth far more often than it says"


def bits(ones: int, n: int) -> str:
    """What to say of an interval about an option that `ones` of n reports name; empty where they are enough."""
    if min(ones, n - ones) >= FEW:
        return ""
    count, named = (ones, "name it") if ones <= n - ones else (n - ones, "do not name it")
    return f"only {count:,} of the {n:,} reports {named}: too few for this interval, {_MISSES}"


def scores(most: int, n: int) -> str:
    """The same for a mean, where `most` reports name the option that is named most."""
    if n - most >= FEW:
        return ""
    return f"all but {n - most:,} of the {n:,} reports name one option: too few others for this interval, {_MISSES}"


def test(unseen: bool) -> str:
    """What to say of a test where some options, or some pair of options, are hardly ever named."""
    return "some of the options are named in too few reports for this test, which can find differences that are not there" if unseen else ""
