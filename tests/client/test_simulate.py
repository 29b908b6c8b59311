"""Made-up people answer like real ones, through the same coins."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from deniable import Survey, os_words
from deniable.errors import EstimateError
from deniable.estimate import analyse
from deniable.simulate import simulate

SIMULATE = sys.modules[simulate.__module__]
FAR = 6  # standard errors: chance goes there once in 500 million times

SURVEY = Survey.from_text("""
deniable: 1
id: s
title: T
about: A
epsilon: 9
accept_high_epsilon: true
questions:
  - {id: smokes, text: Q, type: yes_no}
  - {id: mood, text: Q, type: scale, options: [bad, fair, good], required: false}
  - {id: hours, text: Q, type: number, low: 0, high: 80}
""")
SHARES: dict[str, Any] = {"smokes": {"yes": 0.3, "no": 0.7}, "mood": [0.1, 0.2, 0.3, 0.4], "hours": {"0": 0.75, "80": 0.25}}


def people(n: int) -> pd.DataFrame:
    """Whoever smokes is in a bad mood, the others do not say."""
    smokes = np.arange(n) % 3 == 0
    return pd.DataFrame({"smokes": smokes, "mood": np.where(smokes, "bad", None), "hours": np.arange(n) % 81})


def test_the_estimates_of_made_up_people_come_out_at_their_truth() -> None:
    made = simulate(SURVEY, SHARES, 20_000)
    estimated = analyse(SURVEY, made.reports)
    found = estimated.to_frame().merge(made.truth, on=["question", "option"])
    assert len(found) == 2 + 4
    assert (abs(found["estimate"] - found["share"]) < FAR * found["std_error"]).all()
    levels, (_, mean) = made.truth.query("question == 'hours'"), estimated.results.means
    truth = float((levels["option"].astype(float) * levels["share"]).sum())
    assert abs(mean.mean - truth) < FAR * mean.std_error


def test_the_truth_of_made_up_people_comes_out_at_the_shares_asked_for() -> None:
    truth = simulate(SURVEY, SHARES, 20_000).truth.set_index(["question", "option"])["share"]
    for (question, option), share in {("smokes", "yes"): 0.3, ("mood", "no answer"): 0.4, ("hours", "80"): 0.25}.items():
        assert abs(truth[question, option] - share) < FAR * np.sqrt(share * (1 - share) / 20_000)


def test_what_goes_together_in_a_table_of_answers_stays_together() -> None:
    made = simulate(SURVEY, people(999), 20_000)
    assert made.n == 20_000
    table = analyse(SURVEY, made.reports).crosstab("smokes", "mood").to_frame().set_index(["smokes", "mood"])
    assert abs(table["estimate"]["yes", "bad"] - 1 / 3) < FAR * (table["std_error"]["yes", "bad"] + 0.0034)
    assert abs(table["estimate"]["no", "bad"]) < FAR * table["std_error"]["no", "bad"]


def test_without_n_each_row_answers_once() -> None:
    made = simulate(SURVEY, people(81))
    assert made.n == 81
    assert len(made.reports) == 81 * SURVEY.record.bytes
    assert made.answers["smokes"].sum() == 27
    assert made.truth.set_index(["question", "option"])["share"]["smokes", "yes"] == pytest.approx(1 / 3)


def test_the_levels_of_a_number_have_the_mean_of_the_numbers() -> None:
    truth = simulate(SURVEY, people(81)).truth.query("question == 'hours'")
    assert (truth["option"].astype(float) * truth["share"]).sum() == pytest.approx(40)
    assert truth["share"].sum() == pytest.approx(1)


def test_every_simulation_tosses_new_coins() -> None:
    assert simulate(SURVEY, people(500)).reports != simulate(SURVEY, people(500)).reports


def test_coins_that_are_not_tossed_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: reports of the true answers, not perturbed, are far from the truth after the bias is inverted."""

    def honest(channel: Any, categories: Any, words: Any) -> Any:
        return np.arange(channel.k) == categories[:, None] if channel.d == 1 else pytest.fail("this control is for d = 1")

    monkeypatch.setattr(SIMULATE, "randomize", honest)
    made = simulate(SURVEY, SHARES, 20_000)
    found = analyse(SURVEY, made.reports).to_frame().merge(made.truth, on=["question", "option"])
    assert not (abs(found["estimate"] - found["share"]) < FAR * found["std_error"]).all()


def test_the_coins_come_from_the_systems_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []

    def counted(count: int) -> Any:
        drawn.append(count)
        return os_words(count)

    monkeypatch.setattr(SIMULATE, "os_words", counted)
    simulate(SURVEY, SHARES, 1000)
    assert sum(drawn) >= 3000


def test_a_multiple_choice_has_a_column_for_each_item() -> None:
    source = {"id": "drugs", "text": "Q", "type": "multi_choice", "options": ["tea", "coffee"], "epsilon": 8}
    survey = Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "questions": [source]})
    made = simulate(survey, pd.DataFrame({"drugs[tea]": [True] * 900 + [False] * 100, "drugs[coffee]": [False] * 1000}))
    assert made.truth["share"].tolist() == [0.9, 0.1, 0.0, 1.0]
    found = analyse(survey, made.reports).to_frame()
    assert (abs(found["estimate"] - made.truth["share"]) < FAR * found["std_error"] + 0.02).all()


