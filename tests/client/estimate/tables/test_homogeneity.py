"""Whether several groups have the same shares: against a textbook, and how often it says so of groups that are alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from deniable.errors import EstimateError
from deniable.estimate import compare
from deniable.estimate.limits.interval import Interval
from deniable.estimate.tables import homogeneity
from deniable.estimate.tables.homogeneity import Counted, same_shares
from deniable.survey import Survey
from deniable.wire.tally import Tally


def survey_of(epsilon: float, options: int) -> Survey:
    question = {"id": "q", "text": "?", "type": "choice", "options": [f"o{i}" for i in range(options)], "epsilon": epsilon}
    return Survey.from_dict(
        {"deniable": 1, "id": "s", "title": "T", "about": "A test.", "accept_high_epsilon": True, "questions": [question]}
    )


def tally_of(survey: Survey, answers: Any, rng: np.random.Generator) -> Tally:
    """Reports of one category each to so many answers, by the channel's chances."""
    channel = survey.questions[0].channel
    assert channel.d == 1
    flip = float(channel.phi) + np.eye(channel.k) * float(channel.theta - channel.phi)
    ones = sum(rng.multinomial(count, flip[answer]) for answer, count in enumerate(answers))
    return Tally(int(sum(answers)), np.diag(ones[:-1]))


def test_with_coins_that_hardly_ever_lie_it_is_the_test_of_a_table_of_counts() -> None:
    """The textbook's with the groups' own covariances, which is asymptotically Pearson's: with 4,000 people each, equal to some percent."""
    survey, rng = survey_of(10.0, 3), np.random.default_rng(3)
    counted = [[2000, 1200, 800], [1950, 1300, 750], [2080, 1120, 800]]
    found = homogeneity(survey, {str(i): tally_of(survey, answers, rng) for i, answers in enumerate(counted)}, "q")
    pearson = stats.chi2_contingency(counted)
    assert found.df == pearson.dof == 4
    assert found.statistic == pytest.approx(pearson.statistic, rel=0.05)


def test_of_two_groups_it_is_the_test_of_their_comparison() -> None:
    survey, rng = survey_of(2.0, 4), np.random.default_rng(4)
    one, other = (tally_of(survey, [300, 200, 100, 100], rng) for _ in range(2))
    found = homogeneity(survey, {"a": one, "none": Tally.empty(3), "b": other}, "q")
    assert (found.statistic, found.df) == (pytest.approx(compare(survey, one, other, "q").test.statistic, rel=1e-9), 3)
    with pytest.raises(EstimateError, match="at least two groups with reports, got 1"):
        homogeneity(survey, {"a": one, "none": Tally.empty(3)}, "q")


def test_groups_that_are_alike_differ_in_5_of_100_tests() -> None:
    """1,500 surveys of five groups: 5% is known to 0.6%. The control: each against the first by itself finds something far more often."""
    survey, rng, rejected = survey_of(3.0, 3), np.random.default_rng(5), {"together": 0, "each": 0}
    for _ in range(1500):
        tallies = [tally_of(survey, rng.multinomial(n, [0.6, 0.3, 0.1]), rng) for n in (400, 300, 250, 200, 150)]
        groups = [Counted.of(survey, tally, "q", Interval()) for tally in tallies]
        rejected["together"] += same_shares("", survey.questions[0].channel, groups).p_value < 0.05
        rejected["each"] += any(same_shares("", survey.questions[0].channel, [groups[0], one]).p_value < 0.05 for one in groups[1:])
    assert abs(rejected["together"] / 1500 - 0.05) < 0.02
    assert rejected["each"] / 1500 > 0.1


def test_of_groups_that_differ_it_finds_it() -> None:
    survey, rng = survey_of(3.0, 3), np.random.default_rng(6)
    tallies = {str(i): tally_of(survey, rng.multinomial(400, [0.5 - 0.05 * i, 0.3, 0.2 + 0.05 * i]), rng) for i in range(4)}
    assert homogeneity(survey, tallies, "q").p_value < 0.01
