"""Power analysis: the chance that a true share, or a difference of two groups, is found, and the respondents that a wanted power takes.

A share's test compares the estimate with a multiple of its standard error under no difference; its distribution is taken as normal. Two
groups' test is the one of the printed interval. docs/guide/planner.md has the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import scipy

from deniable.errors import EstimateError
from deniable.estimate import share as estimate_share
from deniable.estimate.limits.roots import root
from deniable.plan.checked import both_sizes, check_alpha, check_confidence, check_count, check_inside, check_probability
from deniable.plan.groups import chance_of_showing
from deniable.plan.precision import MOST, Mechanism, at_most, fewest, std_error

_LEAST = 1e-12  # of the shares and differences that are looked at


def power_of_share(design: Mechanism, n: int, share: float, *, against: float = 0.0, alpha: float = 0.05) -> float:
    """Returns the power of a one-sided test at level alpha of a true share against the value `against`.

    Normal approximation: with s0 and s1 the standard errors under the two shares, the estimate is compared with
    against +- z s0. Exact if the null allows one count only, as 0 does without privacy. Raises EstimateError.
    """
    z = -float(scipy.special.ndtri(check_alpha(alpha)))
    away = abs(check_probability("share", share) - check_probability("against", against))
    if not design.noise and design.rate(against) in (0, 1):
        return 1 - (1 - design.gap * away) ** check_count("n", n)
    return _chance(away - z * std_error(design, n, against), std_error(design, n, share))


def sample_size_for_share(design: Mechanism, share: float, *, against: float = 0.0, alpha: float = 0.05, power: float = 0.8) -> int:
    """Returns the fewest reports that reach `power`. Raises EstimateError, also if no number is enough."""
    _different("share", share, "against", against)
    reached = check_inside("power", power)
    return fewest(lambda n: power_of_share(design, n, share, against=against, alpha=alpha) >= reached)


def power_of_difference(design: Mechanism, n: int | tuple[int, int], shares: tuple[float, float], *, alpha: float = 0.05) -> float:
    """Returns the power of a two-sided test at level alpha of the shares of two groups.

    n: the reports from each group, or from the first and from the second. The test is the one of the results, whether 0 is outside
    the interval (`chance_of_showing`); the chance of a difference in the wrong direction is left out. Of a design with noise, for
    groups of one size only, it is a normal approximation: under no difference both have the mean share. Raises EstimateError.
    """
    first, second = (check_probability("shares", share) for share in shares)
    check_alpha(alpha)
    if isinstance(n, tuple) or not design.noise:
        return chance_of_showing(_without_noise(design), both_sizes(n), (first, second), 1 - alpha)
    alike = math.sqrt(2) * std_error(design, n, (first + second) / 2)
    apart = math.hypot(std_error(design, n, first), std_error(design, n, second))
    return _chance(abs(first - second) + float(scipy.special.ndtri(alpha / 2)) * alike, apart)


def sample_size_for_difference(design: Mechanism, shares: tuple[float, float], *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Returns the fewest reports from each of two groups for which `power_of_difference` reaches `power`. Raises EstimateError.

    Since counts are whole, power may fall by a little where n grows by one: it is the fewest about the normal distribution's number.
    """
    _different("shares", shares[0], "shares", shares[1])
    reached, z = check_inside("power", power), -float(scipy.special.ndtri(check_alpha(alpha) / 2))
    apart = math.hypot(*(std_error(design, 1, check_probability("shares", share)) for share in shares))
    ratio = (z + float(scipy.special.ndtri(reached))) * apart / abs(shares[1] - shares[0])
    near = math.ceil(min(MOST, ratio * min(ratio, MOST)))  # of shares that hardly differ the square would be no number
    return fewest(lambda n: power_of_difference(design, n, shares, alpha=alpha) >= reached, near=max(1, near))


def power_of_interval(design: Mechanism, n: int, share: float, *, confidence: float = 0.95) -> float:
    """Returns the chance that the interval of `deniable.estimate`, by default, lies above 0, for a share above it.

    Exact: the least count whose interval does, and its tail probability. For designs without noise. Raises EstimateError.
    """
    check_confidence(confidence)
    rate = _without_noise(design).rate(check_probability("share", share))
    return 1 - at_most(_least_count_above_0(design, check_count("n", n), confidence) - 1, n, rate)


@lru_cache(maxsize=256)
def _least_count_above_0(design: Mechanism, n: int, confidence: float) -> int:
    """Returns the least count with an interval above 0; n + 1 if not even n has one. More set bits never mean a lower limit."""
    low, high = math.floor(n * design.q0), n + 1
    while high - low > 1:
        middle = (low + high) // 2
        above = estimate_share(middle, n, q0=design.q0, q1=design.q1, confidence=confidence).low > 0
        low, high = (low, middle) if above else (middle, high)
    return high


def smallest_share(design: Mechanism, n: int, *, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """Returns the smallest true share that is found to be above 0 with this power; None if not even 1 is.

    Of reports, by the printed interval of confidence 1 - alpha (`power_of_interval`), whose end at 0 is one-sided; of a
    curator's noisy count by `power_of_share`.
    """
    reached, alpha = check_inside("power", power), check_alpha(alpha)
    if design.noise:
        return _smallest(lambda share: power_of_share(design, n, share, alpha=alpha), reached)
    return _smallest(lambda share: power_of_interval(design, n, share, confidence=1 - alpha), reached)


def smallest_difference(design: Mechanism, n: int | tuple[int, int], *, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """Returns the smallest difference of two groups' shares around one half that a two-sided test finds with this power.

    n: reports from each group, or from the first and from the second, as in `power_of_difference`; of two sizes either group may have the
    larger share. None if not even 0 against 1 is found.
    """
    reached = check_inside("power", power)
    return _smallest(lambda apart: power_of_difference(design, n, (0.5 - apart / 2, 0.5 + apart / 2), alpha=alpha), reached)


def _chance(margin: float, spread: float) -> float:
    """Returns P(a normal of this standard deviation is below the margin)."""
    return float(scipy.special.ndtr(margin / spread)) if spread > 0 else float(margin > 0)


def _smallest(chance: Callable[[float], float], power: float) -> float | None:
    """Returns the share in (0, 1] at which a growing chance reaches the power; None if it does not. Raises EstimateError if all do."""
    if chance(1.0) < power:
        return None
    if (least := chance(_LEAST)) >= power:
        raise EstimateError(f"power must be above {least:.3g}, with which the smallest of all shows by chance, got {power!r}")
    return root(lambda share: chance(share) - power, _LEAST, 1.0)


def _without_noise(design: Mechanism) -> Mechanism:
    if design.noise:
        raise EstimateError(f"noise must be 0 for the intervals of reports, got {design.noise!r}")
    return design


def _different(name: str, value: float, other: str, second: float) -> None:
    if value == second:
        raise EstimateError(f"{name} must differ from {other}, got {value!r} twice: no number of respondents finds no difference")
