"""The crosswise design with an anchor question, and in two groups that must agree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.kit.benchmarks import benchmark

from deniable.errors import EstimateError
from deniable.estimate import indirect, share
from deniable.estimate.indirect import Group


def expected(yes: float, attentive: float, prevalence: float = 0.15, anchor: float = 0.1, anchor_yes: float = 0.0) -> Any:
    """Counts of a million as they are on average: who heeds follows the instructions, all others toss a coin for each question."""
    same = yes * prevalence + (1 - yes) * (1 - prevalence), anchor_yes * anchor + (1 - anchor_yes) * (1 - anchor)
    heed = np.outer([same[0], 1 - same[0]], [same[1], 1 - same[1]])
    return np.round(1e6 * (attentive * heed + (1 - attentive) / 4)).astype(int)


@pytest.mark.parametrize("attentive", [1.0, 0.7, 0.2])
@pytest.mark.parametrize("anchor_yes", [0.0, 0.9])
def test_the_share_is_right_however_many_pay_no_heed(attentive: float, anchor_yes: float) -> None:
    found = indirect.anchored_crosswise(expected(0.23, attentive, anchor_yes=anchor_yes), 0.15, 0.1, anchor_yes=anchor_yes)
    assert found["yes"].estimate == pytest.approx(0.23, abs=1e-5)
    assert found["attentive"].estimate == pytest.approx(attentive, abs=1e-5)
    assert found["uncorrected"].estimate == pytest.approx(0.5 + attentive * (0.23 - 0.5), abs=1e-5)
    assert 0 <= found["yes"].low < 0.23 < found["yes"].high <= 1


def test_where_all_pay_heed_the_correction_changes_nothing_but_the_error() -> None:
    found = indirect.anchored_crosswise([[810, 90], [90, 10]], 0.2, 0.1)
    plain = share(900, 1000, q0=0.8, q1=0.2)
    assert found["yes"].estimate == pytest.approx(plain.estimate)
    assert found["attentive"].estimate == pytest.approx(1)
    assert found["yes"].std_error > plain.std_error
    assert [found["uncorrected"].low, found["uncorrected"].high] == [plain.low, plain.high]


@pytest.mark.slow
def test_the_corrected_interval_holds_the_truth_and_the_plain_one_does_not() -> None:
    """A slice of benchmarks/classic_designs.py; fixed seed. 400 surveys: 95% is known to 1.1%."""
    held, told, off = benchmark("classic_designs").simulated("crosswise with anchor, yes", 500, (0.05, 0.6), 400)
    assert told == 1
    assert held >= 0.915
    assert abs(off) < 4
    rng = np.random.default_rng(1)
    plain = [share(int(a), 500, q0=0.85, q1=0.15) for a in rng.binomial(500, 0.5 + 0.6 * (0.05 - 0.5) * (2 * 0.15 - 1), 100)]
    assert sum(one.low <= 0.05 <= one.high for one in plain) < 20


def test_the_correction_is_the_published_formula() -> None:
    """pi - (1/2 - 1/(2 g)) (lambda - 1/2) / (p - 1/2), with g = (share of the same to the anchor - 1/2) / (1/2 - p')."""
    counts, p, other = [[1116, 311], [425, 148]], 0.15, 0.2
    same, anchor = 1427 / 2000, 1541 / 2000
    g = (anchor - 0.5) / (0.5 - other)
    pi = (same + p - 1) / (2 * p - 1)
    found = indirect.anchored_crosswise(counts, p, other)
    assert found["yes"].estimate == pytest.approx(pi - (0.5 - 1 / (2 * g)) * (same - 0.5) / (p - 0.5))


def test_the_error_knows_that_the_same_people_answered_both() -> None:
    """The delta method on the four counts, whose slopes are taken numerically; here the two answers go together."""
    counts = np.array([[600, 60], [20, 120]])

    def estimate(cells: Any) -> float:
        same, anchor = cells[0].sum() / cells.sum(), cells[:, 0].sum() / cells.sum()
        return float(0.5 + (same - 0.5) / (anchor - 0.5) * (0.1 - 0.5) / (0.15 - 0.5) / -2)

    rates, step = counts.ravel() / 800, 1e-6
    slopes = [(estimate(counts + 800 * step * e.reshape(2, 2)) - estimate(counts)) / step for e in np.eye(4)]
    by_hand = math.sqrt((rates @ np.square(slopes) - (rates @ slopes) ** 2) / 800)
    found = indirect.anchored_crosswise(counts, 0.15, 0.1)["yes"]
    assert found.estimate == pytest.approx(estimate(counts))
    assert found.std_error == pytest.approx(by_hand, rel=1e-4)


def test_both_groups_of_the_extended_design_are_one_crosswise_design() -> None:
    found = indirect.extended_crosswise(Group(300, 500, 0.2), Group(180, 400, 0.8))
    one = share(300 + 220, 900, q0=0.8, q1=0.2)
    yes = found["yes"]
    assert (yes.estimate, yes.std_error, yes.low, yes.high) == (one.estimate, one.std_error, one.low, one.high)


def test_the_test_is_the_likelihood_ratio_of_two_shares_against_one() -> None:
    """300 of 500 against 220 of 400: 2 sum of o ln(o / e) with e = 520 / 900 of each."""
    e = [500 * 520 / 900, 500 * 380 / 900, 400 * 520 / 900, 400 * 380 / 900]
    by_hand = 2 * sum(o * math.log(o / x) for o, x in zip([300, 200, 220, 180], e, strict=True))
    (test,) = indirect.extended_crosswise(Group(300, 500, 0.2), Group(180, 400, 0.8)).tests
    assert test.statistic == pytest.approx(by_hand)
    assert test.p_value == pytest.approx(math.erfc(math.sqrt(by_hand / 2)))


def test_people_who_always_say_the_same_are_noticed_and_honest_ones_are_not() -> None:
    honest = indirect.extended_crosswise(Group(700, 1000, 0.2), Group(300, 1000, 0.8)).tests[0]
    always = indirect.extended_crosswise(Group(760, 1000, 0.2), Group(440, 1000, 0.8)).tests[0]
    assert honest.p_value == 1
    assert always.p_value < 1e-6


@pytest.mark.slow
def test_the_test_rejects_as_rarely_as_it_says() -> None:
    assert 0.03 < benchmark("classic_designs").false_alarms(25, 0.2, 0.2) < 0.07


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: indirect.anchored_crosswise([[1, 2, 3]], 0.2, 0.2), "counts must be 2 rows of 2 whole numbers"),
        (lambda: indirect.anchored_crosswise([[0, 0], [0, 0]], 0.2, 0.2), "at least 1 report"),
        (lambda: indirect.anchored_crosswise([[1, 1], [1, -1]], 0.2, 0.2), "whole numbers from 0"),
        (lambda: indirect.anchored_crosswise([[5, 5], [5, 5]], 0.5, 0.2), "q0 must differ from q1"),
        (lambda: indirect.anchored_crosswise([[5, 5], [5, 5]], 0.2, 0.5), "q0 must differ from q1"),
        (lambda: indirect.anchored_crosswise([[5, 5], [5, 5]], 0.2, 0.2, anchor_yes=0.5), "anchor_yes must not be 0.5"),
        (lambda: indirect.anchored_crosswise([[2, 8], [2, 8]], 0.2, 0.2), "the denominator must be above 0"),
        (lambda: indirect.extended_crosswise(Group(1, 2, 0.2), Group(1, 2, 0.7)), "must be 1 less the first, got 0.2 and 0.7"),
        (lambda: indirect.extended_crosswise(Group(1, 2, 0.5), Group(1, 2, 0.5)), "q0 must differ from q1"),
    ],
)
def test_what_cannot_be_is_refused(make: Any, message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        make()
