"""Power analysis: the chance to find a share or a difference of two groups, and the respondents that a power takes.

docs/guide/planner.md has the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import scipy

from deniable.errors import EstimateError
from deniable.estimate import share as estimate_share
from deniable.estimate.limits.roots import root
from deniable.plan.arguments import both_sizes, check_alpha, check_confidence, check_count, check_inside, check_probability
from deniable.plan.groups import chance_of_showing
from deniable.plan.precision import MOST, Mechanism, at_most, fewest, std_error

_LEAST = 1e-12  # the smallest share or difference to try


def power(
    design: Mechanism, n: int | tuple[int, int], share: float | tuple[float, float], *, against: float = 0.0, alpha: float = 0.05
) -> float:
    """Returns the power of a test: of a share against a value, or of the difference between two groups.

    A share has a one-sided test by the normal approximation: with s0 and s1 the standard errors under the two shares, the estimate is
    compared with against +- z s0. It is exact if the null allows one count only, as 0 does without privacy. Two groups have the
    two-sided test of the results: whether 0 is outside the interval. The chance of a difference in the wrong direction is left out.

    Args:
        design: The coins of a question (`private`), `NO_PRIVACY`, or a `curator`.
        n: Respondents; of two groups their sizes, or one number for both.
        share: The true share, or the two shares of two groups.
        against: The share under the null hypothesis; not for two groups.
        alpha: The level of the test.

    Raises:
        EstimateError: An argument breaks its rule, or two groups of different sizes have a curator's noise.
    """
    if isinstance(share, tuple):
        _refuse_against(against)
        return _power_of_difference(design, n, share, alpha)
    if isinstance(n, tuple):
        raise EstimateError(f"share must be two shares for two groups, got {share!r}")
    return _power_of_share(design, n, share, against, alpha)


def sample_size_for_power(
    design: Mechanism, share: float | tuple[float, float], *, against: float = 0.0, alpha: float = 0.05, power: float = 0.8
) -> int:
    """Returns the fewest reports, or reports of each of two groups, for the test of `power` to reach a power.

    Since counts are whole, the power of two groups may fall by a little where n grows by one: it is the fewest about the normal
    distribution's number.

    Args:
        design: As in `power`.
        share: As in `power`.
        against: As in `power`.
        alpha: The level of the test.
        power: The least power.

    Raises:
        EstimateError: An argument breaks its rule.
        SampleSizeError: No number up to `MOST` is enough.
    """
    if isinstance(share, tuple):
        _refuse_against(against)
        return _sample_size_for_difference(design, share, alpha, power)
    _refuse_equal("share", share, "against", against)
    least = check_inside("power", power)
    return fewest(lambda n: _power_of_share(design, n, share, against, alpha) >= least)


def smallest_effect(design: Mechanism, n: int | tuple[int, int], *, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """Returns the smallest true share above 0, or difference between two groups, that is found with this power.

    A share is found by the printed interval of confidence 1 - alpha (`power_of_interval`), whose end at 0 is one-sided; with a
    curator's noise by the test of `power`. A difference is around one half, and either group may have the larger share.

    Args:
        design: As in `power`.
        n: Respondents; for a difference the sizes of the two groups.
        alpha: The level of the test.
        power: The least power.

    Returns:
        The share or the difference, or None if not even 1 is found.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    least, alpha = check_inside("power", power), check_alpha(alpha)
    if isinstance(n, tuple):
        return _smallest(lambda apart: _power_of_difference(design, n, (0.5 - apart / 2, 0.5 + apart / 2), alpha), least)
    if design.noise:
        return _smallest(lambda share: _power_of_share(design, n, share, 0.0, alpha), least)
    return _smallest(lambda share: power_of_interval(design, n, share, confidence=1 - alpha), least)


def _power_of_share(design: Mechanism, n: int, share: float, against: float, alpha: float) -> float:
    z = -float(scipy.special.ndtri(check_alpha(alpha)))
    away = abs(check_probability("share", share) - check_probability("against", against))
    if not design.noise and design.rate(against) in (0, 1):
        return 1 - (1 - design.gap * away) ** check_count("n", n)
    return _chance(away - z * std_error(design, n, against), std_error(design, n, share))


