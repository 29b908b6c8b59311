"""Reports that are counts: cards of Kuk's design drawn several times, and lists of items."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from tests.kit.benchmarks import benchmark

from deniable.errors import EstimateError
from deniable.estimate import indirect, share


def test_drawing_once_is_kuks_design() -> None:
    once, one = indirect.repeated_kuk([60, 40], 0.7, 0.2)["yes"], share(40, 100, q0=0.2, q1=0.7)
    assert (once.estimate, once.std_error) == pytest.approx((one.estimate, one.std_error))
    assert (once.low, once.high) == pytest.approx((one.low, one.high))


def test_several_cards_give_an_unbiased_share_over_all_outcomes() -> None:
    """3 people, 2 cards each: all 27 outcomes."""
    truth, p_yes, p_no = 0.3, 0.8, 0.4
    one = [truth * binom.pmf(red, 2, p_yes) + (1 - truth) * binom.pmf(red, 2, p_no) for red in range(3)]
    found = 0.0
    for reds in product(range(3), repeat=3):
        estimate = indirect.repeated_kuk(np.bincount(reds, minlength=3), p_yes, p_no)["yes"].estimate
        found += estimate * np.prod([one[red] for red in reds])
    assert found == pytest.approx(truth, abs=1e-12)


def test_more_cards_say_more_and_give_more_away() -> None:
    few, many = indirect.repeated_kuk([30, 40, 30], 0.7, 0.3), indirect.repeated_kuk([3, 15, 30, 34, 15, 3], 0.7, 0.3)
    assert many["yes"].high - many["yes"].low < few["yes"].high - few["yes"].low
    assert many.epsilon == pytest.approx(2.5 * few.epsilon)


@pytest.mark.slow
def test_its_intervals_hold_the_truth_as_often_as_they_must() -> None:
    """A slice of benchmarks/classic_designs.py: exact, over all outcomes."""
    assert min(benchmark("classic_designs").repeated_kuk(20, 3, 0.7, 0.3))[0] >= 0.94


def test_nobody_drew_a_red_card_and_the_interval_still_has_a_width() -> None:
    one = indirect.repeated_kuk([20, 0, 0], 0.7, 0.0)["yes"]
    assert one.estimate == 0 == one.low < one.high


def test_a_list_experiment_is_a_difference_of_means_by_hand() -> None:
    """Means 1.5 and 1.9 of 4 and 10; variances 5/3 and 69/90, with n - 1."""
    found = indirect.list_experiment([1, 1, 1, 1], [0, 4, 3, 3, 0])["yes"]
    assert found.estimate == pytest.approx(1.9 - 1.5)
    assert found.std_error == pytest.approx((5 / 3 / 4 + 6.9 / 9 / 10) ** 0.5)
    assert 0 <= found.low < found.estimate < found.high <= 1


@pytest.mark.slow
def test_list_experiments_hold_the_truth_and_are_unbiased() -> None:
    """A slice of benchmarks/classic_designs.py; fixed seed."""
    held, told, off = benchmark("classic_designs").simulated("list experiment, yes", 100, (0.05, 0.5), 400)
    assert told == 1
    assert held >= 0.915
    assert abs(off) < 4


def test_a_list_that_changes_the_other_answers_is_noticed_and_one_that_does_not_is_not() -> None:
    rng = np.random.default_rng(7)
    others, yes = rng.binomial(3, 0.5, (2, 2000)), rng.random(2000) < 0.3
    control = np.bincount(others[0], minlength=4)
    fair, shy = np.bincount(others[1] + yes, minlength=5), np.bincount(np.maximum(others[1] - (rng.random(2000) < 0.5), 0), minlength=5)
    assert indirect.list_experiment(control, fair).tests[0].p_value > 0.05
    assert indirect.list_experiment(control, shy).tests[0].p_value < 1e-6


def test_everybody_counts_alike_and_the_interval_still_has_a_width() -> None:
    one = indirect.list_experiment([0, 0, 50], [0, 0, 50, 0])["yes"]
    assert one.estimate == 0 == one.low < one.high
    assert one.std_error > 0
    assert indirect.list_experiment([0, 0, 50], [50, 0, 0, 0]).tests[0].p_value < 1e-6


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: indirect.repeated_kuk([3], 0.7, 0.2), "counts must be whole numbers of people from 0, one for each count"),
        (lambda: indirect.repeated_kuk([3.5, 2], 0.7, 0.2), "counts must be whole numbers"),
        (lambda: indirect.repeated_kuk([0, 0], 0.7, 0.2), "at least 1 person"),
        (lambda: indirect.repeated_kuk([1, 1], 0.7, 0.7), "q0 must differ from q1"),
        (lambda: indirect.list_experiment([1, 1], [1, 1]), "treated must have one number more than control, .* got 2 and 2"),
        (lambda: indirect.list_experiment([1, 0], [1, 1, 1]), "each group must have at least 2 reports, got 1 and 3"),
        (lambda: indirect.list_experiment([1, -1], [1, 1, 1]), "control must be whole numbers"),
    ],
)
def test_what_cannot_be_is_refused(make: Any, message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        make()
