"""Figures of a sample say what it is, have its errors, and are those of people drawn alone where nothing else is said."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.kit.benchmarks import benchmark

from deniable.device.randomize import randomize
from deniable.errors import EstimateError
from deniable.estimate import Analysis, analyse
from deniable.estimate.limits import normal
from deniable.estimate.limits.interval import Interval
from deniable.estimate.samples import linear
from deniable.estimate.samples.sample import Sample
from deniable.estimate.tables import conditional_share, cramers_v, independence, sampled
from deniable.survey import Survey
from deniable.wire.tally import Tally

GROUPS = [f"Clinic {number}" for number in range(1, 9)]
SURVEY = Survey.from_dict(
    {
        "deniable": 1,
        "id": "clinics",
        "title": "Clinics",
        "about": "Who asks, and why.",
        "epsilon": 6,
        "groups": GROUPS,
        "questions": [
            {"id": "smokes", "text": "?", "type": "yes_no"},
            {"id": "mood", "text": "?", "type": "scale", "options": ["bad", "fair", "good"], "required": False},
            {"id": "hours", "text": "?", "type": "number", "low": 0, "high": 10, "levels": 2},
        ],
    }
)
CLUSTERS = Sample(clusters="group")


def tallies(spread: float = 1.0, survey: Survey = SURVEY, n: int = 120) -> dict[str, Tally]:
    """Reports of clinics whose people differ, the more the larger the spread; always the same. Their coins are real but for their seed."""
    rng = np.random.default_rng(5)
    found = {}
    for place, group in enumerate(survey.groups):
        rates = 0.3 + 0.1 * spread * (place % 4 - 1.5)
        bits = np.zeros((n, survey.record.bits), dtype=bool)
        for field in survey.record.fields:
            answers = np.minimum(rng.poisson(3 * rates, n), field.item.k - 1)
            bits[:, field.bits] = randomize(field.item.channel, answers, lambda count: rng.integers(0, 1 << 32, count, dtype=np.uint32))[
                :, :-1
            ]
        found[group] = Tally.from_bits(bits)
    return found


def test_people_drawn_one_by_one_have_the_figures_that_everybody_has() -> None:
    alone, drawn = analyse(SURVEY, tallies()), analyse(SURVEY, tallies(), sample=Sample())
    grown = np.sqrt(960 / 959)  # a sample divides by n - 1
    for one, other in zip(alone.results, drawn.results, strict=True):
        assert (other.estimate, other.ones, other.n) == (pytest.approx(one.estimate), one.ones, one.n)
        assert other.std_error == pytest.approx(one.std_error * grown)
        assert (other.low, other.high) == (pytest.approx(one.low, abs=0.004), pytest.approx(one.high, abs=0.004))
        assert other.adjusted == pytest.approx(one.adjusted, abs=0.005)
    for mean, other_mean in zip(alone.results.means, drawn.results.means, strict=True):
        assert (other_mean.mean, other_mean.std_error) == (pytest.approx(mean.mean), pytest.approx(float(mean.std_error or 0) * grown))
    assert drawn.quantile("mood") == alone.quantile("mood")
    table, other_table = alone.crosstab("smokes", "mood"), drawn.crosstab("smokes", "mood")
    assert np.allclose(other_table.covariance, table.covariance * 960 / 959)
    assert independence(other_table).p_value == pytest.approx(independence(table).p_value, abs=0.02)


def test_all_clusters_of_a_population_have_the_interval_of_coins_whose_variance_is_known() -> None:
    """Nothing is left that clusters would tell, and so no Student's t."""
    every = analyse(SURVEY, tallies(), sample=Sample(clusters="group", population=8))
    people = analyse(SURVEY, tallies(), sample=Sample(strata="group", population=dict.fromkeys(GROUPS, 120)))
    for one, other in zip(every.results, people.results, strict=True):
        assert (one.estimate, one.std_error) == (pytest.approx(other.estimate), pytest.approx(other.std_error))
        assert (one.low, one.high) == (pytest.approx(other.low, abs=1e-3), pytest.approx(other.high, abs=1e-3))
    assert "only the coins differ" in every.sampled_reports.design.words
    partly = analyse(SURVEY, tallies(), sample=Sample(clusters="group", population=9))
    assert partly.sampled_reports.design.df == pytest.approx(7)


