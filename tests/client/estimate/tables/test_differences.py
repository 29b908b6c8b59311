"""Differences between options, groups and waves."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from deniable.errors import EstimateError
from deniable.estimate import compare, difference, estimate, mean, share
from deniable.estimate.tables import between_options
from deniable.survey import Survey
from deniable.wire.tally import Tally

Floats = np.ndarray[Any, np.dtype[np.float64]]


def survey_of(k: int, epsilon: float) -> Survey:
    kind: dict[str, Any] = {"type": "yes_no"} if k == 2 else {"type": "choice", "options": [f"o{i}" for i in range(k)]}
    question = {"id": "q", "text": "?", "epsilon": epsilon, **kind}
    return Survey.from_dict({"deniable": 1, "id": "groups", "title": "T", "about": "A test.", "questions": [question]})


EIGHT = survey_of(8, 1.0)
SHARES = np.array([0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.06, 0.04])


def tallies(survey: Survey, shares: Floats, n: int, runs: int, seed: int) -> list[Tally]:
    (question,) = survey.questions
    k, d, theta = question.k, question.d, float(question.channel.theta)
    bits = np.array([[i in chosen for i in range(k)] for chosen in combinations(range(k), d)], dtype=np.int64)
    chances = shares @ np.where(bits.T, theta / comb(k - 1, d - 1), (1 - theta) / comb(k - 1, d))
    draws = np.random.default_rng(seed).multinomial(n, chances / chances.sum(), size=runs)
    return [Tally(n, (bits[:, :-1].T * counts) @ bits[:, :-1]) for counts in draws]


def test_the_difference_of_two_options_is_that_of_their_shares() -> None:
    (tally,) = tallies(EIGHT, SHARES, 3000, 1, seed=1)
    rows = estimate(EIGHT, tally).rows
    one = between_options(EIGHT, tally, "q", "o1", "o4")
    assert one.estimate == pytest.approx((rows[1].estimate or 0) - (rows[4].estimate or 0))
    assert one.what == "q: o1 less o4"


def test_yes_less_no_has_twice_the_error_of_yes() -> None:
    survey = survey_of(2, 1.0)
    tally = Tally(1000, np.array([[450]]))
    assert between_options(survey, tally, "q", "yes", "no").std_error == pytest.approx(2 * (estimate(survey, tally).rows[0].std_error or 0))


@pytest.mark.parametrize(("first", "second"), [(0.95, 0.05), (0.8, 0.2), (0.05, 0.05)])
def test_two_groups_near_opposite_ends_differ_by_as_much_as_is_true_in_95_of_100_surveys(first: float, second: float) -> None:
    """Exact, over all counts: limits that are cut at 0 and 1 say less of the error than it is (84% where their squares were added)."""
    channel, n = survey_of(2, 1.0).items[0].channel, 20
    phi, theta = float(channel.phi), float(channel.theta)
    sides = [share(count, n, q0=phi, q1=theta) for count in range(n + 1)]
    chances = [stats.binom.pmf(range(n + 1), n, phi + (theta - phi) * p) for p in (first, second)]
    held = [[found.low <= first - second <= found.high for found in (difference(a, b) for b in sides)] for a in sides]
    assert chances[0] @ np.array(held) @ chances[1] > 0.945


@pytest.mark.slow
def test_the_difference_of_two_options_is_covered_as_often_as_it_says() -> None:
    """Fixed seed. 2,000 surveys: 95% is known to 0.5%."""
    found = [between_options(EIGHT, tally, "q", "o0", "o1") for tally in tallies(EIGHT, SHARES, 1000, 2000, seed=2)]
    assert np.mean([one.low <= 0.1 <= one.high for one in found]) == pytest.approx(0.95, abs=0.01)
    assert np.std([one.estimate for one in found]) == pytest.approx(np.mean([one.std_error for one in found]), rel=0.05)


def test_an_error_that_takes_the_two_options_for_independent_would_be_noticed() -> None:
    """Control: for yes/no it is too small by a factor of the square root of 2."""
    survey, tally = survey_of(2, 1.0), Tally(1000, np.array([[450]]))
    rows = estimate(survey, tally).rows
    assert np.hypot(rows[0].std_error or 0, rows[1].std_error or 0) < 0.8 * between_options(survey, tally, "q", "yes", "no").std_error


@pytest.mark.slow
def test_groups_with_the_same_shares_differ_in_5_of_100_tests() -> None:
    """Fixed seed. 2,000 pairs of groups: 5% is known to 0.5%."""
    pairs = zip(tallies(EIGHT, SHARES, 2000, 2000, seed=3), tallies(EIGHT, SHARES, 1000, 2000, seed=4), strict=True)
    found = [compare(EIGHT, one, two, "q") for one, two in pairs]
    assert np.mean([one.test.p_value < 0.05 for one in found]) == pytest.approx(0.05, abs=0.012)
    assert np.mean([[d.low <= 0 <= d.high for d in one.differences] for one in found]) == pytest.approx(0.95, abs=0.01)


def test_groups_that_differ_are_told_apart_and_by_how_much() -> None:
    (first,), (second,) = tallies(EIGHT, SHARES, 20_000, 1, seed=5), tallies(EIGHT, SHARES[::-1], 20_000, 1, seed=6)
    found = compare(EIGHT, first, second, "q")
    assert found.test.p_value < 1e-6
    assert found.test.df == 7
    for one, truth in zip(found.differences, SHARES[::-1] - SHARES, strict=True):
        assert abs(one.estimate - truth) < 5 * one.std_error
        assert one.n == 40_000
    frame = found.to_frame()
    corrected = ["p_value", "p_bonferroni", "p_holm", "p_bh"]
    assert list(frame.columns) == ["question", "option", "estimate", "std_error", "low", "high", *corrected, "warning"]
    tests = multipletests(frame["p_value"], method="holm")[1], multipletests(frame["p_value"], method="fdr_bh")[1]
    assert [frame["p_holm"].tolist(), frame["p_bh"].tolist()] == [pytest.approx(each.tolist(), rel=1e-12) for each in tests]
    assert frame["option"].tolist() == [f"o{i}" for i in range(8)]


def test_for_yes_no_the_test_of_groups_is_the_one_of_the_difference() -> None:
    survey = survey_of(2, 1.0)
    found = compare(survey, Tally(1000, np.array([[450]])), Tally(800, np.array([[420]])), "q")
    assert found.test.p_value == pytest.approx(found.differences[0].test().p_value)
    assert found.test.df == 1
    row = found.to_dict()["difference"][1]
    assert row["p_holm"] == row["p_value"] == found.to_dict()["difference"][0]["p_bh"]  # two options are one difference


def test_two_surveys_with_other_coins_can_be_compared() -> None:
    one = share(300, 1000, q0=0.25, q1=0.75)
    other = share(450, 1000, q0=0.4, q1=0.9)
    found = difference(one, other, what="women less men")
    assert found.estimate == pytest.approx(0.1 - 0.1)
    assert found.std_error == pytest.approx(np.hypot(one.std_error, other.std_error))
    assert (found.high - found.low) / 2 == pytest.approx(1.959964 * found.std_error, rel=0.02)
    assert found.test().p_value == pytest.approx(2 * stats.norm.sf(0), abs=1e-9)
    assert found.n == 2000


def test_a_difference_may_be_of_means_and_of_rows() -> None:
    (first,), (second,) = tallies(EIGHT, SHARES, 2000, 1, seed=7), tallies(EIGHT, SHARES, 2000, 1, seed=8)
    scores = np.arange(8)
    found = difference(mean(EIGHT, first, "q", scores), mean(EIGHT, second, "q", scores))
    assert abs(found.estimate) < 5 * found.std_error
    rows = [estimate(EIGHT, tally).rows[0] for tally in (first, second)]
    bounded = difference(*rows)
    assert -1 <= bounded.low < bounded.high <= 1


def test_what_cannot_be_compared_is_refused() -> None:
    one = share(300, 1000, q0=0.25, q1=0.75)
    with pytest.raises(EstimateError, match="both estimates must have one target, got population and respondents"):
        difference(one, share(300, 1000, q0=0.25, q1=0.75, target="respondents"))
    with pytest.raises(EstimateError, match="both estimates must have a figure"):
        difference(one, estimate(EIGHT, Tally.empty(7)).rows[0])
    with pytest.raises(EstimateError, match="the two options must differ, got 'o1' twice"):
        between_options(EIGHT, tallies(EIGHT, SHARES, 10, 1, seed=9)[0], "q", "o1", "o1")
    with pytest.raises(EstimateError, match="at least 1 report to q, got 0"):
        compare(EIGHT, Tally.empty(7), Tally.empty(7), "q")
