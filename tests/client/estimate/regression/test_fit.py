"""Regression: against a GLM where predictors are public, against the true answers by simulation, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.genmod.families.links import Link
from tests.kit.benchmarks import benchmark

from deniable.device.randomize import randomize
from deniable.errors import EstimateError, ModelError
from deniable.estimate import PerturbedVariable, regress
from deniable.estimate.designs import Design
from deniable.estimate.regression import failures, likelihood, perturbed
from deniable.estimate.regression.families import FAMILIES, proportional
from deniable.mechanism import Channel
from deniable.survey import Survey

FAIR_COINS = Channel.for_epsilon(1.0986122886681098, 2)
EPSILON_2 = Channel.for_epsilon(2.0, 2)
YES_NO = ("yes", "no")


class PerturbedLogit(Link):
    """logit((mu - phi) / (theta - phi)): the link of a binary answer that went through two coins."""

    def __init__(self, phi: float, theta: float) -> None:
        self.phi, self.theta = phi, theta

    def __call__(self, p: Any) -> Any:
        share = (p - self.phi) / (self.theta - self.phi)
        return np.log(share / (1 - share))

    def inverse(self, z: Any) -> Any:
        return self.phi + (self.theta - self.phi) / (1 + np.exp(-z))

    def deriv(self, p: Any) -> Any:
        return (self.theta - self.phi) / ((p - self.phi) * (self.theta - p))

    def deriv2(self, p: Any) -> Any:
        return self.deriv(p) * (1 / (self.theta - p) - 1 / (p - self.phi))

    def inverse_deriv(self, z: Any) -> Any:
        return 1 / self.deriv(self.inverse(z))


class Binomial(sm.families.Binomial):
    """Takes that link without a warning."""

    links = safe_links = (PerturbedLogit,)


def coins(rng: np.random.Generator) -> Any:
    return lambda count: rng.integers(0, 1 << 32, count, dtype=np.uint32)


def yes_no(holds: Any, channel: Channel, rng: np.random.Generator) -> PerturbedVariable:
    return PerturbedVariable(randomize(channel, np.where(holds, 0, 1), coins(rng)), channel, YES_NO)


def logistic(eta: Any) -> Any:
    return 1 / (1 + np.exp(-eta))


@pytest.fixture(scope="module")
def with_public_predictors() -> tuple[pd.DataFrame, dict[str, PerturbedVariable]]:
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"age": rng.normal(40, 12, 3000).round(1), "town": rng.choice(["a", "b", "c"], 3000)})
    eta = -2 + 0.04 * data["age"] + data["town"].map({"a": 0.0, "b": 0.5, "c": -0.5})
    return data, {"smokes": yes_no(rng.random(3000) < logistic(eta), FAIR_COINS, rng)}


FORMULA = "smokes ~ age + town + age:town"


def glm(data: pd.DataFrame, reported_yes: Any, channel: Channel = FAIR_COINS) -> Any:
    """The same model by statsmodels, at the expected or the observed information."""
    towns = pd.get_dummies(data["town"], dtype=float)[["b", "c"]]
    x = np.column_stack([np.ones(len(data)), towns["b"], towns["c"], data["age"], data["age"] * towns["b"], data["age"] * towns["c"]])
    link = PerturbedLogit(float(channel.phi), float(channel.theta))
    return sm.GLM(reported_yes, x, Binomial(link=link))


def test_with_public_predictors_it_is_a_glm_with_the_coins_in_its_link(with_public_predictors: Any) -> None:
    data, private = with_public_predictors
    ours = regress(FORMULA, data, private, errors="observed")
    order = ["Intercept", "town[T.b]", "town[T.c]", "age", *[name for name in ours.params.index if ":" in name]]
    theirs = glm(data, private["smokes"].bits[:, 0].astype(float)).fit(start_params=np.zeros(6), maxiter=200, tol=1e-14)
    assert ours.params[order].to_numpy() == pytest.approx(theirs.params, rel=1e-6, abs=1e-6)
    assert ours.llf == pytest.approx(theirs.llf, rel=1e-10)
    observed = np.linalg.inv(-theirs.model.hessian(theirs.params, observed=True))
    assert ours.cov_params().loc[order, order].to_numpy() == pytest.approx(observed, rel=1e-5)
    assert ours.converged
    assert ours.nobs == 3000
    assert "converged in" in ours.convergence


def test_the_sandwich_is_that_of_the_glm(with_public_predictors: Any) -> None:
    data, private = with_public_predictors
    ours = regress(FORMULA, data, private)
    order = ["Intercept", "town[T.b]", "town[T.c]", "age", *[name for name in ours.params.index if ":" in name]]
    model = glm(data, private["smokes"].bits[:, 0].astype(float))
    beta = ours.params[order].to_numpy()
    scores = model.score_obs(beta)
    bread = np.linalg.inv(-model.hessian(beta, observed=True))
    assert ours.cov_params().loc[order, order].to_numpy() == pytest.approx(bread @ scores.T @ scores @ bread, rel=1e-5)


def test_a_glm_with_the_plain_link_would_not_be_equal(with_public_predictors: Any) -> None:
    data, private = with_public_predictors
    reported = private["smokes"].bits[:, 0]
    naive = PerturbedVariable(np.column_stack([reported, ~reported]), np.eye(2), YES_NO)
    assert abs(regress("smokes ~ age", data, {"smokes": naive}).params["age"]) < 0.7 * regress("smokes ~ age", data, private).params["age"]


def test_an_outcome_without_noise_and_public_predictors_is_plain_multinomial_logit() -> None:
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"x": rng.normal(size=800)})
    data["party"] = np.array(["l", "m", "r"])[(rng.gumbel(size=(800, 3)) + np.outer(data["x"], [0, 0.5, 1])).argmax(axis=1)]
    ours = regress("party ~ x", data, errors="observed")
    theirs = sm.MNLogit(data["party"].astype("category").cat.codes, sm.add_constant(data[["x"]])).fit(disp=False, tol=1e-12)
    assert ours.params.to_numpy() == pytest.approx(theirs.params.to_numpy().T.ravel(), abs=1e-6)
    assert ours.bse.to_numpy() == pytest.approx(theirs.bse.to_numpy().T.ravel(), abs=1e-6)
    assert list(ours.params.index) == [("m", "Intercept"), ("m", "x"), ("r", "Intercept"), ("r", "x")]


def test_a_linear_model_of_public_columns_is_least_squares_with_robust_errors() -> None:
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"x": rng.normal(size=500), "z": rng.integers(0, 3, 500).astype(float)})
    data["y"] = 1 + 2 * data["x"] - data["z"] + rng.normal(size=500)
    ours = regress("y ~ x + z", data, model="linear")
    theirs = sm.OLS(data["y"], sm.add_constant(data[["x", "z"]])).fit(cov_type="HC3", use_t=True)
    assert ours.params.to_numpy() == pytest.approx(theirs.params.to_numpy(), rel=1e-9)
    assert ours.bse.to_numpy() == pytest.approx(theirs.bse.to_numpy(), rel=1e-9)
    assert ours.llf is None
    with pytest.raises(EstimateError, match="must have at least 4 respondents more than terms, got 6 and 3"):
        regress("y ~ x + z", data[:6], model="linear")
    for scale in (1e200, 1e-200):  # squares of these are no numbers
        with pytest.raises(EstimateError, match=r"largest number of each term must be from 1e-30 to 1e\+30: use another unit for x"):
            regress("y ~ x", data.assign(x=data["x"] * scale), model="linear")


def test_a_linear_model_with_perturbed_predictors_needs_fifteen_respondents_a_term() -> None:
    assert np.isfinite(regress("y ~ a", None, simple(30), model="linear").bse).all()
    with pytest.raises(EstimateError, match="must have at least 15 respondents for each of its 2 terms, got 29"):
        regress("y ~ a", None, simple(29), model="linear")


def test_each_coefficient_of_a_linear_model_is_as_sure_as_the_respondents_who_decide_it_are_many() -> None:
    """Of groups of 5 and 20 the first has Student's t of its own 5, as if it were alone, however many the others are."""
    x, y = np.repeat([0.0, 1.0], [5, 20]), np.sin(np.arange(25.0))
    fit = regress("y ~ x", pd.DataFrame({"x": x, "y": y}), model="linear")
    first, both = fit.freedom["Intercept"], fit.freedom["x"]
    weights = np.repeat([1 / 16, 1 / 361], [5, 20])  # 1 / (m - 1)^2, what a respondent of m moves their mean by without one of them
    assert (first, both) == (pytest.approx(4), pytest.approx(weights.sum() ** 2 / (weights**2).sum() - 1))
    low, high = fit.conf_int().loc["Intercept"]
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, 4) * y[:5].std(ddof=1) / 2)  # HC3 has m - 1 under the root, not m
    assert fit.pvalues["x"] == pytest.approx(2 * stats.t.sf(abs(fit.tvalues["x"]), both))
    assert fit.wald_test("x").p_value == pytest.approx(fit.pvalues["x"])
    assert "sandwich errors, t with at most 23 degrees of freedom" in fit.to_table()