def test_what_is_hidden_from_a_person_is_sent_as_no_answer() -> None:
    cigarettes = {
        "id": "many",
        "text": "Q",
        "type": "number",
        "low": 0,
        "high": 40,
        "required": False,
        "show_if": {"question": "smokes", "is": ["yes"]},
    }
    questions = [{"id": "smokes", "text": "Q", "type": "yes_no"}, cigarettes]
    survey = Survey.from_dict(
        {"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 9, "accept_high_epsilon": True, "questions": questions}
    )
    made = simulate(survey, pd.DataFrame({"smokes": ["yes", "no"] * 2000, "many": [40] * 4000}))
    truth = made.truth.set_index(["question", "option"])["share"]
    assert (truth["many", "40"], truth["many", "no answer"]) == (0.5, 0.5)
    found = analyse(survey, made.reports).to_frame().merge(made.truth, on=["question", "option"])
    assert (abs(found["estimate"] - found["share"]) < FAR * found["std_error"] + 0.01).all()


@pytest.mark.parametrize(
    ("change", "n", "rule"),
    [
        ({"smokes": {"yes": 0.3}}, 10, "add to 1"),
        ({"smokes": {"Yes": 1.0}}, 10, "must be one of yes, no; got 1 other$"),
        ({"mood": [0.5, 0.5]}, 10, "4 numbers"),
        ({"mood": [1.5, -0.5, 0, 0]}, 10, "at least 0"),
        ({"mood": [float("nan"), 0, 0, 1]}, 10, "at least 0"),
        ({}, None, "n must be given"),
        ({}, 0, "n must be a whole number"),
        ({}, True, "n must be a whole number"),
        ({}, {"smokes": "yes"}, "1, got dict$"),
    ],
)
def test_a_truth_that_breaks_a_rule_is_refused(change: dict[str, Any], n: int | None, rule: str) -> None:
    with pytest.raises(EstimateError, match=rule):
        simulate(SURVEY, {**SHARES, **change}, n)


def test_a_missing_question_is_named() -> None:
    with pytest.raises(EstimateError, match="missing: mood, hours"):
        simulate(SURVEY, {"smokes": [0.5, 0.5]}, 10)
    with pytest.raises(EstimateError, match="at least 1 row"):
        simulate(SURVEY, people(0))


def test_an_answer_that_is_none_is_named_by_its_row_and_not_quoted() -> None:
    wrong = people(10)
    wrong.loc[4, "hours"] = 4321
    with pytest.raises(EstimateError, match="row 5, hours: the answer must be a number from 0 to 80") as error:
        simulate(SURVEY, wrong)
    assert "4321" not in str(error.value)


def test_the_answers_do_not_show_in_a_message() -> None:
    made = simulate(SURVEY, people(3))
    assert "answers" not in repr(made)


BINS = Survey.from_text("""
deniable: 1
id: s
title: T
about: A
epsilon: 10
accept_high_epsilon: true
questions:
  - {id: age, text: Q, type: number, low: 0, high: 100, bins: [{name: "70", from: 0}, {name: "5", from: 18}, {name: old, from: 65}]}
  - {id: smokes, text: Q, type: yes_no}
""")  # bins whose names are numbers that lie in other bins


def test_a_number_with_bins_has_shares_by_their_names_whatever_these_are() -> None:
    made = simulate(BINS, {"age": {"70": 0.5, "5": 0.3, "old": 0.2}, "smokes": [0.4, 0.6]}, 6000)
    truth = made.truth.set_index(["question", "option"])["share"]["age"]
    assert truth.to_numpy() == pytest.approx([0.5, 0.3, 0.2], abs=FAR * np.sqrt(0.25 / 6000))
    estimates = [row.estimate for row in analyse(BINS, made.reports).results["age"]]
    assert estimates == pytest.approx(truth.tolist(), abs=0.05)


def test_a_number_with_bins_takes_numbers_too_and_regresses_like_any_choice() -> None:
    ages = np.arange(30_000) % 100
    smokes = np.where(np.arange(30_000) // 100 % 10 < np.select([ages < 18, ages < 65], [2, 7], 4), "yes", "no")
    made = simulate(BINS, pd.DataFrame({"age": ages, "smokes": smokes}))
    assert made.truth.set_index(["question", "option"])["share"]["age"].tolist() == pytest.approx([0.18, 0.47, 0.35])
    found = analyse(BINS, made.reports)
    fit = found.regress("smokes ~ age", model="logit").params
    expected = [np.log(0.2 / 0.8), np.log(0.7 / 0.3) - np.log(0.2 / 0.8), np.log(0.4 / 0.6) - np.log(0.2 / 0.8)]
    assert fit.to_numpy() == pytest.approx(expected, abs=0.25)
    assert found.regress("age ~ smokes").converged
