"""Split or sample: one budget for many questions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.errors import EstimateError
from deniable.mechanism import Channel
from deniable.plan import split_or_sample


def test_twenty_questions_in_a_budget_of_2_are_better_sampled_than_split() -> None:
    """From the coins alone 0.100 and 0.019; who was asked is chance too, which makes the second 0.029."""
    one, split = split_or_sample(20, 2.0, 10_000, ask=[1, 20])
    assert (split.epsilon, split.reports) == (0.1, 10_000)
    assert split.coin_error == pytest.approx(0.100, abs=5e-4)
    assert split.std_error == pytest.approx(0.100, abs=5e-4)
    assert (one.epsilon, one.reports) == (2.0, 500)
    assert one.coin_error == pytest.approx(0.019, abs=5e-4)
    assert one.std_error == pytest.approx(0.0294, abs=5e-5)


def test_every_number_of_questions_is_compared_and_the_best_is_the_smallest_error() -> None:
    ways = split_or_sample(20, 2.0, 10_000)
    assert [way.ask for way in ways] == list(range(1, 21))
    assert min(ways, key=lambda way: way.std_error) == ways[0]
    rich = split_or_sample(4, 12.0, 10_000)
    assert min(rich, key=lambda way: way.std_error).ask == 4


def test_a_simulated_survey_has_the_errors_of_both_ways() -> None:
    m, budget, n, repeats = 10, 3.0, 1_000, 400
    rng = np.random.default_rng(13)
    for way in split_or_sample(m, budget, n, share=0.3, ask=[2, 10]):
        channel = Channel.for_epsilon(way.epsilon, 2)
        truth = (rng.random(repeats * way.reports) >= 0.3).astype(np.int64)
        rate = randomize(channel, truth, os_words)[:, 0].reshape(repeats, way.reports).mean(axis=1)
        error = ((rate - float(channel.phi)) / float(channel.theta - channel.phi)).std()
        assert error == pytest.approx(way.std_error, rel=5 / math.sqrt(2 * repeats))


@pytest.mark.parametrize(
    ("arguments", "message"), [((0, 2.0, 10), "questions must be"), ((5, 2.0, 0), "n must be"), ((5, 2.0, 3), "n is too small for ask = 1")]
)
def test_an_argument_that_makes_no_sense_is_refused(arguments: tuple[int, float, int], message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        split_or_sample(*arguments)


def test_asking_more_questions_than_there_are_is_refused() -> None:
    with pytest.raises(EstimateError, match="ask must be from 1 to 5"):
        split_or_sample(5, 2.0, 100, ask=[6])
