"""Sums of weights times estimates: differences in differences, trends over waves, and the tables of both."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from deniable.cli import main
from deniable.errors import EstimateError
from deniable.estimate import Analysis, analyse, difference, share
from deniable.estimate.tables import compare_changes, contrast, difference_in_differences, trend
from deniable.simulate import simulate
from deniable.survey import Survey
from deniable.wire.tally import Tally

SURVEY = Survey.from_dict(
    {
        "deniable": 1, "id": "s", "title": "T", "about": "A test.", "epsilon": 6,
        "questions": [
            {"id": "smokes", "text": "?", "type": "yes_no"},
            {"id": "mood", "text": "?", "type": "scale", "options": ["1", "2", "3"]},
            {"id": "party", "text": "?", "type": "choice", "options": ["Red", "Green", "Blue"], "required": False},
        ],
    }
)  # fmt: skip


@pytest.fixture
def seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same simulated people in every run: only a test can do that."""
    generator = np.random.default_rng(21)
    words = lambda count: generator.integers(0, 1 << 32, count, dtype=np.uint32)  # noqa: E731
    monkeypatch.setattr(sys.modules[simulate.__module__], "os_words", words)


def wave(yes: float, n: int = 3000) -> Analysis:
    shares = {"smokes": [yes, 1 - yes], "mood": [0.3, 0.3, 0.4], "party": [0.4, 0.2, 0.1, 0.3]}
    return analyse(SURVEY, simulate(SURVEY, shares, n).tally)


def of_yes(ones: int, n: int) -> Any:
    return share(ones, n, q0=0.25, q1=0.75)


def test_a_contrast_of_two_is_their_difference_and_of_four_the_difference_of_differences() -> None:
    a, b, c, d = of_yes(300, 1000), of_yes(330, 900), of_yes(280, 1000), of_yes(400, 1100)
    assert contrast([b, a], [1, -1], what="the difference") == difference(b, a)
    found = difference_in_differences((a, b), (c, d))
    assert found.estimate == pytest.approx((d.estimate - c.estimate) - (b.estimate - a.estimate))
    assert found.std_error == pytest.approx(np.sqrt(sum(one.std_error**2 for one in (a, b, c, d))))
    nested = difference(difference(d, c), difference(b, a))
    assert (found.low, found.high, found.n) == (pytest.approx(nested.low), pytest.approx(nested.high), 4000)
    assert found.test().p_value == pytest.approx(nested.test().p_value)


def test_a_trend_is_the_slope_of_the_line_through_the_estimates() -> None:
    waves = [of_yes(ones, 1000) for ones in (300, 340, 335, 390)]
    years = [2021, 2022, 2024, 2026]
    found = trend(waves, years)
    assert found.estimate == pytest.approx(np.polyfit(years, [one.estimate for one in waves], 1)[0])
    middle = np.array(years) - np.mean(years)
    weights = middle / (middle @ middle)
    down = [w * (one.estimate - (one.low if w > 0 else one.high)) for w, one in zip(weights, waves, strict=True)]
    assert found.low == pytest.approx(found.estimate - np.sqrt(np.square(down).sum()))
    for wrong in ([2021, 2022], [2021] * 4):
        with pytest.raises(EstimateError, match="there must be a time for each estimate, two different ones at least"):
            trend(waves, wrong)


@pytest.mark.parametrize(("sizes", "rare"), [((900, 700, 800, 600), 0.3), ((60, 50, 40, 80), 0.04)])
def test_their_limits_hold_the_truth_and_their_tests_alarm_as_often_as_they_say(sizes: tuple[int, ...], rare: float) -> None:
    """250 times four waves with two coins, many people and few: 95% is known to 1.4%."""
    rng, held = np.random.default_rng(7), {"trend": 0, "differences": 0}
    truth = rare + np.array([0.0, 0.1, 0.2, 0.3])
    alarms = 0
    for ones in rng.binomial(sizes, 0.25 + truth / 2, (250, 4)).tolist():
        waves = [of_yes(one, n) for one, n in zip(ones, sizes, strict=True)]
        line, apart = trend(waves, [1, 2, 3, 4]), difference_in_differences((waves[0], waves[1]), (waves[2], waves[3]))
        held["trend"] += line.low <= 0.1 <= line.high
        held["differences"] += apart.low <= 0 <= apart.high
        alarms += apart.test().p_value < 0.05
    assert held["trend"] / 250 >= 0.92
    assert held["differences"] / 250 >= 0.92
    assert alarms == 250 - held["differences"]


def test_three_waves_have_a_table_of_trends(seeded: None) -> None:
    first, second, third = wave(0.2), wave(0.3), wave(0.4)
    found = first.trend(second, third, times=[2024, 2025, 2026])
    (smokes,) = (row for row in found.rows if (row.question, row.option) == ("smokes", "yes"))
    rows = [one.results["smokes"].rows[0] for one in (first, second, third)]
    assert smokes.slope == trend(rows, [2024, 2025, 2026])
    assert (smokes.slope.low, smokes.slope.high) == (pytest.approx(0.1, abs=0.06), pytest.approx(0.1, abs=0.06))
    records = found.to_dict()["trend"]
    assert [(record["question"], record["option"]) for record in records][:3] == [("smokes", "yes"), ("smokes", "no"), ("mood", "")]
    assert records[0]["p_holm"] == records[1]["p_holm"] == pytest.approx(9 * records[0]["p_value"], rel=1e-9, abs=0)
    assert "2024" in found.to_table()
    with pytest.raises(EstimateError, match="three waves or more, each with a time of its own, got 2 waves"):
        first.trend(second)