def test_the_errors_of_a_linear_model_are_fits_without_each_respondent() -> None:
    """With coins in the outcome and in a predictor, and weights."""
    rng, n = np.random.default_rng(8), 60
    channel = Channel.for_epsilon(3.0, 2)
    data = pd.DataFrame({"x": rng.normal(size=n), "w": rng.integers(1, 4, n)})
    told = {}
    for name in "ya":
        said = rng.random(n) < 0.5
        told[name] = PerturbedVariable(np.column_stack([said, ~said]), channel, ("yes", "no"))
    fit = regress("y ~ a + x", data, told, model="linear", weights="w")
    assert fit.fitted.jackknife is not None
    steps = fit.fitted.jackknife.steps
    assert fit.cov_params().to_numpy() == pytest.approx(steps.T @ steps)
    for i in (0, 7):
        others = np.arange(n) != i
        less = regress("y ~ a + x", data[others], {name: one.of(others) for name, one in told.items()}, model="linear", weights="w")
        assert (fit.params - less.params).to_numpy() == pytest.approx(steps[i], rel=1e-9)


def test_a_linear_model_that_one_respondent_decides_is_refused() -> None:
    data = pd.DataFrame({"x": [1.0] + [0.0] * 9, "y": np.sin(np.arange(10.0))})
    with pytest.raises(EstimateError, match="a single respondent decides x, and without them nothing says how large it is"):
        regress("y ~ x", data, model="linear")
    alike = PerturbedVariable(np.tile([True, False], (10, 1)), Channel.for_epsilon(2.0, 2), ("yes", "no"))
    with pytest.raises(EstimateError, match="the reports that tell Intercept must not be all alike"):
        regress("said ~ 1", None, {"said": alike}, model="linear")