def _power_of_difference(design: Mechanism, n: int | tuple[int, int], shares: tuple[float, float], alpha: float) -> float:
    """Returns the power of a difference; with noise by the normal approximation, where both groups have the mean share under the null."""
    first, second = (check_probability("shares", share) for share in shares)
    check_alpha(alpha)
    sizes = both_sizes(n)
    if not design.noise or sizes[0] != sizes[1]:
        return chance_of_showing(_without_noise(design), sizes, (first, second), 1 - alpha)
    alike = math.sqrt(2) * std_error(design, sizes[0], (first + second) / 2)
    apart = math.hypot(std_error(design, sizes[0], first), std_error(design, sizes[0], second))
    return _chance(abs(first - second) + float(scipy.special.ndtri(alpha / 2)) * alike, apart)


def _sample_size_for_difference(design: Mechanism, shares: tuple[float, float], alpha: float, power: float) -> int:
    _refuse_equal("shares", shares[0], "shares", shares[1])
    least, z = check_inside("power", power), -float(scipy.special.ndtri(check_alpha(alpha) / 2))
    apart = math.hypot(*(std_error(design, 1, check_probability("shares", share)) for share in shares))
    ratio = (z + float(scipy.special.ndtri(least))) * apart / abs(shares[1] - shares[0])
    near = math.ceil(min(MOST, ratio * min(ratio, MOST)))  # the square for shares that hardly differ would be infinite
    return fewest(lambda n: _power_of_difference(design, n, shares, alpha) >= least, near=max(1, near))


def power_of_interval(design: Mechanism, n: int, share: float, *, confidence: float = 0.95) -> float:
    """Returns the chance that the default interval of `deniable.estimate` lies above 0, for a share above 0.

    It is exact: the tail probability of the least count with such an interval.

    Args:
        design: A design without noise.
        n: Respondents.
        share: The true share.
        confidence: The confidence of the interval.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    check_confidence(confidence)
    rate = _without_noise(design).rate(check_probability("share", share))
    return 1 - at_most(_least_count_above_0(design, check_count("n", n), confidence) - 1, n, rate)


@lru_cache(maxsize=256)
def _least_count_above_0(design: Mechanism, n: int, confidence: float) -> int:
    """Returns the least count with an interval above 0; n + 1 if not even n has one."""
    low, high = math.floor(n * design.q0), n + 1  # a larger count never has a lower limit
    while high - low > 1:
        middle = (low + high) // 2
        above = estimate_share(middle, n, q0=design.q0, q1=design.q1, confidence=confidence).low > 0
        low, high = (low, middle) if above else (middle, high)
    return high


def _chance(margin: float, spread: float) -> float:
    """Returns P(a normal of this standard deviation is below the margin)."""
    return float(scipy.special.ndtr(margin / spread)) if spread > 0 else float(margin > 0)


def _smallest(chance: Callable[[float], float], power: float) -> float | None:
    """Returns the share in (0, 1] at which a growing chance reaches the power; None if it does not.

    Raises:
        EstimateError: Every share reaches it.
    """
    if chance(1.0) < power:
        return None
    if (least := chance(_LEAST)) >= power:
        raise EstimateError(f"power must be above {least:.3g}, which chance alone reaches, got {power!r}")
    return root(lambda share: chance(share) - power, _LEAST, 1.0)


def _without_noise(design: Mechanism) -> Mechanism:
    if design.noise:
        raise EstimateError(f"noise must be 0 for the intervals of reports, got {design.noise!r}")
    return design


def _refuse_equal(name: str, value: float, other: str, second: float) -> None:
    if value == second:
        raise EstimateError(f"{name} must differ from {other}, got {value!r} twice: there is no difference to detect")


def _refuse_against(against: float) -> None:
    if against:
        raise EstimateError(f"against must be left out for two groups, got {against!r}")
