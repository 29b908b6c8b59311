"""Intervals that hold together: in as many surveys as they say, all of them at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deniable.estimate import analyse, estimate
from deniable.estimate.tables import compare_groups
from deniable.survey import Survey
from deniable.wire.tally import Tally

ITEMS = [f"i{number}" for number in range(20)]


def survey_of(*questions: dict[str, Any], epsilon: float, name: str = "family") -> Survey:
    source = {"deniable": 1, "id": name, "title": "T", "about": "A test.", "epsilon": epsilon, "questions": list(questions)}
    return Survey.from_dict({**source, "groups": ["A", "B", "C"]})


def items_of(count: int) -> dict[str, Any]:
    return {"id": "drugs", "text": "?", "type": "multi_choice", "options": ITEMS[:count]}


def reports(survey: Survey, n: int, share: float, rng: np.random.Generator) -> Tally:
    """Reports to yes/no items, each of which this share of people hold, independently."""
    phi, theta = float(survey.items[0].channel.phi), float(survey.items[0].channel.theta)
    return Tally.from_bits(rng.random((n, survey.record.bits)) < phi + (theta - phi) * share)


def holds(row: Any, truth: float) -> bool:
    return bool(row.low <= truth <= row.high)


@pytest.mark.slow
def test_the_intervals_of_all_items_of_a_multiple_choice_hold_together() -> None:
    survey, rng = survey_of(items_of(20), epsilon=8), np.random.default_rng(1)
    surveys, hit = 120, {True: 0, False: 0}
    for _ in range(surveys):
        tally = reports(survey, 400, 0.3, rng)
        for together in hit:
            rows = [row for row in estimate(survey, tally, simultaneous=together) if row.option == "yes"]
            hit[together] += all(holds(row, 0.3) for row in rows)
    assert hit[True] / surveys > 0.93, "95%, less two errors of the simulation"
    assert hit[False] / surveys < 0.7, "each by itself they do not: the test can see it"


def test_an_item_counts_once_for_each_item_of_its_question_and_an_option_for_each_option() -> None:
    five = {"id": "five", "text": "?", "type": "choice", "options": list("abcde")}
    survey = survey_of(items_of(4), five, {"id": "one", "text": "?", "type": "yes_no"}, epsilon=3)
    rng = np.random.default_rng(2)
    assert [item.channel.d for item in survey.items] == [1] * 6
    tally = Tally.from_bits(
        np.hstack([rng.random((300, 4)) < 0.4, np.eye(5, dtype=bool)[rng.integers(5, size=300)][:, :4], rng.random((300, 1)) < 0.4])
    )
    for size, question in ((4, "drugs"), (5, "five"), (1, "one")):
        together = estimate(survey, tally, simultaneous=True)[question]
        strict = estimate(survey, tally, confidence=1 - 0.05 / size)[question]
        assert [(row.low, row.high) for row in together] == [(row.low, row.high) for row in strict]
        assert {row.confidence for row in together} == {0.95}


@pytest.mark.slow
def test_differences_of_all_items_in_all_groups_hold_together() -> None:
    survey, rng = survey_of(items_of(5), epsilon=8), np.random.default_rng(3)
    surveys, hit = 500, 0
    for _ in range(surveys):
        tallies = {name: reports(survey, 150, 0.3, rng) for name in survey.groups}
        found = compare_groups(survey, tallies, "drugs", pairs=True)
        assert found.comparisons == 15
        hit += all(row.difference is not None and holds(row.difference, 0.0) for row in found.rows)
    assert hit / surveys > 0.93


@pytest.mark.slow
def test_changes_between_waves_hold_together_where_both_waves_do() -> None:
    waves, rng = [survey_of(items_of(8), epsilon=8, name=name) for name in ("one", "two")], np.random.default_rng(4)
    surveys, hit = 120, {True: 0, False: 0}
    for _ in range(surveys):
        tallies = [reports(survey, 200, 0.3, rng) for survey in waves]
        for together in hit:
            first, second = (analyse(survey, tally, simultaneous=together) for survey, tally in zip(waves, tallies, strict=True))
            changes = first.compare_waves(second).changes
            hit[together] += all(change.difference is not None and holds(change.difference, 0.0) for change in changes)
    assert hit[True] / surveys > 0.93
    assert hit[False] / surveys < 0.85
