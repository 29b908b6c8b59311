"""Precision of a share and its sample size: how many respondents a survey needs.

Three designs: the coins of a question; no privacy at all; and a trusted curator, who knows every answer and adds
Laplace noise of scale 1/epsilon to the published count. Standard errors are as in `estimate` for the population:
respondents are a random sample and the coins are tossed. docs/guide/planner.md has the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate import share as estimate_share
from deniable.estimate.arrays import FloatArray
from deniable.estimate.limits.roots import root
from deniable.estimate.moments.output_values import largest_variance
from deniable.mechanism import Channel, Window
from deniable.plan.checked import (
    LARGEST,
    MOST_PEOPLE,
    check_confidence,
    check_count,
    check_half_width,
    check_number,
    check_probability,
    shown,
)
from deniable.plan.means import mean_half_width, uncut_half_width

MOST = MOST_PEOPLE  # respondents that are looked at
_ALL = 0.5  # half of what a share can be: no interval tells less
# Steps in which the expected width of an interval is summed: a sum over counts 0.3 standard deviations apart is exact where it is smooth.
_COUNTS = 40
_SHARES = 101  # that are tried, within as many half-widths of the hardest one as _NEAR says: so there are as many counts whatever n is
_NEAR = 8.0
_GUESSES = 2  # at a number of people, before it is looked for
_CLEAR = 2.0  # half-widths from 0 and from 1 at which intervals are not cut
REACH = 6.0  # standard deviations of the count that this covers on either side


@dataclass(frozen=True)
class Mechanism:
    """How a count comes about from n people, a share p of whom hold a category.

    q0, q1: P(counted | another category), P(counted | this category), q0 < q1. noise: the scale of the Laplace noise
    that is added to the count. number: the coins of a number whose reports tell its mean only; shares are then means, as parts of its
    range, and q0 and q1 those of yes/no coins that are as precise at worst. Raises EstimateError.
    """

    q0: float
    q1: float
    noise: float = 0.0
    number: Window | None = None

    def __post_init__(self) -> None:
        if not check_probability("q0", self.q0) < check_probability("q1", self.q1):
            raise EstimateError(f"q0 and q1 must be probabilities with q0 below q1, got {self.q0!r} and {self.q1!r}: there is no estimate")
        check_number("noise", self.noise, 0)

    @property
    def gap(self) -> float:
        """The growth of the count's rate as the share goes from 0 to 1."""
        return self.q1 - self.q0

    @property
    def hardest_share(self) -> float:
        """The share with the largest standard error: where the rate is one half, or as near to that as it gets."""
        return min(1.0, max(0.0, (0.5 - self.q0) / self.gap))

    def rate(self, share: float) -> float:
        """Returns P(counted) if this share holds the category."""
        return self.q0 + self.gap * share


NO_PRIVACY = Mechanism(0.0, 1.0)


class SampleSizeError(EstimateError):
    """More respondents are needed than `MOST`."""


def private(channel: Channel) -> Mechanism:
    """Returns the coins of a question, for any one of its categories, or of a number whose reports hold its mean only."""
    if isinstance(channel, Window):
        gap = 1 / (2 * math.sqrt(largest_variance(channel)))
        return Mechanism((1 - gap) / 2, (1 + gap) / 2, number=channel)
    return Mechanism(float(channel.phi), float(channel.theta))


def curator(epsilon: float) -> Mechanism:
    """Returns the design of one trusted party, who adds Laplace noise of scale 1/epsilon to the count."""
    number = check_number("epsilon", epsilon)
    if not number >= 1 / LARGEST:
        raise EstimateError(f"epsilon must be above 0, at least {1 / LARGEST:g}, got {shown(epsilon)}: there is no estimate")
    return Mechanism(0.0, 1.0, 1 / number)


def std_error(design: Mechanism, n: int, share: float | None = None) -> float:
    """Returns the standard error of the estimated share from n reports: sqrt(f (1 - f) / n + 2 (noise / n)^2) / (q1 - q0).

    share: the true one, or None for the hardest. Raises EstimateError.
    """
    rate = design.rate(_share(design, share))
    return math.sqrt(rate * (1 - rate) / check_count("n", n) + 2 * (design.noise / n) ** 2) / design.gap


