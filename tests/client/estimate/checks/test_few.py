"""Where reports are too few for an interval it says so: a slice of the coverage atlas, and the edges of the rule."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.atlas.cell import Cell, measure
from benchmarks.atlas.lines import lines

from deniable.estimate import analyse, compare, crosstab, difference, estimate, joint, mean
from deniable.estimate.checks import few
from deniable.estimate.limits.proportion import Share
from deniable.estimate.tables import (
    between_options,
    bootstrap,
    conditional_share,
    cramers_v,
    differences,
    independence,
    odds_ratio,
    phi_coefficient,
)
from deniable.estimate.tables import crosstab as crosstab_room
from deniable.mechanism import Channel, Window
from deniable.survey import Survey
from deniable.wire.tally import Tally

LINES = {line.figure: line for line in lines()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("figure", "sizes", "normal_at_most"),
    [
        ("difference of two groups that are alike", (1_000, 50), 0.75),
        ("difference of two groups that are alike", (200, 20), 0.85),
        ("cell of a table", (50,), 0.75),
        ("cell of a table", (200,), 0.96),
    ],
)
def test_small_groups_and_rare_cells_are_covered_where_a_normal_error_is_not(
    figure: str, sizes: tuple[int, ...], normal_at_most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """200 surveys: 95% is known to 1.5%. The control puts a normal error in the place of the exact limits."""
    cell = Cell(8.0 if len(sizes) > 1 else 4.0, sizes, rare=True)
    assert measure(LINES[figure], cell, 200).holds >= 0.93 - 0.02
    monkeypatch.setattr(crosstab_room, "ENOUGH", 0)
    side = differences._side
    monkeypatch.setattr(differences, "_side", lambda one: side(one)._replace(**wald(one)))
    assert measure(LINES[figure], cell, 200).holds < normal_at_most


def wald(one: Share) -> dict[str, float]:
    return {"low": one.estimate - 1.96 * one.std_error, "high": one.estimate + 1.96 * one.std_error}


@pytest.mark.slow
def test_the_test_of_a_sparse_table_alarms_as_often_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """60 surveys of 100 people at epsilon 4, 5 by 5 options, under the null: 5% is known to 2.8%. The control is chi-squared."""
    line, cell = replace(LINES["test of independence, 5 by 5"], cost=1), Cell(4.0, (100,), rare=True)
    assert 1 - measure(line, cell, 60).holds <= 0.05 + 0.06
    monkeypatch.setattr(bootstrap, "SMALL", 0.0)
    assert 1 - measure(line, cell, 300).holds > 0.09


TWO = Survey.from_text("""
deniable: 1
id: few
title: T
about: A
epsilon: 8
groups: [North, South]
questions:
  - {id: a, text: Q, type: yes_no}
  - {id: b, text: Q, type: scale, options: [low, high]}
