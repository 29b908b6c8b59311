"""Worst-case variance of one private report of a number in [0, 1]: the window, a grid of levels, and other mechanisms.

Exact formulas, no simulation. The mean of n reports has at most 1/n of this variance. The others are for [-1, 1], so divided by 4:
J. Duchi, M. Jordan and M. Wainwright, J. Am. Stat. Assoc. 113 (2018); N. Wang et al., "Collecting and analyzing multidimensional data with
local differential privacy", ICDE 2019, section III. The optimum is a linear program over all mechanisms whose outputs and numbers lie on
grids: approximately the possible minimum.

Run: make bench NAME=number_means; with ARGS=--sizes, the windows for the table in survey/types/window.py, in some minutes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, lil_array

from deniable.estimate.moments.output_values import worst_variance
from deniable.estimate.moments.pseudo_answers import products
from deniable.mechanism import Channel, Window
from deniable.survey.types.window import best_window

EPSILONS = (0.5, 1.0, math.log(3), 1.5, 2.0, 3.0, 4.0, 6.0)
HYBRID_FROM = 0.61  # below it the Hybrid mechanism is Duchi's
_POINTS = 64  # between two neighbouring levels of a grid, where the worst case is looked for


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


def grid(epsilon: float, levels: int | None = None) -> float:
    """Subset Selection over the levels of a grid, by default over the best number of them, 2 to 64."""
    if levels is None:
        return min(grid(epsilon, one) for one in range(2, 65))
    channel, scores = Channel.for_epsilon(epsilon, levels), np.linspace(0, 1, levels)
    second = np.array([scores @ products(one, [channel]) @ scores for one in np.eye(levels)])
    share = np.linspace(0, 1, _POINTS + 1)[:, None]
    between = (1 - share) * second[:-1] + share * second[1:]
    return float((between - ((1 - share) * scores[:-1] + share * scores[1:]) ** 2).max())


def window(epsilon: float, size: tuple[int, int] | None = None) -> float:
    """A window over levels, by default the one that a question has; size: (outputs, window)."""
    levels, width = best_window(epsilon) if size is None else (size[0] - size[1] + 1, size[1])
    return worst_variance(Window.over_levels(epsilon, levels, width))


def among_answers(channel: Channel, answered: float) -> float:
    """The same of the mean among those who answer, `answered` of all people, where "no answer" is a category, the last one.

    By the delta method, at numbers whose mean is the middle: one report says (v - middle c) / answered, c of whether there is an answer.
    """
    levels = channel.k - 1
    scores = np.append(np.linspace(-0.5, 0.5, levels), 0.0)
    second = np.array([scores @ products(one, [channel]) @ scores for one in np.eye(channel.k)])
    share = np.linspace(0, 1, _POINTS + 1)[:, None]
    between = (1 - share) * second[:-2] + share * second[1:-1] - ((1 - share) * scores[:-2] + share * scores[1:-1]) ** 2
    return float((answered * between.max() + (1 - answered) * second[-1]) / answered**2)


def optional(epsilon: float, answered: float = 0.8) -> tuple[float, float]:
    """Through the window that a question has, and through the best grid with one more category."""
    levels, width = best_window(epsilon)
    grids = (Channel.for_epsilon(epsilon, size + 1) for size in range(2, 33))
    return among_answers(Window.over_levels(epsilon, levels, width, apart=True), answered), min(
        among_answers(one, answered) for one in grids
    )


def optimum(epsilon: float, numbers: int = 33, outputs: int = 121) -> float:
    """The least worst-case variance of any unbiased mechanism for these numbers with these outputs, by a linear program.

    Variables: P(output | number) = p >= 0, for each output a least chance m, so that m <= p <= e^epsilon m, and the largest variance.
    """
    xs = np.linspace(-1, 1, numbers)
    reach = 1.3 * (math.exp(epsilon) + 1) / (math.exp(epsilon) - 1) + 0.3
    ys = np.linspace(-reach, reach, outputs)
    size, last = numbers * outputs, numbers * outputs + outputs
    equal, below = lil_array((2 * numbers, last + 1)), lil_array((2 * size + numbers, last + 1))
    bounds: NDArray[np.float64] = np.zeros(2 * size + numbers)
    for i, x in enumerate(xs):
        own = slice(i * outputs, (i + 1) * outputs)
        equal[2 * i, own], equal[2 * i + 1, own] = np.ones(outputs), ys
        below[2 * size + i, own], below[2 * size + i, last], bounds[2 * size + i] = ys**2, -1.0, x**2
        for j in range(outputs):
            row = 2 * (i * outputs + j)
            below[row, size + j], below[row, i * outputs + j] = 1.0, -1.0
            below[row + 1, i * outputs + j], below[row + 1, size + j] = 1.0, -math.exp(epsilon)
    wanted = np.column_stack([np.ones(numbers), xs]).ravel()
    costs = np.append(np.zeros(last), 1.0)
    found = linprog(costs, csr_array(below), bounds, csr_array(equal), wanted, bounds=(0, None), method="highs-ipm")
    if found.status:
        raise ArithmeticError(found.message)
    return float(found.fun) / 4


def rows() -> Iterator[tuple[float, int, int, list[float]]]:
    """Epsilon, outputs and window, then the variances: window, grid, Duchi, Piecewise, Hybrid, optimum."""
    for epsilon in EPSILONS:
        levels, width = best_window(epsilon)
        others = [grid(epsilon), duchi(epsilon), piecewise(epsilon), hybrid(epsilon), optimum(epsilon)]
        yield epsilon, levels + width - 1, width, [window(epsilon), *others]


def sizes() -> None:
    """The best window of each number of outputs, and how much worse it is than the best of all."""
    for epsilon in np.arange(0.25, 10.01, 0.25).tolist():
        found = {m: min((window(epsilon, (m, w)), w) for w in range(1, m // 2 + 1)) for m in range(12, 34)}
        least = min(found.values())[0]
        near = ", ".join(f"({m}, {w}) {variance / least - 1:.1%}" for m, (variance, w) in found.items() if variance < 1.1 * least)
        levels, width = best_window(epsilon)
        print(f"{epsilon:5.2f}  now ({levels + width - 1}, {width}) {window(epsilon) / least - 1:.1%}; {near}", flush=True)


def main() -> None:
    if "--sizes" in sys.argv:
        sizes()
        return
    print("| epsilon | window | | grid | Duchi | Piecewise | Hybrid | optimum | window / optimum |\n" + "|---" * 9 + "|")
    for epsilon, outputs, width, variances in rows():
        figures = " | ".join(f"{variance:.4g}" for variance in variances)
        print(f"| {epsilon:.4g} | ({outputs}, {width}) | {figures} | {variances[0] / variances[-1]:.3f} |", flush=True)
    print("\nAmong the 80% who answer, where a number may be left out:\n| epsilon | window | grid |\n|---|---|---|")
    for epsilon in EPSILONS:
        print("| {:.4g} | {:.4g} | {:.4g} |".format(epsilon, *optional(epsilon)))


if __name__ == "__main__":
    main()
