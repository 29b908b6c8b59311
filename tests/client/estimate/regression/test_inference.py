"""Joint tests, goodness of fit, predictions and average marginal effects: as statsmodels has them where nothing was perturbed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from tests.client.estimate.regression.test_models import YES_NO, design, people
from tests.kit.benchmarks import benchmark

from deniable.errors import EstimateError
from deniable.estimate import PerturbedVariable, Regression, regress
from deniable.estimate.regression.effects import average_marginal_effects

MODELS = benchmark("models")
DATA = people()
DATA["visits"] = DATA["clinic"] % 4 * 1.0


@pytest.fixture(scope="module")
def fit() -> Regression:
    return regress("y ~ town + x", DATA, errors="observed")


@pytest.fixture(scope="module")
def theirs() -> Any:
    return sm.Logit((DATA["y"] == "yes").astype(float), design(DATA)).fit(disp=False, tol=1e-14)


def test_joint_tests_are_those_of_statsmodels(fit: Regression, theirs: Any) -> None:
    wald, ratio = fit.wald_test("town"), fit.likelihood_ratio_test("town")
    smaller = sm.Logit(theirs.model.endog, design(DATA)[["Intercept", "x"]]).fit(disp=False, tol=1e-14)
    assert (wald.statistic, wald.df) == (pytest.approx(float(theirs.wald_test(np.eye(4)[1:3], scalar=True).statistic), rel=1e-6), 2)
    assert (ratio.statistic, ratio.df) == (pytest.approx(2 * (theirs.llf - smaller.llf), rel=1e-8), 2)
    assert fit.wald_test("town[T.b]", "town[T.c]").statistic == wald.statistic
    assert str(ratio).startswith("all coefficients of town are 0: chi-squared")
    assert fit.wald_test("x").statistic == pytest.approx(float(fit.tvalues["x"]) ** 2)


def test_everything_may_be_left_out_of_a_likelihood_ratio() -> None:
    counts = DATA.groupby("town")["y"].apply(lambda each: (each == "yes").mean())
    found = regress("y ~ 0 + town", DATA).likelihood_ratio_test("town")
    sizes = DATA["town"].value_counts()[counts.index]
    llf = (sizes * (counts * np.log(counts) + (1 - counts) * np.log(1 - counts))).sum()
    assert (found.statistic, found.df) == (pytest.approx(2 * (llf + 1500 * np.log(2)), rel=1e-9), 3)


def test_of_clusters_the_joint_test_is_that_of_statsmodels_by_f() -> None:
    ours = regress("y ~ town + x", DATA, clusters="clinic")
    b, v = ours.params[["town[T.b]", "town[T.c]"]], ours.covariance.loc[["town[T.b]", "town[T.c]"], ["town[T.b]", "town[T.c]"]]
    found = ours.wald_test("town")
    assert found.statistic == pytest.approx(float(b @ np.linalg.inv(v) @ b))
    assert found.p_value == pytest.approx(float(stats.f.sf(10 / 22 * found.statistic, 2, 10)))
    few = regress("y ~ town + x", DATA.assign(half=DATA["clinic"] % 2), clusters="half")
    with pytest.raises(EstimateError, match="a test of 2 coefficients needs at least 3 clusters, got 2"):
        few.wald_test("town")


def test_predictions_and_slopes_are_those_of_statsmodels(fit: Regression, theirs: Any) -> None:
    rows = pd.DataFrame({"town": ["a", "b"], "x": [0.0, 1.0]})
    told = fit.predict(rows).to_frame().query("answer == 'yes'")
    expected = theirs.get_prediction(np.array([[1, 0, 0, 0], [1, 1, 0, 1.0]])).summary_frame()
    assert told[["estimate", "std_error", "low", "high"]].to_numpy() == pytest.approx(expected.to_numpy(), rel=1e-5)
    effects = fit.average_marginal_effects()
    slope, second, _ = (one for _, one in effects.rows)
    margins = theirs.get_margeff()
    assert slope.estimate == pytest.approx(margins.margeff[2], rel=1e-6)
    x = design(DATA).to_numpy()
    chance = 1 / (1 + np.exp(-x @ theirs.params.to_numpy()))
    slopes = chance * (1 - chance) * theirs.params["x"]
    assert slope.std_error == pytest.approx(np.hypot(margins.margeff_se[2], slopes.std() / np.sqrt(1500)), rel=1e-6)
    at = [1 / (1 + np.exp(-x[:, [0, 3]] @ theirs.params[["Intercept", "x"]] - b)) for b in (0, theirs.params["town[T.b]"])]
    assert second.estimate == pytest.approx(float((at[1] - at[0]).mean()), rel=1e-9)
    assert [label for label, _ in effects.rows] == [
        ("x", "per unit", "yes"), ("town", "b against a", "yes"), ("town", "c against a", "yes"),
    ]  # fmt: skip


@pytest.mark.slow
def test_the_error_of_an_effect_has_the_gradient_in_all_parameters() -> None:
    """By differences, in the shares of those who did not answer, too; without public values nothing else is in it."""
    rng = np.random.default_rng(9)
    a, b = MODELS.two(rng, 3000)
    yes = {"y": rng.random(3000) < np.where(a, 0.8 - 0.5 * b, 0.3 + 0.1 * b), "a": a, "b": b}
    answers = {name: MODELS.yes(holds, rng.random(3000) < 0.2) for name, holds in yes.items()}
    fit = regress("y ~ a * b", None, MODELS.Survey("y ~ a * b", answers, {}).perturbed(4.0, rng))
    found, step = fit.fitted.likelihood, 1e-5
    assert found is not None

    def effects_at(parameters: Any) -> Any:
        moved = replace(found, maximum=found.maximum._replace(parameters=parameters))
        return np.array([one.estimate for _, one in average_marginal_effects(replace(fit.fitted, likelihood=moved), 0.95).rows])

    at = found.maximum.parameters
    gradient = np.column_stack([(effects_at(at + way) - effects_at(at - way)) / (2 * step) for way in np.eye(len(at)) * step])
    assert np.abs(gradient[:, 4:]).max() > 0.01
    expected = np.sqrt(np.einsum("yb,bc,yc->y", gradient, found.covariance, gradient))
    assert [one.std_error for _, one in fit.average_marginal_effects().rows] == pytest.approx(expected.tolist(), rel=1e-5)


def test_a_chance_near_an_end_has_limits_between_0_and_1(fit: Regression) -> None:
    (low, high) = fit.predict(pd.DataFrame({"town": ["a"], "x": [9.0]})).to_frame().iloc[0][["low", "high"]]
    assert 0.99 < low < high < 1


def test_of_a_linear_model_predictions_are_means_and_coefficients_the_effects() -> None:
    data = DATA.assign(z=(DATA["y"] == "yes") * 1.0)
    ours = regress("z ~ town + x", data, model="linear")
    theirs = sm.OLS(data["z"], design(data)).fit(cov_type="HC3").get_prediction(np.array([[1, 1, 0, 1.0]]))
    ((_, one),) = ours.predict(pd.DataFrame({"town": ["b"], "x": [1.0]})).rows
    assert (one.estimate, one.std_error) == (pytest.approx(float(theirs.predicted_mean[0])), pytest.approx(float(theirs.se_mean[0])))
    for asked in (ours.average_marginal_effects, ours.goodness_of_fit, lambda: ours.likelihood_ratio_test("x")):
        with pytest.raises(EstimateError, match="a linear model"):
            asked()


def test_goodness_of_fit_is_pearsons_of_the_table_where_nothing_was_perturbed() -> None:
    fit = regress("y ~ visits", DATA, model="probit")
    table = pd.crosstab(DATA["visits"], DATA["y"])[["yes", "no"]].to_numpy()
    chance = stats.norm.cdf(fit.params["Intercept"] + fit.params["visits"] * np.arange(4))
    expected = table.sum(axis=1)[:, None] * np.column_stack([chance, 1 - chance])
    found = fit.goodness_of_fit()
    assert (found.statistic, found.df) == (pytest.approx(float(((table - expected) ** 2 / expected).sum()), rel=1e-9), 2)


def test_what_has_no_test_of_the_whole_model_says_why(fit: Regression) -> None:
    with pytest.raises(EstimateError, match="the smallest expected number must be 1 or more"):
        fit.goodness_of_fit()
    with pytest.raises(EstimateError, match="fewer parameters than there are different reports"):
        regress("y ~ town", DATA).goodness_of_fit()
    with pytest.raises(EstimateError, match="which there is not with weights"):
        regress("y ~ visits", DATA, weights="weight").goodness_of_fit()
    with pytest.raises(EstimateError, match="not with clusters; the Wald test holds"):
        regress("y ~ visits", DATA, clusters="clinic").likelihood_ratio_test("visits")
    told = PerturbedVariable.by_design(DATA["y"].tolist(), np.eye(2), YES_NO)
    each = replace(told, channel=np.broadcast_to(np.array([[0.9, 0.1], [0.1, 0.9]]), (1500, 2, 2)))
    with pytest.raises(EstimateError, match="all respondents must have the same design"):
        regress("y ~ visits", DATA[["visits"]], {"y": each}).goodness_of_fit()


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda fit: fit.wald_test("age"), "the term must be one of 1, town, x, Intercept, .*got 'age'"),
        (lambda fit: fit.wald_test(), "at least one term must be named"),
        (lambda fit: fit.predict(pd.DataFrame({"x": [1.0]})), "the rows must have a column town"),
        (lambda fit: regress("y ~ x", DATA, model="ordinal").wald_test("1"), "an ordinal model has no intercept to be tested"),
    ],
)
def test_what_cannot_be_asked_of_a_fit_is_refused(fit: Regression, ask: Any, message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        ask(fit)
