"""Two-group designs: two unknown figures, estimated from two random groups of people whose devices differ.

The chance of a yes in group i is linear in the two unknowns x: lambda_i = a_i1 x_1 + a_i2 x_2. So x = A^-1 (shares of yes), unbiased, with
covariance A^-1 diag(lambda_i (1 - lambda_i) / n_i) A^-T. Limits are normal and within [0, 1]; their width comes from counts with
z^2 / 2 yes and as many no added to each group (A. Agresti and B. Coull, Am. Statistician 52 (1998)), without which they cover less often
near 0 and 1. benchmarks/classic_designs.py enumerates how often they hold the truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.designs import out_of_range
from deniable.estimate.designs.classic import forced_response, probability, unrelated_question
from deniable.estimate.indirect.estimates import Estimates
from deniable.estimate.limits import normal
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.normal import Estimate

FEW = 20  # reports of a group; below, limits were not found to hold the truth often enough

_ALIKE = 1e-9  # of the determinant

RANDOM_GROUPS = "people were assigned to the groups at random"
HONEST_OR_NOT = "who does not follow the device says no, and does so as often in both groups"


@dataclass(frozen=True)
class Group:
    """People with the same device.

    Attributes:
        yes: Reports of yes.
        n: Reports.
        p: The device's chance, as each design defines it.

    Raises:
        EstimateError: An attribute breaks its rule.
    """

    yes: int
    n: int
    p: float

    def __post_init__(self) -> None:
        for name, value in (("yes", self.yes), ("n", self.n)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
                raise EstimateError(f"{name} must be a whole number of reports from 0, got {value!r}")
        if not self.n or self.yes > self.n:
            raise EstimateError(f"a group must have at least 1 report, and no more yes than reports, got {self.yes:,} of {self.n:,}")
        object.__setattr__(self, "p", probability("p", self.p))


def unrelated_question_in_two_groups(first: Group, second: Group, *, confidence: float = 0.95) -> Estimates:
    """Estimates the share of yes to a sensitive question ("yes"), and to the harmless one that replaced it ("harmless").

    p is the chance of the sensitive question. Two groups replace prior knowledge of the harmless question's share. epsilon is computed at
    the estimated share. B. Greenberg, A.-L. Abul-Ela, W. Simmons and D. Horvitz, J. Am. Stat. Assoc. 64 (1969).

    Raises:
        EstimateError: p is the same in both groups.
    """
    fit = _Fit.of((first, second), [(group.p, 1 - group.p) for group in (first, second)], confidence)
    prevalence = min(1.0, max(0.0, float(fit.solution[1])))
    losses = [unrelated_question(group.p, prevalence).epsilon for group in (first, second) if group.p]
    assumes = (RANDOM_GROUPS, "the two questions have nothing to do with each other, and everybody answers the one drawn")
    figures = fit.figure("yes", (1, 0)), fit.figure("harmless", (0, 1))
    return Estimates("unrelated question, two groups", _finite(max(losses)), figures, assumes)


def cheater_detection(first: Group, second: Group, *, forced_no: tuple[float, float] = (0.0, 0.0), confidence: float = 0.95) -> Estimates:
    """Estimates the shares of honest yes ("yes"), honest no ("no"), and of people who always say no ("cheaters").

    p is the chance that the device orders yes, forced_no the chance that it orders no, in each group; else the answer is true. The true
    answers of cheaters are not known: the share of yes is between "yes" and "yes" + "cheaters".
    S. Clark and R. Desharnais, Psychological Methods 3 (1998); with forced_no: M. Ostapczuk et al., J. Educ. Behav. Stat. 34 (2009).

    Raises:
        EstimateError: The two groups have the same device.
    """
    designs = [forced_response(group.p, no) for group, no in zip((first, second), forced_no, strict=True)]
    fit = _Fit.of((first, second), [(design.q1, design.q0) for design in designs], confidence)
    figures = fit.figure("yes", (1, 0)), fit.figure("no", (0, 1)), fit.figure("cheaters", (-1, -1), 1)
    return Estimates("cheater detection", _finite(max(one.epsilon for one in designs)), figures, (RANDOM_GROUPS, HONEST_OR_NOT))


def stochastic_lie_detector(first: Group, second: Group, *, confidence: float = 0.95) -> Estimates:
    """Estimates the share of true yes ("yes"), and the honest part of it ("honest among them").

    People with a true yes are asked outright; all others judge the sensitive statement with chance p, and else its negation, and say yes to
    that. If the share of yes is estimated at 0 or less, honesty cannot be estimated: its figure is missing, with a warning.
    M. Moshagen, J. Musch and E. Erdfelder, Behavior Research Methods 44 (2012).

    Raises:
        EstimateError: p is the same in both groups.
    """
    fit = _Fit.of((first, second), [(1.0, 1 - group.p) for group in (first, second)], confidence)
    yes = fit.figure("yes", (0, -1), 1)
    figures: tuple[Estimate, ...] = (replace(yes, warning=f"{yes.warning or 'exactly 0'}; honesty cannot be estimated"),)
    if yes.estimate > 0:
        figures = yes, fit.ratio("honest among them", np.array([1.0, 0.0]), (np.array([0.0, -1.0]), 1.0))
    assumes = (RANDOM_GROUPS, "only people who would have to admit something lie, as often in both groups; all others follow the device")
    return Estimates("stochastic lie detector", None, figures, assumes)


@dataclass(frozen=True)
class _Fit:
    """Solution for the two unknowns.

    Attributes:
        solution: The unknowns x, shape (2,).
        covariance: Their covariance.
        wide: The covariance for limits, from counts with some yes and no added.
    """

    solution: FloatArray
    covariance: FloatArray
    wide: FloatArray
    n: tuple[int, int]
    interval: Interval

    @classmethod
    def of(cls, groups: tuple[Group, Group], chances: Sequence[tuple[float, float]], confidence: float) -> _Fit:
        """Solves for the two unknowns. chances: how much of x_1 and of x_2 is in each group's chance of yes."""
        matrix, interval = np.array(chances), Interval(confidence)
        if abs(np.linalg.det(matrix)) < _ALIKE:
            p, other = (group.p for group in groups)
            raise EstimateError(f"the two groups' devices must differ, got p = {p:g} and {other:g}: they say the same thing twice")
        inverse = np.linalg.inv(matrix)
        yes, n = (np.array([getattr(group, name) for group in groups], dtype=np.float64) for name in ("yes", "n"))
        added = interval.quantile**2 / 2
        rates = yes / n, (yes + added) / (n + 2 * added)
        covariances = [inverse @ np.diag(rate * (1 - rate) / n) @ inverse.T for rate in rates]
        return cls(inverse @ (yes / n), covariances[0], covariances[1], (groups[0].n, groups[1].n), interval)

    def figure(self, what: str, weights: tuple[float, float], constant: float = 0.0) -> Estimate:
        """Returns the share constant + weights' x."""
        w = np.array(weights, dtype=np.float64)
        value, variance, wide = constant + float(w @ self.solution), float(w @ self.covariance @ w), float(w @ self.wide @ w)
        result = normal.limited(what, sum(self.n), value, wide, self.interval, (0.0, 1.0))
        std_error = math.sqrt(variance or wide)
        return replace(result, std_error=std_error, warning=out_of_range.warning(value, out_of_range.tail(value, std_error)) or self.few)

    def ratio(self, what: str, over: FloatArray, under: tuple[FloatArray, float]) -> Estimate:
        """Returns the share over' x / (constant + under' x)."""
        weights, constant = np.stack([over, under[0]]), under[1]
        parts = float(over @ self.solution), constant + float(under[0] @ self.solution)
        wide, plain = (weights @ covariance @ weights.T for covariance in (self.wide, self.covariance))
        result = normal.ratio(what, sum(self.n), parts, wide, self.interval, (0.0, 1.0))
        slope = np.array([1.0, -parts[0] / parts[1]]) / parts[1]
        return replace(result, std_error=math.sqrt(float(slope @ plain @ slope) or result.std_error**2), warning=result.warning or self.few)

    @property
    def few(self) -> str:
        """The warning about a small group, or nothing."""
        if min(self.n) >= FEW:
            return ""
        return f"a group has fewer than {FEW} reports: the limits may hold the truth less often than they say"


def _finite(epsilon: float) -> float | None:
    return epsilon if math.isfinite(epsilon) else None
