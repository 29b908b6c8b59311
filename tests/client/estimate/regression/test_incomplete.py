"""People who gave no answer, and questions that only some were asked: what a model makes of them, and that it does not go wrong by them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from tests.kit.benchmarks import benchmark

from deniable.errors import EstimateError
from deniable.estimate import PerturbedVariable, analyse, regress
from deniable.estimate.moments.counts import was_asked
from deniable.estimate.regression import perturbed
from deniable.simulate import simulate
from deniable.survey import Survey

MODELS = benchmark("models")
THREE = ("yes", "no", "no answer")


def exact(codes: Any, labels: tuple[str, ...] = THREE, **options: Any) -> PerturbedVariable:
    """Reports that are the answers."""
    return PerturbedVariable(
        np.asarray(codes)[:, None] == np.arange(len(labels)), np.eye(len(labels)), labels, missing="no answer", **options
    )


def answers(n: int = 4000) -> dict[str, Any]:
    survey = MODELS.missing(np.random.default_rng(5), n)
    return {name: codes for name, (codes, _) in survey.answers.items()}


@pytest.mark.parametrize("model", ["logit", "linear"])
def test_without_noise_a_model_is_that_of_the_complete_answers(model: str) -> None:
    told = answers()
    y, a, b = (told[name] for name in "yab")
    private = {"y": exact(y), "a": exact(a), "b": replace(exact(b, THREE), missing="no answer")}
    complete = (y < 2) & (a < 2)
    x = sm.add_constant(pd.DataFrame({"a": a[complete] == 0, "b": b[complete] == 0}, dtype=float))
    theirs = sm.Logit((y[complete] == 0) * 1.0, x) if model == "logit" else sm.OLS((y[complete] == 0) * 1.0, x)
    expected = theirs.fit(disp=False, tol=1e-12) if model == "logit" else theirs.fit(cov_type="HC3")
    ours = regress("y ~ a + b", None, private, model=model)
    assert ours.params.to_numpy() == pytest.approx(expected.params.to_numpy(), abs=2e-3 if model == "logit" else 1e-9)
    assert ours.bse.to_numpy() == pytest.approx(expected.bse.to_numpy(), rel=1e-2 if model == "logit" else 1e-9)
    assert ours.answered == pytest.approx(complete.mean(), abs=1e-3)
    assert f"of those who answered all questions of the model, about {100 * complete.mean():.0f}% of those asked" in ours.to_table()
    with_the_silent = regress("y ~ a", None, {name: replace(one, missing=None, reference="no") for name, one in private.items()})
    assert len(with_the_silent.params) == 6, "the control: no answer as one more answer"


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["missing", "asked two of three"])
def test_the_intervals_hold_the_truth(scenario: str) -> None:
    """A slice of `benchmarks/models.py`: of 16 surveys 11 or fewer with a chance of 0.1% each. The silent are quite other people there."""
    found = MODELS.simulated(scenario, 16, 4000, 2.0).table()
    assert (found["coverage"] >= 12 / 16).all(), found
    assert (np.abs(found["mean"] - found["truth"]) < 4.5 * found["error"]).all(), found


def test_who_was_not_asked_says_nothing_and_who_was_asked_one_question_says_that() -> None:
    rng = np.random.default_rng(6)
    survey = MODELS.asked(rng, 6000)
    told = survey.perturbed(2.0, rng)
    whole = regress("y ~ a", None, told)
    both = told["y"].was_asked & told["a"].was_asked
    pairs = {name: told[name].of(both) for name in "ya"}
    complete = regress("y ~ a", None, pairs)
    assert (whole.n_asked, whole.nobs, complete.nobs) == (int(both.sum()), 6000, int(both.sum()))
    assert whole.bse["Intercept"] < 0.95 * complete.bse["Intercept"], "reports of one of the two questions say something, too"
    assert f"{int(both.sum()):,} were asked all questions of the model; the others count by what they were asked" in whole.to_table()
    line, short = (regress("y ~ a", None, one, model="linear") for one in (told, pairs))
    assert line.params.to_numpy() == pytest.approx(short.params.to_numpy(), rel=1e-12)
    assert line.bse.to_numpy() == pytest.approx(short.bse.to_numpy(), rel=1e-9)
    assert f"of the {int(both.sum()):,} who were asked all questions of the model" in line.to_table()
    nobody = replace(told["a"], bits=told["a"].bits & ~told["y"].was_asked[:, None], was_asked=told["a"].was_asked & ~told["y"].was_asked)
    with pytest.raises(EstimateError, match="at least one respondent who was asked all questions"):
        regress("y ~ a", None, {**told, "a": nobody})
    with pytest.raises(EstimateError, match="must have been asked all questions"):
        whole.goodness_of_fit()


ASKED = Survey.from_dict(
    {
        "deniable": 1, "id": "s", "title": "T", "about": "A test.", "epsilon": 6, "ask": 2,
        "questions": [
            {"id": "smokes", "text": "?", "type": "yes_no"},
            {"id": "party", "text": "?", "type": "choice", "options": ["l", "m", "r"], "required": False},
            {"id": "mood", "text": "?", "type": "scale", "options": ["1", "2", "3"], "required": False},
        ],
    }
)  # fmt: skip


def test_a_survey_that_asks_a_sample_of_its_questions_can_be_modelled() -> None:
    made = simulate(ASKED, {"smokes": [0.3, 0.7], "party": [0.3, 0.3, 0.2, 0.2], "mood": [0.3, 0.3, 0.3, 0.1]}, 3000)
    variables = perturbed(ASKED, made.bits)
    assert {name: one.missing for name, one in variables.items()} == {"smokes": None, "party": "no answer", "mood": "no answer"}
    assert all(
        one.was_asked is not None and not one.bits[~one.was_asked].any() and 1700 < one.was_asked.sum() < 2300 for one in variables.values()
    )
    analysis = analyse(ASKED, made.bits)
    fit = analysis.regress("smokes ~ party")
    assert list(fit.params.index) == ["Intercept", "party[T.m]", "party[T.r]"]
    assert (fit.nobs, fit.n_asked) == (3000, int((variables["smokes"].was_asked & variables["party"].was_asked).sum()))
    assert 0.6 < fit.answered < 1
    line = analysis.regress("mood ~ smokes", model="linear", scored=["mood"])
    assert abs(line.params["Intercept"] - 2) < 5 * line.bse["Intercept"]
    assert abs(analysis.regress("mood ~ smokes", model="ordinal").params["smokes[T.yes]"]) < 2


def test_what_is_missing_must_be_one_of_the_categories() -> None:
    bits, two = np.eye(3, dtype=np.bool_), np.eye(2, dtype=np.bool_)
    for wrong, labels, missing in ((bits, THREE, "never"), (two, ("yes", "no answer"), "no answer")):
        with pytest.raises(EstimateError, match="missing must be one of at least 3 categories"):
            PerturbedVariable(wrong, np.eye(len(labels)), labels, missing=missing)
    with pytest.raises(EstimateError, match="exactly 1 of 3 bits must be set in every report, which fails in 1 of 3"):
        PerturbedVariable(bits, np.eye(3), THREE, was_asked=np.array([True, True, False]))
    labels = (*map(str, range(20)), "no answer")
    many = PerturbedVariable(np.eye(21, dtype=np.bool_), np.eye(21), labels, missing="no answer")
    with pytest.raises(EstimateError, match="at most 1,024 combinations of answers, those with no answer among them, got"):
        regress("y ~ a + b", None, {"y": many, "a": many, "b": many})


def test_a_question_that_the_draw_left_to_nobody_keeps_no_other_from_being_modelled() -> None:
    questions = [{"id": name, "text": "Q", "type": "yes_no"} for name in ("y", "a")]
    survey = Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 8, "ask": 1, "questions": questions})
    bits = simulate(survey, {name: {"yes": 0.5, "no": 0.5} for name in ("y", "a")}, 300).bits
    bits = bits[was_asked(survey, bits, ["y"])]
    told, age = perturbed(survey, bits), pd.DataFrame({"age": np.arange(len(bits)) % 7})
    assert (told["y"].was_asked, told["a"].n, told["a"].bits.any()) == (None, len(bits), False)
    assert analyse(survey, bits).regress("y ~ age", age).nobs == len(bits)
    with pytest.raises(EstimateError, match="at least one respondent who was asked all questions of the model"):
        analyse(survey, bits).regress("y ~ a")
