"""Other links, ordered outcomes, weights and clusters: as statsmodels has them where nothing was perturbed, and right where it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.special import ndtr
from statsmodels.miscmodels.ordinal_model import OrderedModel
from tests.kit.benchmarks import benchmark

from deniable.device.randomize import randomize
from deniable.errors import EstimateError
from deniable.estimate import PerturbedVariable, regress
from deniable.mechanism import Channel

BENT = benchmark("models")
YES_NO = ("yes", "no")
LEVELS = ("never", "seldom", "often", "always")


def people(n: int = 1500, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"x": rng.normal(size=n), "town": rng.choice(["a", "b", "c"], n), "clinic": rng.integers(0, 12, n)})
    latent = 0.3 + 0.8 * data["x"] - 0.5 * (data["town"] == "b") + rng.normal(size=12)[data["clinic"]] * 0.5
    data["y"] = np.where(rng.random(n) < ndtr(latent), "yes", "no")
    data["often"] = np.array(LEVELS)[np.searchsorted([-1.0, 0.4, 1.5], latent + rng.logistic(size=n))]
    data["weight"] = rng.gamma(3, size=n)
    return data


def design(data: pd.DataFrame) -> pd.DataFrame:
    towns = pd.get_dummies(data["town"], dtype=float)[["b", "c"]]
    return pd.DataFrame({"Intercept": 1.0, "town[T.b]": towns["b"], "town[T.c]": towns["c"], "x": data["x"]})


@pytest.mark.parametrize(("model", "link"), [("probit", sm.families.links.Probit()), ("cloglog", sm.families.links.CLogLog())])
def test_other_links_are_the_glm_of_statsmodels(model: str, link: Any) -> None:
    data = people()
    ours = regress("y ~ town + x", data, model=model, errors="observed")
    theirs = sm.GLM(data["y"] == "yes", design(data), sm.families.Binomial(link)).fit(tol=1e-14)
    assert ours.params[design(data).columns].to_numpy() == pytest.approx(theirs.params.to_numpy(), rel=1e-7)
    assert ours.llf == pytest.approx(theirs.llf, rel=1e-12)
    observed = np.linalg.inv(-theirs.model.hessian(theirs.params, observed=True))
    assert ours.cov_params().loc[design(data).columns, design(data).columns].to_numpy() == pytest.approx(observed, rel=1e-6)


def test_an_ordinal_model_is_the_one_of_statsmodels() -> None:
    data = people()
    data["often"] = pd.Categorical(data["often"], categories=LEVELS, ordered=True)
    ours = regress("often ~ town + x", data, model="ordinal", errors="observed")
    theirs = OrderedModel(data["often"], design(data).drop(columns="Intercept"), distr="logit").fit(disp=False, method="newton", tol=1e-12)
    slopes = ["town[T.b]", "town[T.c]", "x"]
    assert ours.params[slopes].to_numpy() == pytest.approx(theirs.params[slopes].to_numpy(), rel=1e-6)
    assert ours.bse[slopes].to_numpy() == pytest.approx(theirs.bse[slopes].to_numpy(), rel=1e-4)  # theirs by finite differences
    thresholds = theirs.model.transform_threshold_params(theirs.params.to_numpy())[1:-1]
    assert ours.params[["never | seldom", "seldom | often", "often | always"]].to_numpy() == pytest.approx(thresholds, rel=1e-6)
    assert ours.llf == pytest.approx(theirs.llf, rel=1e-10)


def test_coins_that_lie_once_in_four_million_change_nothing_that_is_shown() -> None:
    """The likelihood sums the channel over the latent answers; with hardly any noise it is that of the answers."""
    data = people()
    codes = data["often"].map(LEVELS.index).to_numpy()
    flip = 1e-10 + np.eye(4) * (1 - 4e-10)
    told = {"often": PerturbedVariable(codes[:, None] == np.arange(4), flip, LEVELS)}
    plain = pd.DataFrame({"often": pd.Categorical(data["often"], categories=LEVELS, ordered=True)})
    one, other = regress("often ~ x", data[["x"]], told, model="ordinal"), regress("often ~ x", data[["x"]].join(plain), model="ordinal")
    assert one.params.to_numpy() == pytest.approx(other.params.to_numpy(), rel=1e-6)


@pytest.mark.parametrize("model", ["logit", "linear"])
@pytest.mark.parametrize("how", [{"weights": "weight"}, {"clusters": "clinic"}])
def test_weights_and_clusters_are_those_of_statsmodels(how: dict[str, str], model: str) -> None:
    """Its correction for clusters is G / (G - 1) (n - 1) / (n - k); ours, as R's survey has it, the first part."""
    data = people()
    data["z"] = (data["y"] == "yes") * 1.0
    weights = data["weight"] / data["weight"].mean() if "weights" in how else None
    if model == "linear":
        theirs = sm.OLS(data["z"], design(data)) if weights is None else sm.WLS(data["z"], design(data), weights=weights)
    else:
        theirs = sm.GLM(data["z"], design(data), sm.families.Binomial(), var_weights=weights)
    kind = (
        {"cov_type": "HC3" if model == "linear" else "HC0"}
        if "weights" in how
        else {"cov_type": "cluster", "cov_kwds": {"groups": data["clinic"]}}
    )
    expected, factor = theirs.fit(**kind), 1.0 if "weights" in how else np.sqrt((1500 - 1) / (1500 - 4))
    ours = regress("z ~ town + x" if model == "linear" else "y ~ town + x", data, model=model, **how)
    assert ours.params[design(data).columns].to_numpy() == pytest.approx(expected.params.to_numpy(), rel=1e-7)
    assert (ours.bse[design(data).columns] * factor).to_numpy() == pytest.approx(expected.bse.to_numpy(), rel=1e-7)
    assert ours.df == (11 if "clusters" in how else 1496 if model == "linear" else np.inf)
    assert ("t with 11 degrees of freedom" in ours.to_table()) == ("clusters" in how)
    assert (" · weighted · sandwich errors" in ours.to_table()) == ("weights" in how)