def test_two_groups_in_two_waves_have_a_table_of_differences_in_differences(seeded: None) -> None:
    north, south = wave(0.2).compare_waves(wave(0.25)), wave(0.2).compare_waves(wave(0.45))
    found = compare_changes(north, south, ("North", "South"))
    smokes = found.rows[0]
    assert smokes.difference is not None
    assert smokes.difference.low > 0
    (one, two), (three, four) = ((change.first, change.second) for change in (north.changes[0], south.changes[0]))
    assert smokes.difference.estimate == pytest.approx((four.estimate - three.estimate) - (two.estimate - one.estimate))
    assert "Change in South less change in North" in found.to_table()
    assert found.to_dict()["difference"][2]["option"] == ""


def test_waves_of_numbers_alone_have_a_trend_and_changes_of_their_means() -> None:
    head = {"deniable": 1, "id": "s", "title": "T", "about": "A test.", "epsilon": 2}
    hours = Survey.from_dict({**head, "questions": [{"id": "hours", "text": "?", "type": "number", "low": 0, "high": 60}]})
    outputs = hours.items[0].channel.outputs
    early, again, third, late = (analyse(hours, Tally(100, np.diag(np.roll([40, *[5] * (outputs - 2)], place)))) for place in (0, 0, 0, 4))
    (slope,) = early.trend(again, late).rows
    (change,) = compare_changes(early.compare_waves(again), third.compare_waves(late)).rows
    assert slope.slope.estimate > 0
    assert change.difference.estimate == pytest.approx(2 * slope.slope.estimate)


def test_shares_among_those_who_answered_are_named_so_and_hold_the_truth(seeded: None) -> None:
    found = wave(0.3, 20_000).answered("party")
    assert found.options == ("Red", "Green", "Blue")
    for one, truth in zip(found.shares, (4 / 7, 2 / 7, 1 / 7), strict=True):
        assert abs(one.estimate - truth) < 4 * one.std_error
        assert one.low < one.estimate < one.high
    assert abs(found.part.estimate - 0.7) < 4 * found.part.std_error
    assert sum(one.estimate for one in found.shares) == pytest.approx(1)
    assert "party, among those who answered: 7" in found.to_table()
    assert {row["among"] for row in found.to_dict()["share"]} == {"answered"}
    with pytest.raises(EstimateError, match="question smokes must be one that need not be answered"):
        wave(0.3, 100).answered("smokes")


def test_what_cannot_be_contrasted_is_refused() -> None:
    one = of_yes(300, 1000)
    with pytest.raises(EstimateError, match="a weight for each of two estimates or more, got 1 for 2"):
        contrast([one, one], [1])
    with pytest.raises(EstimateError, match="must have a figure"):
        contrast([one, analyse(SURVEY, Tally.empty(SURVEY.record.bits)).results.rows[0]], [1, 2])


@pytest.mark.parametrize(
    "times", [[1, 2, np.nan], [1, 2, np.inf], [1, 2, 1e308], [1, 2, 10**400], [1, True, 3], [1, np.False_, 3], ["a", "b", "c"], 3]
)
def test_times_are_finite_numbers_of_sane_size_or_refused_by_name(times: Any) -> None:
    """A nan among them would be differed from by all, itself included, and every slope would be nan."""
    with pytest.raises(EstimateError, match="times must be finite numbers from -1e\\+15 to 1e\\+15, got "):
        trend([of_yes(ones, 1000) for ones in (300, 340, 335)], times)
    with pytest.raises(EstimateError, match="times must be finite numbers from -1e\\+15 to 1e\\+15, got "):
        wave(0.3).trend(wave(0.3), wave(0.3), times=times)


@pytest.mark.parametrize("times", [[0, 1e-320, 2e-320], [0, 1e-200, 2e-200], [1e14, 1e14 + 1, 1e14 + 2]])
def test_times_so_near_that_no_slope_can_be_computed_are_refused(times: list[float]) -> None:
    with pytest.raises(EstimateError, match="times must be farther apart"):
        trend([of_yes(ones, 1000) for ones in (300, 340, 335)], times)


def test_a_trend_of_days_in_seconds_since_1970_is_that_of_the_days() -> None:
    waves, day = [of_yes(ones, 1000) for ones in (300, 340, 335)], 86_400
    by_second, by_day = trend(waves, [1.8e9, 1.8e9 + day, 1.8e9 + 5 * day]), trend(waves, [0, 1, 5])
    assert by_second.estimate * day == pytest.approx(by_day.estimate)
    assert by_second.high * day == pytest.approx(by_day.high)


@pytest.mark.parametrize(
    "weights",
    [[1, np.nan], [1, -np.inf], [1e308, -1e308], [True, -1], [np.True_, -1], ["1", "-1"], 10**400],
    ids=lambda given: repr(given)[:20],
)
def test_weights_of_a_contrast_are_finite_numbers_of_sane_size_or_refused_by_name(weights: Any) -> None:
    with pytest.raises(EstimateError, match="weights must be finite numbers from -1e\\+15 to 1e\\+15, got "):
        contrast([of_yes(300, 1000), of_yes(330, 900)], weights)


@pytest.mark.parametrize("times", ["1,2,nan", "1,inf,2", "1,2,1e309"])
def test_times_that_are_no_numbers_are_refused_before_a_server_is_asked(times: str) -> None:
    words = ["waves", "https://nobody.invalid", "--survey", "a", "--second", "b", "--second", "c", "--times", times]
    result = CliRunner().invoke(main, [*words, "--user", "ada", "--password-env", "PASSWORD"], env={"PASSWORD": "x" * 12})
    assert result.exit_code == 2
    assert "must be numbers with commas between them, got" in result.stderr