def half_width(design: Mechanism, n: int, *, confidence: float = 0.95, share: float | None = None) -> float:
    """Returns half the width of an interval around the estimate that encloses the truth with this confidence.

    By the normal distribution for the sample and the coins and exactly for the curator's noise; of a number by Student's t. It is not
    clipped at 0 and 1; `expected_half_width` is the width of a printed interval. Raises EstimateError.
    """
    alpha = 1 - check_confidence(confidence)
    if design.number:
        return uncut_half_width(
            design.number,
            _levels(design.number),
            n,
            confidence=confidence,
            mean=None if share is None else check_probability("share", share),
        )
    if not design.noise:
        return -float(scipy.special.ndtri(alpha / 2)) * std_error(design, n, share)
    rate = design.rate(_share(design, share))
    sigma, scale = math.sqrt(rate * (1 - rate) * check_count("n", n)), design.noise
    if sigma == 0:
        return scale * math.log(1 / alpha) / (n * design.gap)
    most = -float(scipy.special.ndtri(alpha / 4)) * sigma + scale * math.log(2 / alpha)  # each part alone exceeds its term with alpha/2
    return root(lambda h: _beyond(h, sigma, scale) - alpha, 0.0, most) / (n * design.gap)


def _beyond(h: float, sigma: float, scale: float) -> float:
    """Returns P(|N + L| > h) for N normal with standard deviation sigma and L Laplace: twice the integral of its tail."""
    t, r = h / sigma, sigma / scale
    near = 0.5 * math.exp(min(0.0, r * r / 2 - t * r + float(scipy.special.log_ndtr(t - r))))
    far = 0.5 * math.exp(min(0.0, r * r / 2 + t * r + float(scipy.special.log_ndtr(-t - r))))
    return 2 * (float(scipy.special.ndtr(-t)) + near - far)


def expected_half_width(design: Mechanism, n: int, *, confidence: float = 0.95, share: float | None = None) -> float:
    """Returns half the mean width of the default interval of `deniable.estimate.share`, or `mean`; for designs without noise.

    share: the true one, or None for `widest_share`. The mean over the binomial count, every value of it or 40 to 80 of them, evenly spaced,
    each with the interval computed in full. Raises EstimateError.
    """
    if design.noise:
        raise EstimateError(f"noise must be 0 for the intervals of reports, got {design.noise!r}")
    check_confidence(confidence)
    if design.number:
        mean = None if share is None else check_probability("share", share)
        return mean_half_width(design.number, _levels(design.number), n, confidence=confidence, mean=mean)
    if share is None:
        share = widest_share(design, n, confidence=confidence)
    rate = design.rate(check_probability("share", share))
    middle, reach = check_count("n", n) * rate, REACH * math.sqrt(n * rate * (1 - rate)) + 1
    counts = _spaced(n, middle - reach, middle + reach, step=2 * reach / _COUNTS)
    return float(chances_of(counts, n, np.array([rate])) @ _half_widths(design, counts, n, confidence))


def _spaced(n: int, low: float, high: float, *, step: float) -> NDArray[np.int64]:
    """Returns the possible counts of n in this range, evenly spaced: each, or as far apart as the step allows."""
    return np.arange(max(0, math.floor(low)), min(n, math.ceil(high)) + 1, max(1, math.floor(step)))


def chances_of(counts: NDArray[np.int64], n: int, rate: FloatArray) -> FloatArray:
    """Returns the chances of binomial counts, each with its neighbours: they sum to 1. One row for each rate, shape (rates, counts)."""
    ways = -scipy.special.gammaln(counts + 1) - scipy.special.gammaln(n - counts + 1)
    logs = scipy.special.xlogy(counts, rate) + scipy.special.xlog1py(n - counts, -rate) + ways
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _half_widths(design: Mechanism, counts: NDArray[np.int64], n: int, confidence: float) -> FloatArray:
    shares = [estimate_share(int(count), n, q0=design.q0, q1=design.q1, confidence=confidence) for count in counts]
    return np.array([(one.high - one.low) / 2 for one in shares])


