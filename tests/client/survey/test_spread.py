"""Scores and ranges that are far from 0 beside their spread, or hardly spread at all, are refused: means would lose their digits."""

from __future__ import annotations

import math
from typing import Any

import pytest

from deniable.errors import RefusedError, SurveyError
from deniable.survey import Survey


def survey(**keys: Any) -> Survey:
    question = {"id": "q", "text": "Q", **keys}
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 2, "questions": [question]})


def scale(*scores: float | str) -> Survey:
    return survey(type="scale", options=[f"option {place}" for place in range(len(scores))], scores=list(scores))


def number(low: float | str, high: float | str, **keys: Any) -> Survey:
    return survey(type="number", low=low, high=high, **keys)


def told(make: Any, *values: Any, **keys: Any) -> list[str]:
    with pytest.raises(SurveyError) as caught:
        make(*values, **keys)
    return [str(problem) for problem in caught.value.problems]


FAR = "the greatest less the least must be a ten-thousandth or more of the one that is further from 0"
NEAR = "the greatest less the least must be 0.000000001 or more"


def test_scores_far_from_0_are_refused_with_the_rule_with_what_came_and_with_what_helps() -> None:
    assert told(scale, 100_000_000, 100_000_001, 100_000_002) == [
        f"questions[0].scores: must be further apart: {FAR}, got 2 beside 100000002; take the same number off all of them"
    ]


def test_a_range_far_from_0_is_refused_with_the_rule_with_what_came_and_with_what_helps() -> None:
    assert told(number, 20_240_101, 20_240_131) == [
        f"questions[0].high: must be further from low: {FAR}, got 30 beside 20240131; take the same number off both"
    ]


def test_scores_and_ranges_whose_squares_are_no_numbers_any_more_are_refused_and_a_smaller_unit_helps() -> None:
    assert told(scale, 0, 1e-200) == [f"questions[0].scores: must be further apart: {NEAR}, got 1e-200; count in a smaller unit"]
    assert told(number, 0, "1e-160") == [f"questions[0].high: must be further from low: {NEAR}, got 1e-160; count in a smaller unit"]


@pytest.mark.parametrize(
    "scores",
    [
        (999_999_999.9999, 1e9),
        (1_000_000, 1_000_000.05, 1_000_000.1),
        (-100_000_002, -100_000_001, -100_000_000),
        (20_240_101, 20_240_102, 20_240_103),
        (math.nextafter(1e9, 0), 1e9),
        (0, 5e-324),
        (-4e-10, 4e-10),
    ],
)
def test_other_scores_that_differ_by_hardly_anything_are_refused(scores: tuple[float, ...]) -> None:
    [problem] = told(scale, *scores)
    assert problem.startswith("questions[0].scores: must be further apart")


@pytest.mark.parametrize("keys", [{}, {"levels": 2}, {"levels": 1024}, {"levels": 5, "window": 3}, {"required": False}])
@pytest.mark.parametrize("ends", [(1, math.nextafter(1, 2)), (999_999_000, 1e9), (-1e9, -999_999_000), (0, 9e-10)])
def test_ranges_that_are_hardly_any_are_refused_whatever_their_levels(keys: dict[str, Any], ends: tuple[float, float]) -> None:
    [problem] = told(number, *ends, **keys)
    assert problem.startswith("questions[0].high: must be further from low")


@pytest.mark.parametrize(
    "scores",
    [
        (2024, 2025),
        (2024, 2025, 2026),
        (0, 1e6),
        (1, 10, 100, 1000, 10_000, 100_000, 1_000_000),  # taking a number off all of these would not help, and need not
        (-1_000_000_000, -0.5, 0, 1e-7),
        (36.5, 36.6),
        (700, 1500, 3000, 5500),
        (0, 1e-9),
    ],
)
def test_years_incomes_temperatures_and_scores_that_grow_tenfold_are_accepted(scores: tuple[float, ...]) -> None:
    made = scale(*scores)
    assert made.questions[0].scores == scores
    assert Survey.from_definition(made.definition).digest == made.digest


@pytest.mark.parametrize("keys", [{}, {"levels": 40}, {"levels": 1024}])
@pytest.mark.parametrize("ends", [(0, 1_000_000), (1900, 2026), (2024, 2025), (-40, 50), (35.5, 42), (-1e9, 1e9), (1e-9, 1e-7)])
def test_ranges_of_years_incomes_and_temperatures_are_accepted_and_so_are_their_definitions(
    keys: dict[str, Any], ends: tuple[float, float]
) -> None:
    made = number(*ends, **keys)
    assert Survey.from_definition(made.definition).digest == made.digest


def test_the_rule_holds_for_the_decimals_that_were_written_and_not_for_what_is_left_of_them_in_doubles() -> None:
    assert 1 - 0.9999 < 1e-4, "as doubles they would be too near"
    scale(0.9999, 1)
    scale(9999, 10_000)
    number("0.9999", "1.0000")
    assert len(told(scale, 0.99990001, 1)) == len(told(scale, 10_000, 10_001)) == 1


def test_scores_that_break_another_rule_are_told_by_that_rule_alone() -> None:
    assert told(scale, 100_000_001, 100_000_000) == ["questions[0].scores[1]: must be above the score before it"]
    assert told(scale, 100_000_000, "many") == ["questions[0].scores[1]: must be a number from -1,000,000,000 to 1,000,000,000"]


def test_bins_have_no_mean_so_they_may_be_as_far_from_0_as_dates_are() -> None:
    number(20_240_101, 20_240_131, bins=[{"name": "early", "from": 20_240_101}, {"name": "late", "from": 20_240_116}])


def test_a_definition_that_another_program_published_with_such_scores_is_refused() -> None:
    good = scale(1, 2).definition
    with pytest.raises(RefusedError, match="must be further apart"):
        Survey.from_definition(good.replace(b'"scores":[1,2]', b'"scores":[100000001,100000002]'))
