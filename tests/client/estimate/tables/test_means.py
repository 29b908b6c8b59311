"""Means of scores, and quantiles of ordered options."""

from __future__ import annotations

from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np
import pytest
from scipy import stats

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.errors import EstimateError
from deniable.estimate import estimate, mean, quantile
from deniable.estimate.moments import pseudo_answers
from deniable.survey import Survey
from deniable.wire.tally import Tally

Floats = np.ndarray[Any, np.dtype[np.float64]]
OPTIONS = ["never", "rarely", "sometimes", "often", "always"]


def survey_of(options: list[str], epsilon: float) -> Survey:
    question = {"id": "how_often", "text": "?", "type": "choice", "options": options, "epsilon": epsilon}
    return Survey.from_dict({"deniable": 1, "id": "scale", "title": "T", "about": "A test.", "questions": [question]})


SURVEY = survey_of(OPTIONS, 1.0)
EIGHT = survey_of([f"o{i}" for i in range(8)], 1.0)
SHARES = np.array([0.35, 0.25, 0.2, 0.15, 0.05])
SCORES = [0.0, 1.0, 2.5, 4.0, 7.0]


def expected(survey: Survey, shares: Floats, n: int = 10**12) -> Tally:
    """The tally that the coins give on average: estimates are then exact."""
    channel = survey.questions[0].channel
    rates = float(channel.phi) + shares * float(channel.theta - channel.phi)
    return Tally(n, np.diag(np.round(rates[:-1] * n).astype(np.int64)))


def tallies(survey: Survey, shares: Floats, n: int, runs: int, seed: int) -> list[Tally]:
    """From the multinomial distribution of all subsets; people are drawn anew each time."""
    (question,) = survey.questions
    k, d, theta = question.k, question.d, float(question.channel.theta)
    bits = np.array([[i in chosen for i in range(k)] for chosen in combinations(range(k), d)], dtype=np.int64)
    chances = shares @ np.where(bits.T, theta / comb(k - 1, d - 1), (1 - theta) / comb(k - 1, d))
    draws = np.random.default_rng(seed).multinomial(n, chances / chances.sum(), size=runs)
    return [Tally(n, (bits[:, :-1].T * counts) @ bits[:, :-1]) for counts in draws]


def test_the_mean_of_what_the_coins_give_on_average_is_the_true_mean() -> None:
    one = mean(SURVEY, expected(SURVEY, SHARES), "how_often", SCORES)
    assert one.estimate == pytest.approx(SHARES @ SCORES, abs=1e-8)
    rates = np.diagonal(expected(SURVEY, SHARES).pairs) / 10**12
    assert abs(np.append(rates, 1 - rates.sum()) @ SCORES - SHARES @ SCORES) > 0.3, "control: the perturbed bits have another mean"


@pytest.mark.parametrize(("survey", "target"), [(SURVEY, "population"), (EIGHT, "population"), (EIGHT, "respondents")])
def test_the_standard_error_is_that_of_all_possible_reports(survey: Survey, target: str) -> None:
    """With k = 8 two bits are set, so their covariance given the answer counts."""
    (question,) = survey.questions
    k, d, theta, phi = question.k, question.d, float(question.channel.theta), float(question.channel.phi)
    shares = np.random.default_rng(1).dirichlet(np.ones(k))
    scores = np.arange(k) ** 1.5
    bits = np.array([[i in chosen for i in range(k)] for chosen in combinations(range(k), d)])
    chances = np.where(bits.T, theta / comb(k - 1, d - 1), (1 - theta) / comb(k - 1, d))
    answers = (bits - phi) / (theta - phi) @ scores
    second = chances @ answers**2
    variance = shares @ second - (shares @ scores) ** 2 if target == "population" else shares @ (second - scores**2)
    one = mean(survey, expected(survey, shares), "how_often", scores, target=target)
    assert one.std_error == pytest.approx(np.sqrt(variance / 10**12), rel=1e-5)
    if d > 1:
        independent = np.sqrt(scores**2 @ ((shares * theta * (1 - theta) + (1 - shares) * phi * (1 - phi)) / (theta - phi) ** 2 / 10**12))
        assert abs(independent / one.std_error - 1) > 0.1, "control: bits taken as independent have another error"


