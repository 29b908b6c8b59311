"""Checks of the method: possible range, a known share, and what liars can do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.errors import EstimateError
from deniable.estimate import estimate, mean
from deniable.estimate.checks import check_range, known_prevalence, worst_case_shift, worst_case_shift_of_mean
from deniable.survey import Survey
from deniable.wire.tally import Tally


def survey_of(k: int = 2, epsilon: float | str = "ln 3") -> Survey:
    kind: dict[str, Any] = {"type": "yes_no"} if k == 2 else {"type": "choice", "options": [f"o{i}" for i in range(k)]}
    question = {"id": "q", "text": "?", "epsilon": epsilon, **kind}
    return Survey.from_dict({"deniable": 1, "id": "checks", "title": "T", "about": "A test.", "questions": [question]})


COINS = survey_of()


@pytest.mark.parametrize("ones", [0, 20, 24, 25, 100, 150, 160, 180, 200])
def test_the_range_is_tested_by_the_exact_binomial_tail(ones: int) -> None:
    yes, no = check_range(COINS, Tally(200, np.array([[ones]])))
    low, high = stats.binom.cdf(ones, 200, 0.25), stats.binom.sf(ones - 1, 200, 0.75)
    expected = low if ones < 50 else high if ones > 150 else 1
    assert yes.p_value == pytest.approx(expected)
    assert no.p_value == pytest.approx(expected), "yes and no are one test"
    assert (yes.rate, yes.lowest, yes.highest, yes.n, yes.ones) == (ones / 200, 0.25, 0.75, 200, ones)


@pytest.mark.parametrize("k", [2, 5, 20])
def test_the_alarms_are_the_warnings_of_estimate(k: int) -> None:
    survey = survey_of(k, 2.0)
    for seed in range(20):
        ones = np.random.default_rng(seed).integers(0, 500, k - 1)
        if not 0 <= 1000 * survey.questions[0].d - ones.sum() <= 1000:
            continue
        tally = Tally(1000, np.diag(ones))
        flagged = ["made up" in row.warning for row in estimate(survey, tally).rows]
        assert [check.alarm for check in check_range(survey, tally)] == flagged


def test_reports_that_all_say_yes_raise_the_alarm_and_honest_ones_do_not() -> None:
    bits = randomize(COINS.questions[0].channel, np.zeros(1000, dtype=np.int64), os_words)[:, :-1]
    honest = Tally.from_bits(bits[:500])
    assert honest.n == 500
    fakes = Tally(500, np.array([[500]]))
    assert all(check.alarm for check in check_range(COINS, honest + fakes))


def test_without_reports_there_is_nothing_to_check() -> None:
    with pytest.raises(EstimateError, match="at least 1 report"):
        check_range(COINS, Tally.empty(1))


def test_a_known_share_is_tested_by_the_exact_binomial_tails() -> None:
    """A third of people were born in four of the twelve months."""
    rate = 0.25 + 0.5 / 3
    for ones in (0, 30, 80, 84, 100, 199, 200):
        found = known_prevalence(COINS, Tally(200, np.array([[ones]])), "q", "yes", 1 / 3)
        expected = min(1, 2 * min(stats.binom.cdf(ones, 200, rate), stats.binom.sf(ones - 1, 200, rate)))
        assert found.p_value == pytest.approx(expected)
        assert found.statistic == pytest.approx((ones - 200 * rate) ** 2 / (200 * rate * (1 - rate)))
    assert found.what == "the share of q = yes is 0.333333"


def test_a_known_share_is_found_right_in_19_of_20_honest_surveys() -> None:
    counts = np.random.default_rng(1).binomial(500, 0.25 + 0.5 * 0.3, 1000)
    alarms = [known_prevalence(COINS, Tally(500, np.array([[ones]])), "q", "yes", 0.3).p_value < 0.05 for ones in counts]
    assert np.mean(alarms) <= 0.05 + 0.02
    assert np.mean(alarms) > 0.01
    wrong = [known_prevalence(COINS, Tally(500, np.array([[ones]])), "q", "yes", 0.5).p_value < 0.05 for ones in counts]
    assert np.mean(wrong) > 0.9, "control: another share than the true one is found out"


def test_five_of_a_hundred_liars_and_fakes_at_epsilon_1() -> None:
    """The figures of docs/trust: a share of 0.32 moves by 0.034 through liars, by 0.063 through fakes that all say yes."""
    shift = worst_case_shift(survey_of(epsilon=1.0).questions[0], 0.05, share=0.32)
    assert shift.liars_up == pytest.approx(0.034, abs=1e-9)
    assert shift.fakes_up == pytest.approx(0.063, abs=5e-4)


@pytest.mark.parametrize("k", [2, 5, 16])
def test_the_shift_is_what_liars_and_fakes_really_do(k: int) -> None:
    """Counts as expected: 10 of 100 say what they like through the coins, or send a bit that no coin made."""
    survey, n, truth = survey_of(k, 1.0), 10**10, 0.3
    (question,) = survey.questions
    phi, theta = float(question.channel.phi), float(question.channel.theta)
    honest = phi + truth * (theta - phi)
    shift = worst_case_shift(question, 0.1, truth)
    moves = {"liars_up": theta, "liars_down": phi, "fakes_up": 1.0, "fakes_down": 0.0}
    for name, rate in moves.items():
        ones = round((0.9 * honest + 0.1 * rate) * n)
        moved = (ones / n - phi) / (theta - phi) - truth
        assert moved == pytest.approx(getattr(shift, name) * (1 if name.endswith("up") else -1), abs=1e-8)
    assert shift.fakes_up > shift.liars_up


def test_without_a_share_the_worst_share_is_taken() -> None:
    question = survey_of(5, 1.0).questions[0]
    worst = worst_case_shift(question, 0.05)
    grid = [worst_case_shift(question, 0.05, share) for share in np.linspace(0, 1, 21)]
    for name in ("liars_down", "liars_up", "fakes_down", "fakes_up"):
        assert getattr(worst, name) == pytest.approx(max(getattr(shift, name) for shift in grid))


def test_the_shift_of_a_mean_is_what_the_most_extreme_reports_do() -> None:
    survey, scores = survey_of(8, 1.0), np.array([3.0, -1.0, 0.0, 2.0, 5.0, 1.0, 1.0, 4.0])
    (question,) = survey.questions
    assert question.d > 1
    n, bits = 1000, np.zeros((100, 8), dtype=np.bool_)
    bits[:, np.argsort(scores)[-question.d :]] = True
    fake = mean(survey, Tally.from_bits(bits[:, :-1]), "q", scores).estimate
    shift = worst_case_shift_of_mean(question, 100 / n, scores, honest=1.5)
    assert shift.fakes_up == pytest.approx(0.1 * (fake - 1.5))
    assert (shift.liars_up, shift.liars_down) == pytest.approx((0.1 * 3.5, 0.1 * 2.5))
    assert shift.fakes_down > shift.liars_down


def test_the_shift_of_a_mean_of_one_option_scored_1_is_that_of_its_share() -> None:
    question = survey_of(6, 1.0).questions[0]
    assert worst_case_shift_of_mean(question, 0.05, np.eye(6)[2], 0.2) == pytest.approx(worst_case_shift(question, 0.05, 0.2), abs=1e-12)


@pytest.mark.parametrize("fraction", [-0.1, 1.5, "many", True, float("nan")])
def test_a_fraction_that_is_none_is_refused(fraction: Any) -> None:
    with pytest.raises(EstimateError, match="fraction must be from 0 to 1, got"):
        worst_case_shift(COINS.questions[0], fraction)
    with pytest.raises(EstimateError, match="truth must be from 0 to 1, got"):
        known_prevalence(COINS, Tally(10, np.array([[5]])), "q", "yes", fraction)


def test_scores_for_the_shift_of_a_mean_are_checked() -> None:
    with pytest.raises(EstimateError, match="scores must be 2 finite numbers for question q"):
        worst_case_shift_of_mean(COINS.questions[0], 0.05, np.ones(3), 0.5)