def some_reports(model: str, kinds: int = 7, cells: int = 3) -> tuple[likelihood.Reports, Any]:
    """Reports of a model at random, and parameters that it can have."""
    rng, outcomes = np.random.default_rng(4), 2 if model in ("probit", "cloglog") else 4
    reports = likelihood.Reports(
        count=rng.integers(1, 9, kinds).astype(float),
        x=np.concatenate([np.ones((kinds, cells, 1)), rng.normal(size=(kinds, cells, 2))], axis=2),
        w=rng.normal(size=(kinds, 2)),
        a=rng.random((kinds, cells)),
        b=rng.random((kinds, 1, outcomes)),
        family=FAMILIES[model],
        constraint=proportional(outcomes, 3, 0) if model == "ordinal" else None,
    )
    at = rng.normal(size=reports.parameters) / 2
    if model == "ordinal":
        at[2:5] = [-1.0, 0.2, 1.1]
    return reports, at


@pytest.mark.parametrize("model", list(FAMILIES))
def test_the_score_and_the_information_are_the_derivatives_of_the_likelihood(model: str) -> None:
    reports, at = some_reports(model)
    found, step = likelihood.derivatives(reports, at), 1e-5
    for j, direction in enumerate(np.eye(reports.parameters) * step):
        ahead, behind = likelihood.derivatives(reports, at + direction), likelihood.derivatives(reports, at - direction)
        assert found.score[j] == pytest.approx((ahead.objective - behind.objective) / (2 * step), abs=1e-6)
        assert found.observed[j] == pytest.approx((behind.score - ahead.score) / (2 * step), abs=1e-5)
    assert np.linalg.eigvalsh(found.complete).min() > 0
    pseudo = likelihood.derivatives(replace(reports, count=reports.count * 1e12), at).score / 1e12  # without the pseudo-respondents
    assert reports.count @ likelihood.scores(reports, at) == pytest.approx(pseudo, abs=1e-9)


def test_the_same_reports_in_chunks_give_the_same_derivatives(monkeypatch: pytest.MonkeyPatch) -> None:
    reports, at = some_reports("ordinal", kinds=9, cells=2)
    whole, scores = likelihood.derivatives(reports, at), likelihood.scores(reports, at)
    monkeypatch.setattr(likelihood, "_CHUNK", 1)
    for one, other in zip((*whole, scores), (*likelihood.derivatives(reports, at), likelihood.scores(reports, at)), strict=True):
        assert one == pytest.approx(other, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["binary", "public", "multinomial", "linear"])