def test_a_stratum_with_all_of_its_clusters_lends_no_degrees_of_freedom() -> None:
    """The error is of the other stratum alone: with 7 + 1 degrees of freedom it was covered in 87% of surveys."""
    strata = {"half": {group: "whole" if group in GROUPS[:5] else "part" for group in GROUPS}}
    sample = Sample(clusters="group", strata="half", population={"whole": 5, "part": 40}, attributes=strata)
    drawn = analyse(SURVEY, tallies(), sample=sample).sampled_reports
    assert drawn.design.df == pytest.approx(2), "of 3 clusters in the stratum of which only a part was drawn"
    assert drawn.design.endless[0] == pytest.approx(6), "where the population's size is not used"


def test_waves_of_all_clusters_keep_the_errors_that_clusters_tell() -> None:
    """Their errors do not use the population's size."""
    two = Survey.from_dict({**SURVEY.to_dict(), "id": "again"})
    known, unknown = (
        analyse(SURVEY, tallies(1.0), sample=sample).compare_waves(analyse(two, tallies(0.5, two), sample=sample))
        for sample in (Sample(clusters="group", population=8), CLUSTERS)
    )
    assert [change.difference for change in known.changes] == [change.difference for change in unknown.changes]


def test_a_whole_population_leaves_the_coins() -> None:
    everybody = analyse(SURVEY, tallies(), sample=Sample(population=960))
    respondents = analyse(SURVEY, tallies(), target="respondents")
    for one, other in zip(everybody.results["smokes"], respondents.results["smokes"], strict=True):
        assert one.std_error == pytest.approx(other.std_error)
        assert one.std_error is not None
        assert one.std_error > 0
    half = analyse(SURVEY, tallies(), sample=Sample(population=1920)).results["smokes", "yes"].std_error
    all_, none = (
        analyse(SURVEY, tallies(), sample=sample).results["smokes", "yes"].std_error for sample in (Sample(population=960), Sample())
    )
    assert half is not None
    assert all_ is not None
    assert none is not None
    assert half**2 == pytest.approx((all_**2 + none**2) / 2)


def test_clusters_widen_every_figure_and_say_so() -> None:
    alone, drawn = analyse(SURVEY, tallies(1.8)), analyse(SURVEY, tallies(1.8), sample=CLUSTERS)
    assert drawn.results.sample == "8 clusters (group), t with 7 degrees of freedom"
    assert "Sample: 8 clusters (group), t with 7 degrees of freedom." in str(drawn)
    assert drawn.results["smokes", "yes"].estimate == pytest.approx(alone.results["smokes", "yes"].estimate)
    for figure in (
        lambda one: one.results["smokes", "yes"],
        lambda one: one.mean("mood"),
        lambda one: one.mean("hours"),
        lambda one: one.crosstab("smokes", "mood").share({"smokes": "yes"}),
        lambda one: conditional_share(one.crosstab("smokes", "mood"), {"smokes": "yes"}, {"mood": "fair"}),
    ):
        before, after = figure(alone), figure(drawn)
        assert after.high - after.low > 1.3 * (before.high - before.low)
    assert type(drawn.results).from_dict(drawn.to_dict()) == drawn.results


def test_of_a_sample_in_which_nobody_names_some_pair_the_test_says_that_it_may_be_wrong() -> None:
    few, many = (analyse(SURVEY, tallies(n=n), sample=CLUSTERS).crosstab("smokes", "mood") for n in (2, 120))
    assert int(few.together.min()) == 0 < int(many.together.min())
    assert "too few reports for this test" in independence(few).warning
    assert independence(many).warning == ""


def test_an_estimate_of_few_clusters_is_tested_with_students_t() -> None:
    one = normal.limited("a share", 100, 0.5, 0.01, Interval(df=7), (0.0, 1.0))
    assert (one.low, one.high) == (pytest.approx(0.5 - 0.2364624), pytest.approx(0.5 + 0.2364624))  # t of 7 degrees of freedom: 2.364624
    assert one.test(one.low).p_value == pytest.approx(0.05)
    assert normal.limited("a share", 100, 0.5, 0.01, Interval(), (0.0, 1.0)).high == pytest.approx(0.5 + 0.1959964)