def test_the_mean_of_one_option_scored_1_is_its_share() -> None:
    (tally,) = tallies(SURVEY, SHARES, 2000, 1, seed=2)
    for i, row in enumerate(estimate(SURVEY, tally).rows):
        one = mean(SURVEY, tally, "how_often", np.eye(5)[i])
        assert (one.estimate, one.std_error) == pytest.approx((row.estimate, row.std_error))


def test_means_of_really_randomized_answers_are_near_the_truth() -> None:
    n = 20_000
    answers = np.repeat(np.arange(5), np.round(SHARES * n).astype(int))
    bits = randomize(SURVEY.questions[0].channel, answers, os_words)
    one = mean(SURVEY, Tally.from_bits(bits[:, :-1]), "how_often", SCORES, target="respondents")
    assert abs(one.estimate - SHARES @ SCORES) < 5.5 * one.std_error
    assert one.n == n


@pytest.mark.slow
def test_a_mean_is_covered_as_often_as_its_interval_says() -> None:
    """Fixed seed. 2,000 surveys: 95% is known to 0.5%."""
    found = [mean(EIGHT, tally, "how_often", np.arange(8)) for tally in tallies(EIGHT, np.full(8, 1 / 8), 500, 2000, seed=3)]
    assert np.mean([one.low <= 3.5 <= one.high for one in found]) == pytest.approx(0.95, abs=0.01)
    assert np.std([one.estimate for one in found]) == pytest.approx(np.mean([one.std_error for one in found]), rel=0.05)


def test_few_reports_have_limits_as_wide_as_students_t_says() -> None:
    four = survey_of(OPTIONS, 4.0)
    (tally,) = tallies(four, np.full(5, 0.2), 20, 1, seed=3)
    found = mean(four, tally, "how_often", range(5))
    t_19 = 2.0930240544
    assert (found.high - found.low) / 2 == pytest.approx(t_19 * (20 / 19) ** 0.5 * found.std_error, rel=1e-6)
    assert found.test(found.low).p_value == pytest.approx(0.05, rel=1e-6)


def test_limits_about_the_respondents_are_half_a_report_wider() -> None:
    four = survey_of(OPTIONS, 4.0)
    (tally,) = tallies(four, np.full(5, 0.2), 200, 1, seed=3)
    found = mean(four, tally, "how_often", range(5), target="respondents")
    assert (found.high - found.low) / 2 == pytest.approx(1.959964 * found.std_error + 4 / 2 / 200, rel=1e-6)


def test_a_category_without_a_score_is_left_out() -> None:
    scores = [0.0, 1.0, 2.5, 4.0, None]
    one = mean(SURVEY, expected(SURVEY, SHARES), "how_often", scores)
    assert one.estimate == pytest.approx(SHARES[:4] @ SCORES[:4] / SHARES[:4].sum(), abs=1e-8)
    found = [mean(SURVEY, tally, "how_often", scores) for tally in tallies(SURVEY, SHARES, 2000, 1000, seed=4)]
    truth = SHARES[:4] @ SCORES[:4] / SHARES[:4].sum()
    assert np.mean([low.low <= truth <= low.high for low in found]) == pytest.approx(0.95, abs=0.02)


def test_a_mean_among_hardly_anybody_says_that_the_reports_exclude_nothing() -> None:
    one = mean(SURVEY, expected(SURVEY, SHARES, 200), "how_often", [None, None, None, 0.0, 1.0])
    assert (one.low, one.high) == (0, 1)
    assert "denominator is not clearly above 0: the reports exclude nothing" in one.warning
    with pytest.raises(EstimateError, match="mean of how_often: the denominator must be above 0, got -"):
        mean(SURVEY, Tally(200, np.diag([60, 60, 50, 25])), "how_often", [None, None, None, None, 1.0])


