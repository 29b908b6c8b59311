"""What is random about the respondents beside the coins is in their intervals: a slice of the coverage atlas, and exact sums."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from benchmarks.atlas.cell import Cell, measure
from benchmarks.atlas.lines import lines
from scipy import stats

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.estimate import estimate
from deniable.estimate.limits.finite_population import exact
from deniable.estimate.limits.interval import METHODS, Interval
from deniable.estimate.limits.proportion import EXACT_UP_TO, RARE_UP_TO, proportion
from deniable.survey import Survey
from deniable.wire.record import pack, unpack
from deniable.wire.tally import Tally

LINES = {line.figure: line for line in lines()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("figure", "cell", "coins_at_most"),
    [
        ("share, of the respondents, half of them asked", Cell(3.0, (1_200,), False), 0.9),
        ("share of a level, of the respondents", Cell(4.0, (500,), False), 0.9),
    ],
)
def test_draws_and_rounding_are_in_the_intervals(figure: str, cell: Cell, coins_at_most: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """60 surveys, always the same ones: 95% is known to 3%. The control is an interval with the error of the coins alone."""
    line = replace(LINES[figure], cost=1)
    assert measure(line, cell, 60).holds >= 0.95 - 0.05
    monkeypatch.setattr(Interval, "sampling", lambda self, n: 0.0)
    assert measure(line, cell, 60).holds < coins_at_most


def coverage(n: int, everybody: int, q0: float, q1: float, everybody_said: int) -> float:
    """The least chance, over all numbers of holders, that the interval holds the share: hypergeometric draws, then two binomials."""
    found = [proportion(y, n, q0, q1, Interval(target="respondents", everybody=everybody_said)) for y in range(n + 1)]
    low, high = (np.array([getattr(one, side) for one in found]) for side in ("low", "high"))
    assert (high - low).min() > 0
    given = np.array(
        [np.convolve(stats.binom.pmf(np.arange(j + 1), j, q1), stats.binom.pmf(np.arange(n - j + 1), n - j, q0)) for j in range(n + 1)]
    )
    least = 1.0
    for m in range(everybody + 1):
        chances = stats.hypergeom.pmf(np.arange(n + 1), everybody, m, n) @ given
        least = min(least, float(chances[(low <= m / everybody + 1e-12) & (m / everybody <= high + 1e-12)].sum()))
    return least


@pytest.mark.parametrize(("n", "everybody"), [(1, 3), (5, 9), (10, 40), (30, 60), (30, 31)])
@pytest.mark.parametrize(("q0", "q1"), [(0.25, 0.75), (0.02, 0.98), (0.6, 0.2), (0.0, 1.0)])
def test_those_who_were_drawn_tell_of_everybody_as_often_as_they_say(n: int, everybody: int, q0: float, q1: float) -> None:
    assert coverage(n, everybody, q0, q1, everybody) >= 0.95 - 1e-9


def test_limits_that_know_of_no_draw_would_fail_that_test() -> None:
    assert coverage(30, 60, 0.02, 0.98, 0) < 0.8


def test_where_all_were_drawn_there_was_no_draw() -> None:
    assert Interval(target="respondents", everybody=50).sampling(50) == 0
    assert Interval(target="respondents", everybody=50).sampling(1) == 1
    assert Interval(target="respondents", everybody=51).sampling(26) == 0.5
    assert Interval(target="respondents", everybody=51, rounding=0.5).sampling(26) == 0.75
    assert exact((20, 50), 0.25, 0.75, 0.05, 50) == pytest.approx((0.02, 0.56), abs=0.06)


def test_many_who_were_drawn_have_limits_that_meet_the_exact_ones() -> None:
    for ones in (150, 200, 300):
        few, many = (proportion(ones * k, 500 * k, 0.25, 0.75, Interval(target="respondents", everybody=1500 * k)) for k in (1, 2))
        assert (few.method, many.method) == ("feldman-cousins", "constrained-score")
        for side in ("low", "high"):
            assert getattr(many, side) - many.estimate == pytest.approx((getattr(few, side) - few.estimate) / 2**0.5, abs=0.02)


@pytest.mark.parametrize("n", [EXACT_UP_TO, EXACT_UP_TO + 1, RARE_UP_TO + 1])
@pytest.mark.parametrize("method", METHODS["respondents"])
def test_where_rounding_makes_all_of_the_answers_random_limits_are_as_wide_as_a_populations_at_every_size(n: int, method: str) -> None:
    own = proportion(n // 3, n, 0.25, 0.75, Interval(method=method, target="respondents", rounding=1.0))
    population = proportion(n // 3, n, 0.25, 0.75, Interval())
    assert (own.low, own.high, own.method) == (population.low, population.high, population.method)
    assert own.target == "respondents"


NUMBER = {"id": "q", "text": "?", "type": "number", "low": 0, "high": 1, "required": False}


@pytest.mark.parametrize("question", [NUMBER, {**NUMBER, "levels": 5}, {**NUMBER, "levels": 5, "required": True}])
def test_a_number_has_limits_about_its_respondents_however_many_they_are(question: dict[str, Any]) -> None:
    source = {"deniable": 1, "id": "s", "title": "T", "about": "A.", "epsilon": 4, "questions": [question]}
    survey, n = Survey.from_dict(source), EXACT_UP_TO + 1
    item = survey.items[0]
    tally = Tally.from_bits(unpack(survey, pack(survey, [randomize(item.channel, np.arange(n) % item.k, os_words)]), n))
    [mean] = estimate(survey, tally, target="respondents").means
    assert mean.low < mean.mean < mean.high
