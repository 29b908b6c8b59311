"""What is said of a number that goes through a window: its mean wherever there are means, and nothing of its levels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from deniable.device.randomize import randomize
from deniable.errors import EstimateError
from deniable.estimate import Sample, analyse, mean
from deniable.estimate.checks import check_range, made_up, worst_case_shift, worst_case_shift_of_mean
from deniable.estimate.checks.method import known_prevalence
from deniable.estimate.regression.variable import PerturbedVariable
from deniable.estimate.tables.groups import compare_groups
from deniable.estimate.tables.weighted import weighted_mean, weighted_shares
from deniable.mechanism import Window
from deniable.plan import plan
from deniable.simulate import simulate
from deniable.survey import Survey
from deniable.wire.record import pack, unpack
from deniable.wire.tally import Tally

FAR = 4.5  # standard errors
HOURS = {"id": "hours", "text": "Hours?", "type": "number", "low": 0, "high": 60}
PAY = {"id": "pay", "text": "Pay?", "type": "number", "low": -10, "high": 30, "required": False}


def survey_of(*questions: Any, epsilon: float = 6, **keys: Any) -> Survey:
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": epsilon, "questions": questions, **keys})


SURVEY = survey_of(HOURS, PAY, {"id": "smokes", "text": "Smokes?", "type": "yes_no"})


def people(n: int, seed: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    hours = rng.beta(3, 2, n) * 60
    pay = np.where(rng.random(n) < 0.2, np.nan, hours / 2 - 5 + rng.normal(0, 2, n))
    return pd.DataFrame({"hours": hours, "pay": np.clip(pay, -10, 30), "smokes": np.where(rng.random(n) < 0.3, "yes", "no")})


PEOPLE = people(4000)
MADE = simulate(SURVEY, PEOPLE)
FOUND = analyse(SURVEY, MADE.reports)


def test_there_is_a_mean_and_of_the_shares_only_that_of_no_answer() -> None:
    assert [(row.question, row.option) for row in FOUND.results] == [("pay", "no answer"), ("smokes", "yes"), ("smokes", "no")]
    for row in FOUND.results.means:
        assert row.mean is not None
        assert row.std_error is not None
        assert abs(row.mean - PEOPLE[row.question].mean()) < FAR * row.std_error
        assert row.warning == ""
    none = FOUND.results["pay", "no answer"]
    assert abs((none.estimate or 0) - PEOPLE["pay"].isna().mean()) < FAR * (none.std_error or 0)
    assert "hours" in FOUND.results
    assert "hours" in FOUND.results["hours"].to_table()


def test_a_survey_of_nothing_else_prints_its_means_and_draws_them() -> None:
    alone = survey_of(HOURS, epsilon=2)
    found = analyse(alone, simulate(alone, people(500)).reports)
    assert found.results.rows == ()
    assert "95% intervals" in found.summary()
    assert [panel.title for panel in found.results.panels()] == ["hours"]
    assert "the mean of a number, as a part of its range," in found.summary()
    assert analyse(alone, Tally.empty(alone.record.bits)).results.means[0].warning == "no reports yet"


@pytest.mark.parametrize(
    ("ask", "figure"),
    [
        (lambda: FOUND.crosstab("hours", "smokes"), "cross table"),
        (lambda: FOUND.crosstab("smokes", "pay"), "cross table"),
        (lambda: FOUND.crosstab("smokes", "pay", "hours"), "cross table"),
        (lambda: FOUND.compare(MADE.tally, "hours"), "difference of shares"),
        (lambda: FOUND.quantile("hours"), "quantile"),
        (lambda: known_prevalence(SURVEY, MADE.tally, "hours", "0", 0.1), "comparison with a known share"),
        (lambda: weighted_shares(SURVEY, MADE.bits, np.ones(4000), "hours"), "weighted share"),
        (lambda: worst_case_shift(SURVEY.questions[0], 0.1), "shift of a share"),
        (lambda: FOUND.regress("smokes ~ hours"), "slope on a number"),
        (lambda: FOUND.regress("hours ~ age", pd.DataFrame({"age": np.arange(4000.0)})), "logit of a number"),
    ],
)
def test_figures_of_its_levels_are_refused_with_the_reason(ask: Callable[[], Any], figure: str) -> None:
    with pytest.raises(EstimateError, match=f"^{figure}: not for "):
        ask()


def test_a_refused_comparison_of_its_shares_names_what_compares_its_means() -> None:
    with pytest.raises(EstimateError, match="compare_groups has the difference of means"):
        FOUND.compare(MADE.tally, "hours")
    assert FOUND.compare_groups({"others": analyse(SURVEY, MADE.tally)}, "hours").rows[0].option == ""


def test_scores_that_bend_are_refused_and_even_ones_move_the_mean_with_them() -> None:
    levels = len(SURVEY.questions[0].scores or ())
    even, plain = FOUND.mean("hours", [100 - 2 * i for i in range(levels)]), FOUND.mean("hours")
    assert even.estimate == pytest.approx(100 - 2 * plain.estimate * (levels - 1) / 60, rel=1e-12)
    with pytest.raises(EstimateError, match="must be evenly spaced"):
        FOUND.mean("hours", [i**2 for i in range(levels)])


def test_equal_weights_give_the_mean_and_unequal_ones_that_of_who_weighs() -> None:
    scores = SURVEY.questions[0].scores or ()
    plain = weighted_mean(SURVEY, MADE.bits, np.ones(4000), "hours", scores)
    assert plain.estimate == pytest.approx(FOUND.mean("hours").estimate, rel=1e-12)
    assert plain.std_error == pytest.approx(FOUND.mean("hours").std_error, rel=0.02)


def test_groups_and_waves_compare_its_means_also_where_epsilon_and_so_the_levels_differ() -> None:
    other = survey_of(HOURS, PAY, {"id": "smokes", "text": "Smokes?", "type": "yes_no"}, epsilon=3)
    assert other.questions[0].k != SURVEY.questions[0].k
    frame = PEOPLE.assign(hours=PEOPLE["hours"] / 2)
    waves = FOUND.compare_waves(analyse(other, simulate(other, frame).reports))
    change = next(one for one in waves.changes if one.question == "hours")
    assert change.difference is not None
    assert abs(change.difference.estimate + PEOPLE["hours"].mean() / 2) < FAR * change.difference.std_error
    assert waves.left_out == ()
    assert "hours" in waves.to_table()
    alike = MADE.tally + Tally.empty(SURVEY.record.bits)  # the same figures, and taken for other people's
    apart = compare_groups(SURVEY, {"a": MADE.tally, "b": alike}, "hours")
    assert [(row.option, row.difference.estimate) for row in apart.rows if row.difference] == [("", 0.0)]


def test_another_scale_is_not_compared() -> None:
    wider = survey_of({**HOURS, "high": 61}, {"id": "smokes", "text": "Smokes?", "type": "yes_no"})
    waves = FOUND.compare_waves(analyse(wider, simulate(wider, people(200)).reports))
    assert dict(waves.left_out)["hours"] == "its scale is not the same"


def test_a_linear_regression_of_it_has_the_slope_of_the_numbers() -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 1, 4000)
    answers = PEOPLE.assign(hours=np.clip(10 + 30 * x + rng.normal(0, 5, 4000), 0, 60))
    made = analyse(SURVEY, simulate(SURVEY, answers).reports)
    fit = made.regress("hours ~ x", pd.DataFrame({"x": x}), model="linear", scored=["hours"])
    slope, error = fit.params["x"], fit.bse["x"]
    assert abs(slope - 30) < FAR * error
    assert 0 < error < 8


def test_a_perturbed_variable_needs_the_outputs_of_its_window() -> None:
    channel = SURVEY.questions[0].channel
    with pytest.raises(EstimateError, match=f"bits must be 0 or 1 in {channel.outputs} columns"):
        PerturbedVariable(np.eye(channel.k, dtype=bool), channel, SURVEY.questions[0].categories)
    reported = PerturbedVariable(np.eye(channel.outputs, dtype=bool), channel, SURVEY.questions[0].categories)
    assert reported.likelihood().sum(axis=0) == pytest.approx(np.ones(channel.k))


def test_a_sample_of_groups_has_its_mean_with_the_errors_of_clusters() -> None:
    grouped = survey_of(HOURS, PAY, {"id": "smokes", "text": "Smokes?", "type": "yes_no"}, groups=[f"g{i}" for i in range(12)])
    tallies = {group: simulate(grouped, people(200, seed)).tally for seed, group in enumerate(grouped.groups)}
    found = analyse(grouped, tallies, sample=Sample(clusters="group"))
    mean = next(row for row in found.results.means if row.question == "hours")
    assert mean.mean is not None
    assert mean.std_error is not None
    assert abs(mean.mean - 36) < FAR * mean.std_error + 1
    assert [row.option for row in found.results["pay"]] == ["no answer"]
    with pytest.raises(EstimateError, match="known shares: not for hours"):
        analyse(
            grouped, tallies, sample=Sample(margins={"hours": dict.fromkeys(grouped.questions[0].categories, 1 / grouped.questions[0].k)})
        )


def honest(survey: Survey, n: int, level: int) -> Tally:
    channels = [item.channel for item in survey.items]
    return Tally.from_bits(unpack(survey, pack(survey, [randomize(c, np.full(n, level), words) for c in channels]), n))


def words(count: int) -> NDArray[np.uint32]:
    return np.random.default_rng(RNG.integers(1 << 60)).integers(0, 1 << 32, count, dtype=np.uint32)


RNG = np.random.default_rng(11)


@pytest.mark.slow
def test_made_up_reports_of_numbers_show_and_honest_ones_that_agree_do_not() -> None:
    many = survey_of(*({**HOURS, "id": f"n{i}"} for i in range(12)), epsilon=6)
    for level in (0, 3):
        found = made_up(many, honest(many, 2000, level))
        assert found is not None
        assert not found.alarm
    fakes = np.zeros((2000, many.record.bits), dtype=bool)
    fakes[:, [field.bits.start + 4 for field in many.record.fields]] = True
    found = made_up(many, Tally.from_bits(fakes))
    assert found is not None
    assert found.alarm


def test_each_output_is_as_often_named_as_some_answer_makes_it_or_an_alarm_says_so() -> None:
    assert not any(check.alarm for check in check_range(SURVEY, MADE.tally))
    outputs = SURVEY.questions[0].channel.outputs
    names = [check.option for check in check_range(SURVEY, MADE.tally) if check.question == "hours"]
    assert (names[0], names[-1], len(names)) == (f"output 1 of {outputs}", f"output {outputs} of {outputs}", outputs)
    bits = MADE.bits.copy()
    bits[:1600, SURVEY.record.fields[0].bits] = False
    bits[:1600, SURVEY.record.fields[0].bits.start] = True
    alarms = [check.option for check in check_range(SURVEY, Tally.from_bits(bits)) if check.alarm]
    assert f"output 1 of {outputs}" in alarms


def test_fakes_move_the_mean_as_far_as_the_greatest_value_goes() -> None:
    question = survey_of(HOURS, epsilon=2).questions[0]
    assert isinstance(question.channel, Window)
    shift = worst_case_shift_of_mean(question, 0.01, np.array(question.scores), 30)
    assert shift.liars_up == pytest.approx(0.3)
    assert shift.fakes_up == pytest.approx(shift.fakes_down)
    assert shift.fakes_up > shift.liars_up


def test_a_plan_of_few_promises_the_interval_that_the_mean_will_have() -> None:
    """Not that of yes/no coins, which know their error: 20 people's limits are Student's, and end with the range."""
    for epsilon in (0.5, 2):
        survey, n = survey_of(HOURS, epsilon=epsilon), 20
        (asked,), scores = survey.items, survey.items[0].scores or []
        chances = np.array(asked.channel.chances, dtype=np.float64)
        got = []
        for level in range(len(scores) // 2 + 1):  # half of the people at it, half at its mirror image
            halves = chances[[level, len(scores) - 1 - level]].mean(axis=0)
            draws = np.random.default_rng(7).multinomial(n, halves / halves.sum(), 20)
            found = [mean(survey, Tally(n, np.diag(drawn[:-1])), "hours", scores) for drawn in draws]
            got.append(float(np.median([(one.high - one.low) / 2 for one in found])))
        assert 0.97 * max(got) < plan(survey, n=n).rows[0].half_width * 60 < 1.1 * max(got)


def test_a_plan_says_what_the_mean_will_be_known_to_and_has_no_cells_for_it() -> None:
    alone = survey_of(HOURS, epsilon=2)
    (row,) = plan(alone, n=2000).rows
    assert row.mean_half_width == pytest.approx(60 * row.half_width)
    assert row.cell_half_width is None
    found = analyse(alone, simulate(alone, people(2000)).reports).mean("hours")
    assert (found.high - found.low) / 2 < row.mean_half_width * 1.02