""")


def tally_of(both: int, only_a: int, only_b: int, neither: int) -> Tally:
    return Tally(both + only_a + only_b + neither, np.array([[both + only_a, both], [both, both + only_b]]))


ENOUGH, SEVEN = tally_of(200, 200, 200, 200), tally_of(7, 200, 200, 200)


@pytest.mark.parametrize(
    ("ones", "n", "said"), [(8, 16, ""), (7, 16, "only 7 of the 16 reports name it"), (9, 16, "7 of the 16 reports do not")]
)
def test_below_eight_of_a_kind_an_interval_is_said_to_be_weak(ones: int, n: int, said: str) -> None:
    assert said in few.bits(ones, n)
    assert bool(few.bits(ones, n)) == bool(said)


@pytest.mark.parametrize(("others", "answered", "said"), [(7, 57, "all but 7 of the 57 reports of an answer name one option"), (8, 58, "")])
def test_a_mean_among_those_who_answered_is_weak_where_these_all_but_few_say_one_thing(others: int, answered: int, said: str) -> None:
    """However many did not answer: the control counts them too, and sees enough."""
    channel, counted = Channel.for_epsilon(8, 3), np.array([True, True, False])
    ones = np.array([answered - others, others, 40])
    assert few.scores(ones, counted, channel).startswith(said)
    assert bool(few.scores(ones, counted, channel)) == bool(said)
    assert not few.scores(ones, np.ones(3, dtype=bool), channel)


@pytest.mark.parametrize(("far", "weak"), [(7, True), (8, False)])
def test_a_number_is_weak_where_all_but_few_reports_lie_in_one_window(far: int, weak: bool) -> None:
    window = Window.over_levels(8.0, levels=10, width=3, apart=True)
    ones = np.zeros(window.outputs, dtype=np.int64)
    ones[:3], ones[6], ones[-1] = 20, far, 500
    assert bool(few.scores(ones, np.array([True] * 10 + [False]), window)) == weak


def test_all_figures_that_rest_on_a_normal_error_carry_it_and_no_others() -> None:
    small = tally_of(3, 2, 40, 40)
    table, good = crosstab(TWO, SEVEN, "a", "b"), crosstab(TWO, ENOUGH, "a", "b")
    rows = [estimate(TWO, one).rows[0] for one in (small, ENOUGH)]
    said = {
        "between options": (between_options(TWO, small, "a", "yes", "no"), between_options(TWO, ENOUGH, "a", "yes", "no")),
        "means": (difference(mean(TWO, small, "a", [1, 0]), mean(TWO, ENOUGH, "a", [1, 0])), mean(TWO, ENOUGH, "b", [1, 2])),
        "phi": (phi_coefficient(table), phi_coefficient(good)),
        "odds ratio": (odds_ratio(table), odds_ratio(good)),
    }
    assert {name: (bool(weak.warning), bool(strong.warning)) for name, (weak, strong) in said.items()} == dict.fromkeys(said, (True, False))
    exact = [
        *compare(TWO, ENOUGH, small, "a").differences,
        compare(TWO, ENOUGH, small, "a").test,
        difference(rows[0], rows[1]),
        conditional_share(table, {"a": "yes"}, among={"b": "low"}),
        table.share({"a": "yes", "b": "low"}),
        independence(crosstab(TWO, tally_of(0, 200, 200, 200), "a", "b")),
    ]
    assert [one.warning for one in exact] == [""] * len(exact)


def test_a_pair_that_nobody_names_makes_cramers_v_weak() -> None:
    assert cramers_v(crosstab(TWO, tally_of(0, 200, 200, 200), "a", "b")).warning
    assert not cramers_v(crosstab(TWO, ENOUGH, "a", "b")).warning


def test_the_tables_for_people_show_it() -> None:
    results = analyse(TWO, tally_of(3, 2, 40, 40)).results
    assert results.means[0].warning == "", "43 of 85 name low"
    one_sided = analyse(TWO, tally_of(80, 1, 3, 2)).results
    assert one_sided.means[0].warning.startswith("all but 3 of the 86 reports name one option")
    assert one_sided.means[0].warning in one_sided.to_table()


def test_tables_of_three_questions_and_margins_count_as_their_reports_do() -> None:
    ask = {"text": "?", "epsilon": 0.5}
    kinds = [{"id": "a", "type": "yes_no"}, *({"id": i, "type": "choice", "options": list("vwxyz")} for i in "cd")]
    three = Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "questions": [{**ask, **kind} for kind in kinds]})
    assert three.items[1].d > 1
    rng = np.random.default_rng(1)
    sets = [np.array([np.isin(np.arange(item.k), rng.choice(item.k, item.d, replace=False)) for _ in range(60)]) for item in three.items]
    table = joint(three, np.hstack([one[:, :-1] for one in sets]), ["a", "c", "d"])
    assert table.together is not None
    assert table.together[0, 1, 2] == (sets[0][:, 0] & sets[1][:, 1] & sets[2][:, 2]).sum()
    margin = table.margin("c").together
    assert margin is not None
    assert margin.tolist() == sets[1].sum(axis=0).tolist()
