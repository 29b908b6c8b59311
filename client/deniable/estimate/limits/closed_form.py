"""Closed-form confidence limits: for a rate (Wilson, Clopper-Pearson), and score limits for a share."""

from __future__ import annotations

import math

import scipy


def normal_quantile(alpha: float) -> float:
    """Returns z with P(|Z| > z) = alpha for a standard normal Z."""
    return -float(scipy.special.ndtri(alpha / 2))


def wilson(ones: int, n: int, alpha: float) -> tuple[float, float]:
    """Returns the ends of the rates f with (y/n - f)^2 <= z^2 f (1 - f) / n. Source: E. Wilson, J. Am. Stat. Assoc. 22 (1927)."""
    z2 = normal_quantile(alpha) ** 2
    rate = ones / n
    middle = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * rate * (1 - rate) / n + (z2 / (2 * n)) ** 2) / (1 + z2 / n)
    return middle - half, middle + half


def clopper_pearson(ones: int, n: int, alpha: float) -> tuple[float, float]:
    """Returns the ends of the rates that neither one-sided binomial test rejects at alpha/2. Source: Biometrika 26 (1934)."""
    low = float(scipy.special.betaincinv(ones, n - ones + 1, alpha / 2)) if ones > 0 else 0.0
    high = float(scipy.special.betaincinv(ones + 1, n - ones, 1 - alpha / 2)) if ones < n else 1.0
    return low, high


def score(bits: tuple[int, int], q0: float, q1: float, z2: float, sampling: float) -> tuple[float, float]:
    """Returns the score limits of a share, not clipped.

    They are the ends of the shares p with

        (y/n - q0 - p (q1 - q0))^2 <= z2 [p v1 + (1 - p) v0 + s (q1 - q0)^2 p (1 - p)] / n,

    where v0 = q0 (1 - q0) and v1 = q1 (1 - q1) are the variances of the coins. The quadratic has real roots: at the estimate its left
    side is 0, and its right side is not negative for any count from 0 to n.

    Args:
        bits: y and n.
        q0: P(bit set | another category).
        q1: P(bit set | this category).
        z2: The squared normal quantile.
        sampling: s, as in `Interval.sampling`.
    """
    ones, n = bits
    gap, v0, v1, z2 = q1 - q0, q0 * (1 - q0), q1 * (1 - q1), z2 / n
    off, sampled = ones / n - q0, z2 * sampling * gap**2
    a, b, c = gap**2 + sampled, 2 * gap * off + z2 * (v1 - v0) + sampled, off**2 - z2 * v0
    root = math.sqrt(max(0.0, b * b - 4 * a * c))
    return (b - root) / (2 * a), (b + root) / (2 * a)
