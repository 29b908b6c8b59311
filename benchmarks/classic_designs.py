"""Coverage of the intervals of classic designs with several unknowns.

Two groups, repeated Kuk and the extended crosswise test: exact, by summing over all outcomes. The others: simulated surveys, fixed seed. A
line has the lowest coverage of a 95% interval over the true values tried, and these values (of the test: the most frequent false alarm).
Run: make bench NAME=classic_designs ARGS="--surveys 2000 --sizes 20 50 100"
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from deniable.errors import EstimateError
from deniable.estimate import indirect
from deniable.estimate.indirect import Group, Scrambling

Floats = NDArray[np.float64]
LOW, HIGH = 1 / 6, 5 / 6
SHARES = (0.0, 0.01, 0.05, 0.2, 0.5, 0.9, 1.0)
SLACK = 1e-12
SEED = 20261122


@dataclass(frozen=True)
class TwoGroups:
    """estimate: of two groups. truths: the unknowns to try. chances: of a yes in both groups, and the true figures, from unknowns."""

    name: str
    p: tuple[float, float]
    estimate: Callable[[Group, Group], Any]
    truths: tuple[tuple[float, float], ...]
    chances: Callable[[float, float, float], float]
    figures: Callable[[float, float], dict[str, float]]


TWO_GROUPS = (
    TwoGroups(
        "unrelated question",
        (0.2, 0.8),
        indirect.unrelated_question_in_two_groups,
        tuple(product(SHARES, (0.02, 0.1, 0.5))),
        lambda p, yes, harmless: p * yes + (1 - p) * harmless,
        lambda yes, harmless: {"yes": yes, "harmless": harmless},
    ),
    TwoGroups(
        "cheater detection",
        (LOW, HIGH),
        indirect.cheater_detection,
        tuple((yes, cheat) for yes, cheat in product(SHARES, (0.0, 0.05, 0.1, 0.3)) if yes + cheat <= 1),
        lambda p, yes, cheat: yes + (1 - yes - cheat) * p,
        lambda yes, cheat: {"yes": yes, "no": 1 - yes - cheat, "cheaters": cheat},
    ),
    TwoGroups(
        "stochastic lie detector",
        (LOW, HIGH),
        indirect.stochastic_lie_detector,
        tuple(product(SHARES, (0.0, 0.3, 0.64, 0.9, 1.0))),
        lambda p, yes, honest: yes * honest + (1 - yes) * (1 - p),
        lambda yes, honest: {"yes": yes, "honest among them": honest},
    ),
)


@cache
def all_outcomes(design: TwoGroups, n: tuple[int, int]) -> dict[str, Floats]:
    """By figure: estimate, low and high for every pair of counts of yes, shape (n1 + 1, n2 + 1, 3); nan where there is no such figure."""
    found: dict[str, Floats] = {name: np.full((n[0] + 1, n[1] + 1, 3), np.nan) for name in design.figures(0.5, 0.5)}
    for first, second in np.ndindex(n[0] + 1, n[1] + 1):
        for figure in design.estimate(Group(first, n[0], design.p[0]), Group(second, n[1], design.p[1])):
            found[figure.what][first, second] = figure.estimate, figure.low, figure.high
    return found


def chance_of(design: TwoGroups, n: tuple[int, int], truth: tuple[float, float]) -> Floats:
    """Of every pair of counts of yes, shape (n1 + 1, n2 + 1)."""
    first, second = (binom.pmf(np.arange(size + 1), size, design.chances(p, *truth)) for size, p in zip(n, design.p, strict=True))
    return np.outer(first, second)


def coverage(outcomes: Floats, chance: Floats, truth: float) -> float:
    """How often the limits hold the truth, among the outcomes that have limits; nan where these are less than one in a hundred."""
    told = ~np.isnan(outcomes[..., 0])
    held = told & (outcomes[..., 1] <= truth + SLACK) & (truth - SLACK <= outcomes[..., 2])
    return float(chance[held].sum() / chance[told].sum()) if chance[told].sum() > 0.01 else float("nan")


def two_groups(design: TwoGroups, n: tuple[int, int]) -> Iterator[tuple[str, float, Any]]:
    """Each figure, its lowest coverage, and the unknowns there. A figure that can be missing counts where it is there."""
    outcomes = all_outcomes(design, n)
    for name, of_figure in outcomes.items():
        cells = [(coverage(of_figure, chance_of(design, n, truth), design.figures(*truth)[name]), truth) for truth in design.truths]
        yield name, *min(cell for cell in cells if cell[0] == cell[0])


def repeated_kuk(n: int, cards: int, p_yes: float, p_no: float) -> list[tuple[float, float]]:
    """Coverage, exact, at each share: limits depend on the sum of red cards alone."""
    reds = np.arange(n * cards + 1)
    found = []
    for total in reds:
        counts = np.bincount([total // n + (person < total % n) for person in range(n)], minlength=cards + 1)
        (figure,) = indirect.repeated_kuk(counts, p_yes, p_no)
        found.append((figure.low, figure.high))
    limits = np.array(found)
    cells = []
    for share in SHARES:
        chance = np.zeros(len(reds))
        for holders in range(n + 1):
            draws = (holders * cards, p_yes), ((n - holders) * cards, p_no)
            own, other = (binom.pmf(np.arange(count + 1), count, p) for count, p in draws)
            chance += binom.pmf(holders, n, share) * np.convolve(own, other)
        held = (limits[:, 0] <= share + SLACK) & (share - SLACK <= limits[:, 1])
        cells.append((float(chance[held].sum()), share))
    return cells


def false_alarms(n: int, p: float, share: float) -> float:
    """How often the test of the extended crosswise design rejects at 5% though both groups hold one share, exact."""
    same = (binom.pmf(np.arange(n + 1), n, share * q + (1 - share) * (1 - q)) for q in (p, 1 - p))
    chance = np.outer(*same)
    return float(
        sum(
            chance[first, second]
            for first, second in np.ndindex(n + 1, n + 1)
            if chance[first, second] > 1e-9
            and indirect.extended_crosswise(Group(first, n, p), Group(second, n, 1 - p)).tests[0].p_value < 0.05
        )
    )


def anchored(n: int, rng: np.random.Generator, yes: float, attentive: float) -> Any:
    heed = rng.random(n) < attentive
    coins = rng.random((n, 2)) < 0.5
    sensitive = (rng.random(n) < yes) == (rng.random(n) < 0.15)
    anchor = rng.random(n) >= 0.15
    a, b = np.where(heed, sensitive, coins[:, 0]), np.where(heed, anchor, coins[:, 1])
    counts = [[int((a & b).sum()), int((a & ~b).sum())], [int((~a & b).sum()), int((~a & ~b).sum())]]
    return indirect.anchored_crosswise(counts, 0.15, 0.15)["yes"], yes


def listed(n: int, rng: np.random.Generator, yes: float, items: float) -> Any:
    control = rng.binomial(3, items, n // 2)
    treated = rng.binomial(3, items, n - n // 2) + (rng.random(n - n // 2) < yes)
    return indirect.list_experiment(np.bincount(control, minlength=4), np.bincount(treated, minlength=5))["yes"], yes


def scrambled(n: int, rng: np.random.Generator, shape: float, spread: float) -> Any:
    reports = rng.gamma(shape, 10 / shape, n) * rng.gamma(1 / spread**2, spread**2, n)
    return indirect.scrambled_mean(reports, Scrambling.multiplied(1.0))["mean"], 10.0


def acquaintances(n: int, rng: np.random.Generator, share: float, spread: float) -> Any:
    """Personal networks that differ: a gamma with that coefficient of variation, about 300 people of a population of 100,000."""
    size = rng.gamma(1 / spread**2, 300 * spread**2, n)
    known = rng.poisson(size[:, None] * np.array([0.01, 0.005, 0.002]))
    hidden = rng.poisson(size * share)
    return indirect.network_scale_up(hidden, known, [1000.0, 500.0, 200.0])["size"], share * 100_000


SIMULATED = {
    "crosswise with anchor, yes": (anchored, tuple(product((0.0, 0.05, 0.2, 0.5), (0.6, 0.8, 1.0)))),
    "list experiment, yes": (listed, tuple(product((0.0, 0.05, 0.2, 0.5), (0.2, 0.5)))),
    "scrambled numbers, mean": (scrambled, tuple(product((1.0, 4.0), (0.2, 0.5, 1.0)))),
    "network scale-up, size": (acquaintances, tuple(product((0.0005, 0.005), (0.3, 1.0)))),
}


def simulated(name: str, n: int, truth: tuple[float, float], surveys: int) -> tuple[float, float, float]:
    """How often the limits hold the truth among surveys with an estimate, the share of those, and the mean estimate less the truth, over
    its own standard error."""
    survey, rng = SIMULATED[name][0], np.random.default_rng(SEED)
    held, off = [], []
    for _ in range(surveys):
        try:
            figure, value = survey(n, rng, *truth)
        except EstimateError:
            continue
        held.append(figure.low <= value <= figure.high)
        off.append(figure.estimate - value)
    spread = float(np.std(off)) / len(off) ** 0.5
    return float(np.mean(held)), len(held) / surveys, float(np.mean(off)) / spread


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--surveys", type=int, default=2000)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 50, 100])
    arguments = parser.parse_args()
    print("exact: design, figure, reports a group, lowest coverage, at")
    for n in arguments.sizes:
        for design in TWO_GROUPS:
            for name, lowest, truth in two_groups(design, (n, n)):
                print(f"{design.name}, {name}: {n} and {n}, {lowest:.4f} at {truth}", flush=True)
        for cards in (2, 5):
            lowest, share = min(repeated_kuk(n, cards, 0.7, 0.3))
            print(f"repeated kuk, {cards} cards: {n}, {lowest:.4f} at {share}", flush=True)
        alarms = max((false_alarms(n, 0.2, share), share) for share in (0.0, 0.05, 0.2, 0.5))
        print(f"extended crosswise, false alarms of the test: {n} and {n}, {alarms[0]:.4f} at {alarms[1]}", flush=True)
    print(f"simulated, {arguments.surveys:,} surveys: figure, reports, lowest coverage (of surveys with an estimate), at")
    for name, (_, truths) in SIMULATED.items():
        for n in (100, 500, 2000):
            coverages = [(*simulated(name, n, truth, arguments.surveys)[:2], truth) for truth in truths]
            lowest, told, truth = min(coverages)
            print(f"{name}: {n:,}, {lowest:.3f} ({100 * told:.0f}%) at {truth}", flush=True)


if __name__ == "__main__":
    main()
