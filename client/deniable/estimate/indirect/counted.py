"""Item count designs: reports are counts of red cards drawn, or of true items of a list (list experiment)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.designs import out_of_range
from deniable.estimate.designs.classic import kuk
from deniable.estimate.indirect.estimates import Estimates
from deniable.estimate.limits import equivalent, normal
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.normal import Estimate, HypothesisTest

_Counts = Sequence[int] | NDArray[np.int64]


def repeated_kuk(counts: _Counts, p_yes: float, p_no: float, *, confidence: float = 0.95) -> Estimates:
    """Estimates the share of yes ("yes") if everybody draws several cards, with replacement, and reports how many were red.

    Unbiased: the mean of (red / cards - p_no) / (p_yes - p_no). Its limits are computed by the yes/no design with the same variance at
        every
    share (see `limits.equivalent`). A. Kuk, Biometrika 77 (1990).

    Args:
        counts: Shape (cards + 1,), how many respondents reported 0, 1, .. red cards.
        p_yes: The share of red cards in the deck for true yes.
        p_no: The share of red cards in the deck for true no.
        confidence: The confidence of the limits.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    people, design, interval = _people("counts", counts), kuk(p_yes, p_no), Interval(confidence)
    cards, n, gap = len(people) - 1, int(people.sum()), design.q1 - design.q0
    pseudo = (np.arange(cards + 1) / cards - design.q0) / gap
    value = float(people @ pseudo) / n
    inside, alone = (rate * (1 - rate) / cards / gap**2 for rate in (design.q1, design.q0))
    low, high = equivalent.limits(value, n, (1 + inside, alone), interval)
    std_error = math.sqrt(float(people @ (pseudo - value) ** 2) / n / n) or math.sqrt(alone / n)
    message = out_of_range.warning(value, out_of_range.tail(value, std_error))
    figure = Estimate("yes", n, value, std_error, low, high, confidence, interval.target, message)
    loss = cards * design.epsilon
    title = f"kuk, {cards} cards (yes {p_yes:.4g}, no {p_no:.4g})"
    return Estimates(title, loss if math.isfinite(loss) else None, (figure,), ("cards are drawn with replacement, from the right deck",))


def list_experiment(control: _Counts, treated: _Counts, *, confidence: float = 0.95) -> Estimates:
    """Estimates the share of people with the sensitive item of a list ("yes"): the difference of the two groups' means.

    The test looks for a design effect: both groups together give the share of each kind of people (sensitive item true or
    not, number of the others), which cannot be below 0; p is Bonferroni's for the lowest.
    J. Miller, PhD thesis, George Washington University (1984); the test: G. Blair and K. Imai, Political Analysis 20 (2012).

    Args:
        control: Shape (items + 1,), how many people reported that 0, 1, .. of the items are true.
        treated: Shape (items + 2,), the same for people whose list has the sensitive item as well.
        confidence: The confidence of the limits.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    without, having, interval = _people("control", control), _people("treated", treated), Interval(confidence)
    if len(having) != len(without) + 1:
        raise EstimateError(f"treated must have one number more than control, for one item more, got {len(having)} and {len(without)}")
    n = int(without.sum()), int(having.sum())
    if min(n) < 2:
        raise EstimateError(f"each group must have at least 2 reports, got {n[0]:,} and {n[1]:,}")
    value = _mean(having) - _mean(without)
    variance = sum(_variance(people.astype(np.float64)) / (people.sum() - 1) for people in (without, having))
    wide = sum(_variance(np.asarray(people + 0.5, dtype=np.float64)) / people.sum() for people in (without, having))
    result = normal.limited("yes", sum(n), value, max(variance, wide), interval, (0.0, 1.0))
    std_error = math.sqrt(variance) or result.std_error
    message = out_of_range.warning(value, out_of_range.tail(value, std_error))
    figure = Estimate("yes", sum(n), value, std_error, result.low, result.high, confidence, interval.target, message)
    assumes = (
        "people were assigned to the two lists at random",
        "the sensitive item changes no answer to the others",
        "everybody counts truly, also where all items or none are true and the count gives it away",
    )
    return Estimates("list experiment", None, (figure,), assumes, (_design_effect(without, having),))


def _design_effect(control: NDArray[np.int64], treated: NDArray[np.int64]) -> HypothesisTest:
    """Tests whether a kind of people has a share below 0, by the square of the lowest in standard errors, or 0 if none is below.

    With the item, and y others: F(y) - G(y), for the shares F of the control group and G of the treated one with y or fewer items;
    without: G(y) - F(y - 1). The errors come from counts with half a report added, so that none is 0.
    """
    f, g = (np.cumsum(people)[: len(control) - 1] / people.sum() for people in (control, treated))
    shares = np.concatenate([f - g, g[1:] - f[:-1], [1 - treated[-1] / treated.sum() - f[-1]]])
    spread = [_spread(rate, people.sum()) for rate, people in ((f, control), (g, treated))]
    last = _spread(1 - treated[-1:] / treated.sum(), treated.sum()) + spread[0][-1:]
    errors = np.sqrt(np.concatenate([spread[0] + spread[1], spread[1][1:] + spread[0][:-1], last]))
    lowest = min(0.0, float((shares / errors).min()))
    p = min(1.0, len(shares) * float(scipy.special.ndtr(lowest))) if lowest else 1.0
    by = f"the lower tail of the normal distribution times {len(shares)} kinds"
    return HypothesisTest("no kind of people has a share below 0 (no design effect)", lowest**2, 1, p, reference=by)


def _spread(rate: FloatArray, n: np.int64) -> FloatArray:
    smoothed = (rate * n + 0.5) / (n + 1)
    return np.asarray(smoothed * (1 - smoothed) / n)


def _people(name: str, counts: Any) -> NDArray[np.int64]:
    people = np.asarray(counts)
    if people.ndim != 1 or len(people) < 2 or not np.issubdtype(people.dtype, np.integer) or (people < 0).any() or not people.any():
        raise EstimateError(f"{name} must be whole numbers of people from 0, one for each count from 0 on, at least 1 person in all")
    return people


def _mean(people: NDArray[np.int64]) -> float:
    return float(people @ np.arange(len(people)) / people.sum())


def _variance(people: FloatArray) -> float:
    """Returns the variance of the counts that this many people each reported, with n in the denominator."""
    values, n = np.arange(len(people)), people.sum()
    return float(people @ (values - people @ values / n) ** 2 / n)