@pytest.mark.parametrize(
    "scores", [[1.0, 2.0], [1.0, 2.0, 3.0, 4.0, float("inf")], [None] * 5, ["a"] * 5, [10**400] * 5, [1e308] * 5, [1.0] * 5]
)
def test_scores_that_are_not_one_number_a_category_are_refused(scores: list[Any]) -> None:
    with pytest.raises(EstimateError, match="scores must be"):
        mean(SURVEY, expected(SURVEY, SHARES), "how_often", scores)


def test_limits_of_a_mean_lie_between_the_scores_and_have_a_width() -> None:
    everybody = Tally(30, np.diag([0, 0, 0, 0]))
    one = mean(SURVEY, everybody, "how_often", SCORES)
    assert one.estimate > 7, "never clipped"
    assert 0 < one.low < one.high <= 7


@pytest.mark.parametrize(("q", "option"), [(0.2, "never"), (0.5, "rarely"), (0.7, "sometimes"), (0.9, "often"), (0.99, "always")])
def test_a_quantile_is_the_first_option_at_which_that_share_is_reached(q: float, option: str) -> None:
    found = quantile(SURVEY, expected(SURVEY, SHARES), "how_often", q)
    assert (found.option, found.low, found.high) == (option, option, option)


def test_a_quantile_from_few_reports_says_how_far_it_may_be_off() -> None:
    found = quantile(SURVEY, expected(SURVEY, SHARES, 400), "how_often")
    assert (found.low, found.option, found.high) == ("never", "rarely", "sometimes")


@pytest.mark.slow
@pytest.mark.parametrize(("q", "place"), [(0.5, 1), (0.37, 1), (0.34, 0)])
def test_a_quantile_is_covered_as_often_as_its_limits_say(q: float, place: int) -> None:
    """Options are steps, so limits are right more often than they say, never less. Fixed seed."""
    found = [quantile(SURVEY, tally, "how_often", q) for tally in tallies(SURVEY, SHARES, 1000, 400, seed=5)]
    inside = [OPTIONS.index(one.low) <= place <= OPTIONS.index(one.high) for one in found]
    assert np.mean(inside) >= 0.94
    assert all(OPTIONS.index(one.low) <= OPTIONS.index(one.high) for one in found)
    if q == 0.37:
        assert np.mean([one.option == "rarely" for one in found]) < 0.9, "control: the point alone is wrong far too often"


@pytest.mark.parametrize("epsilon", [2, 8])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_the_median_of_a_few_people_is_covered_whatever_they_report(epsilon: float, n: int) -> None:
    """Over all reports that can come. By the normal distribution 62% were covered (n = 2, epsilon 8): all alike, they had no error."""
    asked = {"id": "y", "text": "?", "type": "scale", "options": ["a", "b", "c"]}
    survey = Survey.from_dict({"deniable": 1, "id": "few", "title": "T", "about": "A", "epsilon": epsilon, "questions": [asked]})
    channel = survey.items[0].channel
    held = 0.0
    for a, b in product(range(n + 1), repeat=2):
        if a + b > n:
            continue
        ones = np.array([a, b, n - a - b])
        found = quantile(survey, Tally(n, np.diag(ones[:-1])), "y")
        chances = float(channel.phi) + (float(channel.theta) - float(channel.phi)) * np.array([0.45, 0.1, 0.45])
        held += stats.multinomial.pmf(ones, n, chances) * (found.low <= "b" <= found.high)
    assert held >= 0.95


def test_options_outside_the_order_are_left_out_of_a_quantile() -> None:
    found = quantile(SURVEY, expected(SURVEY, SHARES), "how_often", 0.5, leave_out=["never"])
    assert (found.low, found.option, found.high) == ("sometimes",) * 3  # of the other 65%, 25/65 rarely and 20/65 sometimes
    alone = quantile(SURVEY, expected(SURVEY, SHARES), "how_often", 0.5, leave_out=OPTIONS[1:])
    assert (alone.low, alone.option, alone.high) == ("never", "never", "never")


