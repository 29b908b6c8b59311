"""Amplification by shuffling: the published figures, and a bound that holds for real coins, by enumeration."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from importlib import import_module

import pytest

from deniable.mechanism import Channel
from deniable.privacy.shuffling import shuffled, shuffled_at_least

SHUFFLING = import_module("deniable.privacy.shuffling")
LN3 = math.log(3)


@pytest.mark.parametrize(
    ("n", "epsilon0", "low", "high"), [(10_000, LN3, 0.0605, 0.0615), (1_000, 1.0, 0.176, 0.207), (100_000, 4.0, 0.168, 0.173)]
)
def test_known_figures_at_one_in_a_million_are_met(n: int, epsilon0: float, low: float, high: float) -> None:
    assert low <= shuffled(epsilon0, n) <= high
    assert shuffled_at_least(epsilon0, n) < shuffled(epsilon0, n)


def test_the_pair_of_distributions_is_summed_as_it_is_defined() -> None:
    """Every number of clones and every split of them, written out."""
    epsilon, epsilon0, n = 0.7, 1.5, 9
    theta, clone = 1 / (1 + math.exp(-epsilon0)), math.exp(-epsilon0)
    if_one, if_other = defaultdict(float), defaultdict(float)
    for c in range(n):
        for a in range(c + 1):
            chance = math.comb(n - 1, c) * clone**c * (1 - clone) ** (n - 1 - c) * math.comb(c, a) / 2**c
            for own, there in ((1, theta), (0, 1 - theta)):
                if_one[a + own, c + 1] += chance * there
                if_other[a + own, c + 1] += chance * (1 - there)
    for p, q in ((if_one, if_other), (if_other, if_one)):
        delta = sum(max(0.0, p[key] - math.exp(epsilon) * q[key]) for key in p)
        assert SHUFFLING._among_clones(epsilon, epsilon0, n) == pytest.approx(delta, rel=1e-12)


def outputs(channel: Channel) -> dict[int, dict[tuple[int, ...], float]]:
    """The chance of every report, for every category."""
    theta, k, d = float(channel.theta), channel.k, channel.d
    subsets = list(itertools.combinations(range(k), d))
    own, other = theta / math.comb(k - 1, d - 1), (1 - theta) / math.comb(k - 1, d)
    return {x: {s: own if x in s else other for s in subsets} for x in range(k)}


def histogram(reports: list[dict[tuple[int, ...], float]]) -> dict[frozenset, float]:
    """The distribution of the shuffled reports: which report came how often."""
    table: dict[frozenset, float] = {frozenset(): 1.0}
    for report in reports:
        grown: dict[frozenset, float] = defaultdict(float)
        for seen, chance in table.items():
            for subset, p in report.items():
                counts = Counter(dict(seen))
                counts[subset] += 1
                grown[frozenset(counts.items())] += chance * p
        table = grown
    return table


def worst_delta(channel: Channel, n: int, epsilon: float) -> float:
    """The largest delta over all answers of the others and all two answers of one person."""
    chances, worst = outputs(channel), 0.0
    for others in itertools.combinations_with_replacement(range(channel.k), n - 1):
        tables = [histogram([chances[x], *(chances[y] for y in others)]) for x in range(channel.k)]
        for p, q in itertools.permutations(tables, 2):
            worst = max(worst, sum(max(0.0, p[key] - math.exp(epsilon) * q[key]) for key in p))
    return worst


@pytest.mark.slow
@pytest.mark.parametrize(("k", "n"), [(2, 8), (3, 5), (6, 3)])
@pytest.mark.parametrize("delta", [0.02, 0.1])
def test_the_bound_holds_for_real_coins_and_every_set_of_answers(k: int, n: int, delta: float) -> None:
    channel = Channel.for_epsilon(1.0, k)
    bound = shuffled(channel.epsilon, n, delta)
    assert bound < 1.0
    assert worst_delta(channel, n, bound) <= delta


def test_a_bound_below_what_the_coins_give_away_would_be_noticed() -> None:
    channel = Channel.for_epsilon(1.0, 2)
    floor = shuffled_at_least(channel.epsilon, 8, 0.02)
    assert worst_delta(channel, 8, 0.95 * floor) > 0.02


def test_more_people_hide_a_person_better_and_never_worse_than_alone() -> None:
    bounds = [shuffled(2.0, n) for n in (1, 10, 1_000, 100_000, 1_000_000)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] <= 2.0
    assert bounds[-1] < 0.02
    assert 3 < bounds[-2] / bounds[-1] < 4  # ten times the people: about 1 / sqrt(n)


def test_less_slack_costs_more_and_nothing_costs_nothing() -> None:
    assert shuffled(1.0, 1_000, 1e-9) > shuffled(1.0, 1_000, 1e-6) > shuffled(1.0, 1_000, 1e-3)
    assert shuffled(0.0, 10) == 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1.0, 10), "epsilon0 must be"),
        ((1.0, 0), "n must be a whole number"),
        ((1.0, 10, 0.0), "delta must be"),
        ((1.0, 10, 1.0), "delta must be"),
    ],
)
def test_an_argument_that_makes_no_sense_is_refused(arguments: tuple[float, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        shuffled(*arguments)
