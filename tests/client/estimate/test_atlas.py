"""The coverage atlas: every public estimator has a line, the page is what was measured, and a slice of it is measured here."""

from __future__ import annotations

import inspect
import math
from dataclasses import replace

import pytest
from benchmarks.atlas.__main__ import FILE, PAGE, load
from benchmarks.atlas.cell import APPROXIMATE, EXACT, Cell, Line, Outcome, Result, Scene, measure
from benchmarks.atlas.lines import ELSEWHERE, NO_LIMITS, lines
from benchmarks.atlas.page import render

from deniable import estimate
from deniable.estimate import Analysis, Crosstab, checks, designs, indirect, tables
from deniable.estimate.checks import few
from deniable.estimate.tables import bootstrap, crosstab

LINES = {line.figure: line for line in lines()}
RARE = Cell(8.0, (50,), True)


def public() -> set[str]:
    """Functions of the rooms that are open, and what can be asked of an analysis and of a table."""
    rooms = (estimate, tables, designs, indirect, checks)
    functions = {name for room in rooms for name in room.__all__ if inspect.isfunction(getattr(room, name))}
    methods = ((one, name, value) for one in (Analysis, Crosstab) for name, value in vars(one).items() if inspect.isfunction(value))
    return functions | {f"{one.__name__}.{name}" for one, name, _ in methods if not name.startswith("_")}


def test_every_public_estimator_has_a_line_or_a_reason_why_not() -> None:
    held = {name for line in LINES.values() for name in line.names}
    elsewhere = {name for names in ELSEWHERE.values() for name in names}
    told = [held, set(NO_LIMITS), elsewhere]
    assert public() - set().union(*told) == set(), "add a line to benchmarks/atlas, or say in NO_LIMITS why there is none"
    assert set().union(*told[1:]) - public() == set()
    assert sum(map(len, told)) == len(set().union(*told)), "each in one place"
    for program, names in ELSEWHERE.items():
        text = (FILE.parent / program).read_text(encoding="utf-8")
        assert [name for name in names if name not in text] == []


def test_no_line_stands_for_what_there_is_not() -> None:
    properties = {"Analysis.results", "Analysis.sampled_reports", "Estimate.test", "Sample"}
    assert {name for line in LINES.values() for name in line.names} - public() == properties
    assert len(LINES) == len(list(lines()))


def test_the_page_is_what_was_measured_or_says_that_it_was_not_and_no_cell_fails() -> None:
    found = load(list(LINES.values()))
    assert len(found) == len(LINES), "make bench NAME=atlas"
    assert PAGE.read_text(encoding="utf-8") == render(list(LINES.values()), found)
    assert [(name, one) for name, cells in found.items() for one in cells if one.fails(LINES[name])] == []
    assert FILE.stat().st_size < 1 << 20


@pytest.mark.parametrize("cell", [Cell(epsilon, (n,), rare) for rare in (True, False) for epsilon, n in ((0.5, 50), (8.0, 20))], ids=str)
def test_single_shares_hold_as_often_as_they_say_by_enumeration(cell: Cell) -> None:
    found = measure(LINES["share"], cell, 500)
    assert (found.surveys, found.flat) == (0, 0.0)
    assert found.holds >= EXACT


def test_a_difference_of_two_small_groups_is_held_by_enumeration() -> None:
    found = measure(LINES["difference of two groups that are alike"], Cell(8.0, (200, 20), True), 500)
    assert found.surveys == 0
    assert found.holds >= APPROXIMATE


@pytest.mark.slow
@pytest.mark.parametrize(
    ("figure", "cell", "seen"),
    [
        ("mean of a scale among those who answered", RARE, "warned"),
        ("mean of a number", RARE, "warned"),
        ("cell of a table, of the respondents", Cell(8.0, (1_000,), False), "holds"),
        ("cell of a table, of the respondents", Cell(4.0, (20,), False), "holds"),
        ("share among some", RARE, "misled"),
        ("clusters: share", LINES["clusters: share"].cells[-1], "refused"),
    ],
)
def test_a_cell_that_cannot_be_held_says_so(figure: str, cell: Cell, seen: str) -> None:
    found = measure(LINES[figure], cell, 150)
    assert not found.fails(LINES[figure])
    assert seen == "misled" or getattr(found, seen) > 0.9


@pytest.mark.slow
def test_figures_that_said_nothing_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Controls: without the rule for few answers, without half a report, and with chi-squared in a sparse table the same cells fail."""
    monkeypatch.setattr(few, "FEW", 0)
    monkeypatch.setattr(crosstab, "_wider", lambda n, interval, low, high: (low, high))
    monkeypatch.setattr(bootstrap, "SMALL", 0.0)
    cells = {
        "mean of a scale among those who answered": RARE,
        "cell of a table, of the respondents": Cell(8.0, (1_000,), False),
        "test of independence, 5 by 5": Cell(8.0, (200,), True),
    }
    for figure, cell in cells.items():
        assert measure(replace(LINES[figure], cost=1), cell, 150).fails(LINES[figure]), figure


def outcomes(*said: Outcome) -> Result:
    """A cell whose surveys come out like these, one after the other."""
    source = LINES["share"].scene(RARE).parts[0][0]
    told = iter(said)
    scene = Scene([(source, len(said) - 1)], lambda _: next(told))
    found = measure(Line("x", (), (), lambda _: scene), RARE, 1_000)
    assert found.surveys == 0
    return found


def test_what_warns_or_refuses_misleads_nobody_and_what_says_nothing_does() -> None:
    every = [Outcome(False, width=1.0), Outcome(False, "warned", 0.0), Outcome(True, "refused")]
    silent, warned, refused = (outcomes(one, one) for one in every)
    line = LINES["mean of a scale"]
    assert (silent.misled, silent.fails(line)) == (pytest.approx(1.0), True)
    assert (warned.misled, warned.holds, warned.flat, warned.fails(line)) == (0.0, 0.0, 0.0, False)
    assert (refused.misled, refused.fails(line), math.isnan(refused.holds)) == (0.0, False, True)
    assert outcomes(Outcome(True, width=0.0), Outcome(True, width=0.0)).fails(line)
