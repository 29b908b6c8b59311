"""Made-up reports: a slice of benchmarks/made_up.py, the bounds against enumeration, and how the results say what was and was not found."""

from __future__ import annotations

import itertools
import json
import math
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.kit.benchmarks import benchmark

from deniable.estimate import Results, estimate
from deniable.estimate.checks import check_range, made_up, worst_case_shift
from deniable.mechanism import Channel
from deniable.survey import Survey
from deniable.wire.tally import Tally

module = sys.modules["deniable.estimate.checks.made_up_reports"]


def people(sizes: tuple[int, ...], epsilon: float, n: int, ask: int | None = None, seed: int = 7) -> Any:
    return benchmark("made_up").People(benchmark("made_up").Design(sizes, epsilon, n, ask), seed)


TWENTY = (2,) * 20
MIXED = (2, 2, 2, 3, 5, 7)
DESIGNS = [
    (TWENTY, 1.0, 2_000, None),
    (TWENTY, 8.0, 2_000, None),
    (MIXED, 4.0, 500, None),
    (TWENTY, 2.0, 1_000, 8),
    ((2, 2), 1.0, 50, None),
]


# What was found: 5% of 10,000 all say yes at epsilon 1 with 20 questions.


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["yes everywhere", "no everywhere", "any"])
def test_five_of_a_hundred_that_all_say_the_same_are_found_every_time(pattern: str) -> None:
    made = people(TWENTY, 1.0, 10_000)
    for _ in range(10):
        bits = {"yes everywhere": np.zeros(20, dtype=np.int64), "no everywhere": np.ones(20, dtype=np.int64), "any": made.pattern()}[
            pattern
        ]
        assert made.with_fakes(0.05, bits).alarm


def test_the_rate_of_each_bit_alone_does_not_find_them() -> None:
    """The control: what was tested before, of the same reports. They move the mean of all shares far."""
    made = people(TWENTY, 1.0, 10_000)
    tally = made.tally(made.answers(9_500, "independent"), np.zeros((500, 20), dtype=np.int64))
    assert sum(check.alarm for check in check_range(made.survey, tally)) <= 2, "of 40; by chance a few shares come near their end"
    assert made_up(made.survey, tally).alarm
    honest = made.tally(made.answers(9_500, "independent"))
    means = [np.mean([row.estimate for row in estimate(made.survey, one).rows if row.option == "yes"]) for one in (honest, tally)]
    assert means[1] - means[0] > 0.5, "the estimates cannot be relied on"


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "epsilon", "n", "ask"), DESIGNS)
@pytest.mark.parametrize("kind", ["independent", "alike", "split"])
def test_honest_people_raise_no_alarm_whatever_they_answer(
    sizes: tuple[int, ...], epsilon: float, n: int, ask: int | None, kind: str
) -> None:
    made = people(sizes, epsilon, n, ask)
    found = [made.honest(kind) for _ in range(20)]
    assert not any(one.alarm for one in found)
    assert all(0 < one.p_value <= 1 for one in found)


def test_a_bound_that_took_true_answers_for_independent_would_cry_wolf() -> None:
    """The control of the test above: people whose answers go together, and a bound without the part that allows for it."""
    made = people(TWENTY, 8.0, 2_000)
    tally = made.tally(made.answers(2_000, "split"))
    design = module._best(made.survey, 2_000)
    seen = module._Reports(made.survey, tally, design.places).largest_eigenvalue
    assert design.chance_of_eigenvalue(seen) == 1.0
    assert replace(design, mu=1.0).chance_of_eigenvalue(seen) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "epsilon", "n", "ask"), DESIGNS[:4])
def test_as_many_as_the_results_say_are_found(sizes: tuple[int, ...], epsilon: float, n: int, ask: int | None) -> None:
    made = people(sizes, epsilon, n, ask)
    share = made.honest("independent").shows_from
    assert all(made.with_fakes(share, made.pattern()).alarm for _ in range(20))
    assert not any(made.with_fakes(share / 4, made.pattern()).alarm for _ in range(5)), "and far fewer are not"


