"""Precision of a share and its sample size: how many respondents a survey needs.

Three designs: the coins of a question; no privacy; and a trusted curator, who has every answer and adds Laplace noise of scale 1/epsilon to
the published count. Standard errors are as in `estimate` for the population: of a random sample of respondents, and of the coins.
docs/guide/planner.md has the formulas.
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
from deniable.plan.arguments import (
    LARGEST,
    MOST_PEOPLE,
    check_confidence,
    check_count,
    check_half_width,
    check_number,
    check_probability,
    quoted,
)
from deniable.plan.means import mean_half_width, uncut_half_width

MOST = MOST_PEOPLE
"""Most respondents that a plan may have."""
REACH = 6.0
"""Standard deviations on either side of the expected count that sums over counts cover."""
_ALL = 0.5  # half of a share's range: no interval is wider
_COUNTS = 40  # steps of a sum over counts: 0.3 standard deviations apart it is exact where it is smooth
_SHARES = 101  # true shares to try for the widest interval
_NEAR = 8.0  # half-widths around the hardest share to try: the number of counts is the same for every n
_GUESSES = 2  # steps towards a sample size before the search
_CLEAR = 2.0  # half-widths from 0 and from 1 at which intervals are not clipped


@dataclass(frozen=True)
class Mechanism:
    """Design of a survey question: the chances that a person's answer is counted.

    Attributes:
        q0: P(counted | another category).
        q1: P(counted | this category), above q0.
        noise: The scale of the Laplace noise that is added to the count.
        number: The coins of a number whose reports hold its mean only. Shares are then means, as parts of its range, and q0 and q1 belong
            to yes/no coins with the same precision at worst.

    Raises:
        EstimateError: An attribute breaks its rule.
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
    """A plan needs more respondents than `MOST`."""


def private(channel: Channel) -> Mechanism:
    """Returns the design of a question's coins, for any of its categories, or of a number whose reports hold its mean only."""
    if isinstance(channel, Window):
        gap = 1 / (2 * math.sqrt(largest_variance(channel)))
        return Mechanism((1 - gap) / 2, (1 + gap) / 2, number=channel)
    return Mechanism(float(channel.phi), float(channel.theta))


def curator(epsilon: float) -> Mechanism:
    """Returns the design of a trusted curator, who adds Laplace noise of scale 1/epsilon to the count."""
    number = check_number("epsilon", epsilon)
    if not number >= 1 / LARGEST:
        raise EstimateError(f"epsilon must be above 0, at least {1 / LARGEST:g}, got {quoted(epsilon)}: there is no estimate")
    return Mechanism(0.0, 1.0, 1 / number)


def std_error(design: Mechanism, n: int, share: float | None = None) -> float:
    """Returns the standard error of an estimated share: sqrt(f (1 - f) / n + 2 (noise / n)^2) / (q1 - q0).

    Args:
        design: The design.
        n: Respondents.
        share: The true share, by default the hardest.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    rate = design.rate(_share(design, share))
    return math.sqrt(rate * (1 - rate) / check_count("n", n) + 2 * (design.noise / n) ** 2) / design.gap


def normal_half_width(design: Mechanism, n: int, *, confidence: float = 0.95, share: float | None = None) -> float:
    """Returns half the width of an interval that is not clipped at 0 and 1; `expected_half_width` is for printed intervals.

    It uses the normal distribution for the sample and the coins, the exact one for a curator's noise, and Student's t for a number.

    Args:
        design: The design.
        n: Respondents.
        confidence: The confidence of the interval.
        share: The true share, or None for the hardest.

    Raises:
        EstimateError: An argument breaks its rule.
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
    """Returns half the mean width of the default interval of `deniable.estimate.share`, or `mean`.

    The mean is over the binomial count: every value, or 40 to 80 evenly spaced ones, each with its full interval.

    Args:
        design: A design without noise.
        n: Respondents.
        confidence: The confidence of the interval.
        share: The true share, or None for `widest_share`.

    Raises:
        EstimateError: An argument breaks its rule.
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
    """Returns evenly spaced possible counts in a range: each one, or as far apart as the step allows."""
    return np.arange(max(0, math.floor(low)), min(n, math.ceil(high)) + 1, max(1, math.floor(step)))


def chances_of(counts: NDArray[np.int64], n: int, rate: FloatArray) -> FloatArray:
    """Returns the chances of binomial counts, each with its neighbours: they sum to 1. One row for each rate, shape (rates, counts)."""
    ways = -scipy.special.gammaln(counts + 1) - scipy.special.gammaln(n - counts + 1)
    logs = scipy.special.xlogy(counts, rate) + scipy.special.xlog1py(n - counts, -rate) + ways
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _half_widths(design: Mechanism, counts: NDArray[np.int64], n: int, confidence: float) -> FloatArray:
    shares = [estimate_share(int(count), n, q0=design.q0, q1=design.q1, confidence=confidence) for count in counts]
    return np.array([(share.high - share.low) / 2 for share in shares])


def widest_share(design: Mechanism, n: int, *, confidence: float = 0.95) -> float:
    """Returns the true share with the widest interval.

    It is the share with the largest standard error, unless intervals are clipped at 0 or 1: then the widest ones lie further inside.
    Intervals of designs with noise are never clipped.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    if design.number or is_uncut(design, n, confidence, design.hardest_share):
        return design.hardest_share
    hardest, near = design.hardest_share, _NEAR * normal_half_width(design, n, confidence=confidence)
    shares = np.linspace(max(0.0, hardest - near), min(1.0, hardest + near), _SHARES)
    rates = design.q0 + design.gap * shares
    spread = math.sqrt(n * max(rates * (1 - rates)))
    counts = _spaced(n, n * rates[0] - REACH * spread - 1, n * rates[-1] + REACH * spread + 1, step=2 * REACH * spread / _COUNTS)
    means = chances_of(counts, n, rates[:, None]) @ _half_widths(design, counts, n, confidence)
    return float(shares[np.argmax(means)])