def test_a_weight_of_two_is_two_people_of_one_score() -> None:
    rng = np.random.default_rng(3)
    channel = Channel.for_epsilon(2.0, 2)

    def coins(count: int) -> Any:
        return rng.integers(0, 1 << 32, count, dtype=np.uint32)

    a, weight = rng.random(2000) < 0.5, rng.integers(0, 3, 2000)
    told = {
        name: PerturbedVariable(randomize(channel, np.where(holds, 0, 1), coins), channel, YES_NO) for name, holds in (("a", a), ("y", ~a))
    }
    told["y"] = PerturbedVariable(randomize(channel, np.where(rng.random(2000) < 0.3 + 0.3 * a, 0, 1), coins), channel, YES_NO)
    ours = regress("y ~ a", pd.DataFrame({"w": weight}), told, weights="w", covariates="1")
    often = np.repeat(np.arange(2000), weight)
    theirs = regress("y ~ a", None, {name: one.of(often) for name, one in told.items()})
    assert ours.params.to_numpy() == pytest.approx(theirs.params.to_numpy(), abs=1e-3)  # but for the pseudo-respondent, who weighs 1
    assert (ours.bse > theirs.bse).all()


@pytest.mark.parametrize("model", ["probit", "cloglog", "ordinal"])
@pytest.mark.parametrize("all_yes", [True, False])
def test_a_share_of_0_or_1_is_refused_by_every_model(model: str, all_yes: bool) -> None:
    data = pd.DataFrame({"y": ["yes" if all_yes else "no"] * 100 + ["yes", "no"] * 50, "g": ["a"] * 100 + ["b"] * 100})
    with pytest.raises(EstimateError, match=r"no interior maximum|must not be singular"):
        regress("y ~ g", data, model=model)


def test_more_than_two_answers_need_a_model_that_takes_them() -> None:
    with pytest.raises(EstimateError, match="the outcome of a probit model must have 2 answers, got 4; logit and ordinal take more"):
        regress("often ~ x", people(100), model="probit")


def test_where_the_truth_bends_coverage_is_measured_of_the_model_that_comes_nearest() -> None:
    """A slice of `benchmarks/models.py --bent`; of 40 surveys 29 or fewer with a chance below 0.001% for each coefficient."""
    bend = BENT.Bend("ordinal", with_a=False, bend=0.4, epsilon=2.0)
    covered, refused = BENT.bent(bend, 40, 2000)
    assert (min(covered.values()) >= 30 / 40, refused) == (True, 0)
    (fit, chances), right = bend.kinds(), BENT.Bend("ordinal", with_a=False, bend=0.0, epsilon=2.0)
    assert chances.sum() == pytest.approx(1)
    assert not np.allclose(chances, right.kinds()[1]), "the control: a truth that does not bend"
    assert fit.reports.coefficients == 4
