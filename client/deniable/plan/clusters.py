"""Precision of cluster samples, such as clinics or classes: the cost of similar people in one cluster.

Of n reports in clusters of m people, whose true answers have the correlation rho with each other, a count's bit has variance f (1 - f),
and two bits of one cluster the covariance (theta - phi)^2 rho p (1 - p): each person's coins are tossed for themselves, so only the
answers are alike. For the estimated share that gives

    n variance = f (1 - f) / (theta - phi)^2 + (m - 1) rho p (1 - p)
               = [1 + (m - 1) rho] p (1 - p) + what the coins alone add

so Kish's design effect 1 + (m - 1) rho (L. Kish, "Survey Sampling" (1965), section 5.4) applies to the sample alone, and noise makes
clusters cost less. Limits use the effective sample size (`estimate.limits.effective_sample_size`) with errors from the spread of the
clusters: Student's t with clusters - 1 degrees of freedom.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

from deniable.errors import EstimateError
from deniable.estimate.limits.roots import root
from deniable.plan.arguments import check_confidence, check_count, check_half_width, check_inside, check_number, check_probability
from deniable.plan.precision import MOST, Mechanism, fewest, share_half_width, std_error

_FAR = 40.0  # log odds
_RARE = 1e-12  # of a share: its log odds are less than _FAR away
_NODES = 60  # of the Gauss-Hermite rule


@dataclass(frozen=True)
class Clusters:
    """Clusters of one size that respondents come from, such as clinics.

    Clusters of different sizes count as fewer: 1 / (sum of their squared parts).

    Attributes:
        count: The number of clusters.
        rho: The correlation of the true answers of two people in one cluster, from 0 to 1; see `rho_of_log_odds`.

    Raises:
        EstimateError: An attribute breaks its rule.
    """

    count: int
    rho: float

    def __post_init__(self) -> None:
        check_count("clusters", self.count)
        check_probability("rho", self.rho)


def cluster_half_width(design: Mechanism, n: int, clusters: Clusters, *, confidence: float = 0.95, share: float | None = None) -> float:
    """Returns half the width of the interval of a share, at the median of the errors that clusters give.

    For a number it is the half-width of its mean at most, as a part of its range.

    Args:
        design: A design without noise.
        n: Respondents in all clusters together.
        clusters: At least 2 and at most n.
        confidence: The confidence of the interval.
        share: The true share, or None for the one with the largest error.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    people = effective_people(design, n, clusters, confidence=confidence, share=share)
    return share_half_width(design, max(1, math.floor(people)), confidence=confidence, share=_share(design, n, clusters, share))


def effective_people(design: Mechanism, n: int, clusters: Clusters, *, confidence: float = 0.95, share: float | None = None) -> float:
    """Returns the effective sample size: people drawn one by one with as wide an interval, at most n.

    Arguments and errors are as in `cluster_half_width`.
    """
    if design.noise:
        raise EstimateError(f"noise must be 0 for the intervals of reports, got {design.noise!r}")
    if clusters.count < 2 or check_count("n", n) < clusters.count:
        raise EstimateError(f"clusters must be at least 2 and at most the {n:,} people, got {clusters.count:,}")
    share = _share(design, n, clusters, share)
    alone = n * std_error(design, n, share) ** 2
    alike = (n / clusters.count - 1) * clusters.rho * share * (1 - share)
    return min(float(n), n * alone / ((alone + alike) * _stretch(clusters.count - 1, confidence) ** 2)) if alone else float(n)


def clusters_needed(
    design: Mechanism, half: float, people: int, rho: float, *, confidence: float = 0.95, share: float | None = None
) -> int:
    """Returns the fewest clusters, at least 2, of this many people each whose `cluster_half_width` is at most `half`.

    Args:
        design: A design without noise.
        half: The largest half-width of a share.
        people: People in each cluster.
        rho: As in `Clusters`.
        confidence: The confidence of the interval.
        share: The true share, or None for the one with the largest error.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    half, each = check_half_width(half), check_count("people", people)

    def enough(clusters: int) -> bool:
        if clusters < 2:
            return False
        return cluster_half_width(design, clusters * each, Clusters(clusters, rho), confidence=confidence, share=share) <= half

    return fewest(enough, most=max(1, MOST // each))


def people_in_each(
    design: Mechanism, half: float, clusters: int, rho: float, *, confidence: float = 0.95, share: float | None = None
) -> int:
    """Returns the fewest people in each of this many clusters whose `cluster_half_width` is at most `half`.

    Arguments are as in `clusters_needed`.

    Raises:
        EstimateError: An argument breaks its rule, or no number is enough: clusters differ, and only more of them help.
    """
    half, most = check_half_width(half), min(10**9, MOST // check_count("clusters", clusters))

    def enough(people: int) -> bool:
        return cluster_half_width(design, clusters * people, Clusters(clusters, rho), confidence=confidence, share=share) <= half

    if not enough(most):
        raise EstimateError(f"no number of people in each of {clusters:,} clusters gives a half-width of {half:g}: it takes more clusters")
    return fewest(enough, most=most)


def rho_of_log_odds(sd: float, share: float) -> float:
    """Returns the correlation of answers in clusters whose log odds are normal with standard deviation sd, about a mean share.

    rho = Var(p) / (share (1 - share)), p the share in a cluster: integrals by the Gauss-Hermite rule. The share is above 0 and below 1.
    Raises EstimateError.
    """
    sd, share = check_number("sd", sd, 0, 10), check_inside("share", share, _RARE, 1 - _RARE)
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    weights = weights / weights.sum()
    middle = root(lambda at: float(weights @ scipy.special.expit(at + sd * nodes)) - share, -_FAR - 10 * sd, _FAR + 10 * sd)
    return float(weights @ (scipy.special.expit(middle + sd * nodes) - share) ** 2) / (share * (1 - share))


def _share(design: Mechanism, n: int, clusters: Clusters, share: float | None) -> float:
    """Returns a share, by default the one with the largest error: a parabola's top, clipped at 0 and 1."""
    if share is not None:
        return check_probability("share", share)
    if design.number:
        return 0.5
    alike = (n / clusters.count - 1) * clusters.rho * design.gap
    return min(1.0, max(0.0, (1 - 2 * design.q0 + alike) / (2 * (design.gap + alike))))


def _stretch(df: int, confidence: float) -> float:
    """Returns how much farther limits are than the normal distribution's, at the median of the errors that clusters give."""
    tail = (1 - check_confidence(confidence)) / 2
    return float(scipy.special.stdtrit(df, tail) / scipy.special.ndtri(tail)) * math.sqrt(float(scipy.special.chdtri(df, 0.5)) / df)
