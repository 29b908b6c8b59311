"""Public groups in the estimates: what the results say of their part, and differences between groups."""

from __future__ import annotations

import csv
import io
import sys
from dataclasses import replace

import numpy as np
import pytest

from deniable.errors import EstimateError
from deniable.estimate import Results, analyse, compare, difference
from deniable.estimate.tables import compare_groups
from deniable.simulate import simulate
from deniable.survey import Survey
from deniable.wire.tally import Tally

SURVEY = Survey.from_dict(
    {
        "deniable": 1,
        "id": "clinics",
        "title": "Clinics",
        "about": "A test.",
        "epsilon": 4,
        "groups": ["North", "South"],
        "questions": [
            {"id": "smokes", "text": "?", "type": "yes_no"},
            {"id": "party", "text": "?", "type": "choice", "options": ["Red", "Green", "Blue"]},
        ],
    }
)
NORTH = {"smokes": [0.2, 0.8], "party": [0.5, 0.3, 0.2]}
SOUTH = {"smokes": [0.35, 0.65], "party": [0.45, 0.45, 0.1]}


def of(tally: Tally, **part: object) -> Results:
    return replace(analyse(SURVEY, tally).results, **part)


@pytest.fixture
def seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same simulated people in every run: only a test can do that."""
    generator = np.random.default_rng(20)
    words = lambda count: generator.integers(0, 1 << 32, count, dtype=np.uint32)  # noqa: E731
    monkeypatch.setattr(sys.modules[simulate.__module__], "os_words", words)


def test_results_say_in_every_form_which_part_they_are_of() -> None:
    found = of(Tally(1, np.zeros((3, 3), dtype=np.int64)), group="Süd & =West", by_hand=True)
    assert Results.from_dict(found.to_dict()) == found
    assert (found.to_dict()["group"], found.to_dict()["by_hand"]) == ("Süd & =West", True)
    assert found.to_table().splitlines()[0] == "Clinics (clinics), group Süd & =West, made by hand"
    assert "group Süd &amp; =West, made by hand" in found._repr_html_()
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert {(row["group"], row["by_hand"]) for row in rows} == {("Süd & =West", "True")}
    assert "'=West" in of(Tally.empty(3), group="=West").to_csv()


def test_results_of_all_say_what_is_apart_and_add_no_column() -> None:
    found = of(Tally(1, np.zeros((3, 3), dtype=np.int64)), n_by_hand=1)
    assert found.caption.startswith("1 report · epsilon 4")
    assert found.caption.endswith("1 report made by hand apart")
    assert found.heading == "Clinics (clinics)"
    assert found.to_csv().splitlines()[0].endswith("chance_rate,warning,scale_low,scale_high")


def test_results_written_before_there_were_groups_can_be_read() -> None:
    older = of(Tally.empty(3)).to_dict()
    for key in ("group", "by_hand", "n_by_hand"):
        del older[key]
    assert Results.from_dict(older) == of(Tally.empty(3))


def test_the_groups_add_up_to_the_whole(seeded: None) -> None:
    north, south = (simulate(SURVEY, shares, 300).tally for shares in (NORTH, SOUTH))
    whole = north + south
    assert whole.n == 600
    mean = [(a.estimate or 0) / 2 + (b.estimate or 0) / 2 for a, b in zip(of(north).rows, of(south).rows, strict=True)]
    assert [row.estimate for row in of(whole).rows] == pytest.approx(mean)


def test_the_difference_of_two_groups_rows_is_that_of_the_comparison(seeded: None) -> None:
    north, south = (simulate(SURVEY, shares, 400).tally for shares in (NORTH, SOUTH))
    found = compare(SURVEY, north, south, "party")
    for one, other, apart in zip(of(north).rows[2:], of(south).rows[2:], found.differences, strict=True):
        alike = difference(other, one)
        assert (apart.estimate, apart.std_error, apart.low, apart.high) == pytest.approx(
            (alike.estimate, alike.std_error, alike.low, alike.high)
        )


@pytest.mark.slow
def test_differences_between_groups_are_covered_as_often_as_they_say(seeded: None) -> None:
    """500 surveys through the coins, 95% is known to 1%. The control, an interval with one group's error only, covers far less."""
    held = {"right": [], "of one group": []}
    for _ in range(500):
        north, south = simulate(SURVEY, NORTH, 300).tally, simulate(SURVEY, SOUTH, 200).tally
        one = of(south).rows[0].std_error or 0
        for apart, truth in zip(compare(SURVEY, north, south, "smokes").differences, (0.15, -0.15), strict=True):
            held["right"].append(apart.low <= truth <= apart.high)
            held["of one group"].append(abs(apart.estimate - truth) <= 1.96 * one)
    assert 0.92 <= np.mean(held["right"]) <= 0.98
    assert np.mean(held["of one group"]) < 0.92