def test_the_intervals_cover_the_truth_and_those_of_a_fit_that_ignores_the_noise_do_not(scenario: str) -> None:
    runs = 60
    found = benchmark("regression").table(scenario, runs=runs, n=5000, epsilon=2.0, seed=7)
    print(found.to_string())
    assert (found["refused"] == 0).all()
    # 95% in 60 surveys: 46 or fewer cover with a chance below 1e-6
    assert (found["coverage"] >= 47 / runs).all()
    error = found["spread"] / np.sqrt(runs)
    assert (np.abs(found["mean"] - found["truth"]) < 5.5 * error).all()
    assert (np.abs(found["mean"] - found["true mean"]) < 5.5 * error).all()
    assert (found["std err"] / found["spread"]).between(0.6, 1.6).all()
    slopes = ["Intercept" not in str(term) for term in found.index]
    assert (found["naive coverage"][slopes] < 0.75).any()
    strongest = found["truth"][slopes].abs().idxmax()
    assert abs(found["naive mean"][strongest]) < 0.7 * abs(found["truth"][strongest])


def test_fairs_survey_gives_its_coefficients_back_from_perturbed_answers() -> None:
    source = sm.datasets.fair.load_pandas().data
    public = sm.add_constant(pd.DataFrame({"r": source["religious"] >= 3, "c": source["children"] > 0, "age": source["age"]}, dtype=float))
    true = sm.Logit((source["affairs"] > 0).astype(float), public).fit(disp=False, tol=1e-12)
    found = benchmark("regression").fair(2.0)
    print(found.to_string())
    assert found["true coef"].to_numpy() == pytest.approx(true.params.to_numpy(), abs=1e-6)
    assert (np.abs(found["private coef"] - found["true coef"]) < 5 * found["private se"]).all()
    assert (np.abs(found["naive coef"] - found["true coef"]) > 5 * found["naive se"]).any()


def simple(n: int = 2000, seed: int = 11) -> dict[str, PerturbedVariable]:
    rng = np.random.default_rng(seed)
    a = rng.random(n) < 0.5
    y = rng.random(n) < logistic(-0.5 + a)
    return {"y": yes_no(y, EPSILON_2, rng), "a": yes_no(a, EPSILON_2, rng)}


def test_twice_the_same_fit_is_the_same_to_the_last_bit() -> None:
    one, two = regress("y ~ a", None, simple()), regress("y ~ a", None, simple())
    assert one.params.equals(two.params)
    assert one.covariance.equals(two.covariance)


def test_the_order_of_the_respondents_does_not_matter() -> None:
    private = simple()
    order = np.random.default_rng(0).permutation(2000)
    shuffled = {name: variable.of(order) for name, variable in private.items()}
    assert regress("y ~ a", None, shuffled).params.to_numpy() == pytest.approx(regress("y ~ a", None, private).params.to_numpy(), abs=1e-9)


def test_one_binary_predictor_is_the_two_by_two_table_of_pseudo_answers() -> None:
    """The model is saturated, so its odds ratio is that of the unbiased joint shares, less the pseudo-respondent."""
    private = simple(20_000)
    fit = regress("y ~ a", None, private)
    joint = private["a"].pseudo_answers().T @ private["y"].pseudo_answers() / 20_000
    assert fit.params["a[T.yes]"] == pytest.approx(np.log(joint[0, 0] * joint[1, 1] / (joint[0, 1] * joint[1, 0])), abs=2e-3)
    assert fit.latent is not None
    assert fit.latent.to_numpy() == pytest.approx(joint.sum(axis=1), abs=1e-3)
    linear = regress("y ~ a", None, private, model="linear")
    assert linear.params["a[T.yes]"] == pytest.approx(joint[0, 0] / joint[0].sum() - joint[1, 0] / joint[1].sum(), abs=1e-12)


def test_the_pseudo_respondent_weighs_as_much_as_one() -> None:
    rng = np.random.default_rng(15)
    rare = rng.random(20_000) < 0.05
    private = {"y": yes_no(rng.random(20_000) < 0.5, EPSILON_2, rng), "a": yes_no(rare, EPSILON_2, rng)}
    fit = regress("y ~ a", None, private)
    assert fit.latent is not None
    unbiased = private["a"].pseudo_answers().mean(axis=0)
    assert fit.latent["yes"] == pytest.approx(unbiased[0], abs=3e-4)
    assert fit.latent["yes"] > unbiased[0]  # drawn towards one half, by far less than the noise


