"""What may be said of what: every door to a figure that does not hold is shut, with the reason, and the others stay open."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from deniable import Survey
from deniable.errors import EstimateError
from deniable.estimate import PerturbedVariable, analyse, compare, crosstab, estimate, joint, mean, quantile, regress
from deniable.estimate.checks import known_prevalence
from deniable.estimate.moments import applicability
from deniable.estimate.regression import perturbed
from deniable.estimate.tables import (
    between_options,
    conditional_share,
    cramers_v,
    independence,
    mean_rows,
    odds_ratio,
    phi_coefficient,
    weighted_mean,
    weighted_shares,
)
from deniable.simulate import simulate
from deniable.wire.tally import Tally

SURVEY = Survey.from_text("""
deniable: 1
id: doors
title: T
about: A
epsilon: 8
questions:
  - {id: smokes, text: Q, type: yes_no}
  - {id: hours, text: Q, type: number, low: 0, high: 10, levels: 2}
  - {id: rest, text: Q, type: number, low: 0, high: 10, levels: 3, required: false}
  - {id: age, text: Q, type: number, low: 0, high: 99, bins: [{name: young, from: 0}, {name: old, from: 50}]}
  - {id: mood, text: Q, type: scale, options: [bad, good]}
  - {id: drugs, text: Q, type: multi_choice, options: [tea, wine]}
