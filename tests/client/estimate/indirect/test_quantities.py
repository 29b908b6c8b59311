"""Numbers that were scrambled, and the network scale-up."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student
from tests.kit.benchmarks import benchmark

from deniable.errors import EstimateError
from deniable.estimate import indirect
from deniable.estimate.indirect import Scrambling

CHANCE = (1.0, 2.0, 6.0)  # of equal chance: mean 3
SCRAMBLED = [
    (Scrambling.multiplied(3), lambda y, s, true: y * s),
    (Scrambling.added(3), lambda y, s, true: y + s),
    (Scrambling.replaced(0.5, 3), lambda y, s, true: y if true else s),
    (Scrambling.sometimes_multiplied(0.5, 3), lambda y, s, true: y if true else y * s),
]


@pytest.mark.parametrize(("scrambling", "carried_out"), SCRAMBLED, ids=lambda x: x.name if isinstance(x, Scrambling) else "")
def test_the_mean_is_unbiased_over_all_chance_numbers(scrambling: Scrambling, carried_out: Any) -> None:
    """Two people with 4 and 10; each draws one of three numbers and one of two sides: 36 outcomes of equal chance."""
    outcomes = list(product(CHANCE, (True, False), CHANCE, (True, False)))
    reports = [(carried_out(4.0, a, first), carried_out(10.0, b, second)) for a, first, b, second in outcomes]
    means = [(sum(pair) / 2 - scrambling.shift) / scrambling.factor for pair in reports]
    assert sum(means) / len(means) == pytest.approx(7)
    for pair, mean in zip(reports, means, strict=True):
        if pair[0] != pair[1]:
            assert indirect.scrambled_mean(pair, scrambling)["mean"].estimate == pytest.approx(mean)


def test_the_error_is_the_spread_of_the_reports_and_the_limits_students() -> None:
    found = indirect.scrambled_mean([10, 14, 18, 22], Scrambling.multiplied(2))["mean"]
    error = math.sqrt(80 / 3 / 4) / 2
    assert (found.estimate, found.std_error) == pytest.approx((8, error))
    assert (found.low, found.high) == pytest.approx((8 - student.ppf(0.975, 3) * error, 8 + student.ppf(0.975, 3) * error))
    assert indirect.scrambled_mean([10, 14, 18, 22], Scrambling.multiplied(2), bounds=(0, 10))["mean"].high <= 10


@pytest.mark.slow
@pytest.mark.parametrize(("name", "truth"), [("scrambled numbers, mean", (4.0, 0.2)), ("network scale-up, size", (0.005, 0.3))])
def test_their_intervals_hold_the_truth(name: str, truth: tuple[float, float]) -> None:
    """A slice of benchmarks/classic_designs.py; fixed seed."""
    held, told, off = benchmark("classic_designs").simulated(name, 100, truth, 400)
    assert told == 1
    assert held >= 0.915
    assert abs(off) < 4


def test_skewed_reports_are_told_by_cochrans_rule() -> None:
    even, skewed = np.arange(100.0), np.concatenate([np.zeros(99), [100.0]])
    assert not indirect.scrambled_mean(even, Scrambling.added(1))["mean"].warning
    assert indirect.scrambled_mean(skewed, Scrambling.added(1))["mean"].warning.startswith("the reports are skewed")


def test_the_scale_up_is_a_ratio_of_sums_times_the_known_sizes() -> None:
    """5 hidden among 100 known of 40,000: 2,000."""
    hidden, known = [0, 1, 2, 2], [[10, 5], [20, 5], [15, 15], [10, 20]]
    found = indirect.network_scale_up(hidden, known, [10_000, 30_000])["size"]
    assert found.estimate == pytest.approx(2_000)
    off = np.array(hidden) - 0.05 * np.array(known).sum(axis=1)
    assert found.std_error == pytest.approx(40_000 * math.sqrt(off.var(ddof=1) / 4) / 25)
    assert 0 <= found.low < 2_000 < found.high


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Scrambling.multiplied(0), "must depend on the true number, got a factor of 0"),
        (lambda: Scrambling.replaced(0, 3), "must depend on the true number"),
        (lambda: Scrambling.added(math.inf), "mean must be a finite number, got inf"),
        (lambda: Scrambling.multiplied("3"), "mean must be a finite number, got '3'"),
        (lambda: indirect.scrambled_mean([1], Scrambling.added(0)), "reports must be at least 2, and not all equal"),
        (lambda: indirect.scrambled_mean([3, 3], Scrambling.added(0)), "not all equal"),
        (lambda: indirect.scrambled_mean([1, math.nan], Scrambling.added(0)), "reports must be finite numbers"),
        (lambda: indirect.scrambled_mean(["a", "b"], Scrambling.added(0)), "reports must be numbers"),
        (lambda: indirect.scrambled_mean([1, 2], Scrambling.added(0), bounds=(1, 1)), "bounds must be the least and the greatest"),
        (lambda: indirect.network_scale_up([1, 2], [[1], [2], [3]], [100]), "a row for each of 2 or more respondents"),
        (lambda: indirect.network_scale_up([0, 0], [[1], [2]], [100]), "without acquaintances in a group"),
        (lambda: indirect.network_scale_up([1, 2], [[0], [0]], [100]), "must not be all 0"),
        (lambda: indirect.network_scale_up([1, 2], [[2], [4]], [100]), "not be in one proportion for everybody"),
        (lambda: indirect.network_scale_up([1, -1], [[2], [4]], [100]), "numbers of people from 0"),
    ],
)
def test_what_cannot_be_is_refused(make: Any, message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        make()


def test_a_report_that_is_none_is_not_quoted() -> None:
    with pytest.raises(EstimateError) as error:
        indirect.scrambled_mean(["1", "secret"], Scrambling.added(0))
    assert "secret" not in str(error.value)