def share_half_width(design: Mechanism, n: int, *, confidence: float = 0.95, share: float | None = None) -> float:
    """Returns half the width of the interval of a share, at most one half, for tables, charts and sample sizes.

    It is `normal_half_width` for designs with noise and for intervals that end well before 0 and 1, and `expected_half_width` for those
    that are clipped there.

    Args:
        design: The design.
        n: Respondents.
        confidence: The confidence of the interval.
        share: The true share, or None for the one with the widest intervals.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    uncut = design.number is None and is_uncut(design, n, confidence, _share(design, share))
    width = normal_half_width if uncut else expected_half_width
    return min(_ALL, width(design, n, confidence=confidence, share=share))


def is_uncut(design: Mechanism, n: int, confidence: float, share: float) -> bool:
    """Returns whether intervals at a true share end well before 0 and 1, or are never clipped, as with noise."""
    return design.noise > 0 or min(share, 1 - share) > _CLEAR * normal_half_width(design, n, confidence=confidence, share=share)


def sample_size(design: Mechanism, half: float, *, confidence: float = 0.95, share: float | None = None) -> int:
    """Returns the fewest reports with a half-width of at most `half`.

    Args:
        design: The design.
        half: The largest half-width of a share, as a fraction (0.03 is three points).
        confidence: The confidence of the interval.
        share: The true share, by default the one with the widest intervals.

    Raises:
        EstimateError: An argument breaks its rule.
        SampleSizeError: They are more than `MOST`.
    """
    if (half := check_half_width(half)) >= _ALL:
        return 1
    near = fewest(lambda n: n >= MOST or normal_half_width(design, n, confidence=confidence, share=share) <= half)
    for _ in range(_GUESSES):  # as widths fall with the square root of n
        near = min(MOST, max(1, round(near * (share_half_width(design, near, confidence=confidence, share=share) / half) ** 2)))
    return fewest(lambda n: share_half_width(design, n, confidence=confidence, share=share) <= half, near=near)


def chance_negative(design: Mechanism, n: int, share: float) -> float:
    """Returns the exact chance that the unbiased estimate of a share falls below 0: P(count < n q0).

    Raises:
        EstimateError: An argument breaks its rule, or the design has noise.
    """
    if design.noise:
        raise EstimateError(f"noise must be 0 for the counts of reports, got {design.noise!r}")
    below = math.ceil(check_count("n", n) * design.q0 * (1 - 1e-12)) - 1
    return at_most(below, n, design.rate(check_probability("share", share)))


def at_most(count: int, n: int, rate: float) -> float:
    """Returns the binomial chance of at most this count, from -1 to n."""
    # scipy's bdtr fails from n = 2^31 on
    return float(scipy.special.betainc(n - count, count + 1, 1 - rate)) if 0 <= count < n else float(count == n)


def fewest(enough: Callable[[int], bool], near: int = 1, most: int = MOST) -> int:
    """Returns the smallest n >= 1 that is enough, if every larger one is, too.

    Args:
        enough: Whether n is enough.
        near: Where to start the search.
        most: The largest n, the one that `MOST` respondents give.

    Raises:
        SampleSizeError: None is enough.
    """
    low, high, step = near - 1, near, max(1, near // 256)
    while not enough(high):
        if high >= most:
            raise SampleSizeError(f"respondents must be at most {MOST:,}, and that is not enough for this plan")
        low, high, step = high, min(high + step, most), 2 * step
    if low == near - 1:  # near itself is enough: look below
        while low > 0 and enough(low):
            low, high, step = max(0, low - step), low, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def within_most(search: Callable[[], int]) -> int | None:
    """Returns the result of a search for a sample size, or None above `MOST`, which takes an epsilon far below any use."""
    try:
        return search()
    except SampleSizeError:
        return None


def _share(design: Mechanism, share: float | None) -> float:
    return design.hardest_share if share is None else check_probability("share", share)


def _levels(number: Window) -> list[float]:
    """Returns evenly spaced levels from 0 to 1, so that means are parts of the range."""
    return [float(level) / (number.levels - 1) for level in range(number.levels)]