def widest_share(design: Mechanism, n: int, *, confidence: float = 0.95) -> float:
    """Returns the true share at which intervals are widest.

    Far from 0 and 1 it is the share with the largest standard error. Intervals that reach 0 or 1 are clipped there, and the
    widest ones lie further inside. For designs with noise, whose intervals are not clipped, the former always. Raises EstimateError.
    """
    if design.number or is_uncut(design, n, confidence, design.hardest_share):
        return design.hardest_share
    hardest, near = design.hardest_share, _NEAR * half_width(design, n, confidence=confidence)
    shares = np.linspace(max(0.0, hardest - near), min(1.0, hardest + near), _SHARES)
    rates = design.q0 + design.gap * shares
    spread = math.sqrt(n * max(rates * (1 - rates)))
    counts = _spaced(n, n * rates[0] - REACH * spread - 1, n * rates[-1] + REACH * spread + 1, step=2 * REACH * spread / _COUNTS)
    means = chances_of(counts, n, rates[:, None]) @ _half_widths(design, counts, n, confidence)
    return float(shares[np.argmax(means)])


def planned_half_width(design: Mechanism, n: int, *, confidence: float = 0.95, share: float | None = None) -> float:
    """Returns the half-width for tables, charts and sample sizes of a plan, at most one half.

    `half_width` if the interval ends well before 0 and 1, and for designs with noise; else `expected_half_width`, since it is clipped
    there. share: the true one, or None for the one with the widest intervals. Raises EstimateError.
    """
    uncut = design.number is None and is_uncut(design, n, confidence, _share(design, share))
    one = half_width if uncut else expected_half_width
    return min(_ALL, one(design, n, confidence=confidence, share=share))


def is_uncut(design: Mechanism, n: int, confidence: float, share: float) -> bool:
    """Returns whether intervals end well before 0 and 1 at this true share; with noise they always count as such."""
    return design.noise > 0 or min(share, 1 - share) > _CLEAR * half_width(design, n, confidence=confidence, share=share)


def sample_size(design: Mechanism, half: float, *, confidence: float = 0.95, share: float | None = None) -> int:
    """Returns the fewest reports with a `planned_half_width` of at most `half`, a share (0.03 is three points).

    Raises EstimateError, and SampleSizeError if they are more than `MOST`.
    """
    if (half := check_half_width(half)) >= _ALL:
        return 1
    near = fewest(lambda n: n >= MOST or half_width(design, n, confidence=confidence, share=share) <= half)
    for _ in range(_GUESSES):  # as widths fall with the square root of n
        near = min(MOST, max(1, round(near * (planned_half_width(design, near, confidence=confidence, share=share) / half) ** 2)))
    return fewest(lambda n: planned_half_width(design, n, confidence=confidence, share=share) <= half, near=near)


def chance_negative(design: Mechanism, n: int, share: float) -> float:
    """Returns the chance that the unbiased estimate of a share falls below 0: P(count < n q0), exact; without noise only."""
    if design.noise:
        raise EstimateError(f"noise must be 0 for the counts of reports, got {design.noise!r}")
    below = math.ceil(check_count("n", n) * design.q0 * (1 - 1e-12)) - 1
    return at_most(below, n, design.rate(check_probability("share", share)))


def at_most(count: int, n: int, rate: float) -> float:
    """Returns the chance of a count up to this one, from -1 to n, of n with this rate; scipy's bdtr fails from n = 2^31 on."""
    return float(scipy.special.betainc(n - count, count + 1, 1 - rate)) if 0 <= count < n else float(count == n)


def fewest(enough: Callable[[int], bool], near: int = 1, most: int = MOST) -> int:
    """Returns the smallest n >= 1 that is enough, if more always is; searched around `near`.

    Raises SampleSizeError if none up to `most` is, the number that `MOST` respondents give.
    """
    low, high, step = near - 1, near, max(1, near // 256)
    while not enough(high):
        if high >= most:
            raise SampleSizeError(f"respondents must be at most {MOST:,}, and that is not enough for what is asked")
        low, high, step = high, min(high + step, most), 2 * step
    if low == near - 1:  # near itself is enough: fewer may be
        while low > 0 and enough(low):
            low, high, step = max(0, low - step), low, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def within_most(look: Callable[[], int]) -> int | None:
    """Returns the people found, or None if they are more than `MOST`, which needs an epsilon far below any use."""
    try:
        return look()
    except SampleSizeError:
        return None


def _share(design: Mechanism, share: float | None) -> float:
    return design.hardest_share if share is None else check_probability("share", share)


def _levels(number: Window) -> list[float]:
    """Returns levels evenly from 0 to 1, so that means are parts of the range."""
    return [float(level) / (number.levels - 1) for level in range(number.levels)]