def test_figures_of_a_survey_with_groups_say_that_everybody_counts_as_drawn_alone() -> None:
    alone, drawn = analyse(SURVEY, tallies(1.8)).results, analyse(SURVEY, tallies(1.8), method="wald", sample=CLUSTERS).results
    told = alone.sample
    assert told.startswith(
        "people count as sampled one by one, whatever their group; with the groups as clusters, intervals would typically be"
    )
    wider = float(told.split("be ")[1].split()[0])
    widths = [float(b.std_error or 0) * Interval(df=7).quantile / float(a.std_error or 1) / 1.96 for a, b in zip(alone, drawn, strict=True)]
    assert min(widths) < wider < max(widths)
    assert wider > 1.5
    assert analyse(SURVEY, dict.fromkeys(GROUPS, tallies()[GROUPS[0]])).results.sample.endswith(" 1.0 times as wide")
    assert analyse(SURVEY, sum(tallies().values(), Tally.empty(SURVEY.record.bits))).results.sample.endswith("intervals would be wider")
    plain = {key: value for key, value in SURVEY.to_dict().items() if key != "groups"}
    assert not analyse(Survey.from_dict(plain), tallies()[GROUPS[0]]).results.sample


def test_a_question_that_is_taken_as_known_is_no_estimate() -> None:
    found = analyse(SURVEY, tallies(), sample=Sample(margins={"smokes": {"yes": 1, "no": 3}}))
    assert [(row.estimate, row.warning) for row in found.results["smokes"]] == [(None, sampled.KNOWN)] * 2
    assert found.crosstab("smokes", "mood").share({"smokes": "yes"}).estimate == pytest.approx(0.25)
    assert found.results["mood", "fair"].estimate is not None
    with pytest.raises(EstimateError, match="the shares of smokes are known"):
        found.crosstab("mood", "hours")


def test_two_samples_of_other_groups_are_compared() -> None:
    made = tallies(0)
    sides = [analyse(SURVEY, {group: made[group] for group in part}, sample=CLUSTERS) for part in (GROUPS[:4], GROUPS[4:])]
    found = sides[0].compare(sides[1], "mood")
    assert found.test.df == 3
    first, second = (side.results["mood", "fair"].estimate for side in sides)
    assert found.differences[1].estimate == pytest.approx(float(second or 0) - float(first or 0))
    with pytest.raises(EstimateError, match="got Clinic 1 in both"):
        sides[0].compare(sides[0], "mood")
    pair = [analyse(SURVEY, {group: made[group] for group in part}, sample=CLUSTERS) for part in (GROUPS[:2], GROUPS[2:])]
    with pytest.raises(EstimateError, match="at least 5 clusters on either side"):
        pair[0].compare(pair[1], "mood")


@pytest.mark.parametrize(
    ("told", "ask"),
    [
        ("needs the tally of each group", lambda: analyse(SURVEY, tallies()[GROUPS[0]], sample=CLUSTERS)),
        ("target must be population", lambda: analyse(SURVEY, tallies(), sample=CLUSTERS, target="respondents")),
        ("groups of survey clinics", lambda: analyse(SURVEY, {"Clinic 99": tallies()[GROUPS[0]]}, sample=CLUSTERS)),
        ("at least 2 clusters with reports, got 1", lambda: analyse(SURVEY, {GROUPS[0]: tallies()[GROUPS[0]]}, sample=CLUSTERS)),
        ("at least the 8 that were drawn", lambda: analyse(SURVEY, tallies(), sample=replace(CLUSTERS, population=7))),
        ("no Cramér's V of a sample", lambda: cramers_v(analyse(SURVEY, tallies(), sample=CLUSTERS).crosstab("smokes", "mood"))),
        ("a regression cannot allow for a sample", lambda: analyse(SURVEY, tallies(), sample=CLUSTERS).regress("smokes ~ 1")),
        (
            "at least 1 report",
            lambda: analyse(SURVEY, dict.fromkeys(GROUPS, Tally.empty(SURVEY.record.bits)), sample=CLUSTERS).mean("hours"),
        ),
    ],
)
def test_what_a_sample_cannot_say_is_refused(told: str, ask: Any) -> None:
    with pytest.raises(EstimateError, match=told):
        ask()


