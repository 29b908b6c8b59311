"""Amplification by shuffling: the published figures, and a bound that holds for real coins, by enumeration."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from importlib import import_module
from typing import Any

import pytest

from deniable.mechanism import Channel, Window
from deniable.privacy.shuffling import question_shuffling_bound, shuffling_bound, shuffling_lower_bound

SHUFFLING = import_module("deniable.privacy.shuffling")
LN3 = math.log(3)


@pytest.mark.parametrize(
    ("n", "epsilon0", "low", "high"), [(10_000, LN3, 0.0605, 0.0615), (1_000, 1.0, 0.176, 0.207), (100_000, 4.0, 0.168, 0.173)]
)
def test_known_figures_at_one_in_a_million_are_met(n: int, epsilon0: float, low: float, high: float) -> None:
    assert low <= shuffling_bound(epsilon0, n) <= high
    assert shuffling_lower_bound(epsilon0, n) < shuffling_bound(epsilon0, n)


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
    if isinstance(channel, Window):
        return {x: {(y,): float(chance) for y, chance in enumerate(row)} for x, row in enumerate(channel.chances)}
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


REAL = [
    (Channel.for_epsilon(1.0, 2), 8),
    (Channel.for_epsilon(1.0, 3), 5),
    (Channel.for_epsilon(1.0, 6), 3),
    (Window.over_levels(1.0, levels=3, width=2), 5),
    (Window.over_levels(1.0, levels=2, width=2), 7),
    (Window.over_levels(1.0, levels=2, width=2, apart=True), 4),
]


@pytest.mark.slow
@pytest.mark.parametrize(("channel", "n"), REAL)
@pytest.mark.parametrize("delta", [0.02, 0.1])
def test_both_bounds_hold_for_real_coins_and_every_set_of_answers(channel: Channel, n: int, delta: float) -> None:
    """That of the question is the smaller one, so what holds for it holds for the other."""
    bound = question_shuffling_bound(channel, n, delta)
    assert worst_delta(channel, n, bound) <= delta
    assert bound <= shuffling_bound(channel.epsilon, n, delta) < 1.0


@pytest.mark.slow
def test_the_bound_of_one_question_needs_all_that_it_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Controls: ten times the people, and odds that are smaller than the coins', are told apart from the truth."""
    (channel, n), delta, plain = REAL[0], 0.1, SHUFFLING._in_blanket
    for broken in (lambda *a: plain(a[0], a[1], 10 * n, a[3]), lambda *a: plain(a[0], 1 + (a[1] - 1) / 4, *a[2:])):
        monkeypatch.setattr(SHUFFLING, "_in_blanket", broken)
        assert worst_delta(channel, n, question_shuffling_bound.__wrapped__(channel, n, delta)) > delta  # past its cache


@pytest.mark.slow
@pytest.mark.parametrize("n", [10_001, 30_000, 3_000_000])
def test_more_people_than_the_coins_are_summed_for_hide_each_other_no_worse(n: int) -> None:
    channel = Channel.for_epsilon(1.0, 2)
    assert question_shuffling_bound(channel, n) <= min(question_shuffling_bound(channel, 10_000), shuffling_bound(1.0, n)) * (1 + 2e-6)


@pytest.mark.parametrize("channel", [channel for channel, _ in REAL])
def test_the_blanket_of_a_question_is_what_all_its_answers_have_in_common(channel: Channel) -> None:
    chances = outputs(channel)
    common = sum(min(row[report] for row in chances.values()) for report in chances[0])
    for kind in SHUFFLING._kinds(channel):
        assert 2 * kind.one + kind.neither + kind.both == pytest.approx(common)


def test_many_options_hide_a_person_among_fewer_others() -> None:
    """Two options: between the bound for any coins and what no bound can be below. The figures: today's, to 1%."""
    two = question_shuffling_bound(Channel.for_epsilon(1.0, 2), 1_000)
    assert shuffling_lower_bound(1.0, 1_000) < two < shuffling_bound(1.0, 1_000)
    assert two == pytest.approx(0.1487, rel=0.01)
    assert question_shuffling_bound(Channel.for_epsilon(2.0, 16), 1_000) == pytest.approx(0.2915, rel=0.01)


def test_a_bound_below_what_the_coins_give_away_would_be_noticed() -> None:
    channel = Channel.for_epsilon(1.0, 2)
    floor = shuffling_lower_bound(channel.epsilon, 8, 0.02)
    assert worst_delta(channel, 8, 0.95 * floor) > 0.02


def test_more_people_hide_a_person_better_and_never_worse_than_alone() -> None:
    bounds = [shuffling_bound(2.0, n) for n in (1, 10, 1_000, 100_000, 1_000_000)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] <= 2.0
    assert bounds[-1] < 0.02
    assert 3 < bounds[-2] / bounds[-1] < 4  # ten times the people: about 1 / sqrt(n)


def test_less_slack_costs_more_and_nothing_costs_nothing() -> None:
    assert shuffling_bound(1.0, 1_000, 1e-9) > shuffling_bound(1.0, 1_000, 1e-6) > shuffling_bound(1.0, 1_000, 1e-3)
    assert shuffling_bound(0.0, 10) == 0.0


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
        shuffling_bound(*arguments)


@pytest.mark.slow
def test_so_many_people_that_no_sum_goes_over_them_have_the_bound_of_fewer() -> None:
    """More people hide each of them better, so it holds for them too."""
    assert shuffling_bound(1.0, 10**12) == shuffling_bound(1.0, 10**7) < shuffling_bound(1.0, 10**6)


def test_a_lower_bound_of_so_many_people_is_refused_since_that_of_fewer_is_larger() -> None:
    with pytest.raises(ValueError, match="n must be at most 10,000,000, got 1000000000000"):
        shuffling_lower_bound(1.0, 10**12)


def test_where_nobody_can_be_a_clone_shuffling_hides_nothing() -> None:
    assert shuffling_bound(1_000.0, 100) == 1_000.0
    with pytest.raises(ValueError, match="epsilon0 must be at most 500 for this bound, got 1000"):
        shuffling_lower_bound(1_000.0, 100)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1e308, 10), "epsilon0 must be at most 1,000,000"),
        ((True, 10), "epsilon0 must be a finite number"),
        ((1.0, 10**400), "n must be at most 1,000,000,000,000, got a number of 1,329 bits"),
        ((1.0, 10, "x"), "delta must be at least 1e-12 and below 1, got 'x'"),
    ],
)
def test_numbers_of_no_sane_size_are_refused_by_name(arguments: tuple[Any, ...], message: str) -> None:
    for bound in (shuffling_bound, shuffling_lower_bound):
        with pytest.raises(ValueError, match=message):
            bound(*arguments)
