"""Made-up people answer like real ones, through the same coins."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from deniable import Survey, os_words
from deniable.errors import EstimateError
from deniable.estimate import analyse
from deniable.simulate import simulate
from deniable.survey.exclusive import contradictions

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
        ({}, None, "n is missing"),
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


def survey_with_exclusive(options: int, *, exclusive: int, none: bool, required: bool) -> Survey:
    """A multiple choice whose first options are exclusive, the first of them as `none` if so asked."""
    labels = [f"o{place}" for place in range(options)]
    names = labels[1:exclusive] if none else labels[:exclusive]
    settings = {**({"none": labels[0]} if none else {}), **({"exclusive": names} if names else {})}
    question = {"id": "q", "text": "Q", "type": "multi_choice", "options": labels, "required": required, **settings}
    survey = {"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 9, "accept_high_epsilon": True, "questions": [question]}
    return Survey.from_text(json.dumps(survey))


@pytest.mark.parametrize("required", [True, False])
@pytest.mark.parametrize("none", [True, False])
@pytest.mark.parametrize(("options", "exclusive"), [(2, 1), (3, 1), (3, 2), (6, 1), (6, 3)])
@pytest.mark.parametrize("spread", ["even", "least", "random"])
def test_nobody_contradicts_an_exclusive_option_and_the_shares_come_out(
    options: int, exclusive: int, none: bool, required: bool, spread: str
) -> None:
    survey, n, rng = survey_with_exclusive(options, exclusive=exclusive, none=none, required=required), 20_000, np.random.default_rng(7)
    left_out, others = 0.0 if required else 0.15, options - exclusive
    alone = rng.dirichlet(np.ones(exclusive + 1))[:exclusive] * (1 - left_out)
    free = 1 - left_out - alone.sum()
    parts = {"even": np.full(others, 0.5), "least": np.full(others, 1 / others), "random": rng.uniform(size=others)}[spread]
    parts = np.minimum(1, parts / min(1.0, parts.sum()))  # one option at least, on the average: what `none` needs
    yes = [*alone, *(parts * free)]
    truth = {item.id: [share, 1 - left_out - share, left_out][: item.k] for item, share in zip(survey.items, yes, strict=True)}
    made = simulate(survey, truth, n)
    categories = np.stack([made.answers[item.id].cat.codes.to_numpy() for item in survey.items])
    assert not any(wrong.any() for _, _, wrong in contradictions(survey, categories))
    found = made.truth.set_index(["question", "option"])["share"]
    for item in survey.items:
        for option, share in zip(item.categories, truth[item.id], strict=True):
            assert abs(found[item.id, option] - share) <= FAR * np.sqrt(share * (1 - share) / n) + 1e-9


@pytest.mark.parametrize(
    ("none", "yes", "rule"),
    [
        (False, [0.6, 0.5, 0.1], r"exclusive options of q, with no answer, must add to at most 1, got 1\.1"),
        (False, [0.3, 0.3, 0.5], r"each other option of q, .* must add to at most 1, got 1\.1"),
        (True, [0.3, 0.3, 0.2], r"the shares of q must add to at least 1, .*, got 0\.8"),
    ],
)
def test_shares_that_contradict_exclusive_options_are_refused(none: bool, yes: list[float], rule: str) -> None:
    survey = survey_with_exclusive(3, exclusive=2, none=none, required=True)
    with pytest.raises(EstimateError, match=rule):
        simulate(survey, {item.id: [share, 1 - share] for item, share in zip(survey.items, yes, strict=True)}, 100)


def test_an_optional_question_with_exclusive_options_is_left_out_whole() -> None:
    survey = survey_with_exclusive(3, exclusive=1, none=False, required=False)
    with pytest.raises(EstimateError, match=r"no answer of q must be the same for all its options.*, got 0\.1 to 0\.2"):
        simulate(survey, {"q[o0]": [0.1, 0.8, 0.1], "q[o1]": [0.1, 0.8, 0.1], "q[o2]": [0.1, 0.7, 0.2]}, 100)


def survey_with_limits(options: int, limits: tuple[int, int], *, exclusive: int, required: bool) -> Survey:
    labels = [f"o{place}" for place in range(options)]
    keys = {"at_least": limits[0]} if limits[0] else {}
    keys |= {"at_most": limits[1]} if limits[1] < options - exclusive else {}
    apart = {"exclusive": labels[:exclusive]} if exclusive else {}
    question = {"id": "q", "text": "Q", "type": "multi_choice", "options": labels, "required": required, **keys, **apart}
    survey = {"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 9, "accept_high_epsilon": True, "questions": [question]}
    return Survey.from_text(json.dumps(survey))


@pytest.mark.parametrize("required", [True, False])
@pytest.mark.parametrize("exclusive", [0, 2])
@pytest.mark.parametrize(("options", "limits"), [(3, (1, 1)), (4, (0, 2)), (5, (2, 3)), (6, (1, 6)), (8, (3, 3))])
@pytest.mark.parametrize("total", ["least", "most", "between", "just above", "just below"])
def test_each_person_keeps_to_the_limits_and_the_shares_come_out(
    options: int, limits: tuple[int, int], exclusive: int, required: bool, total: str
) -> None:
    survey = survey_with_limits(options + exclusive, limits, exclusive=exclusive, required=required)
    n, rng, (least, most) = 20_000, np.random.default_rng(7), limits
    left_out, alone = 0.0 if required else 0.15, np.full(exclusive, 0.05)
    free = 1 - left_out - alone.sum()
    number = {"least": least, "most": most, "between": (least + most) / 2, "just above": least + 0.02, "just below": most - 0.02}[total]
    number = min(max(number, least), most)
    parts = rng.uniform(0.2, 1, size=options)
    for _ in range(100):  # chances of at most 1 that add to this number
        parts = np.minimum(1, parts * number / parts.sum()) if number else np.zeros(options)
    yes = [*alone, *(parts * free)]
    truth = {item.id: [share, 1 - left_out - share, left_out][: item.k] for item, share in zip(survey.items, yes, strict=True)}
    made = simulate(survey, truth, n)
    categories = np.stack([made.answers[item.id].cat.codes.to_numpy() for item in survey.items])
    [(_, _, wrong)] = contradictions(survey, categories)
    assert not wrong.any()
    found = made.truth.set_index(["question", "option"])["share"]
    for item in survey.items:
        for option, share in zip(item.categories, truth[item.id], strict=True):
            assert abs(found[item.id, option] - share) <= FAR * np.sqrt(share * (1 - share) / n) + 1e-9


def test_people_whose_shares_allow_it_choose_independently_given_the_limits() -> None:
    """Three options of chance 1/2, at most two of them: each set of up to two is as frequent as any other, once its chance is 3/7."""
    survey = survey_with_limits(3, (0, 2), exclusive=0, required=True)
    made = simulate(survey, {item.id: [3 / 7, 4 / 7] for item in survey.items}, 70_000).answers
    sets = (made == "yes").astype(int).to_numpy() @ [4, 2, 1]
    counts = np.bincount(sets, minlength=8)
    assert counts[7] == 0
    assert counts[:7].max() / counts[:7].min() < 2.2  # systematic samples of two neighbouring sizes alone would leave sets of none


@pytest.mark.parametrize(
    ("yes", "rule"),
    [
        ([0.9, 0.9, 0.9], r"the options of q that are not exclusive must add to 1 to 2, .* chooses 1 to 2, got 2\.7"),
        ([0.1, 0.1, 0.1], r"the options of q that are not exclusive must add to 1 to 2, .* chooses 1 to 2, got 0\.3"),
    ],
)
def test_shares_that_break_a_limit_are_refused(yes: list[float], rule: str) -> None:
    survey = survey_with_limits(3, (1, 2), exclusive=0, required=True)
    with pytest.raises(EstimateError, match=rule):
        simulate(survey, {item.id: [share, 1 - share] for item, share in zip(survey.items, yes, strict=True)}, 100)


def test_a_row_of_answers_that_contradicts_itself_is_refused_by_its_number() -> None:
    survey = survey_with_exclusive(3, exclusive=1, none=False, required=True)
    rows = pd.DataFrame({"q[o0]": ["yes", "yes"], "q[o1]": ["no", "yes"], "q[o2]": ["no", "no"]})
    with pytest.raises(EstimateError, match="truth, row 2, q: the answer must be one exclusive option alone"):
        simulate(survey, rows)