""")
SAMPLE = Survey.from_dict({**SURVEY.to_dict(), "ask": 2})
PEOPLE = pd.DataFrame(
    {
        "smokes": ["yes", "no", "no", "yes"],
        "hours": [0, 2.5, 7.5, 10],
        "rest": [1, 9, None, 5],
        "age": [20, 30, 60, 70],
        "mood": ["bad", "good", "bad", "good"],
        "drugs[tea]": ["yes", "yes", "no", "no"],
        "drugs[wine]": ["no", "yes", "no", "yes"],
    }
)
MADE, DRAWN = simulate(SURVEY, PEOPLE, 6000), simulate(SAMPLE, PEOPLE, 3000)
BITS, N = MADE.bits, MADE.n
TABLE = crosstab(SURVEY, MADE.tally, "smokes", "hours")
TURNED = crosstab(SURVEY, MADE.tally, "hours", "smokes")
REPORTS = perturbed(SURVEY, BITS)
OTHER = pd.DataFrame({"x": np.arange(N) % 7})

OF_A_NUMBER: dict[str, Callable[[], Any]] = {
    "a quantile": lambda: quantile(SURVEY, MADE.tally, "hours"),
    "a quantile of those who answered": lambda: analyse(SURVEY, MADE.tally).quantile("rest"),
    "phi": lambda: phi_coefficient(TABLE),
    "phi, turned": lambda: phi_coefficient(TURNED),
    "Cramér's V": lambda: cramers_v(crosstab(SURVEY, MADE.tally, "mood", "rest")),
    "an odds ratio": lambda: odds_ratio(TABLE),
    "an odds ratio of two of the levels": lambda: odds_ratio(crosstab(SURVEY, MADE.tally, "rest", "mood"), ["0", "5"]),
    "a share among a level": lambda: conditional_share(TABLE, {"smokes": "yes"}, among={"hours": "0"}),
    "a level's share among the others": lambda: conditional_share(TABLE, {"hours": ["0"]}, among={"smokes": "yes"}),
    "a share among a level in a larger table": lambda: conditional_share(
        joint(SURVEY, BITS, ["mood", "smokes", "rest"]), {"mood": "bad"}, among={"smokes": "yes", "rest": "0"}
    ),
    "phi of an analysis' table": lambda: phi_coefficient(analyse(SURVEY, MADE.reports).crosstab("hours", "age")),
    "a level's known share": lambda: known_prevalence(SURVEY, MADE.tally, "hours", "0", 0.5),
    "a mean of squares": lambda: mean(SURVEY, MADE.tally, "rest", [0, 25, 100, None]),
    "a mean over a part of the levels": lambda: analyse(SURVEY, MADE.tally).mean("rest", [0, 5, None, None]),
    "a weighted mean of one level": lambda: weighted_mean(SURVEY, BITS, np.ones(N), "rest", [0, 1, 0, 0]),
    "a predictor": lambda: analyse(SURVEY, MADE.reports).regress("smokes ~ hours"),
    "a predictor by its scores": lambda: analyse(SURVEY, MADE.reports).regress("smokes ~ hours", scored=["hours"]),
    "a predictor as a category": lambda: regress("smokes ~ C(hours)", None, REPORTS),
    "a transformed predictor": lambda: regress(
        "smokes ~ I(hours ** 2)", None, {**REPORTS, "hours": replace(REPORTS["hours"], scores=(0, 10))}
    ),
    "an interaction": lambda: regress("smokes ~ mood:hours", None, REPORTS),
    "a quoted name": lambda: regress("smokes ~ `hours`", None, REPORTS),
    "an optional number": lambda: regress("smokes ~ rest", None, REPORTS),
    "another name": lambda: regress("smokes ~ x", None, {"smokes": REPORTS["smokes"], "x": REPORTS["hours"]}),
    "another reference": lambda: regress("smokes ~ hours", None, {**REPORTS, "hours": replace(REPORTS["hours"], reference="10")}),
    "some of the respondents": lambda: regress(
        "smokes ~ hours", None, {name: one.of(np.arange(100)) for name, one in REPORTS.items() if name in ("smokes", "hours")}
    ),
    "an outcome": lambda: regress("hours ~ smokes", None, REPORTS),
    "an outcome beside public columns": lambda: regress("hours ~ x", OTHER, REPORTS),
    "a linear outcome that is a predictor too": lambda: analyse(SURVEY, MADE.reports).regress(
        "hours ~ smokes + I(hours ** 2)", model="linear", scored=["hours"]
    ),
    "an outcome whose scores bend": lambda: regress(
        "rest ~ mood", None, {**REPORTS, "rest": replace(REPORTS["rest"], scores=(0, 25, 100, 0))}, model="linear"
    ),
    "a linear predictor": lambda: analyse(SURVEY, MADE.reports).regress("mood ~ hours", model="linear", scored=["mood", "hours"]),
}

R = {"target": "respondents"}
OF_RESPONDENTS: dict[str, Callable[[], Any]] = {
    "a number's mean": lambda: mean(SURVEY, MADE.tally, "hours", [0, 10], **R),
    "a number's mean in an analysis": lambda: analyse(SURVEY, MADE.tally, **R).mean("hours"),
    "a number's mean among those who answered": lambda: analyse(SURVEY, MADE.tally, **R).mean("rest"),
    "a number's weighted mean": lambda: weighted_mean(SURVEY, BITS, np.ones(N), "hours", [0, 10], **R),
    "a level's weighted share": lambda: weighted_shares(SURVEY, BITS, np.ones(N), "hours", **R),
    "a cross table of a number": lambda: crosstab(SURVEY, MADE.tally, "smokes", "hours", **R),
    "a joint table of a number": lambda: joint(SURVEY, BITS, ["smokes", "mood", "rest"], **R),
    "two levels": lambda: between_options(SURVEY, MADE.tally, "hours", "0", "10", **R),
    "two groups' levels": lambda: compare(SURVEY, MADE.tally, MADE.tally, "hours", **R),
    "two analyses' levels": lambda: analyse(SURVEY, MADE.tally, **R).compare(MADE.tally + Tally.empty(SURVEY.record.bits), "hours"),
}
OF_A_SAMPLE: dict[str, Callable[[], Any]] = {
    "all shares": lambda: estimate(SAMPLE, DRAWN.tally, **R),
    "all means": lambda: mean_rows(SAMPLE, DRAWN.tally, **R),
    "an analysis": lambda: analyse(SAMPLE, DRAWN.reports, **R),
    "a mean": lambda: mean(SAMPLE, DRAWN.tally, "mood", [1, 2], **R),
    "a quantile": lambda: quantile(SAMPLE, DRAWN.tally, "mood", **R),
    "a cross table": lambda: crosstab(SAMPLE, DRAWN.tally, "smokes", "mood", **R),
    "a joint table": lambda: joint(SAMPLE, DRAWN.bits, ["smokes", "mood"], **R),
    "two options": lambda: between_options(SAMPLE, DRAWN.tally, "drugs[tea]", "yes", "no", **R),
    "two groups": lambda: compare(SAMPLE, DRAWN.tally, DRAWN.tally, "smokes", **R),
    "weighted shares": lambda: weighted_shares(SAMPLE, DRAWN.bits, np.ones(3000), "smokes", **R),
    "a weighted mean": lambda: weighted_mean(SAMPLE, DRAWN.bits, np.ones(3000), "mood", [1, 2], **R),
}


@pytest.mark.parametrize("door", OF_A_NUMBER)
def test_what_rounding_bends_is_refused_of_a_number(door: str) -> None:
    with pytest.raises(EstimateError, match=r"(hours|rest|x).* rounded at random to a grid"):
        OF_A_NUMBER[door]()


@pytest.mark.parametrize("door", OF_RESPONDENTS)
def test_a_number_has_an_interval_for_the_respondents(door: str) -> None:
    """Its rounding is a part of it: benchmarks/atlas/one_question.py."""
    OF_RESPONDENTS[door]()


@pytest.mark.parametrize("door", OF_A_SAMPLE)
def test_a_sample_of_the_questions_has_intervals_for_the_respondents(door: str) -> None:
    OF_A_SAMPLE[door]()


def test_what_holds_stays_open() -> None:
    """The control of the refusals: the same doors for categories, named bins among them, and the numbers' means."""
    found = analyse(SURVEY, MADE.reports)
    assert 0 < found.mean("hours").estimate < 10
    assert 0 < found.mean("rest").estimate < 10
    assert mean(SURVEY, MADE.tally, "hours", [10, 0]).estimate == pytest.approx(10 - found.mean("hours").estimate), "evenly spaced, falling"
    assert mean(SURVEY, MADE.tally, "rest", [0, 5, 10, 0]).n == N
    assert found.quantile("age").option in ("young", "old")
    assert phi_coefficient(crosstab(SURVEY, MADE.tally, "smokes", "age", **R)).n == N
    assert 0 <= independence(TABLE).p_value <= 1, "rounding by itself makes nothing dependent"
    three = joint(SURVEY, BITS, ["mood", "smokes", "rest"])
    assert conditional_share(three, {"mood": "bad"}, among={"smokes": "yes"}).n == N
    assert phi_coefficient(joint(SURVEY, BITS, ["smokes", "mood"])).n == N
    assert list(found.regress("smokes ~ age").params.index) == ["Intercept", "age[T.old]"]
    assert found.regress("hours ~ smokes + mood", model="linear", scored=["hours"]).nobs == N, "the mean of a number is right"
    assert found.regress("age ~ smokes + mood").nobs == N, "a number beside the formula does no harm"
    assert analyse(SURVEY, MADE.tally, **R).mean("mood").target == "respondents"
    assert estimate(SAMPLE, DRAWN.tally).rows[0].n < 3000
    assert mean(SAMPLE, DRAWN.tally, "rest", [0, 5, 10, None]).target == "population"