def test_wrong_arguments_of_a_quantile_are_refused() -> None:
    tally = expected(SURVEY, SHARES)
    with pytest.raises(EstimateError, match="q must be above 0 and below 1, got 1"):
        quantile(SURVEY, tally, "how_often", 1)
    with pytest.raises(EstimateError, match=r"the option must be one of question how_often \(never, .*\), got 'sure'"):
        quantile(SURVEY, tally, "how_often", leave_out=["sure"])
    with pytest.raises(EstimateError, match="leave_out must leave at least one option"):
        quantile(SURVEY, tally, "how_often", leave_out=OPTIONS)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_a_few_reports_give_a_mean_or_a_reason_and_never_an_impossible_variance(epsilon: float) -> None:
    """Estimated shares of a handful of people lie far outside [0, 1]; the plain formula's variance is then below 0 at times."""
    survey = Survey.from_dict(
        {
            "deniable": 1,
            "id": "s",
            "title": "T",
            "about": "A",
            "epsilon": epsilon,
            "questions": [{"id": "q", "text": "Q", "type": "number", "low": 0, "high": 50, "levels": 4, "required": False}],
        }
    )
    (question,) = survey.questions
    rng = np.random.default_rng(11)
    plain, refused = [], 0
    for n in (1, 2, 3, 6, 10, 30):
        for _ in range(60):
            ones = np.array([rng.choice(question.k, question.d, replace=False) for _ in range(n)])
            bits = np.zeros((n, question.k), dtype=np.bool_)
            bits[np.arange(n)[:, None], ones] = True
            tally = Tally.from_bits(bits[:, :-1])
            shares = pseudo_answers.invert(bits.mean(axis=0), [question.channel])
            answered = np.array([1.0] * (question.k - 1) + [0.0])
            plain.append(float(answered @ pseudo_answers.covariance(shares, [question.channel], 1.0) @ answered))
            try:
                found = mean(survey, tally, "q", [0, 20, 30, 50, None])
            except EstimateError:
                refused += 1
                continue
            assert found.std_error > 0
            assert 0 <= found.low < found.high <= 50
    assert min(plain) < 0, "control: the plain formula does fail here"
    assert refused > 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"leave_out": "never"}, "leave_out must be a list of options of question how_often, got 'never'"),
        ({"leave_out": 3}, "leave_out must be a list of options of question how_often, got 3"),
        ({"q": None}, "q must be above 0 and below 1, got None"),
        ({"q": "0.5"}, "q must be above 0 and below 1, got '0.5'"),
        ({"q": np.nan}, "q must be above 0 and below 1, got nan"),
    ],
)
def test_an_argument_of_a_quantile_of_the_wrong_kind_is_refused_by_name(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        quantile(SURVEY, expected(SURVEY, SHARES), "how_often", **wrong)


@pytest.mark.parametrize("target", ["population", "respondents"])
def test_scores_far_from_0_have_the_limits_of_those_near_it(target: str) -> None:
    """With "no answer" the mean is a ratio, in whose squares a million reports about years lost the digits of their limits."""
    optional = survey_of([*OPTIONS, "no answer"], 8.0)
    tally = expected(optional, np.append(SHARES * 0.7, 0.3), 10**6)
    near = mean(optional, tally, "how_often", [*SCORES, None], target=target)
    for base in (2024.0, 65_000.0):
        far = mean(optional, tally, "how_often", [*(score + base for score in SCORES), None], target=target)
        assert (far.estimate - base, far.low - base, far.high - base) == pytest.approx((near.estimate, near.low, near.high), abs=1e-9)
        assert far.std_error == pytest.approx(near.std_error, rel=1e-9)
