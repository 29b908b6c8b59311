"""Where reports are too few for an interval it says so: a slice of benchmarks/small_groups.py, and the rule's own edges."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kit.benchmarks import benchmark

from deniable.estimate import analyse, compare, crosstab, difference, estimate, joint, mean
from deniable.estimate.checks import few
from deniable.estimate.tables import between_options, conditional_share, cramers_v, independence, odds_ratio, phi_coefficient
from deniable.survey import Survey
from deniable.wire.tally import Tally


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(benchmark("small_groups").CASES)))
def test_an_interval_that_misses_too_often_says_so(place: int) -> None:
    """Prints the coverage (-s shows it)."""
    case, surveys = benchmark("small_groups").CASES[place], 150
    covers, warned, unwarned = benchmark("small_groups").measured(case, surveys, seed=23)
    print(benchmark("small_groups").line(case, (covers, warned, unwarned)))
    noise = 3 * (0.065 * 0.935 / surveys) ** 0.5
    assert unwarned <= 0.065 + noise
    assert covers > 0.9 - noise or warned > 0.75


def test_the_slice_has_what_was_found_and_controls_without_a_warning() -> None:
    """1,000 and 50 people at epsilon 8: the interval alone holds the truth in some 64 of 100 surveys. With 2,000 and 1,000 it holds."""
    cases = {str(case): case for case in benchmark("small_groups").CASES}
    covers, warned, _ = benchmark("small_groups").measured(cases["difference .02/.02 | 8 | 1,000 and 50"], 300, seed=5)
    assert covers < 0.75, "without the warning nobody would know"
    assert warned > 0.99
    covers, warned, _ = benchmark("small_groups").measured(cases["difference .02/.02 | 8 | 2,000 and 1,000"], 300, seed=5)
    assert covers > 0.91
    assert warned < 0.05


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


def test_all_figures_that_rest_on_a_normal_error_carry_it() -> None:
    small = tally_of(3, 2, 40, 40)
    table, good = crosstab(TWO, SEVEN, "a", "b"), crosstab(TWO, ENOUGH, "a", "b")
    rows = [estimate(TWO, one).rows[0] for one in (small, ENOUGH)]
    said = {
        "compare": (compare(TWO, ENOUGH, small, "a").differences[0], compare(TWO, ENOUGH, ENOUGH, "a").differences[0]),
        "its test": (compare(TWO, ENOUGH, small, "a").test, compare(TWO, ENOUGH, ENOUGH, "a").test),
        "between options": (between_options(TWO, small, "a", "yes", "no"), between_options(TWO, ENOUGH, "a", "yes", "no")),
        "rows": (difference(rows[0], rows[1]), difference(rows[1], rows[1])),
        "means": (difference(mean(TWO, small, "a", [1, 0]), mean(TWO, ENOUGH, "a", [1, 0])), mean(TWO, ENOUGH, "b", [1, 2])),
        "phi": (phi_coefficient(table), phi_coefficient(good)),
        "odds ratio": (odds_ratio(table), odds_ratio(good)),
        "conditional share": (
            conditional_share(table, {"a": "yes"}, given={"b": "low"}),
            conditional_share(good, {"a": "yes"}, given={"b": "low"}),
        ),
        "a cell": (table.share({"a": "yes", "b": "low"}), table.share({"a": "yes", "b": "high"})),
        "a margin": (crosstab(TWO, small, "a", "b").share({"a": "yes"}), table.share({"a": "yes"})),
    }
    assert {name: (bool(weak.warning), bool(strong.warning)) for name, (weak, strong) in said.items()} == dict.fromkeys(said, (True, False))
    assert "only 7 of the 607 reports name it" in str(said["a cell"][0])
    assert "; " not in str(said["a cell"][1])


def test_a_pair_that_nobody_names_makes_the_tests_weak() -> None:
    unseen = crosstab(TWO, tally_of(0, 200, 200, 200), "a", "b")
    assert "too few reports for this test" in str(independence(unseen))
    assert cramers_v(unseen).warning
    assert not independence(crosstab(TWO, SEVEN, "a", "b")).warning


def test_the_tables_for_people_show_it() -> None:
    table = crosstab(TWO, SEVEN, "a", "b")
    assert table.to_frame()["warning"].astype(bool).tolist() == [True, False, False, False]
    assert table.summary().count("*") == 2
    assert table.summary().rstrip().endswith(few.NOTE)
    assert "*" not in crosstab(TWO, ENOUGH, "a", "b").summary()
    assert compare(TWO, ENOUGH, tally_of(3, 2, 40, 40), "a").to_frame()["warning"].str.startswith("only 5 of the 85 reports").all()
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
