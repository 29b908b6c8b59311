"""Where a survey stands: how precise by now, and when it will be as precise as its goal."""

from __future__ import annotations

import json
from datetime import date, timedelta

import numpy as np
import pytest

from deniable.errors import EstimateError
from deniable.estimate import analyse
from deniable.plan.progress import Progress, progress
from deniable.plan.survey import half_width_of, people_needed
from deniable.simulate import simulate
from deniable.survey import Survey

TEXT = """
deniable: 1
id: habits
title: Habits
about: Who asks, and why.
epsilon: 4
questions:
  - {id: smokes, text: Smokes?, type: yes_no}
  - {id: party, text: Party?, type: choice, options: [Red, Green, Blue, Black]}
"""
SURVEY = Survey.from_text(TEXT)
TODAY = "2026-11-22"


def daily(*counts: int, until: str = TODAY) -> list[tuple[str, str, int]]:
    """So many on each of the last days."""
    days = [(date.fromisoformat(until) - timedelta(days=back)).isoformat() for back in reversed(range(len(counts)))]
    return [(day, day, n) for day, n in zip(days, counts, strict=True) if n]


@pytest.mark.parametrize("wanted", [0.05, 0.2])
def test_a_rough_figure_is_never_better_than_the_exact_one_and_close_to_it(wanted: float) -> None:
    needed, rough = people_needed(SURVEY, wanted), people_needed(SURVEY, wanted, rough=True)
    assert needed <= rough <= 1.3 * needed
    for n in (5, 100, 5000):
        assert half_width_of(SURVEY, n) <= half_width_of(SURVEY, n, rough=True) + 1e-9 <= 1 + 1e-9


def test_the_half_width_of_so_many_people_is_the_inverse_of_the_people_that_it_takes() -> None:
    for wanted in (0.2, 0.1, 0.05, 0.02):
        n = people_needed(SURVEY, wanted)
        assert half_width_of(SURVEY, n) <= wanted < half_width_of(SURVEY, n - 1)


def test_where_each_person_is_asked_a_part_it_takes_more_of_them() -> None:
    part = Survey.from_text(TEXT + "ask: 1\n")
    assert part.items[0].epsilon == pytest.approx(2 * SURVEY.items[0].epsilon, rel=1e-6)
    assert half_width_of(part, 1000) == half_width_of(Survey.from_text(TEXT.replace("epsilon: 4", "epsilon: 8")), 500)


@pytest.mark.parametrize("n", [200, 4000])
def test_it_is_what_the_intervals_of_real_records_have(n: int) -> None:
    found = analyse(SURVEY, simulate(SURVEY, {"smokes": [0.5, 0.5], "party": [0.4, 0.3, 0.2, 0.1]}, n=n).reports).results
    widest = max((row.high - row.low) / 2 for row in found.rows if row.low is not None and row.high is not None)
    assert widest == pytest.approx(half_width_of(SURVEY, n), rel=0.15)


