"""Standard errors and widths before a survey: equal to what is enumerated, simulated, or known from textbooks."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from deniable.errors import EstimateError
from deniable.estimate import Share
from deniable.estimate import share as estimate_share
from deniable.mechanism import Channel
from deniable.plan import NO_PRIVACY, Mechanism, curator, precision, private, sample_size, std_error
from deniable.plan.precision import chance_negative, expected_half_width, normal_half_width, share_half_width

COINS = private(Channel.for_epsilon(math.log(3), 2))
PRESIDENT = private(Channel.for_epsilon(2.0, 7))


def counts(design: Mechanism, n: int, share: float) -> list[tuple[int, float]]:
    """Every count and its chance."""
    rate = design.rate(share)
    return [(y, math.comb(n, y) * rate**y * (1 - rate) ** (n - y)) for y in range(n + 1)]


@pytest.mark.parametrize("design", [COINS, PRESIDENT, NO_PRIVACY])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_the_standard_error_is_that_of_the_estimate_over_all_counts(design: Mechanism, share: float) -> None:
    n = 30
    estimates = [((y / n - design.q0) / design.gap, chance) for y, chance in counts(design, n, share)]
    mean = math.fsum(estimate * chance for estimate, chance in estimates)
    variance = math.fsum((estimate - mean) ** 2 * chance for estimate, chance in estimates)
    assert mean == pytest.approx(share, abs=1e-12)
    assert std_error(design, n, share) == pytest.approx(math.sqrt(variance), rel=1e-9)


def test_two_fair_coins_double_the_width_of_an_open_question() -> None:
    assert normal_half_width(COINS, 2_000) == pytest.approx(0.0438, abs=5e-5)
    assert normal_half_width(COINS, 2_000) == pytest.approx(2 * normal_half_width(NO_PRIVACY, 2_000), rel=1e-12)


def test_no_share_has_a_wider_interval_than_the_hardest() -> None:
    for design in (COINS, PRESIDENT, Mechanism(1 / 6, 0.45)):
        widest = normal_half_width(design, 500)
        assert all(normal_half_width(design, 500, share=p) <= widest for p in np.linspace(0, 1, 101))
        assert normal_half_width(design, 500, share=design.hardest_share) == widest


def test_three_points_take_1068_open_answers_and_four_times_as_many_at_ln_3() -> None:
    assert sample_size(NO_PRIVACY, 0.03) == 1_068
    assert sample_size(COINS, 0.03) == 4_269


@pytest.mark.parametrize("design", [COINS, PRESIDENT, NO_PRIVACY, curator(0.1), curator(3.0)])
@pytest.mark.parametrize("wanted", [0.4, 0.05, 0.004])
def test_the_respondents_found_are_enough_and_one_fewer_is_not(design: Mechanism, wanted: float) -> None:
    n = sample_size(design, wanted, confidence=0.9, share=0.3)
    assert share_half_width(design, n, confidence=0.9, share=0.3) <= wanted
    assert n == 1 or share_half_width(design, n - 1, confidence=0.9, share=0.3) > wanted


def test_a_curators_interval_holds_the_truth_as_often_as_it_says() -> None:
    rng, n, share, epsilon, draws = np.random.default_rng(11), 400, 0.3, 0.2, 400_000
    noisy = rng.binomial(n, share, draws) + rng.laplace(0, 1 / epsilon, draws)
    design = curator(epsilon)
    assert (noisy / n).std() == pytest.approx(std_error(design, n, share), rel=0.01)
    inside = (abs(noisy / n - share) <= normal_half_width(design, n, share=share)).mean()
    assert inside == pytest.approx(0.95, abs=0.004)
    by_normal = (abs(noisy / n - share) <= 1.96 * std_error(design, n, share)).mean()
    assert by_normal != pytest.approx(0.95, abs=0.0005)


def test_a_curators_noise_alone_is_laplace_and_vanishes_in_a_large_survey() -> None:
    assert normal_half_width(curator(0.5), 1_000, share=0.0) == pytest.approx(math.log(20) / 0.5 / 1_000)
    assert normal_half_width(curator(0.5), 10**8) == pytest.approx(normal_half_width(NO_PRIVACY, 10**8), rel=1e-6)
    assert normal_half_width(curator(1e-3), 100) == pytest.approx(math.log(20) * 10, rel=1e-4)


def test_the_expected_width_is_the_mean_over_all_counts() -> None:
    n, share = 60, 0.2
    shares = [(estimate_share(y, n, q0=COINS.q0, q1=COINS.q1), chance) for y, chance in counts(COINS, n, share)]
    exact = math.fsum((one.high - one.low) / 2 * chance for one, chance in shares)
    assert expected_half_width(COINS, n, share=share) == pytest.approx(exact, rel=1e-6)


def test_the_expected_width_meets_the_formula_in_a_large_survey_and_not_at_an_end() -> None:
    assert expected_half_width(COINS, 30_000) == pytest.approx(normal_half_width(COINS, 30_000), rel=2e-3)
    assert expected_half_width(COINS, 2_000) == pytest.approx(normal_half_width(COINS, 2_000), rel=0.01)
    assert expected_half_width(COINS, 2_000, share=0.0) < 0.75 * normal_half_width(COINS, 2_000, share=0.0)


@pytest.mark.parametrize(
    ("design", "n"), [(COINS, 40), (PRESIDENT, 40), (PRESIDENT, 300), (Mechanism(0.3, 0.35), 300), (Mechanism(0.6, 0.9), 100)]
)
def test_the_widest_of_all_shares_is_found(design: Mechanism, n: int) -> None:
    halves = [(one.high - one.low) / 2 for one in (estimate_share(y, n, q0=design.q0, q1=design.q1) for y in range(n + 1))]
    means = [sum(chance * halves[y] for y, chance in counts(design, n, step / 200)) for step in range(201)]
    assert share_half_width(design, n) == pytest.approx(max(means), rel=0.003)


def test_more_people_take_no_more_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of twenty options the hardest share is 1, where intervals are cut however many people answer."""
    computed: list[int] = []

    def one(ones: int, n: int, **options: float) -> Share:
        computed.append(n)
        return estimate_share(ones, n, **options)

    monkeypatch.setattr(precision, "estimate_share", one)
    design = private(Channel.for_epsilon(1.0, 20))
    for n in (10**3, 10**6, 10**9, 10**12):
        share_half_width(design, n)
    assert max(computed.count(n) for n in computed) < 400
    assert set(computed) == {10**3, 10**6, 10**9, 10**12}