def test_a_margin_and_a_table_of_it_remember_the_number() -> None:
    three = joint(SURVEY, BITS, ["mood", "hours", "smokes"])
    assert (three.on_grid, three.margin("hours").on_grid, three.margin("mood").on_grid) == (("hours",), ("hours",), ())


def test_for_the_respondents_a_survey_has_all_figures() -> None:
    for survey, made in ((SURVEY, MADE), (SAMPLE, DRAWN)):
        results = estimate(survey, made.tally, **R)
        assert all(row.low is not None and row.target == "respondents" for row in results.rows)
        assert [(row.question, row.mean is None) for row in results.means] == [("hours", False), ("rest", False), ("mood", False)]


def test_the_share_of_a_level_says_that_it_is_none_of_people() -> None:
    rows = estimate(SURVEY, MADE.tally).rows
    noted = {row.question for row in rows if "not the share of the people at this number" in row.warning}
    assert noted == {"hours", "rest"}
    assert all(math.isfinite(row.estimate or 0.0) for row in rows)


def test_a_variable_that_somebody_describes_by_hand_can_say_that_it_was_rounded() -> None:
    bits = np.eye(2, dtype=np.bool_)[np.arange(100) % 2]
    own = {name: PerturbedVariable(bits, np.array([[0.8, 0.2], [0.2, 0.8]]), ("no", "yes"), on_grid=name == "x") for name in ("x", "y")}
    with pytest.raises(EstimateError, match="slope on a number: not for x"):
        regress("y ~ x", None, own)


def test_the_page_has_the_table_that_the_code_has() -> None:
    page = (
        (Path(__file__).parents[4] / "docs" / "reference" / "methods.md")
        .read_text(encoding="utf-8")
        .split("## Refused figures")[1]
        .split("\n## ")[0]
    )
    said = {}
    for line in page.splitlines():
        if line.startswith("| ") and not line.startswith("| figure"):
            figures, of_numbers, _ = (cell.strip() for cell in line.strip("|").split("|"))
            said |= dict.fromkeys(figures.split(", "), of_numbers != "refused")
    assert said == applicability._OF_NUMBERS
