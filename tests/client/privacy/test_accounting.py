"""Accounting: sums and bounds that hold, checked by enumerating every outcome; and adversaries who do no better than promised."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.errors import EstimateError, SurveyError
from deniable.estimate import share
from deniable.mechanism import WORD, Channel
from deniable.privacy.accounting import (
    advanced_composition,
    group_privacy,
    heterogeneous_composition,
    optimal_composition,
    parallel_composition,
    posterior_range,
    sequential_composition,
    submission_epsilon,
)
from deniable.survey import Survey
from deniable.wire.record import pack, unpack
from deniable.wire.tally import Tally

LN3 = math.log(3)
GAMES = 100_000
SURVEY = """
deniable: 1
id: pair
title: Two secrets
about: Who asks, and why.
epsilon: ln 9
questions:
  - {id: first, text: The first?, type: yes_no}
  - {id: second, text: The second?, type: yes_no}
"""


@pytest.fixture
def survey() -> Survey:
    return Survey.from_text(SURVEY)


# ---- sums ----------------------------------------------------------------------------------------


def test_the_questions_of_one_submission_add_up(survey: Survey) -> None:
    assert submission_epsilon(survey) == pytest.approx(math.log(9), rel=1e-15)


def test_two_bits_at_ln_3_are_ln_9_which_is_what_their_and_reveals(survey: Survey) -> None:
    first, second = (question.channel for question in survey.questions)
    if_both, if_neither = first.theta * second.theta, first.phi * second.phi
    assert (if_both, if_neither) == (Fraction(9, 16), Fraction(1, 16))
    assert math.log(if_both / if_neither) == pytest.approx(submission_epsilon(survey), rel=1e-15)


def test_waves_add_disjoint_groups_do_not_and_a_household_multiplies() -> None:
    assert sequential_composition([LN3, 0.5, 2]) == pytest.approx(LN3 + 2.5)
    assert parallel_composition([LN3, 0.5, 2]) == 2
    assert (sequential_composition([]), parallel_composition([])) == (0.0, 0.0)
    assert group_privacy(LN3, 4) == pytest.approx(math.log(81))


def test_four_people_who_share_one_secret_give_it_away_as_a_household_does() -> None:
    theta = Channel.for_epsilon(LN3, 2).theta
    assert math.log(theta**4 / (1 - theta) ** 4) == pytest.approx(group_privacy(LN3, 4))


@pytest.mark.parametrize(
    ("prior", "epsilon", "low", "high"),
    [(0.5, LN3, 0.25, 0.75), (0.5, math.log(9), 0.1, 0.9), (0.01, 0.0, 0.01, 0.01), (0, 3, 0, 0), (1, 3, 1, 1)],
)
def test_a_belief_moves_no_further_than_bayes_rule_lets_it(prior: float, epsilon: float, low: float, high: float) -> None:
    assert posterior_range(prior, epsilon) == pytest.approx((low, high))


def test_the_bounds_on_a_belief_are_reached_by_the_coins_themselves() -> None:
    channel = Channel.for_epsilon(LN3, 2)
    for prior in (0.001, 0.2, 0.9):
        after = prior * channel.theta / (prior * channel.theta + (1 - prior) * channel.phi)
        assert posterior_range(prior, channel.epsilon)[1] == pytest.approx(after, rel=1e-12)


# ---- repeated surveys ----------------------------------------------------------------------------


def every_outcome(epsilons: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """P and Q of each of the 2^k outcomes of randomized response, by multiplying them out."""
    keep = [1 / (1 + math.exp(-e)) for e in epsilons]
    outcomes = list(itertools.product([True, False], repeat=len(epsilons)))
    p = [math.prod(t if bit else 1 - t for t, bit in zip(keep, bits, strict=True)) for bits in outcomes]
    q = [math.prod(1 - t if bit else t for t, bit in zip(keep, bits, strict=True)) for bits in outcomes]
    return np.array(p), np.array(q)


def delta_of(epsilons: list[float], epsilon: float) -> float:
    """The definition: the largest difference of P and e^epsilon Q over all events."""
    p, q = every_outcome(epsilons)
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


@pytest.mark.parametrize("k", [1, 2, 3, 7, 12])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, LN3, 3.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.1])
def test_exact_composition_is_what_the_enumeration_of_all_outcomes_gives(k: int, epsilon: float, delta: float) -> None:
    total = optimal_composition(epsilon, k, delta)
    if total == 0:
        assert delta_of([epsilon] * k, 0.0) <= delta
    else:
        assert delta_of([epsilon] * k, total) == pytest.approx(delta, rel=1e-9)


@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.1])
def test_different_epsilons_compose_exactly_too(delta: float) -> None:
    epsilons = [0.3, 0.3, 0.3, 1.0, 1.0, 2.5]
    assert delta_of(epsilons, heterogeneous_composition([(1.0, 2), (0.3, 1), (2.5, 1), (0.3, 2)], delta)) == pytest.approx(delta, rel=1e-9)


def test_exact_composition_meets_the_published_steps() -> None:
    """Kairouz, Oh and Viswanath, theorem 3.3: epsilon_i = (k - 2i) epsilon at delta_i."""
    epsilon, k = 0.4, 9
    for i in range(1, k // 2 + 1):
        terms = (math.comb(k, j) * (math.exp((k - j) * epsilon) - math.exp((k - 2 * i + j) * epsilon)) for j in range(i))
        delta = sum(terms) / (1 + math.exp(epsilon)) ** k
        assert optimal_composition(epsilon, k, delta) == pytest.approx((k - 2 * i) * epsilon, abs=1e-9)


def test_ten_coins_at_ln_3_are_ten_coins_and_not_one() -> None:
    """An accountant of the field answers 1.0987 here: it forgets how often a randomized response was used."""
    p, q = every_outcome([LN3] * 10)
    assert math.log((p / q).max()) == pytest.approx(10.986, abs=1e-3)
    assert optimal_composition(LN3, 10) == pytest.approx(10.986, abs=1e-3)
    assert optimal_composition(LN3, 10, 1e-12) > 10.98


def test_ten_thousand_surveys_of_an_801st_each_are_about_1() -> None:
    delta = math.exp(-32)
    assert advanced_composition(1 / 801, 10_000, delta) == pytest.approx(1.014, abs=5e-4)
    assert optimal_composition(1 / 801, 10_000, delta) < 0.9  # and the simple bound gives away an eighth of it


@pytest.mark.parametrize("k", [1, 10, 1000])
@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 8.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01])
def test_exact_composition_is_never_worse_than_a_sum_or_the_simple_bound(k: int, epsilon: float, delta: float) -> None:
    assert 0 <= optimal_composition(epsilon, k, delta) <= min(k * epsilon, advanced_composition(epsilon, k, delta)) * (1 + 1e-9)


def test_more_uses_and_less_slack_cost_more() -> None:
    totals = [optimal_composition(0.1, k, 1e-6) for k in (50, 100, 200)]
    assert totals == sorted(totals)
    assert optimal_composition(0.1, 100, 1e-9) > optimal_composition(0.1, 100, 1e-6) > optimal_composition(0.1, 100, 1e-3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: posterior_range(1.5, 1), "prior must be a probability"),
        (lambda: posterior_range(0.5, -1), "epsilon must be a finite number of at least 0, got -1"),
        (lambda: group_privacy(1, 0), "people must be a whole number of at least 1, got 0"),
        (lambda: group_privacy(1, 1.5), "people must be a whole number"),  # type: ignore[arg-type]
        (lambda: optimal_composition(math.nan, 2, 0.1), "epsilon must be a finite number"),
        (lambda: optimal_composition(1, 2, 1), "delta must be at least 0 and below 1, got 1"),
        (lambda: advanced_composition(1, 2, 0), "delta must be above 0"),
        (lambda: heterogeneous_composition([(0.1 * i, 99) for i in range(1, 9)], 0.1), "at most 2,000,000 values of the privacy loss"),
    ],
)
def test_an_argument_that_makes_no_sense_is_refused_by_name(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]


# ---- what an adversary can do --------------------------------------------------------------------


def five_sigma_above(rate: float, games: int = GAMES) -> float:
    return rate + 5 * math.sqrt(rate * (1 - rate) / games)


def database(channel: Channel, target: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The `yes` bits of everybody, a row for each game: the target's first, then those of the others, whose answers are known."""
    everybody = np.concatenate([target[:, None], np.broadcast_to(others, (len(target), len(others)))], axis=1)
    return randomize(channel, everybody.ravel().astype(np.int64), os_words)[:, 0].reshape(everybody.shape)