def test_respondents_of_different_designs_are_never_counted_together() -> None:
    rng = np.random.default_rng(16)
    p = rng.choice([0.6, 0.95], 1000)
    yes = np.where(rng.random(1000) < p, True, False) ^ (rng.random(1000) < 0.7)
    matrices = np.array([Design("warner", 1 - each, each).matrix for each in p])
    fit = regress("y ~ 1", None, {"y": PerturbedVariable(np.column_stack([yes, ~yes]), matrices, YES_NO)})
    shares = np.linspace(0.001, 0.999, 999)
    rate = np.where(yes[:, None], 1 - p[:, None] + shares * (2 * p - 1)[:, None], p[:, None] - shares * (2 * p - 1)[:, None])
    assert logistic(fit.params["Intercept"]) == pytest.approx(shares[np.log(rate).sum(axis=0).argmax()], abs=1e-3)


def test_another_reference_turns_the_signs() -> None:
    private = simple()
    fit = regress("y ~ a", None, private)
    turned = regress("y ~ a", None, {"y": replace(private["y"], reference="yes"), "a": private["a"]})
    assert turned.params.to_numpy() == pytest.approx(-fit.params.to_numpy(), abs=1e-7)
    assert turned.outcome == "log odds of no against yes"
    base = regress("y ~ a", None, {"y": private["y"], "a": replace(private["a"], reference="yes")})
    assert base.params["a[T.no]"] == pytest.approx(-fit.params["a[T.yes]"], abs=1e-6)


def test_a_design_by_hand_whose_chances_vary_by_respondent() -> None:
    rng = np.random.default_rng(12)
    x, p = rng.normal(size=4000), rng.choice([0.7, 0.9], 4000)
    y = rng.random(4000) < logistic(-0.5 + x)
    reported = np.where(rng.random(4000) < p, y, ~y)
    matrices = np.array([Design("warner", 1 - each, each).matrix for each in p])
    private = PerturbedVariable.by_design(np.where(reported, "yes", "no"), matrices, YES_NO)
    fit = regress("y ~ x", pd.DataFrame({"x": x}), {"y": private})
    assert fit.params.to_numpy() == pytest.approx([-0.5, 1], abs=5 * float(fit.bse.max()))
    same = PerturbedVariable.by_design(np.where(reported, "yes", "no"), Design("all alike", 0.2, 0.8), YES_NO)
    with_means = regress("y ~ x", pd.DataFrame({"x": x}), {"y": same})
    assert fit.bse["x"] < with_means.bse["x"]  # knowing each chance helps
    assert regress("y ~ x", pd.DataFrame({"x": x}), {"y": private}, model="linear").params["x"] > 0.1


def test_whole_surveys_become_perturbed_variables() -> None:
    survey = Survey.from_dict(
        {
            "deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 4,
            "questions": [
                {"id": "smokes", "text": "?", "type": "yes_no"},
                {"id": "party", "text": "?", "type": "choice", "options": [str(i) for i in range(8)]},
            ],
        }
    )  # fmt: skip
    rng = np.random.default_rng(13)
    bits = [randomize(q.channel, rng.integers(0, q.k, 50), coins(rng)) for q in survey.questions]
    found = perturbed(survey, np.hstack([question_bits[:, :-1] for question_bits in bits]))
    assert survey.questions[1].d > 0
    assert [(found[q.id].bits == own).all() for q, own in zip(survey.questions, bits, strict=True)] == [True, True]
    assert (found["smokes"].reference, found["party"].reference) == ("no", "0")


@pytest.mark.parametrize("channel", [EPSILON_2, Channel.for_epsilon(0.5, 5), Channel.for_epsilon(1.0, 3)])
def test_the_likelihood_and_the_pseudo_answers_of_a_channel_are_those_of_its_subsets(channel: Channel) -> None:
    subsets = np.array([[bool(s >> i & 1) for i in range(channel.k)] for s in range(1 << channel.k) if bin(s).count("1") == channel.d])
    variable = PerturbedVariable(subsets, channel, tuple(map(str, range(channel.k))))
    assert variable.likelihood().sum(axis=0) == pytest.approx(np.ones(channel.k), abs=1e-12)
    assert variable.likelihood().T @ variable.pseudo_answers() == pytest.approx(np.eye(channel.k), abs=1e-9)