@pytest.mark.slow
def test_of_many_groups_that_are_alike_one_is_called_different_as_seldom_as_it_says(seeded: None) -> None:
    """120 surveys of six groups, fifteen differences at 95% together. The control: each by itself, one is called so far more often."""
    called = {"together": 0, "each by itself": 0}
    for _ in range(120):
        tallies = {f"Group {number}": simulate(SURVEY, NORTH, 200).tally for number in range(6)}
        called["together"] += any(row.excludes_zero for row in compare_groups(SURVEY, tallies, "party").rows)
        (_, first), *others = tallies.items()
        apart = [one for _, other in others for one in compare(SURVEY, first, other, "party").differences]
        called["each by itself"] += any(not one.low <= 0 <= one.high for one in apart)
    assert called["together"] / 120 <= 0.11
    assert called["each by itself"] / 120 >= 0.15


def test_each_group_is_set_against_the_reference_and_p_values_agree_with_the_limits(seeded: None) -> None:
    tallies = {name: simulate(SURVEY, shares, 3000).tally for name, shares in (("North", NORTH), ("South", SOUTH), ("West", NORTH))}
    found = compare_groups(SURVEY, {**tallies, "Nobody": Tally.empty(SURVEY.record.bits)}, "party", reference="South")
    assert (found.comparisons, [row.group for row in found.rows]) == (2 * 3, ["North"] * 3 + ["West"] * 3 + ["Nobody"] * 3)
    strict = analyse(SURVEY, tallies["West"], confidence=1 - 0.05 / 6).results["party"].rows[1]
    other = analyse(SURVEY, tallies["South"], confidence=1 - 0.05 / 6).results["party"].rows[1]
    assert found.of("West", "Green") == difference(strict, other)
    assert found.of("Nobody", "Green") is None
    for row, record in zip(found.rows, found.to_dict()["difference"], strict=True):
        assert row.excludes_zero == (record["p_bonferroni"] is not None and record["p_bonferroni"] < 0.05)
    assert any(row.excludes_zero for row in found.rows)
    of = {name: analyse(SURVEY, tally) for name, tally in tallies.items()}
    assert of["South"].compare_groups({"North": of["North"], "West": of["West"]}, "party", name="South").rows == found.rows[:6]


def test_every_pair_of_groups_is_compared_and_counted_once(seeded: None) -> None:
    tallies = {name: simulate(SURVEY, shares, 3000).tally for name, shares in (("North", NORTH), ("South", SOUTH), ("West", NORTH))}
    found = compare_groups(SURVEY, {**tallies, "Nobody": Tally.empty(SURVEY.record.bits)}, "party", pairs=True)
    pairs = [("South", "North"), ("West", "North"), ("Nobody", "North"), ("West", "South"), ("Nobody", "South"), ("Nobody", "West")]
    assert list(dict.fromkeys((row.group, row.reference) for row in found.rows)) == pairs
    assert found.comparisons == 3 * 3
    strict = {name: analyse(SURVEY, tally, confidence=1 - 0.05 / 9).results["party"].rows for name, tally in tallies.items()}
    assert found.of("West", "Blue", "South") == difference(strict["West"][2], strict["South"][2])
    assert found.test is not None
    assert found.test.df == 2 * 2
    assert str(found.test) in found.to_table()
    records = found.to_dict()["difference"]
    assert [record["p_bonferroni"] for record in records if record["p_value"] is None] == [None] * 9
    for record in records:
        if record["p_value"] is not None:
            assert record["p_value"] <= record["p_bh"] <= record["p_holm"] <= record["p_bonferroni"] == min(1, 9 * record["p_value"])
    with pytest.raises(EstimateError, match="reference must be left out"):
        compare_groups(SURVEY, tallies, "party", pairs=True, reference="North")


def test_fewer_than_two_groups_or_another_reference_are_told() -> None:
    one = {"North": Tally.empty(SURVEY.record.bits)}
    for tallies, reference in ((one, None), ({}, None), ({**one, "South": one["North"]}, "West")):
        with pytest.raises(EstimateError, match="two groups or more, and the reference one of them"):
            compare_groups(SURVEY, tallies, "party", reference=reference)