def wins(channel: Channel) -> dict[str, float]:
    """How often three adversaries guess one person's answer, knowing all other answers and the whole database."""
    truth = randomize(Channel(2, 1, WORD // 2), np.zeros(GAMES, dtype=np.int64), os_words)[:, 0].astype(np.int64)  # 1 is no
    others = np.array([0] * 7 + [1] * 8)
    bits = database(channel, truth, others)
    whole = np.array([Tally.from_bits(row[:, None]).ones[0] for row in bits])
    without = np.array([Tally.from_bits(row[1:, None]).ones[0] for row in bits])
    expected = 7 * channel.theta + 8 * channel.phi + Fraction(1, 2)
    said_yes = {"reads the record": bits[:, 0], "subtracts two queries": whole - without == 1, "compares the count": whole > expected}
    return {how: float((yes == (truth == 0)).mean()) for how, yes in said_yes.items()}


@pytest.mark.slow
def test_no_adversary_guesses_an_answer_more_often_than_promised() -> None:
    rates = wins(Channel.for_epsilon(LN3, 2))
    assert max(rates.values()) <= five_sigma_above(0.75)
    assert rates["reads the record"] == rates["subtracts two queries"]  # a difference of two queries is one record, not more
    assert rates["reads the record"] > 0.74  # they are not weak adversaries
    assert 0.5 < rates["compares the count"] < 0.65


@pytest.mark.slow
def test_coins_that_give_away_more_than_promised_would_be_noticed() -> None:
    leaky = Channel(2, 1, int(0.77 * WORD))
    assert wins(leaky)["reads the record"] > five_sigma_above(0.75)


def test_who_sees_a_whole_submission_of_many_categories_does_no_better() -> None:
    channel = Channel.for_epsilon(2.0, 6)
    truth = os_words(GAMES).astype(np.int64) % 2  # one of two categories, and the adversary knows which two
    bits = randomize(channel, truth, os_words)
    coin = os_words(GAMES) % 2 == 1
    guess = np.where(bits[:, 0] == bits[:, 1], coin, bits[:, 1]).astype(np.int64)
    promised = math.exp(2) / (1 + math.exp(2))
    assert 0.6 < (guess == truth).mean() <= five_sigma_above(promised)


def test_whoever_reads_both_bits_of_two_questions_is_right_nine_times_in_ten_at_most(survey: Survey) -> None:
    both = os_words(GAMES).astype(np.int64) % 2  # 0: yes to both, 1: no to both
    bits = [randomize(question.channel, both, os_words) for question in survey.questions]
    seen = unpack(survey, pack(survey, bits), GAMES)
    agreeing = seen.all(axis=1)
    right = (both[agreeing] == 0).mean()
    assert 0.88 < right <= five_sigma_above(posterior_range(0.5, submission_epsilon(survey))[1], int(agreeing.sum()))
    assert right > five_sigma_above(0.75, int(agreeing.sum()))  # ln 3 alone would not be a bound: the control


# ---- the one-time pad ----------------------------------------------------------------------------


def test_epsilon_0_is_refused_by_the_survey_and_by_the_estimator() -> None:
    with pytest.raises(SurveyError, match="must be above 0"):
        Survey.from_text(SURVEY.replace("ln 9", "0"))
    pad = Channel(2, 1, WORD // 2)
    assert pad.epsilon == 0
    with pytest.raises(EstimateError, match="epsilon is 0"):
        share(30, 100, q0=pad.phi, q1=pad.theta)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: group_privacy(1e308, 3), "epsilon must be at most 1,000,000, got 1e\\+308"),
        (lambda: group_privacy(10**400, 3), "epsilon must be a finite number of at least 0, got a number of 1,329 bits"),
        (lambda: group_privacy(True, 3), "epsilon must be a finite number of at least 0, got True"),
        (lambda: group_privacy(np.True_, 3), "epsilon must be a finite number of at least 0, got np.True_"),
        (lambda: group_privacy("1", 3), "epsilon must be a finite number of at least 0, got '1'"),
        (lambda: group_privacy(1.0, 10**400), "people must be at most 1,000,000,000,000, got a number of 1,329 bits"),
        (lambda: advanced_composition(1e4, 10, 1e-6), "epsilon must be at most 700 for this bound, got 10000.0"),
        (lambda: advanced_composition(1.0, 10, "x"), "delta must be at least 0 and below 1, got 'x'"),
        (lambda: optimal_composition(1e18, 10, 1e-6), "epsilon must be at most 1,000,000"),
        (lambda: posterior_range(np.True_, 1.0), "prior must be a probability from 0 to 1"),
    ],
)
def test_what_no_finite_figure_is_of_is_refused_by_name(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_the_smallest_delta_there_is_has_a_finite_bound() -> None:
    assert 122 < advanced_composition(1.0, 10, 5e-324) - 10 * math.expm1(1.0) < 123
    assert optimal_composition(1e6, 10, 1e-6) == pytest.approx(1e7)