@pytest.mark.parametrize("n", [300, 10_000])
@pytest.mark.parametrize(("sizes", "epsilon"), [(TWENTY, 1.0), (TWENTY, 8.0), ((2,) * 8, 8.0), ((2,) * 3, 1.0), ((2,), 1.0), (MIXED, 6.0)])
def test_five_of_a_hundred_are_found_or_the_results_say_that_they_cannot_be(sizes: tuple[int, ...], epsilon: float, n: int) -> None:
    made = people(sizes, epsilon, n)
    for pattern in (np.zeros(len(sizes), dtype=np.int64), made.pattern()):
        found = made.with_fakes(0.05, pattern)
        assert found.alarm or found.shows_from is None or found.shows_from > 0.05
        assert found.alarm or "cannot be distinguished from honest ones" in found.words


# The bounds.


@pytest.mark.parametrize(("epsilon", "k"), [(0.05, 2), (3.0, 2), (0.5, 5), (1.0, 8), (4.0, 8), (2.0, 3)])
def test_the_moments_are_those_of_all_possible_reports(epsilon: float, k: int) -> None:
    channel = Channel.for_epsilon(epsilon, k)
    d, theta = channel.d, float(channel.theta)
    mean, second = np.zeros(k), np.zeros((k, k))
    scale = math.sqrt((k - 1) * k / (d * (k - d)))
    for report in itertools.combinations(range(k), d):
        bits = np.isin(np.arange(k), report)
        chance = theta / math.comb(k - 1, d - 1) if bits[0] else (1 - theta) / math.comb(k - 1, d)
        z = scale * (bits - d / k)
        assert z @ z == pytest.approx(k - 1)
        mean, second = mean + chance * z, second + chance * np.outer(z, z)
    found = module._Moments.of(channel)
    values = np.linalg.eigvalsh(second - np.outer(mean, mean))
    assert values[0] == pytest.approx(0, abs=1e-9), "the bits of a question add to d"
    assert (found.size, found.mean) == (k - 1, pytest.approx(mean @ mean))
    assert (found.least, found.most) == (pytest.approx(values[1]), pytest.approx(values[-1]))


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "ask"), [(MIXED, None), (MIXED, 3), ((6,) * 60, None)])
def test_the_tally_has_all_that_the_statistics_need(sizes: tuple[int, ...], ask: int | None) -> None:
    """From the reports themselves, question by question; 60 x 6 bits are more than are solved without iteration."""
    made = people(sizes, 3.0, 400, ask)
    survey, n = made.survey, 400
    places = survey.record.fields
    rng = np.random.default_rng(3)
    asked = np.ones((n, len(sizes)), dtype=np.bool_) if ask is None else rng.permuted(np.tile(np.arange(len(sizes)) < ask, (n, 1)), axis=1)
    parts, z, first, last = [], [], 0.0, 0.0
    for j, place in enumerate(places):
        k, d = place.item.k, place.item.d
        bits = rng.permuted(np.tile(np.arange(k) < d, (n, 1)), axis=1)
        parts.append(bits)
        own = (bits - d / k) * asked[:, [j]]
        z.append(own * math.sqrt((k - 1) * k / (d * (k - d))))
        first, last = first + own[:, 0], last + own[:, -1]
    packed = benchmark("made_up").pack(survey, parts, asked if ask else None)
    found = module._Reports(survey, Tally.from_bits(benchmark("made_up").unpack(survey, packed, n)), places)
    everything = np.hstack(z)
    assert found.largest_eigenvalue == pytest.approx(np.linalg.eigvalsh(everything.T @ everything / n)[-1])
    assert (found.agreement(0), found.agreement(-1)) == (pytest.approx(np.mean(first**2)), pytest.approx(np.mean(last**2)))


@pytest.mark.slow
def test_the_chances_bound_what_fair_coins_do() -> None:
    """Where the bounds are at their narrowest: reports of nothing but fair coins, many times over."""
    survey = benchmark("made_up").Design(TWENTY, 0.001, 500).survey
    rng, design = np.random.default_rng(11), module._best(survey, 500)
    signs = rng.choice([-1.0, 1.0], size=(2_000, 500, 20))
    options = (signs.sum(axis=2) ** 2 / 4).mean(axis=1)
    chances = np.array([design.chance_of_option(one) for one in options])
    for level in (0.5, 0.1, 0.01):
        assert (chances <= level).mean() <= level + 3 * math.sqrt(level / 2_000)
    assert (chances <= 0.5).mean() > 0.01, "the bound is not so wide that it never speaks"


