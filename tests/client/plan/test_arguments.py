"""Arguments of the planner at the ends of what a number can be: each is refused by its name, at once, or taken as what it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from deniable.errors import EstimateError
from deniable.mechanism import Channel
from deniable.plan import (
    NO_PRIVACY,
    Clusters,
    Mechanism,
    curator,
    mean_half_width,
    outlook,
    plan,
    power,
    private,
    sample_size,
    sample_size_for_power,
    smallest_effect,
    split_or_sample,
    std_error,
)
from deniable.plan.clusters import cluster_half_width, clusters_needed, people_in_each, rho_of_log_odds
from deniable.plan.precision import SampleSizeError, expected_half_width, normal_half_width
from deniable.plan.proposals import verdict
from deniable.plan.survey import half_width_of, people_needed
from deniable.survey import Survey

COINS, SCALE = Mechanism(0.25, 0.75), Channel.for_epsilon(1.0, 3)
HUGE = 10**400
SURVEY = Survey.from_dict(
    {"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 2, "questions": [{"id": "q", "text": "?", "type": "yes_no"}]}
)


@dataclass(frozen=True)
class Case:
    """What is asked, and how the answer begins."""

    call: Callable[[], Any]
    message: str


WRONG = [
    Case(lambda: plan(SURVEY, n=HUGE), "n must be at most 1,000,000,000,000, got 1000"),
    Case(lambda: plan(SURVEY, n=10**5000), "n must be at most 1,000,000,000,000, got a number of 16,610 bits"),
    Case(lambda: plan(SURVEY, n=np.True_), "n must be a whole number of at least 1, got np.True_"),
    Case(lambda: plan(SURVEY, half_width=1e-160), "half_width must be from 1e-15 to 1, got 1e-160"),
    Case(lambda: plan(SURVEY, half_width=5e-324), "half_width must be from 1e-15 to 1, got 5e-324"),
    Case(lambda: plan(SURVEY, n=10, confidence=1e-17), "confidence must be from 0.01 to 1, got 1e-17"),
    Case(lambda: plan(SURVEY, n=10, share=np.True_), "share must be from 0 to 1, got np.True_"),
    Case(lambda: plan(SURVEY, n=10, share="0.3"), "share must be from 0 to 1, got '0.3'"),
    Case(lambda: plan(SURVEY, n=99, clusters=Clusters(9, 0.1), confidence=1e-9), "confidence must be from 0.01 to 1"),
    Case(lambda: plan(SURVEY, n=99, clusters=Clusters(HUGE, 0.1)), "clusters must be at most 1,000,000,000,000, got 1000"),
    Case(lambda: half_width_of(SURVEY, HUGE), "n must be at most"),
    Case(lambda: people_needed(SURVEY, 5e-324, rough=True), "half_width must be from 1e-15 to 1"),
    Case(lambda: outlook(SURVEY, HUGE), "n must be at most"),
    Case(lambda: verdict(SURVEY, np.True_), "n must be a whole number"),
    Case(lambda: cluster_half_width(COINS, 99, Clusters(9, 0.1), confidence=1e-9), "confidence must be from 0.01 to 1"),
    Case(lambda: people_in_each(COINS, 0.1, HUGE, 0.1), "clusters must be at most"),
    Case(lambda: clusters_needed(COINS, 0.1, HUGE, 0.1), "people must be at most"),
    Case(lambda: rho_of_log_odds(1.0, 5e-324), "share must be from 1e-12 to 0.999999999999, got 5e-324"),
    Case(lambda: std_error(COINS, HUGE), "n must be at most"),
    Case(lambda: std_error(COINS, 9, True), "share must be from 0 to 1, got True"),
    Case(lambda: normal_half_width(COINS, 9, confidence=math.nan), "confidence must be above 0 and below 1, got nan"),
    Case(lambda: expected_half_width(COINS, 2**63, share=0.3), "n must be at most"),
    Case(lambda: sample_size(COINS, 5e-324), "half_width must be from 1e-15 to 1, got 5e-324"),
    Case(lambda: sample_size_for_power(COINS, (0.3, 0.4), alpha=5e-324), "alpha must be from 1e-12 to 0.99"),
    Case(lambda: power(COINS, 9, (0.3, 0.4), alpha=1e-17), "alpha must be from 1e-12 to 0.99"),
    Case(lambda: power(COINS, 9, 0.3, alpha=math.nan), "alpha must be above 0 and below 1"),
    Case(lambda: smallest_effect(COINS, 100, power=0.04), "power must be above 0.0[0-9]+, which chance alone reaches, got 0.04"),
    Case(lambda: smallest_effect(COINS, (100, 100), power=1e-9), "power must be above 0.0[0-9]+, which chance alone reaches, got 1e-09"),
    Case(lambda: power(COINS, (50, 50), 0.3), "share must be two shares for two groups, got 0.3"),
    Case(lambda: power(COINS, 50, (0.3, 0.4), against=0.1), "against must be left out for two groups, got 0.1"),
    Case(lambda: smallest_effect(COINS, 100, alpha=1e-17), "alpha must be from 1e-12 to 0.99"),
    Case(lambda: split_or_sample(10, 1e6, 1_000), "epsilon must be from 0 to 1000, got 1000000.0"),
    Case(lambda: split_or_sample(10, math.nan, 1_000), "epsilon must be from 0 to 1000, got nan"),
    Case(lambda: split_or_sample(10**18, 1.0, 1_000), "questions must be at most 10,000"),
    Case(lambda: split_or_sample(10, 1.0, 10**18), "n must be at most"),
    Case(lambda: split_or_sample(10, 1.0, 1_000, k=10**9), "k must be at most 1,025"),
    Case(lambda: split_or_sample(10, 1.0, 1_000, k=1), "k must be at least 2 categories, got 1"),
    Case(lambda: split_or_sample(10, 1.0, 1_000, ask=[True]), "ask must be from 1 to 10, the number of questions, got True"),
    Case(lambda: split_or_sample(10, 1.0, 1_000, ask=[1.5]), "ask must be from 1 to 10, the number of questions, got 1.5"),
    Case(lambda: mean_half_width(SCALE, [1, 2, 3], 100, mean=5), "mean must be from 1 to 3, got 5"),
    Case(lambda: mean_half_width(SCALE, [1, 2, 3], 100, mean=0), "mean must be from 1 to 3, got 0"),
    Case(lambda: mean_half_width(SCALE, [1, 2, 3], 100, mean=math.nan), "mean must be from 1 to 3, got nan"),
    Case(lambda: mean_half_width(SCALE, [1e308] * 3, 100), r"scores must be from -1e\+100 to 1e\+100, got 1e\+308"),
    Case(lambda: mean_half_width(SCALE, [1, 1, 1], 100), r"scores must be 2 to 3 numbers, not all alike, got \[1, 1, 1\]"),
    Case(lambda: mean_half_width(SCALE, [1, 2, 3, 4], 100), "scores must be 2 to 3 numbers, not all alike"),
    Case(lambda: curator(5e-324), "epsilon must be above 0, at least 1e-100, got 5e-324"),
    Case(lambda: curator(math.nan), r"epsilon must be from -1e\+100 to 1e\+100, got nan"),
    Case(lambda: Mechanism(0.25, np.True_), "q1 must be from 0 to 1, got np.True_"),
    Case(lambda: Mechanism(0.25, 0.75, HUGE), r"noise must be from 0 to 1e\+100, got 1000"),
]


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case.message[:40])
def test_what_no_figure_can_be_computed_of_is_refused_by_name(case: Case) -> None:
    with pytest.raises(EstimateError, match=f"^{case.message}") as caught:
        case.call()
    assert len(str(caught.value)) < 200


def test_whole_numbers_of_numpy_are_taken_as_what_they_are() -> None:
    plain = split_or_sample(3, 2.0, 1_000, k=3, ask=[1, 2])
    assert split_or_sample(np.int64(3), np.float64(2), np.int64(1_000), k=np.int64(3), ask=np.array([1, 2])) == plain
    assert split_or_sample(10, np.int64(3), 1_000) == split_or_sample(10, 3.0, 1_000)
    assert mean_half_width(SCALE, np.array([1, 2, 3]), np.int64(100)) == mean_half_width(SCALE, [1, 2, 3], 100)


def test_the_most_respondents_that_are_looked_at_are_planned_for() -> None:
    found = plan(SURVEY, n=10**12)
    assert 0 < found.rows[0].half_width < 1e-5
    assert math.isfinite(found.rows[0].std_error)


def test_shares_that_hardly_differ_take_more_people_than_are_looked_at() -> None:
    with pytest.raises(SampleSizeError, match="respondents must be at most 1,000,000,000,000"):
        sample_size_for_power(COINS, (0.0, 1e-200))


def test_so_few_clusters_are_needed_that_all_their_people_are_looked_at() -> None:
    with pytest.raises(SampleSizeError, match="respondents must be at most 1,000,000,000,000"):
        clusters_needed(COINS, 0.01, 10**12, 0.1)
    assert clusters_needed(private(SCALE), 0.1, 10**9, 0.01) < 1_000


def test_a_number_of_people_in_each_of_many_clusters_is_found_without_privacy() -> None:
    assert people_in_each(NO_PRIVACY, 0.01, 10**6, 0.0) == 1


@pytest.mark.parametrize("power", [0.2, 0.5])
def test_a_power_above_chance_still_has_its_smallest_share(power: float) -> None:
    assert 0 < (smallest_effect(COINS, 100, power=power) or 0) < (smallest_effect(COINS, 100) or 0)