def test_a_matrix_that_is_not_symmetric_is_turned_round_the_right_way() -> None:
    matrix = np.array([[0.7, 0.2, 0.1], [0.2, 0.7, 0.3], [0.1, 0.1, 0.6]])
    for design in (matrix, np.array([matrix] * 3)):
        variable = PerturbedVariable.by_design(["a", "b", "c"], design, "abc")
        assert variable.likelihood() == pytest.approx(matrix)
        assert variable.likelihood().T @ variable.pseudo_answers() == pytest.approx(np.eye(3), abs=1e-12)


def test_a_group_where_everybody_seems_to_say_no_is_refused_as_separation() -> None:
    reported = np.array([1] * 20 + [0] * 80 + [1] * 50 + [0] * 50, dtype=bool)
    private = {"y": PerturbedVariable(np.column_stack([reported, ~reported]), FAIR_COINS, YES_NO)}
    data = pd.DataFrame({"group": ["low"] * 100 + ["middle"] * 100})
    with pytest.raises(EstimateError, match=r"no interior maximum: .*group.*runs to infinity.*\(separation\)"):
        regress("y ~ 0 + group", data, private)
    assert regress("y ~ 1", data, private).params["Intercept"] < 0


@pytest.mark.parametrize("right", ["group", "0 + group", "C(group)", "C(group, contr.treatment('middle'))", "group + x", "group * x"])
@pytest.mark.parametrize("extreme", ["high", "low"])
def test_separation_names_the_group_however_its_term_is_written(right: str, extreme: str) -> None:
    """Coefficients run to infinity for other categories, too, where the extreme one is the reference."""
    group = np.repeat(["high", "low", "middle"], 100)
    reported = np.tile(np.arange(100) < 50, 3) & ~((group == extreme) & (np.tile(np.arange(100), 3) >= 20))
    private = {"y": PerturbedVariable(np.column_stack([reported, ~reported]), FAIR_COINS, YES_NO)}
    with pytest.raises(ModelError) as raised:
        regress(f"y ~ {right}", pd.DataFrame({"group": group, "x": np.arange(300) % 7}), private)
    assert raised.value.concerned == (("group", (extreme,)),)
    assert f"among people with group = {extreme}, no one or everybody answers y = yes" in str(raised.value)
    assert "join categories of group with others; use a table of shares (`crosstab`)" in str(raised.value)


def test_a_restriction_without_an_estimate_is_explained_in_the_same_words() -> None:
    """The likelihood-ratio test fits a smaller model, which may have no maximum where the whole has one."""
    error = failures.separation("gives some answer to y", (), ["Intercept", "group[T.b] (yes)", "C(sex)[T.f]:x"])
    assert "among people with some values of group, sex, x, no one or everybody" in str(error)
    assert error.ways[2] == "leave out group or sex or x"


@pytest.mark.parametrize("values", [2, 3])
def test_outcomes_that_a_number_foretells_without_fail_are_refused_as_separation(values: int) -> None:
    """All is explained then, and no step is a Newton step: it was said that the fit did not converge."""
    x = np.arange(60.0)
    data = pd.DataFrame({"x": x, "y": np.digitize(x, np.arange(1, values) * 60 / values - 0.5)})
    with pytest.raises(EstimateError, match=r"no interior maximum: .*x.* to infinity.*\(separation\)"):
        regress("y ~ x", data)
    data.loc[[10, 50], "y"] = data.loc[[50, 10], "y"].to_numpy()
    assert regress("y ~ x", data).converged, "the control: two that are not as foretold"


def test_predictors_that_the_reports_cannot_tell_apart_are_refused() -> None:
    rng = np.random.default_rng(14)
    nearly_nothing = Channel(2, 1, 2**31 + 2**12)
    private = {name: yes_no(rng.random(200) < 0.5, nearly_nothing, rng) for name in ("y", "a")}
    with pytest.raises(EstimateError, match=r"no interior maximum|singular|did not converge"):
        regress("y ~ a", None, private)
    with pytest.raises(EstimateError, match=r"say too little about .*positive definite"):
        regress("y ~ a + b", None, {**private, "b": private["a"].of(np.arange(200)[::-1])}, model="linear")


