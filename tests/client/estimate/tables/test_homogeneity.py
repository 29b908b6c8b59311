"""Whether several groups have the same shares: against a textbook, and how often it says so of groups that are alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from deniable.errors import EstimateError
from deniable.estimate import compare
from deniable.estimate.limits.interval import Interval
from deniable.estimate.tables import homogeneity
from deniable.estimate.tables.homogeneity import GroupCounts, _distance
from deniable.mechanism import Channel
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


def alike(channel: Channel, sizes: tuple[int, ...], shares: list[float], surveys: int) -> tuple[list[GroupCounts], list[NDArray[np.int64]]]:
    """Groups with the same shares, and how many of each group's reports name each option, shape (surveys, k) each."""
    rng, flip = np.random.default_rng(8), float(channel.phi) + np.eye(channel.k) * float(channel.theta - channel.phi)
    nobody = np.zeros(channel.k, dtype=np.int64)
    return [GroupCounts(n, nobody, Interval()) for n in sizes], [rng.multinomial(n, flip @ shares, surveys) for n in sizes]


def test_where_a_report_is_one_category_it_is_pearsons_test_of_the_table_of_reports() -> None:
    survey, rng = survey_of(4.0, 3), np.random.default_rng(3)
    tallies = {str(i): tally_of(survey, answers, rng) for i, answers in enumerate([[200, 120, 80], [19, 13, 8], [2080, 1120, 800]])}
    found = homogeneity(survey, tallies, "q")
    ones = [np.append(np.diagonal(tally.pairs), tally.n - np.trace(tally.pairs)) for tally in tallies.values()]
    pearson = stats.chi2_contingency(ones)
    assert (found.statistic, found.df) == (pytest.approx(pearson.statistic, rel=1e-9), pearson.dof)
    assert found.p_value == pytest.approx(pearson.pvalue, rel=1e-9)


def test_a_small_group_beside_a_large_one_is_as_seldom_taken_for_different() -> None:
    """20,000 surveys. Each group's own errors, instead of those of all together, would reject 11 of 100."""
    channel = survey_of(4.0, 5).questions[0].channel
    groups, drawn = alike(channel, (1000, 50), [0.1, 0.25, 0.3, 0.2, 0.15], 5_000)
    assert 0.04 < np.mean(_distance(drawn, groups, channel) > stats.chi2.isf(0.05, 4)) < 0.06


def test_of_two_groups_it_is_the_test_of_their_comparison() -> None:
    survey, rng = survey_of(2.0, 4), np.random.default_rng(4)
    one, other = (tally_of(survey, [300, 200, 100, 100], rng) for _ in range(2))
    found = homogeneity(survey, {"a": one, "none": Tally.empty(3), "b": other}, "q")
    assert (found.statistic, found.df) == (pytest.approx(compare(survey, one, other, "q").test.statistic, rel=1e-9), 3)
    with pytest.raises(EstimateError, match="at least two groups with reports, got 1"):
        homogeneity(survey, {"a": one, "none": Tally.empty(3)}, "q")


def test_groups_that_are_alike_differ_in_5_of_100_tests() -> None:
    """10,000 surveys of five groups. The control: each against the first by itself finds something far more often."""
    channel, sizes = survey_of(3.0, 3).questions[0].channel, (400, 300, 250, 200, 150)
    groups, drawn = alike(channel, sizes, [0.6, 0.3, 0.1], 10_000)
    assert 0.04 < np.mean(_distance(drawn, groups, channel) > stats.chi2.isf(0.05, 8)) < 0.06
    each = [_distance([drawn[0], drawn[i]], [groups[0], groups[i]], channel) for i in range(1, 5)]
    assert np.mean(np.max(each, axis=0) > stats.chi2.isf(0.05, 2)) > 0.1


def test_of_groups_that_differ_it_finds_it() -> None:
    survey, rng = survey_of(3.0, 3), np.random.default_rng(6)
    tallies = {str(i): tally_of(survey, rng.multinomial(400, [0.5 - 0.05 * i, 0.3, 0.2 + 0.05 * i]), rng) for i in range(4)}
    assert homogeneity(survey, tallies, "q").p_value < 0.01
