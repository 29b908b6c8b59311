"""The table of `make bench`: what is measured in turns, what is met, and what an earlier run lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.performance import report
from benchmarks.performance.fresh import in_fresh_process
from benchmarks.performance.line import Line, Row, Took, measured, meets


def row(name: str, ratio: float, target: str = "<= 1", **told: Any) -> dict[str, Any]:
    return Row(name, ratio, 1.0, ratio, target, meets(ratio, target), "ms", "the limit", "cpu", **told).to_dict()


@pytest.mark.slow
def test_ours_and_the_limit_are_called_in_turns_behind_one_that_does_not_count() -> None:
    calls: list[str] = []
    found = measured(Line("a", "<= 1000", lambda: calls.append("ours"), lambda: calls.append("limit"), "it", rounds=3))
    assert calls == ["ours", "limit"] * 4
    assert found.reference_wall is not None
    assert found.passed


@pytest.mark.slow
def test_what_another_process_took_counts_and_not_the_wait_for_it() -> None:
    found = measured(Line("a", "<= 0.5", lambda: Took(2.0, 8.0), lambda: Took(10.0, 16.0), "it", rounds=1))
    assert (found.ours, found.reference, found.ratio, found.ours_wall, found.reference_wall) == (2.0, 10.0, 0.2, 8.0, 16.0)
    by_clock = measured(Line("a", "<= 0.5", lambda: Took(2.0, 8.0), lambda: Took(10.0, 16.0), "it", by="wall", rounds=1))
    assert (by_clock.ratio, by_clock.passed) == (0.5, True)


def test_a_line_that_needs_what_is_not_there_says_so_and_is_neither_met_nor_missed() -> None:
    def never() -> None:
        raise AssertionError("must not be measured")

    found = measured(Line("beside a package", "<= 0.05", never, never, "the package", missing="make bench NAME=peers sets it up"))
    assert (found.ratio, found.passed) == (None, False)
    page = report.written([found, Row("quick one", 0.5, 1.0, 0.5, "<= 1", True, "ms", "the limit", "cpu")], {})
    assert "| beside a package | | the package | | | cpu | <= 0.05 | not measured: make bench NAME=peers sets it up |  |" in page
    assert "1 of 1 lines are met. 1 were not measured." in page
    assert "What limits" not in page
    assert json.loads(report.remembered([found], {})) == {"ratios": {}}
    assert report.lost([found.to_dict()], [row("beside a package", 0.01)]) == ["beside a package: is not measured any more"]
    assert report.lost([row("beside a package", 0.01)], [found.to_dict()]) == []


def test_page_faults_of_a_process_of_its_own_are_in_the_table() -> None:
    line = Line("a", "<= 1", lambda: Took(2.0, 8.0, 9_510), lambda: Took(10.0, 16.0, 0), "it", rounds=1)
    assert "| a | 2 ms, 9,510 page faults | it | 10 ms |" in report.written([measured(line)], {})


@pytest.mark.slow
def test_work_in_a_fresh_process_is_timed_there() -> None:
    took = in_fresh_process("sets of 256", 100)
    assert took.cpu > 0
    assert took.faults is not None


def test_a_figure_to_reach_is_beside_the_median_of_ours() -> None:
    figures = iter([1.0, 7.0, 3.0])
    found = measured(Line("a", ">= 1", lambda: next(figures), 6.0, "6 to reach", "/s", rounds=3)).to_dict()
    assert (found["ours"], found["reference"], found["ratio"], found["pass"]) == (3.0, 6.0, 0.5, False)
    assert {"name", "ours", "reference", "ratio", "target", "pass"} <= found.keys()


@pytest.mark.parametrize(
    ("ratio", "target", "met"), [(0.6, "<= 0.6", True), (0.61, "<= 0.6", False), (50, ">= 50", True), (49, ">= 50", False)]
)
def test_a_target_is_met_at_its_very_number(ratio: float, target: str, met: bool) -> None:
    assert meets(ratio, target) == met


def test_what_lost_a_fifth_is_named_and_nothing_else() -> None:
    before = [
        row("slower", 0.5),
        row("faster", 0.5),
        row("as it was", 0.5),
        row("gone", 0.5),
        row("rate", 2.0, ">= 1"),
        row("rate kept", 2.0, ">= 1"),
    ]
    now = [
        row("slower", 0.61),
        row("faster", 0.1),
        row("as it was", 0.59),
        row("new", 9),
        row("rate", 1.6, ">= 1"),
        row("rate kept", 9.0, ">= 1"),
    ]
    assert report.lost(now, before) == ["slower: 0.5 became 0.61", "rate: 2 became 1.6", "gone: is not measured any more"]


def test_a_results_file_is_read_as_it_was_written_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    rows = [row("a", 0.5), measured(Line("b", "<= 1", float, float, "it", missing="it")).to_dict()]
    path.write_text(json.dumps(rows))
    assert report.read(path) == rows
    for wrong in (
        "{",
        "[1]",
        '[{"name": "a"}]',
        '[{"name": "a", "ratio": "x", "target": "<= 1"}]',
        '[{"name": "a", "ratio": 1, "target": "soon"}]',
    ):
        path.write_text(wrong)
        with pytest.raises(ValueError, match=r"results\.json must be a results file of this benchmark, and is none"):
            report.read(path)


def test_the_page_has_every_line_and_says_what_limits_those_that_are_not_met() -> None:
    slow = Row("slow one", 3.0, 1.0, 3.0, "<= 1", False, "ms", "the limit", "wall", 1234.0, 411.0, "the disk", "today, 2")
    text = report.written([slow, Row("quick one", 0.5, 1.0, 0.5, "<= 1", True, "ms", "the limit", "cpu")], {"machine": "2 cores"})
    assert "| slow one | 1,234 ms | the limit | 411 ms | 3 | wall | <= 1 | **not met** | today, 2 |" in text
    assert "| quick one | 0.5 ms | the limit | 1 ms | 0.5 | cpu | <= 1 | met |  |" in text
    assert "- **slow one** (3, target <= 1): the disk" in text
    assert "1 of 2 lines are met." in text
    assert "- machine: 2 cores" in text
    assert json.loads(report.remembered([slow], {"machine": "2 cores"})) == {"machine": "2 cores", "ratios": {"slow one": 3.0}}


def test_lines_that_are_measured_anew_take_the_place_of_the_old_ones_and_the_others_stay() -> None:
    old = [row("a", 0.5, when="yesterday"), row("b", 0.7, when="yesterday"), row("c", 0.9, when="yesterday")]
    fresh = [Row.from_dict(row(name, 0.1, when="today")) for name in ("d", "b")]
    told = [(one.name, one.ratio, one.when) for one in report.joined(fresh, old)]
    assert told == [("a", 0.5, "yesterday"), ("b", 0.1, "today"), ("c", 0.9, "yesterday"), ("d", 0.1, "today")]
    assert [one.to_dict() for one in report.joined([], old)] == old
