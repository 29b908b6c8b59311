"""Means of numbers: the worst-case variance is the published one, below the other mechanisms', and what randomizing really gives."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.kit.benchmarks import benchmark

from deniable.device.encode import encode_column
from deniable.device.randomize import randomize
from deniable.estimate import mean
from deniable.mechanism import Channel
from deniable.survey import Survey
from deniable.survey.types.grid import best_levels, worst_variance
from deniable.wire.tally import Tally

OTHERS = benchmark("number_means")


@pytest.mark.parametrize(
    ("epsilon", "levels", "variance"),
    [(0.5, 2, 4.168), (1, 2, 1.171), (2, 3, 0.2500), (3, 4, 0.0970), (4, 5, 0.0442), (6, 9, 0.0107)],
)
def test_the_best_grid_and_its_variance_are_the_known_figures(epsilon: float, levels: int, variance: float) -> None:
    assert best_levels(epsilon) == levels
    assert worst_variance(epsilon, levels) == pytest.approx(variance, rel=5e-3)


def test_at_ln_3_two_and_three_levels_are_equally_good() -> None:
    assert worst_variance(math.log(3), 2) == pytest.approx(1, rel=1e-8)
    assert worst_variance(math.log(3), 3) == pytest.approx(1, rel=1e-8)


@pytest.mark.parametrize("levels", [8, 10, 11])
def test_at_epsilon_6_nine_levels_are_the_best(levels: int) -> None:
    assert worst_variance(6, 9) < worst_variance(6, levels)


@pytest.mark.parametrize(
    ("epsilon", "piecewise", "hybrid"),
    [(0.5, 5.306, 4.168), (1, 1.306, 1.072), (2, 0.307, 0.261), (3, 0.123, 0.108), (4, 0.060, 0.055), (6, 0.018, 0.018)],
)
def test_the_other_mechanisms_have_the_known_figures(epsilon: float, piecewise: float, hybrid: float) -> None:
    assert OTHERS.piecewise(epsilon) == pytest.approx(piecewise, abs=5e-4)
    assert OTHERS.hybrid(epsilon) == pytest.approx(hybrid, abs=5e-4)


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 3, 4, 6])
def test_the_grid_is_below_piecewise(epsilon: float) -> None:
    assert worst_variance(epsilon, best_levels(epsilon)) < OTHERS.piecewise(epsilon)


@pytest.mark.parametrize("epsilon", [2, 3, 4, 6])
def test_the_grid_is_below_hybrid_from_epsilon_2_on(epsilon: float) -> None:
    assert worst_variance(epsilon, best_levels(epsilon)) < OTHERS.hybrid(epsilon)


def test_at_small_epsilon_the_grid_is_hybrid_which_then_is_duchis_mechanism() -> None:
    assert worst_variance(0.5, best_levels(0.5)) == pytest.approx(OTHERS.hybrid(0.5), rel=1e-8)


def test_between_the_two_hybrid_is_better_by_up_to_an_eighth_and_the_page_says_so() -> None:
    assert worst_variance(1, best_levels(1)) / OTHERS.hybrid(1) == pytest.approx(1.092, abs=1e-3)
    assert worst_variance(math.log(3), 2) / OTHERS.hybrid(math.log(3)) < 1.13


def test_a_grid_that_does_not_follow_epsilon_would_not_be_below_them() -> None:
    assert worst_variance(4, 2) > OTHERS.piecewise(4)
    assert worst_variance(0.5, 9) > OTHERS.piecewise(0.5)


def enumerated_variance(channel: Channel, place: Fraction) -> Fraction:
    """The variance of one report's mean score for a number at `place` in [0, 1], summed over all levels and all subsets, exactly."""
    k, d, theta, phi = channel.k, channel.d, channel.theta, channel.phi
    scores = [Fraction(level, k - 1) for level in range(k)]
    lower = min(int(place * (k - 1)), k - 2)
    up = place * (k - 1) - lower
    first = second = Fraction(0)
    for chance, own in ((1 - up, lower), (up, lower + 1)):
        for subset in itertools.combinations(range(k), d):
            kept = own in subset
            p = chance * (theta / math.comb(k - 1, d - 1) if kept else (1 - theta) / math.comb(k - 1, d))
            guess = sum(score * ((level in subset) - phi) / (theta - phi) for level, score in enumerate(scores))
            first, second = first + p * guess, second + p * guess**2
    assert first == place  # unbiased, exactly
    return second - first**2


@pytest.mark.parametrize(("epsilon", "levels"), [(0.5, 2), (0.5, 5), (1, 3), (0.2, 6), (2, 4), (4, 5)])
def test_the_worst_variance_is_that_of_all_possible_reports(epsilon: float, levels: int) -> None:
    channel = Channel.for_epsilon(epsilon, levels)
    steps = 64 * (levels - 1)  # the same places as the formula looks at
    worst = max(enumerated_variance(channel, Fraction(step, steps)) for step in range(0, steps + 1, 4))
    assert worst_variance(epsilon, levels) == pytest.approx(float(worst), rel=1e-3)
    assert worst_variance(epsilon, levels) >= float(worst) * (1 - 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 2, 4, 6])
def test_a_mean_is_unbiased_and_as_precise_as_the_formula_says(epsilon: float) -> None:
    survey = Survey.from_dict(
        {
            "deniable": 1,
            "id": "hours",
            "title": "Hours of work",
            "about": "Who asks, and why.",
            "epsilon": epsilon,
            "questions": [{"id": "hours", "text": "How many hours?", "type": "number", "low": 0, "high": 1}],
        }
    )
    question, rng, runs, n = survey.questions[0], np.random.default_rng(17), 300, 500
    assert question.k == best_levels(epsilon)

    def words(count: int) -> Any:
        return rng.integers(0, 1 << 32, count, dtype=np.uint32)

    answers = rng.beta(2, 5, n)
    found = []
    for _ in range(runs):
        bits = randomize(question.channel, encode_column(question, answers.tolist(), words), words)
        one = mean(survey, Tally.from_bits(bits[:, :-1]), "hours", question.scores or ())
        found.append(one.estimate)
    z = (np.mean(found) - answers.mean()) / (np.std(found) / math.sqrt(runs))
    assert abs(z) < 5
    assert np.var(found) * n < worst_variance(epsilon, question.k) * 1.5


def test_rounding_to_the_nearest_level_instead_would_be_biased() -> None:
    levels: Any = SimpleNamespace(
        id="hours", type="number", required=True, settings={"low": 0.0, "high": 1.0}, categories=("0", "0.5", "1")
    )
    answers, rng = np.full(100_000, 0.1), np.random.default_rng(3)
    rounded = encode_column(levels, answers, lambda count: rng.integers(0, 1 << 32, count, dtype=np.uint32))
    assert rounded.mean() / 2 == pytest.approx(0.1, abs=0.005)
    assert np.rint(answers * 2).mean() / 2 == 0
