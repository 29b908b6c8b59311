"""Multiple testing: p-values adjusted for several tests at once.

Holm: the chance that any true hypothesis is rejected is at most the level, however the tests depend on each other (S. Holm, Scand. J. Stat.
6 (1979)). Benjamini and Hochberg: the expected part of true hypotheses among the rejected ones is at most the level, if the tests are
independent or depend on each other positively (J. R. Stat. Soc. B 57 (1995)). Bonferroni: what limits that hold together agree with.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def bonferroni(p_values: Sequence[float | None]) -> list[float | None]:
    """Returns each p-value times the number of tests; None is no test, stays None and does not count."""
    tests = sum(p is not None for p in p_values)
    return [None if p is None else min(1.0, tests * p) for p in p_values]


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Returns Holm's p-values: the smallest times the number of tests, the next times one less, never falling. None: as in `bonferroni`."""
    tests = [i for i, p in enumerate(p_values) if p is not None]
    order = sorted(tests, key=lambda i: float(p_values[i] or 0.0))
    stepped = [(len(order) - step) * float(p_values[i] or 0.0) for step, i in enumerate(order)]
    return _placed(order, np.minimum(1.0, np.maximum.accumulate(stepped or [0.0])).tolist(), len(p_values))


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Returns Benjamini and Hochberg's p-values: the i-th smallest times the number of tests over i, never falling.

    None: as in `bonferroni`.
    """
    tests = [i for i, p in enumerate(p_values) if p is not None]
    order = sorted(tests, key=lambda i: -float(p_values[i] or 0.0))
    stepped = [len(order) / (len(order) - step) * float(p_values[i] or 0.0) for step, i in enumerate(order)]
    return _placed(order, np.minimum(1.0, np.minimum.accumulate(stepped or [0.0])).tolist(), len(p_values))


def _placed(order: Sequence[int], values: Sequence[float], size: int) -> list[float | None]:
    result: list[float | None] = [None] * size
    for i, value in zip(order, values, strict=False):
        result[i] = value
    return result


ADJUSTED = ("p_value", "p_bonferroni", "p_holm", "p_bh")
"""The columns of `adjusted`: as each test alone has it, and by the three ways."""


def adjusted(p_values: Sequence[float | None], twins: Sequence[int] | None = None) -> list[tuple[float | None, ...]]:
    """Returns each test's p-value and its three adjusted ones, in the order of `ADJUSTED`.

    twins: for each test the index of the test that it repeats, or its own. The second of two options mirrors the first, and must not count
    twice.
    """
    places = list(range(len(p_values))) if twins is None else list(twins)
    own = [p if places[i] == i else None for i, p in enumerate(p_values)]
    columns = own, bonferroni(own), holm(own), benjamini_hochberg(own)
    return [tuple(column[place] for column in columns) for place in places]