# What the results say.


def results_of(share: float, epsilon: float = 1.0, sizes: tuple[int, ...] = TWENTY, n: int = 4_000) -> Results:
    made = people(sizes, epsilon, n)
    fakes = round(share * n)
    return estimate(made.survey, made.tally(made.answers(n - fakes, "independent"), np.zeros((fakes, len(sizes)), dtype=np.int64)))


def test_the_alarm_is_in_every_form_of_the_results() -> None:
    results = results_of(0.1)
    assert results.made_up is not None
    assert results.made_up.words.startswith("Some reports are made up, or a client is faulty")
    assert results.to_table().rstrip().endswith(results.made_up.words)
    assert results.made_up.words in results._repr_html_()
    assert json.loads(results.to_json())["made_up"]["alarm"] is True
    assert results.to_csv().count("Some reports are made up") == len(results.rows)
    assert Results.from_dict(json.loads(results.to_json())) == results


def test_what_cannot_be_found_is_said_with_the_harm_it_can_do() -> None:
    results = results_of(0.0)
    found = results.made_up
    assert found is not None
    assert found.shows_from is not None
    assert "Some reports" not in results.to_csv()
    question = people(TWENTY, 1.0, 10).survey.items[0]
    assert found.shift == pytest.approx(worst_case_shift(question, 0.01).fakes_up)
    assert found.words == (
        f"No sign of made-up reports that repeat the same answers; from {100 * found.shows_from:.2g}% of all reports on, they would show. "
        "Fewer, or ones that vary, cannot be distinguished from honest ones; "
        f"each 1% of them can move a share by up to 21 percentage points (q0)."
    )
    assert found.words in results.to_table()


def test_where_nothing_would_show_the_results_say_so() -> None:
    results = results_of(0.0, math.log(3), (2,), 300)
    assert results.made_up is not None
    assert (results.made_up.alarm, results.made_up.shows_from) == (False, None)
    assert results.made_up.words == (
        "Made-up reports cannot be distinguished from honest ones in this survey. "
        "Each 1% of them can move a share by up to 1.5 percentage points (q0)."
    )


def test_a_survey_of_nobody_says_nothing_of_made_up_reports() -> None:
    survey = people(TWENTY, 1.0, 10).survey
    empty = Tally.empty(20)
    assert made_up(survey, empty) is None
    assert "ade-up" not in estimate(survey, empty).to_table()
    assert json.loads(estimate(survey, empty).to_json())["made_up"] is None


def test_one_question_that_hides_little_does_not_drown_the_others() -> None:
    questions = [{"id": f"q{i}", "text": "?", "type": "yes_no", "epsilon": 0.05 if i else 7} for i in range(20)]
    survey = Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "questions": questions})
    design = module._best(survey, 5_000)
    assert survey.items[0].id not in {place.item.id for place in design.places}
    assert design.shows_from < 0.03


def test_what_was_found_is_kept_with_its_counts_and_with_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    made, other = people(TWENTY, 1.0, 2_000), people(TWENTY, 2.0, 2_000)
    tally = made.tally(made.answers(2_000, "independent"))
    alike = made.tally(made.answers(1_500, "independent"), np.zeros((500, 20), dtype=np.int64))
    asked = [
        (made.survey, tally),
        (made.survey, alike),
        (made.survey, Tally(tally.n + 1, tally.pairs)),
        (other.survey, tally),
    ]
    alone = [module._tested(*one) for one in asked]
    assert len({(one.p_value, one.shows_from) for one in alone}) == 4
    module._tested_once.cache_clear()
    computed: list[int] = []
    tested = module._tested
    monkeypatch.setattr(module, "_tested", lambda survey, tally: computed.append(tally.n) or tested(survey, tally))
    for _ in range(2):
        assert [made_up(*one) for one in asked] == alone
    assert len(computed) == 4
    monkeypatch.setattr(module, "_CACHED", 19)
    assert made_up(*asked[0]) == alone[0]
    assert len(computed) == 5
