"""The worst-case variance of one private report of a number in [0, 1], beside the Piecewise, Hybrid and Duchi mechanisms.

Exact formulas, nothing is simulated. The mean of n reports has at most 1/n of this variance. Theirs are for [-1, 1], so divided by 4:
J. Duchi, M. Jordan and M. Wainwright, J. Am. Stat. Assoc. 113 (2018); N. Wang et al., "Collecting and analyzing multidimensional data with
local differential privacy", ICDE 2019, section III. Run: python benchmarks/number_means.py
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from deniable.survey.types.grid import best_levels, worst_variance

EPSILONS = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0)
HYBRID_FROM = 0.61  # below it the Hybrid mechanism is Duchi's


def duchi(epsilon: float, t: float = 0.0) -> float:
    """Duchi's report is +-C whatever t in [-1, 1] is, so its variance is C^2 - t^2, largest at t = 0."""
    return (((math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)) ** 2 - t**2) / 4


def piecewise(epsilon: float, t: float = 1.0) -> float:
    """The Piecewise mechanism's variance rises with |t|, so it is largest at t = 1."""
    less = math.exp(epsilon / 2) - 1
    return (t**2 / less + (less + 4) / (3 * less**2)) / 4


def hybrid(epsilon: float) -> float:
    """The Hybrid mechanism tosses whether to be Piecewise; a mixture of unbiased reports, so their variances mix.

    At its weight the terms in t^2 cancel: the variance is the same for every t.
    """
    if epsilon <= HYBRID_FROM:
        return duchi(epsilon)
    weight = 1 - math.exp(-epsilon / 2)
    return max(weight * piecewise(epsilon, t) + (1 - weight) * duchi(epsilon, t) for t in (0.0, 1.0))


def rows() -> Iterator[tuple[float, int, float, float, float, float]]:
    """Epsilon, the grid's levels, then the variances: grid, Duchi, Piecewise, Hybrid."""
    for epsilon in EPSILONS:
        levels = best_levels(epsilon)
        yield epsilon, levels, worst_variance(epsilon, levels), duchi(epsilon), piecewise(epsilon), hybrid(epsilon)


def main() -> None:
    print("| epsilon | levels | grid | Duchi | Piecewise | Hybrid | grid / Hybrid |\n" + "|---" * 7 + "|")
    for epsilon, levels, *variances in rows():
        print(f"| {epsilon:g} | {levels} | " + " | ".join(f"{v:.5f}" for v in variances) + f" | {variances[0] / variances[3]:.3f} |")


if __name__ == "__main__":
    main()
