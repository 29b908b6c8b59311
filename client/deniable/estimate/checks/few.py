"""Warnings about too few reports for an interval by a normal error, by a rule on the counts.

A mean of pseudo-answers is nearly normal if enough reports have the bit set and enough do not, for any epsilon. Below `FEW` of either kind
the interval can miss the truth far more often than its confidence allows, the more so the less noise there is. docs/reference/coverage.md
has the figures. Single shares need no rule: their intervals are exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.mechanism import Channel, Window

FEW = 8  # reports of a kind
NOTE = f"* fewer than {FEW} reports name this cell, or all but so few do: its interval can miss the truth far more often than it says"

_MISSES = "which can miss the truth far more often than it says"


def bits(ones: int, n: int) -> str:
    """Returns the warning about an interval for an option that `ones` of n reports name; empty if these are enough."""
    if min(ones, n - ones) >= FEW:
        return ""
    count, named = (ones, "name it") if ones <= n - ones else (n - ones, "do not name it")
    return f"only {count:,} of the {n:,} reports {named}: too few for this interval, {_MISSES}"


def scores(ones: NDArray[np.int64], counted: NDArray[np.bool_], channel: Channel) -> str:
    """Returns the warning about a mean if all but a few of the counted reports name one option, from how many have each bit set.

    counted: the categories that have a score. A number's reports count as alike if they lie in one window.
    """
    if isinstance(channel, Window):
        every = ones[: len(ones) - channel.apart]
        n, most = int(every.sum()), int(np.convolve(every, np.ones(channel.width, dtype=np.int64)).max())
    else:
        n, most = int(ones[counted].sum()) // channel.d, int(ones[counted].max())
    if n - most >= FEW:
        return ""
    who = f"the {n:,} reports" if counted.all() else f"the {n:,} reports of an answer"
    alike = f"all but {n - most:,} of" if n > most else "all of"
    return f"{alike} {who} name one option: too few others for this interval, {_MISSES}"


def of_weights() -> str:
    """Returns the warning about a weighted mean that a few large weights decide."""
    return f"few reports have most of the weight that is not on what most report: too few for this interval, {_MISSES}"


def test(unseen: bool) -> str:
    """Returns the warning about a test of options, or pairs of options, that hardly any report names."""
    return "some of the options are named in too few reports for this test, which can find differences that are not there" if unseen else ""
