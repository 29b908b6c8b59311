"""Crosswise designs that detect inattentive respondents: by an anchor question, or by two groups, which must agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.designs import out_of_range
from deniable.estimate.designs.classic import crosswise, probability
from deniable.estimate.indirect.estimates import Estimates
from deniable.estimate.indirect.two_groups import RANDOM_GROUPS, Group
from deniable.estimate.limits import normal
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.normal import Estimate, HypothesisTest
from deniable.estimate.limits.proportion import proportion


def anchored_crosswise(
    counts: Sequence[Sequence[int]] | NDArray[np.int64],
    prevalence: float,
    anchor_prevalence: float,
    *,
    anchor_yes: float = 0.0,
    confidence: float = 0.95,
) -> Estimates:
    """Estimates the share of yes corrected for inattention ("yes"), the attentive share ("attentive"), and the share without correction.

    The last figure is named "uncorrected". With attentive share g the reports are "the same" with chance 1/2 + g (2 pi - 1)(p - 1/2), for
    both questions; so pi - 1/2 is a ratio of two such shares, with Fieller's limits.
    Y. Atsusaka and R. Stevenson, Political Analysis 31 (2023).

    Args:
        counts: Shape (2, 2), how many reported "the same", then how many did not, to the sensitive question (rows) and the anchor
            (columns).
        prevalence: The known share of yes to the harmless question beside the sensitive one.
        anchor_prevalence: The same beside the anchor.
        anchor_yes: The known share of yes to the anchor, 0 for an impossible act.
        confidence: The confidence of the limits.

    Raises:
        EstimateError: Counts or chances are impossible, or the attentive share is estimated at 0 or less.
    """
    cells, interval = _table(counts), Interval(confidence)
    design, anchor = crosswise(prevalence), crosswise(anchor_prevalence)
    present = 2 * probability("anchor_yes", anchor_yes) - 1
    if not present:
        raise EstimateError("anchor_yes must not be 0.5: the anchor then shows nothing")
    scale = np.array([2 * (design.q1 - 0.5), present * (anchor.q1 - 0.5)])
    parts, plain = _shares(cells, scale)
    wide = _shares(np.asarray(cells + interval.quantile**2 / 4, dtype=np.float64), scale)[1]
    n = int(cells.sum())
    ratio = normal.ratio("share of yes less 1/2", n, (parts[0], parts[1]), wide, interval, (-0.5, 0.5))
    slope = np.array([1.0, -ratio.estimate]) / parts[1]
    value, std_error = ratio.estimate + 0.5, math.sqrt(float(slope @ plain @ slope) or ratio.std_error**2)
    message = ratio.warning or out_of_range.warning(value, out_of_range.tail(value, std_error))
    corrected = replace(ratio, what="yes", estimate=value, std_error=std_error, low=ratio.low + 0.5, high=ratio.high + 0.5, warning=message)
    attentive = normal.limited("attentive", n, parts[1], float(wide[1, 1]), interval, (0.0, 1.0))
    attentive = replace(attentive, warning=out_of_range.warning(parts[1], out_of_range.tail(parts[1], attentive.std_error)))
    naive = _share("uncorrected", int(cells[0].sum()), n, prevalence, interval)
    assumes = (
        "who pays no heed says either with chance 1/2, to both questions",
        "the share of yes is the same among those who pay no heed and the others",
        f"the anchor's share of yes is known: {anchor_yes:g}",
    )
    return Estimates(f"crosswise with anchor (prevalence {prevalence:.4g})", _loss(design.epsilon), (corrected, attentive, naive), assumes)


def extended_crosswise(first: Group, second: Group, *, confidence: float = 0.95) -> Estimates:
    """Estimates the share of yes ("yes"), and tests whether both groups give the same share, as they do if all follow the instructions.

    Group.yes: how many reported "the same"; p: the harmless question's prevalence, in the second group 1 less the first one's. So "the
    same" in one is "not the same" in the other, and all are one crosswise design. The test is the likelihood ratio of two shares.
    D. Heck, A. Hoffmann and M. Moshagen, Behavior Research Methods 50 (2018). Raises EstimateError if the prevalences do not add to 1.
    """
    if abs(first.p + second.p - 1) > 1e-9:
        raise EstimateError(f"the second prevalence must be 1 less the first, got {first.p:g} and {second.p:g}; for others, see RowDesigns")
    table = np.array([[first.yes, first.n - first.yes], [second.n - second.yes, second.yes]])
    share = _share("yes", int(table[:, 0].sum()), first.n + second.n, first.p, Interval(confidence))
    test = _same_share("both groups tell the same share", table)
    assumes = (RANDOM_GROUPS, "the two questions of a pair have nothing to do with each other")
    loss = _loss(crosswise(first.p).epsilon)
    return Estimates(f"extended crosswise (prevalences {first.p:.4g} and {second.p:.4g})", loss, (share,), assumes, (test,))


def _table(counts: Sequence[Sequence[int]] | NDArray[np.int64]) -> NDArray[np.int64]:
    cells = np.asarray(counts)
    if cells.shape != (2, 2) or not np.issubdtype(cells.dtype, np.integer) or (cells < 0).any() or not cells.any():
        raise EstimateError("counts must be 2 rows of 2 whole numbers from 0, at least 1 report in all")
    return cells


def _shares(cells: NDArray[np.int64] | FloatArray, scale: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Returns (share of "the same" - 1/2) / scale of both questions, and their covariance: the same people answered both."""
    n = cells.sum()
    rates = np.array([cells[0].sum(), cells[:, 0].sum()]) / n
    both = cells[0, 0] / n
    covariance = np.diag(rates * (1 - rates)) + (np.ones((2, 2)) - np.eye(2)) * (both - rates.prod())
    return (rates - 0.5) / scale, covariance / np.outer(scale, scale) / n


def _share(what: str, ones: int, n: int, prevalence: float, interval: Interval) -> Estimate:
    """Returns the share by the crosswise design alone."""
    design = crosswise(prevalence)
    one = proportion(ones, n, design.q0, design.q1, interval)
    message = out_of_range.warning(one.estimate, out_of_range.tail(one.estimate, one.std_error))
    return Estimate(what, n, one.estimate, one.std_error, one.low, one.high, interval.confidence, interval.target, message)


def _same_share(what: str, table: NDArray[np.int64]) -> HypothesisTest:
    """Tests equal shares in the two rows of a table of counts by the likelihood ratio (G. Wilks 1938), 1 degree of freedom."""
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    result = normal.chi_squared(what, 2 * float((scipy.special.xlogy(table, table) - scipy.special.xlogy(table, expected)).sum()), 1)
    few = "fewer than 5 reports of a kind are expected in a group, so the p-value is rough"
    return replace(result, warning=few if expected.min() < 5 else "")


def _loss(epsilon: float) -> float | None:
    return epsilon if math.isfinite(epsilon) else None