PUBLIC = pd.DataFrame({"x": np.arange(2000) % 7 - 1.0, "hole": [np.nan] + [1.0] * 1999, "word": ["a", "b"] * 1000, "one": 1})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"formula": "y"}, "formula must be `outcome ~ terms`.*got 'y'"),
        ({"formula": "y ~ a ~ x"}, "formula must be `outcome ~ terms`"),
        ({"formula": "y ~ a +* x"}, "formula cannot be read"),
        ({"formula": "y ~ wrod"}, r"formula must name known questions and columns .*, got wrod; did you mean word\?"),
        ({"formula": "y ~ nothing"}, r"formula must name known questions and columns \(a, x, hole, word, one\), got nothing"),
        ({"formula": "nothing ~ a"}, "the outcome must be a perturbed variable or a column of the data, got 'nothing'"),
        ({"formula": "y ~ hole"}, "hole must not be missing in any row, got 1 missing of 2,000"),
        ({"formula": "hole ~ x"}, "hole must not be missing in any row"),
        ({"formula": "hole ~ x", "model": "linear"}, "hole of a linear model must be finite"),
        ({"formula": "word ~ x", "model": "linear"}, "word of a linear model must be numbers"),
        ({"formula": "y ~ x + I(2 * x)"}, "terms must not be collinear: one of x, .*2 . x.* follows"),
        ({"formula": "y ~ 0"}, "formula must have at least one term"),
        ({"formula": "y ~ a", "model": "tobit"}, "model must be one of logit, probit, cloglog, ordinal, linear, got 'tobit'"),
        ({"formula": "x ~ a", "model": "probit"}, "the outcome of a probit model must have 2 answers, got 7"),
        ({"formula": "y ~ 0 + a", "model": "ordinal"}, "has thresholds in place of an intercept"),
        ({"formula": "y ~ a", "weights": "nothing"}, "weights must be a column of the data, got 'nothing'"),
        ({"formula": "y ~ a", "weights": "x"}, "the weights x must be finite numbers of 0 or more"),
        ({"formula": "y ~ a", "clusters": "one"}, "there must be at least 2 clusters, got 1 in one"),
        ({"formula": "y ~ a", "clusters": "hole"}, "the clusters hole must not be missing in any row, got 1 missing of 2,000"),
        ({"formula": "y ~ a", "clusters": "word", "errors": "observed"}, "errors must be clusters with clusters, got 'observed'"),
        ({"formula": "y ~ a", "errors": "HC3"}, "errors must be sandwich or observed for a logit model, got 'HC3'"),
        ({"formula": "y ~ a", "model": "linear", "errors": "observed"}, "errors must be sandwich for a linear model"),
        ({"formula": "y ~ a", "model": "linear", "covariates": "1"}, "covariates must be left out of a linear model"),
        ({"formula": "y ~ a", "covariates": "a"}, "covariates must name public columns only, got a"),
        ({"formula": "y ~ a", "data": PUBLIC[:100]}, "y must have as many respondents as the rest, 100, got 2,000"),
        ({"formula": "y ~ a", "data": PUBLIC.assign(a=1)}, "a must be either public or perturbed, got it in both"),
        ({"formula": "y ~ a", "perturbed": {}, "data": None}, "there must be data, perturbed variables, or both"),
    ],
)
def test_what_cannot_be_fitted_is_refused_with_the_rule(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        regress(**{"data": PUBLIC, "perturbed": simple(), **arguments})


BITS = np.array([[True, False], [False, True]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((BITS, EPSILON_2, ("a", "b", "c")), "bits must be 0 or 1 in 3 columns"),
        ((BITS, EPSILON_2, ("a", "a")), "categories must be at least 2 different labels"),
        ((BITS, Channel.for_epsilon(1, 3), YES_NO), "channel must have 2 categories, got 3"),
        ((BITS, Channel(2, 1, 2**31), YES_NO), "at epsilon 0 the reports say nothing"),
        ((~BITS | BITS, EPSILON_2, YES_NO), "exactly 1 of 2 bits must be set in every report, which fails in 2 of 2"),
        ((BITS, np.full((2, 2), 0.5), YES_NO), "condition number must be at most 1e.06, got"),
        ((BITS, np.array([[0.9, 0.9], [0.2, 0.1]]), YES_NO), "columns of the design's matrix.*must add to 1, got 1.1"),
        ((BITS, np.eye(3), YES_NO), "must have 2 rows and columns, one per category, got 3"),
        ((BITS, np.array([np.eye(2)] * 3), YES_NO), "one matrix per respondent, 2, got 3"),
        ((BITS, EPSILON_2, YES_NO, (1.0,)), "scores must be 2 numbers"),
        ((BITS, EPSILON_2, YES_NO, None, "maybe"), "reference must be one of yes, no, got 'maybe'"),
    ],
)
def test_a_perturbed_variable_whose_parts_do_not_fit_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        PerturbedVariable(*arguments)


def test_a_report_that_is_no_category_is_named_by_its_row_and_not_quoted() -> None:
    with pytest.raises(EstimateError, match="row 2: the report must be one of yes, no") as error:
        PerturbedVariable.by_design(["yes", "secret"], np.eye(2), YES_NO)
    assert "secret" not in str(error.value)


def test_the_result_reads_like_one_of_statsmodels() -> None:
    fit = regress("y ~ a", None, simple())
    assert fit.conf_int().to_numpy() == pytest.approx(
        np.column_stack([fit.params - 1.959964 * fit.bse, fit.params + 1.959964 * fit.bse]), abs=1e-5
    )
    assert (fit.conf_int(alpha=0.5)["high"] < fit.conf_int()["high"]).all()
    assert fit.tvalues["a[T.yes]"] == pytest.approx(fit.params["a[T.yes]"] / fit.bse["a[T.yes]"])
    assert fit.pvalues["a[T.yes]"] < 1e-6
    assert list(fit.to_frame().columns) == ["coef", "std err", "z", "P>|z|", "low", "high"]
    assert "log odds of yes against no" in fit.summary()
    assert "2,000 respondents" in str(fit)


@pytest.mark.parametrize("alpha", [95, 0, 1, -0.1, float("nan")])
def test_limits_are_asked_for_by_alpha_and_by_its_name(alpha: float) -> None:
    fit = regress("y ~ a", None, simple())
    with pytest.raises(EstimateError, match="alpha must be above 0 and below 1, got"):
        fit.conf_int(alpha=alpha)
    with pytest.raises(TypeError, match="positional"):  # statsmodels takes alpha here; who means a confidence of 10% must say so
        fit.conf_int(0.1)  # type: ignore[misc]


def rounded(numbers: Any, levels: int, epsilon: float, rng: np.random.Generator) -> PerturbedVariable:
    """Numbers in [0, 1] as a device sends them: rounded at random to a level of a grid, then randomized."""
    places = numbers * (levels - 1)
    level = np.floor(places).astype(np.int64)
    level += rng.random(len(level)) < places - level
    channel, scores = Channel.for_epsilon(epsilon, levels), tuple(np.linspace(0, 1, levels).tolist())
    return PerturbedVariable(randomize(channel, level, coins(rng)), channel, tuple(map(str, scores)), scores, on_grid=True)


@pytest.mark.slow
def test_a_number_as_the_outcome_of_a_linear_model_is_unbiased_and_covered_whatever_its_rounding() -> None:
    """300 surveys of 2,000 at epsilon 2, 3 levels, true slope .2: 95% is known to 1.3%. As a predictor it is refused, and the control,
    which takes its levels for the numbers, shows why: half of the slope of .5, covered in no survey."""
    rng, found, naive = np.random.default_rng(12), [], []
    for _ in range(300):
        a = rng.random(2000) < 0.4
        x = np.clip(0.4 + 0.2 * a + rng.normal(0, 0.12, 2000), 0, 1)
        variables = {"x": rounded(x, 3, 2.0, rng), "a": yes_no(a, EPSILON_2, rng)}
        fit = regress("x ~ a", None, variables, model="linear")
        found.append([fit.params["a[T.yes]"], *fit.conf_int().loc["a[T.yes]"]])
    for _ in range(30):
        x = np.clip(rng.normal(0.5, 0.15, 2000), 0, 1)
        data = pd.DataFrame({"y": 0.5 * x + rng.normal(0, 0.1, 2000)})
        with pytest.raises(EstimateError, match="slope on a number: not for x"):
            regress("y ~ x", data, {"x": rounded(x, 3, 2.0, rng)}, model="linear")
        fit = regress("y ~ x", data, {"x": replace(rounded(x, 3, 2.0, rng), on_grid=False)}, model="linear")
        naive.append([fit.params["x"], *fit.conf_int().loc["x"]])
    value, low, high = np.array(found).T
    assert value.mean() == pytest.approx(0.2, abs=2.5 * value.std() / np.sqrt(300) + 0.002)
    assert 0.92 <= np.mean((low <= 0.2) & (high >= 0.2)) <= 0.98
    value, low, high = np.array(naive).T
    assert value.mean() < 0.4
    assert np.mean((low <= 0.5) & (high >= 0.5)) < 0.5