def test_a_sample_without_reports_has_rows_without_figures() -> None:
    nobody: Analysis = analyse(SURVEY, dict.fromkeys(GROUPS, Tally.empty(SURVEY.record.bits)), sample=CLUSTERS)
    assert {row.estimate for row in nobody.results} == {None}


def test_where_questions_are_drawn_the_groups_that_were_not_asked_add_nothing() -> None:
    survey = Survey.from_dict({**SURVEY.to_dict(), "ask": 1})
    made = tallies(survey=survey)
    for group, tally in made.items():  # masks first: all were asked the first question, none the others, but in one clinic
        pairs, first = np.zeros_like(tally.pairs), survey.record.fields[0].bits
        pairs[first, first] = tally.pairs[first, first]
        pairs[0, 0], pairs[0, first] = tally.n, tally.ones[first]
        pairs[first, 0] = pairs[0, first]
        made[group] = Tally(tally.n, pairs)
    found = analyse(survey, made, sample=CLUSTERS).results
    assert found["smokes", "yes"].n == 960
    assert found["mood", "bad"].estimate is None


BENCH = benchmark("samples")


@pytest.mark.slow
def test_twenty_clinics_are_covered_as_the_intervals_say() -> None:
    """A slice of benchmarks/samples.py; fixed seed. 150 surveys: 95% is known to 1.8%."""
    alone, drawn, wider = BENCH.measured(next(case for case in BENCH.CASES if case.figure == "share" and case.epsilon == 2), 150, seed=4)
    assert alone < 0.75
    assert 0.92 <= drawn <= 0.985
    assert wider > 2


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["no clusters", "normal"])
def test_the_slice_notices_wrong_errors(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Controls: clusters whose spread is that of people, and two clusters taken for many."""
    case = replace(BENCH.CASES[1], sizes=(100,) * (20 if broken == "no clusters" else 2), epsilon=4.0)
    if broken == "no clusters":
        monkeypatch.setattr(linear, "_of_clusters", lambda sums, clusters: sums.T @ sums / 20)
    else:
        monkeypatch.setattr(Interval, "quantile", property(lambda self: 1.96))
    assert BENCH.measured(case, 80, seed=4)[1] < 0.9


@pytest.mark.parametrize("sizes", [(1, 1, 0, 0, 0, 0, 0, 0), (2, 7, 1, 0, 0, 0, 0, 0), (60, 60, 60, 60, 60, 60, 60, 60)])
@pytest.mark.parametrize("sample", [Sample(), CLUSTERS, Sample(margins={"group": dict(zip(GROUPS[:2], (1, 3), strict=True))})])
def test_however_few_reports_there_are_figures_are_possible_or_refused(sizes: tuple[int, ...], sample: Sample) -> None:
    """Everybody answers alike, so that nothing varies but by coins; of the groups those are drawn that have reports."""
    made = tallies(0)
    rng = np.random.default_rng(2)
    for group, n in zip(GROUPS, sizes, strict=True):
        answers = np.zeros(n, dtype=np.int64)
        sets = [randomize(item.channel, answers, lambda k: rng.integers(0, 1 << 32, k, dtype=np.uint32))[:, :-1] for item in SURVEY.items]
        made[group] = Tally.from_bits(np.hstack(sets))
    if sample.margins:
        made = {group: made[group] for group in GROUPS[:2]}
    if sample.clusters and sizes == (2, 7, 1, 0, 0, 0, 0, 0):
        with pytest.raises(EstimateError, match="one cluster is most of it"):
            analyse(SURVEY, made, sample=sample)
        return
    found = analyse(SURVEY, made, sample=sample)
    for row in found.results:
        assert row.low is not None
        assert row.high is not None
        assert 0 <= row.low < row.high <= 1
    assert 0 <= independence(found.crosstab("smokes", "mood")).p_value <= 1
    assert found.quantile("mood").low in SURVEY.items[1].categories
    with suppress(EstimateError):  # too few are estimated to have answered
        mean = found.mean("mood")
        assert 1 <= mean.low <= mean.high <= 3
