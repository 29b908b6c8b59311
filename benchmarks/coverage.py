"""Coverage of the intervals of single shares: the default for a population, and for the respondents.

A cell is an n, a true share p, an epsilon and a k. Population: each simulated survey asks n new people. Respondents: round(n p) of the n
hold the category in every survey, which defines the truth. An interval depends on the count of set bits alone, so each is computed once.
The exact coverage, summed over all counts, is beside the simulated one.
Run: make bench NAME=coverage ARGS="--simulations 20000 --method score --worst"
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from deniable.estimate import share
from deniable.estimate.limits.interval import DEFAULT_METHOD
from deniable.mechanism import Channel

SIZES = (20, 50, 100, 500, 1000, 5000)
SHARES = (0.0, 0.01, 0.1, 0.5, 0.9, 1.0)
EPSILONS = {"0.5": 0.5, "ln 3": math.log(3), "2": 2.0, "4": 4.0}
CATEGORIES = (2, 5, 16)
FLOORS = {"population": 0.945, "respondents": 0.93}
_NEGLIGIBLE = 1e-12  # counts that are rarer than this are left out of the exact coverage

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Coverage:
    """simulated, exact: the chance that an interval holds the truth. width: the mean one. narrowest: the least width of any interval."""

    simulated: float
    exact: float
    width: float
    narrowest: float


class Intervals:
    """The intervals of one design, each computed when it is first needed."""

    def __init__(self, n: int, channel: Channel, target: str, method: str) -> None:
        self.n, self.q0, self.q1, self.target, self.method = n, float(channel.phi), float(channel.theta), target, method
        self._known: dict[int, tuple[float, float]] = {}

    def limits(self, counts: NDArray[np.int64]) -> tuple[_Floats, _Floats]:
        """Low and high for each count, shape (counts,)."""
        for count in set(counts.tolist()) - self._known.keys():
            one = share(count, self.n, q0=self.q0, q1=self.q1, target=self.target, method=self.method)
            self._known[count] = one.low, one.high
        low, high = np.array([self._known[count] for count in counts.tolist()]).T
        return low, high

    def coverage(self, p: float, simulations: int, rng: np.random.Generator) -> Coverage:
        holders = round(self.n * p)
        if self.target == "population":
            truth, chances = p, stats.binom.pmf(np.arange(self.n + 1), self.n, self.q0 + p * (self.q1 - self.q0))
            held = rng.binomial(self.n, p, simulations)
        else:
            truth, held = holders / self.n, np.full(simulations, holders)
            own, other = (stats.binom.pmf(np.arange(m + 1), m, q) for m, q in ((holders, self.q1), (self.n - holders, self.q0)))
            chances = np.convolve(own, other)
        drawn = rng.binomial(held, self.q1) + rng.binomial(self.n - held, self.q0)
        possible = np.union1d(np.flatnonzero(chances > _NEGLIGIBLE), drawn)
        low, high = self.limits(possible)
        holds = (low - 1e-12 <= truth) & (truth <= high + 1e-12)
        simulated = float(holds[np.searchsorted(possible, drawn)].mean())
        weights = chances[possible]
        return Coverage(simulated, float(weights @ holds + _NEGLIGIBLE), float(weights @ (high - low)), float((high - low).min()))


def designs(sizes: tuple[int, ...] = SIZES) -> Iterator[tuple[int, str, int, Channel]]:
    for n in sizes:
        for name, epsilon in EPSILONS.items():
            for k in CATEGORIES:
                yield n, name, k, Channel.for_epsilon(epsilon, k)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=20_000)
    parser.add_argument("--method", default=DEFAULT_METHOD, help="of the respondents' interval")
    parser.add_argument("--worst", action="store_true", help="only the worst cell of each n and target")
    arguments = parser.parse_args()
    rng = np.random.default_rng(20250902)
    found: dict[tuple[str, int], list[tuple[Coverage, str]]] = {}
    for n, name, k, channel in designs():
        for target, method in (("population", DEFAULT_METHOD), ("respondents", arguments.method)):
            intervals = Intervals(n, channel, target, method)
            for p in SHARES:
                one = intervals.coverage(p, arguments.simulations, rng)
                line = f"| {target} | {n:,} | {name} | {k} | {p:g} | {one.simulated:.4f} | {one.exact:.4f} | {one.width:.4f} | "
                line += f"{one.narrowest:.5f} |"
                found.setdefault((target, n), []).append((one, line))
    print("| target | n | epsilon | k | p | simulated | exact | mean width | narrowest |\n" + "|---" * 9 + "|")
    for cells in found.values():
        lines = [line for _, line in cells]
        print("\n".join([min(cells, key=lambda cell: cell[0].simulated)[1]] if arguments.worst else lines))
    for target, floor in FLOORS.items():
        every = [one for (whose, _), cells in found.items() if whose == target for one, _ in cells]
        simulated, exact, narrowest = (min(getattr(one, what) for one in every) for what in ("simulated", "exact", "narrowest"))
        below = sum(one.simulated < floor for one in every)
        print(
            f"\n{target}: {len(every)} cells; lowest coverage {simulated:.4f} simulated, {exact:.4f} exact; {below} below {floor}; ", end=""
        )
        print(f"narrowest interval {narrowest:.5f}; {sum(one.narrowest <= 0 for one in every)} cells with one of no width")


if __name__ == "__main__":
    main()