def test_the_sentence_says_what_is_reached_what_is_the_goal_and_when_at_this_rate() -> None:
    needed = people_needed(SURVEY, 0.05)
    found = progress(SURVEY, 400, daily(*[40] * 10), TODAY, goal=0.05)
    assert (found.rate, found.needed, found.reached, found.part) == (40.0, needed, False, 400 / needed)
    day = date.fromisoformat(TODAY) + timedelta(days=-(-(needed - 400) // 40))
    assert found.reached_on == day.isoformat()
    half = f"{100 * half_width_of(SURVEY, 400):.1f}".removesuffix(".0")
    assert found.words == f"±{half} points now; ±5 at {needed:,} people, at this rate on {day.day} {day:%B}."


def test_a_day_of_another_year_is_told_with_its_year() -> None:
    found = progress(SURVEY, 30, daily(*[10] * 3), TODAY, goal=0.05)
    assert found.reached_on is not None
    assert f"{found.reached_on[:4]}." in found.words
    assert found.reached_on > "2026-12-31"


@pytest.mark.parametrize(
    ("n", "growth", "rate", "ending"),
    [
        (0, [], None, "take {needed} people."),
        (40, daily(40), None, "people."),  # on its first day
        (40, daily(20, 20), None, "people."),
        (30, daily(10, 10, 10), 10.0, "2027."),
        (30, [("2026-10-01", "2026-10-01", 30)], 0.0, "not within two years at this rate."),  # nobody came in two weeks
        (100_000, daily(1, 1, 1), 1.0, "are reached."),
    ],
)
def test_nothing_is_foretold_where_nothing_is_known(n: int, growth: list[tuple[str, str, int]], rate: float | None, ending: str) -> None:
    found = progress(SURVEY, n, growth, TODAY, goal=0.05)
    assert found.rate == rate
    assert found.words.endswith(ending.format(needed=f"{found.needed:,}")), found.words
    assert (found.reached_on is None) == ("2027" not in found.words)
    assert (found.half_width is None) == (n == 0)


def test_more_people_than_are_looked_at_are_no_number() -> None:
    faint = Survey.from_text(TEXT.replace("epsilon: 4", "epsilon: 0.000002"))
    found = progress(faint, 40, daily(20, 10, 10), TODAY, goal=0.05)
    assert (found.needed, found.reached, found.part, found.reached_on) == (None, False, 0.0, None)
    assert "5 at more than 1,000,000,000,000 people, not within two years" in found.words
    assert "5 points, more than 1,000,000,000,000 people" in str(found)
    assert Progress.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_the_rate_is_that_of_the_last_two_weeks_and_a_span_of_days_counts_for_each_of_them() -> None:
    old = daily(*[100] * 20, until="2026-11-01")
    assert progress(SURVEY, 2140, [*old, *daily(*[10] * 14)], TODAY, goal=0.01).rate == 10.0
    half_in = ("2026-11-02", "2026-11-15", 28)  # the window begins on the 9th
    assert progress(SURVEY, 28, [half_in], TODAY, goal=0.01).rate == 14 / 14


def test_of_a_closed_survey_nothing_is_foretold() -> None:
    found = progress(SURVEY, 400, daily(*[40] * 10), TODAY, goal=0.05, is_open=False)
    assert (found.rate, found.reached_on) == (None, None)


def test_days_that_are_told_are_right_on_average() -> None:
    """People who come as they like, 30 a day on average: the day that is told is the one on which they are there, give or take."""
    chance, needed, errors = np.random.default_rng(7), people_needed(SURVEY, 0.03), []
    for _ in range(40):
        counts = chance.poisson(30, 400)
        found = progress(SURVEY, int(counts[:14].sum()), daily(*counts[:14].tolist()), TODAY, goal=0.03)
        there = int(np.argmax(np.cumsum(counts) >= needed)) - 13
        assert found.reached_on is not None
        errors.append((date.fromisoformat(found.reached_on) - date.fromisoformat(TODAY)).days - there)
    assert abs(float(np.mean(errors))) < 3


def test_it_travels_as_json_whole_and_prints_as_a_table() -> None:
    found = progress(SURVEY, 400, daily(*[40] * 10), TODAY, goal=0.05, expected=2000)
    assert Progress.from_dict(json.loads(found.to_json())) == found
    assert json.loads(found.to_json())["words"] == found.words
    table = found.to_table()
    assert "2026-11-13" in table
    assert "2,000 people" in table
    assert found.words in table
    wrong: dict[str, list[object]] = {"growth": [[1], None], "n": [10**400, -1, True], "needed": [0], "wanted": [10**400], "day": ["today"]}
    for broken in ({}, *({**found.to_dict(), name: value} for name, values in wrong.items() for value in values)):
        with pytest.raises(EstimateError):
            Progress.from_dict(broken)