@pytest.mark.parametrize(("n", "share"), [(20, 0.0), (50, 0.05), (51, 0.05), (200, 0.1)])
def test_the_chance_of_a_negative_estimate_is_that_of_all_counts_below(n: int, share: float) -> None:
    negative = math.fsum(chance for y, chance in counts(COINS, n, share) if Fraction(y, n) < Fraction(1, 4))
    assert chance_negative(COINS, n, share) == pytest.approx(negative, rel=1e-9)
    assert chance_negative(NO_PRIVACY, n, share) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Mechanism(0.5, 0.5), "q0 and q1 must be probabilities with q0 below q1"),
        (lambda: Mechanism(0, 1, -1.0), "noise must be"),
        (lambda: curator(0.0), "epsilon must be above 0"),
        (lambda: std_error(COINS, 0), "n must be a whole number of at least 1, got 0"),
        (lambda: std_error(COINS, 1.5), "n must be a whole number"),
        (lambda: std_error(COINS, 10, 1.1), "share must be from 0 to 1, got 1.1"),
        (lambda: normal_half_width(COINS, 10, confidence=95), "confidence must be above 0 and below 1, got 95"),
        (lambda: sample_size(COINS, 3), "half_width must be above 0 and below 1, got 3"),
        (lambda: sample_size(Mechanism(0.5, 0.5000001), 0.001), "respondents must be at most 1,000,000,000,000"),
        (lambda: expected_half_width(curator(1.0), 10), "noise must be 0"),
        (lambda: chance_negative(curator(1.0), 10, 0.1), "noise must be 0"),
    ],
)
def test_an_argument_that_makes_no_sense_is_refused_by_name(call: object, message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        call()  # type: ignore[operator]
