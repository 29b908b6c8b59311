"""Two groups with different devices: unrelated question, cheater detection, stochastic lie detector."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from tests.kit.benchmarks import benchmark

from deniable.errors import EstimateError
from deniable.estimate import indirect
from deniable.estimate.indirect import Group

DESIGNS = benchmark("classic_designs").TWO_GROUPS
UNRELATED, CHEATERS, LIARS = DESIGNS


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_every_estimate_is_unbiased_over_all_outcomes(design: Any) -> None:
    n, truth = (6, 4), (0.37, 0.21)
    outcomes = benchmark("classic_designs").all_outcomes(design, n)
    chance = benchmark("classic_designs").chance_of(design, n, truth)
    assert chance.sum() == pytest.approx(1)
    for name, value in design.figures(*truth).items():
        if name != "honest among them":  # a ratio
            assert (chance * outcomes[name][..., 0]).sum() == pytest.approx(value, abs=1e-12)


def test_an_estimate_of_another_device_would_not_be() -> None:
    n, truth = (6, 4), (0.37, 0.21)
    chance = benchmark("classic_designs").chance_of(UNRELATED, n, truth)
    wrong = benchmark("classic_designs").all_outcomes(CHEATERS, n)["yes"]
    assert abs((chance * wrong[..., 0]).sum() - truth[0]) > 0.02


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_intervals_of_small_groups_hold_the_truth_as_often_as_they_must(design: Any) -> None:
    """A slice of benchmarks/classic_designs.py: exact, over all outcomes."""
    for name, lowest, truth in benchmark("classic_designs").two_groups(design, (20, 20)):
        assert lowest >= 0.93, (name, truth)


@pytest.mark.slow
def test_intervals_without_the_added_reports_would_not() -> None:
    """Honest yes: (5/6 f_1 - 1/6 f_2) / (2/3), two standard errors about it."""
    f, g = np.meshgrid(np.arange(21) / 20, np.arange(21) / 20, indexing="ij")
    yes, error = 1.25 * f - 0.25 * g, np.sqrt((1.25**2 * f * (1 - f) + 0.25**2 * g * (1 - g)) / 20)
    assert yes == pytest.approx(benchmark("classic_designs").all_outcomes(CHEATERS, (20, 20))["yes"][..., 0])
    wald = np.stack([yes, yes - 1.96 * error, yes + 1.96 * error], axis=-1)
    chances = [(benchmark("classic_designs").chance_of(CHEATERS, (20, 20), truth), truth[0]) for truth in CHEATERS.truths]
    assert min(benchmark("classic_designs").coverage(wald, *chance) for chance in chances) < 0.92


@pytest.mark.parametrize("yes", [(0, 0), (20, 20), (0, 20), (20, 0)])
@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_no_interval_is_without_a_width_and_none_leaves_0_to_1(design: Any, yes: tuple[int, int]) -> None:
    for figure in design.estimate(Group(yes[0], 20, design.p[0]), Group(yes[1], 20, design.p[1])):
        assert 0 <= figure.low < figure.high <= 1
        assert figure.std_error > 0
        assert bool(figure.warning) == (not 0 <= figure.estimate <= 1) or "exactly 0" in figure.warning


def test_shares_of_cheaters_and_honest_people_add_to_1_and_bound_the_share_of_yes() -> None:
    found = indirect.cheater_detection(Group(60, 200, 0.2), Group(120, 200, 0.8))
    assert [figure.estimate for figure in found] == pytest.approx([0.2, 0.5, 0.3])  # .3 = .2 + .5 x .2; .6 = .2 + .5 x .8
    assert found.epsilon is None


def test_cheaters_are_found_with_a_device_that_orders_no_as_well() -> None:
    """lambda = yes (1 - forced no) + no p: .2 x .9 + .5 x .2 = .28 and .2 x .7 + .5 x .6 = .44."""
    found = indirect.cheater_detection(Group(280, 1000, 0.2), Group(440, 1000, 0.6), forced_no=(0.1, 0.3))
    assert [figure.estimate for figure in found] == pytest.approx([0.2, 0.5, 0.3])
    assert found.epsilon == pytest.approx(math.log(0.8 / 0.1))  # of a no in the first group


def test_the_harmless_questions_share_is_found_and_tells_epsilon() -> None:
    found = indirect.unrelated_question_in_two_groups(Group(130, 500, 0.2), Group(220, 500, 0.8))
    assert [figure.estimate for figure in found] == pytest.approx([0.5, 0.2])
    assert found.epsilon == pytest.approx(math.log((0.8 + 0.2 * 0.2) / (0.2 * 0.2)))


def test_where_nobody_seems_to_say_yes_honesty_is_left_out_and_the_reason_told() -> None:
    found = indirect.stochastic_lie_detector(Group(90, 100, 1 / 6), Group(10, 100, 5 / 6))
    assert [figure.what for figure in found] == ["yes"]
    assert found["yes"].warning.endswith("honesty cannot be estimated")
    with pytest.raises(EstimateError, match=r"the figure must be one of these estimates \(yes\), got 'honest among them'"):
        found["honest among them"]


def test_a_small_group_is_told() -> None:
    assert "fewer than 20 reports" in indirect.cheater_detection(Group(8, 19, 0.2), Group(60, 100, 0.8))["yes"].warning
    assert not indirect.cheater_detection(Group(8, 20, 0.2), Group(60, 100, 0.8))["yes"].warning


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Group(3, 2, 0.5), "a group must have at least 1 report, and no more yes than reports, got 3 of 2"),
        (lambda: Group(0, 0, 0.5), "at least 1 report"),
        (lambda: Group(1.5, 2, 0.5), "yes must be a whole number of reports from 0, got 1.5"),
        (lambda: Group(1, True, 0.5), "n must be a whole number of reports from 0, got True"),
        (lambda: Group(1, 2, 1.5), "p must be a probability from 0 to 1, got 1.5"),
        (lambda: indirect.unrelated_question_in_two_groups(Group(1, 2, 0.5), Group(1, 2, 0.5)), "devices must differ, got p = 0.5 and 0.5"),
        (lambda: indirect.stochastic_lie_detector(Group(1, 2, 0.5), Group(1, 2, 0.5)), "devices must differ"),
        (lambda: indirect.cheater_detection(Group(1, 2, 0.5), Group(1, 2, 0.5)), "devices must differ"),
        (lambda: indirect.cheater_detection(Group(1, 2, 0.5), Group(1, 2, 0.6), forced_no=(0.5, 0)), "must add to less than 1"),
        (lambda: indirect.cheater_detection(Group(1, 2, 0.5), Group(1, 2, 0.6), confidence=95), "confidence must be above 0"),
    ],
)
def test_what_cannot_be_is_refused(make: Any, message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        make()


def test_estimates_as_frame_json_and_table_say_the_same() -> None:
    found = indirect.extended_crosswise(Group(300, 500, 0.2), Group(180, 500, 0.8))
    parsed = json.loads(found.to_json())
    assert found.to_frame()["estimate"].tolist() == [row["estimate"] for row in parsed["estimate"]] == [found["yes"].estimate]
    assert found.to_frame("test")["p_value"].tolist() == [found.tests[0].p_value]
    text = found.to_table()
    assert "epsilon 1.386" in text
    assert "assumes: people were assigned to the groups at random" in text
    assert str(found.tests[0]) in text
