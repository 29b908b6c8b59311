"""How likely something is to show: the field's figures, the exact binomial, and simulated groups."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from deniable.errors import EstimateError
from deniable.estimate import share as estimate_share
from deniable.mechanism import Channel
from deniable.plan import NO_PRIVACY, Mechanism, curator, power, private, sample_size_for_power, smallest_effect
from deniable.plan.power import power_of_interval

COINS = private(Channel.for_epsilon(math.log(3), 2))


def warner(p: float) -> Mechanism:
    return Mechanism(1 - p, p)


@pytest.mark.parametrize(("p", "n", "published"), [(0.6, 3729, 3623), (0.7, 831, 807), (0.75, 483, 469), (0.9, 105, 101)])
def test_the_respondents_for_a_share_of_a_tenth_against_none(p: float, n: int, published: int) -> None:
    """The published figures are those of R's rr, whose search stops within 0.01 of the power: they are for 79%, not 80%."""
    assert sample_size_for_power(warner(p), 0.1) == n
    assert sample_size_for_power(warner(p), 0.1, power=0.79) == published
    assert power(warner(p), published, 0.1) == pytest.approx(0.79, abs=0.002)


@pytest.mark.parametrize("design", [warner(0.6), warner(0.75), NO_PRIVACY, curator(1.0)])
def test_one_respondent_fewer_is_not_enough(design: Mechanism) -> None:
    n = sample_size_for_power(design, 0.15, against=0.1)
    assert power(design, n, 0.15, against=0.1) >= 0.8 > power(design, n - 1, 0.15, against=0.1)


@pytest.mark.parametrize("p", [0.6, 0.75])
def test_the_exact_test_of_the_count_has_about_that_power(p: float) -> None:
    design = warner(p)
    n = sample_size_for_power(design, 0.1)
    critical = binom.isf(0.05, n, design.q0)
    at_the_edge = (0.05 - binom.sf(critical, n, design.q0)) / binom.pmf(critical, n, design.q0)  # rejected so often: 5% exactly
    found = binom.sf(critical, n, design.rate(0.1)) + at_the_edge * binom.pmf(critical, n, design.rate(0.1))
    assert 0 <= at_the_edge <= 1
    assert found == pytest.approx(0.8, abs=0.004)


def test_without_privacy_a_single_yes_disproves_that_nobody_does_it() -> None:
    n = sample_size_for_power(NO_PRIVACY, 0.1)
    assert 1 - 0.9**n >= 0.8 > 1 - 0.9 ** (n - 1)
    assert sample_size_for_power(NO_PRIVACY, 0.9, against=1.0) == n == 16


def test_two_groups_differ_visibly_as_often_as_planned() -> None:
    rng, shares, draws = np.random.default_rng(12), (0.3, 0.45), 100_000
    n = sample_size_for_power(COINS, shares)
    first, second = (rng.binomial(n, COINS.rate(share), draws) / n for share in shares)
    middle = (first + second) / 2
    z = abs(first - second) / np.sqrt(2 * middle * (1 - middle) / n)
    assert (z > 1.959964).mean() == pytest.approx(0.8, abs=0.01)
    assert power(COINS, n, shares) == pytest.approx(0.8, abs=0.001)


def test_a_difference_takes_about_as_many_people_as_the_textbook_says() -> None:
    pooled, apart = 2 * 0.55 * 0.45, 0.5 * 0.5 + 0.6 * 0.4
    n = ((1.959964 * math.sqrt(pooled) + 0.841621 * math.sqrt(apart)) / 0.1) ** 2
    found = sample_size_for_power(NO_PRIVACY, (0.5, 0.6))
    assert found == pytest.approx(n, rel=0.02)
    powers = [power(NO_PRIVACY, people, (0.5, 0.6)) for people in (found - 1, found)]
    assert powers[0] < 0.8 <= powers[1]


def test_the_smallest_share_and_difference_have_exactly_the_power_asked_for() -> None:
    share = smallest_effect(COINS, 1_000)
    assert share is not None
    assert power_of_interval(COINS, 1_000, share) == pytest.approx(0.8)
    apart = smallest_effect(COINS, (500, 500))
    assert apart is not None
    assert power(COINS, 500, (0.5 - apart / 2, 0.5 + apart / 2)) == pytest.approx(0.8)


@pytest.mark.parametrize("n", [50, 200, 1000])
@pytest.mark.parametrize("epsilon", [0.5, math.log(3), 4.0])
def test_the_smallest_share_shows_in_the_printed_interval_as_often_as_planned(epsilon: float, n: int) -> None:
    """Summed over all counts, each with its interval in full. The control is the normal formula, which promises too much at epsilon 4."""
    design = private(Channel.for_epsilon(epsilon, 2))
    found = smallest_effect(design, n)
    if found is None:
        assert power_of_interval(design, n, 1.0) < 0.8
        return
    above = np.array([estimate_share(y, n, q0=design.q0, q1=design.q1).low > 0 for y in range(n + 1)])
    assert binom.pmf(np.arange(n + 1), n, design.rate(found)) @ above == pytest.approx(0.8, abs=1e-6)
    if epsilon == 4.0:
        normal = next(p for p in np.linspace(0, 1, 10_001) if power(design, n, p) >= 0.8)
        assert binom.pmf(np.arange(n + 1), n, design.rate(normal)) @ above < 0.78


def test_with_too_few_people_nothing_shows() -> None:
    assert smallest_effect(COINS, 3) is None
    assert smallest_effect(COINS, (5, 5)) is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sample_size_for_power(COINS, 0.0), "share must differ from against"),
        (lambda: sample_size_for_power(COINS, (0.2, 0.2)), "shares must differ"),
        (lambda: sample_size_for_power(COINS, 0.1, power=1.0), "power must be above 0 and below 1"),
        (lambda: power(COINS, 10, 0.1, alpha=0), "alpha must be above 0 and below 1"),
        (lambda: power(COINS, 10, 0.1, against=2), "against must be from 0 to 1"),
    ],
)
def test_an_argument_that_makes_no_sense_is_refused_by_name(call: object, message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        call()  # type: ignore[operator]
