"""A model does not depend on how its data are written: units, zero points, types, order, names and other columns change no figure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from deniable import Channel, randomize
from deniable.estimate import PerturbedVariable, Regression, regress

pytestmark = pytest.mark.slow

N = 250
MODELS = ("logit", "probit", "cloglog", "ordinal", "multinomial", "linear")
HOW: dict[str, dict[str, str]] = {"plain": {}, "weighted": {"weights": "weight"}, "clustered": {"clusters": "clinic"}}


def perturb(truth: NDArray[Any], options: tuple[str, ...], rng: np.random.Generator) -> PerturbedVariable:
    channel = Channel.for_epsilon(5.0, len(options))
    return PerturbedVariable(randomize(channel, truth, lambda count: rng.integers(0, 1 << 32, count, dtype=np.uint32)), channel, options)


def survey() -> tuple[pd.DataFrame, dict[str, PerturbedVariable]]:
    rng = np.random.default_rng(5)
    age = rng.integers(-3, 4, N)
    a = rng.integers(0, 2, N)
    latent = 0.4 * age - 0.5 * a + rng.logistic(size=N)
    columns = {"age": age, "town": rng.choice(["a", "b", "c"], N), "weight": rng.integers(1, 4, N), "clinic": rng.integers(0, 30, N)}
    three = perturb(np.digitize(latent, [-0.7, 0.7]), ("low", "middle", "high"), rng)
    return pd.DataFrame(columns), {
        "y": perturb((latent < 0).astype(int), ("yes", "no"), rng),
        "three": three,
        "a": perturb(a, ("yes", "no"), rng),
    }


DATA, REPORTS = survey()


def fit(model: str, formula: str, how: str, data: pd.DataFrame = DATA, reports: dict[str, PerturbedVariable] = REPORTS) -> Regression:
    chosen = {"y": reports["three" if model in ("ordinal", "multinomial") else "y"], "a": reports["a"]}
    return regress(formula, data, chosen, model="logit" if model == "multinomial" else model, **HOW[how])


def figures(found: Regression, ages: tuple[float, float], unit: float = 1.0, towns: str = "abc") -> NDArray[np.float64]:
    """Predictions of two people, and average marginal effects in years, all with their errors."""
    rows = pd.DataFrame({"age": ages, "town": [towns[0], towns[2]], "a": ["yes", "no"]})
    told = [(one.estimate, one.std_error, one.low, one.high) for _, one in found.predict(rows).rows]
    if found.model != "linear":
        effects = found.average_marginal_effects().rows
        scales = [unit if names[0] == "age" else 1.0 for names, _ in effects]
        told += [(one.estimate * by, one.std_error * by, 0, 0) for by, (_, one) in zip(scales, effects, strict=True)]
    return np.array(told)


CASES = [
    *((model, "y ~ age + I(age**2) + town", how) for model in MODELS for how in HOW),
    *((model, "y ~ age * a", "plain") for model in MODELS),
]
everywhere = pytest.mark.parametrize(("model", "formula", "how"), CASES)


@everywhere
def test_another_zero_point_unit_or_type_changes_no_figure(model: str, formula: str, how: str) -> None:
    expected = figures(fit(model, formula, how), (-2, 3))
    for zero, unit in ((202606, 1), (738000, 1), (10**6, 3), (0, 1000), (-5, 0.01)):
        moved = DATA.assign(age=DATA["age"] * unit + zero)
        found = figures(fit(model, formula, how, moved), (zero - 2 * unit, zero + 3 * unit), unit)
        assert found == pytest.approx(expected, rel=2e-4, abs=2e-6), (zero, unit)
    for kind in ("int8", "float32", "Int64"):
        assert figures(fit(model, formula, how, DATA.astype({"age": kind})), (-2, 3)) == pytest.approx(expected, rel=1e-9), kind
    whole = DATA.assign(age=(DATA["age"] + 100).astype("uint8"))
    assert figures(fit(model, formula, how, whole), (98, 103)) == pytest.approx(expected, rel=1e-5, abs=1e-6)


@everywhere
def test_the_order_of_rows_columns_and_terms_and_other_columns_change_no_figure(model: str, formula: str, how: str) -> None:
    expected = figures(fit(model, formula, how), (-2, 3))
    order = np.random.default_rng(1).permutation(N)
    shuffled = fit(model, formula, how, DATA.iloc[order], {name: one.of(order) for name, one in REPORTS.items()})
    assert figures(shuffled, (-2, 3)) == pytest.approx(expected, rel=1e-6, abs=1e-9)
    backwards = {name: REPORTS[name] for name in reversed(REPORTS)}
    assert figures(fit(model, formula, how, DATA, backwards), (-2, 3)) == pytest.approx(expected, rel=1e-6, abs=1e-9)
    others = {name: np.arange(N) for name in ("np", "C", "I", "sum", "log", "len", "unrelated", "1")}
    assert figures(fit(model, formula, how, DATA.assign(**others)), (-2, 3)) == pytest.approx(expected, rel=1e-9)
    left, right = formula.split(" ~ ")
    turned = " + ".join(reversed(right.split(" + "))) if "+" in right else "a * age"
    assert figures(fit(model, f"{left} ~ {turned}", how), (-2, 3)) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@everywhere
def test_other_names_of_a_category_change_no_figure(model: str, formula: str, how: str) -> None:
    expected = figures(fit(model, formula, how), (-2, 3))
    renamed = DATA.assign(town=DATA["town"].map({"a": "x", "b": "y", "c": "z"}))
    assert figures(fit(model, formula, how, renamed), (-2, 3), towns="xyz") == pytest.approx(expected, rel=1e-9)
    levels = DATA.assign(town=pd.Categorical(DATA["town"], categories=["a", "b", "c", "nobody's"]))
    assert figures(fit(model, formula, how, levels), (-2, 3)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("formula", ["y ~ age + town", "y ~ age * a"])
def test_everybody_twice_has_the_same_estimates_and_errors_smaller_by_the_root_of_two(model: str, formula: str) -> None:
    """With a perturbed predictor there is one more respondent, spread over its answers, and a linear model's errors leave one out."""
    one = figures(fit(model, formula, "plain"), (-2, 3))
    twice = np.tile(np.arange(N), 2)
    two = figures(fit(model, formula, "plain", DATA.iloc[twice], {name: each.of(twice) for name, each in REPORTS.items()}), (-2, 3))
    close = {"rel": 2e-2, "abs": 2e-3} if "a" in formula.split(" * ") or model == "linear" else {"rel": 1e-6}
    assert two[:, 0] == pytest.approx(one[:, 0], **close)
    assert two[:, 1] * np.sqrt(2) == pytest.approx(one[:, 1], **close)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("formula", "same"),
    [
        ("y ~ z", "y ~ I((age - np.mean(age)) / np.std(age))"),
        ("y ~ z", "y ~ scale(age)"),
        ("y ~ z", "y ~ center(age)"),
        ("y ~ above", "y ~ I(1 * (age > np.median(age)))"),
        ("y ~ age + I(age**2)", "y ~ poly(age, 2)"),
        ("y ~ age + I(age**2)", "y ~ poly(age, 2, raw=True)"),
        ("y ~ age + I(age**2)", "y ~ age + I((age - age.mean())**2)"),
        ("y ~ town", "y ~ C(town)"),
        ("y ~ town", "y ~ C(town, contr.sum)"),
        ("y ~ a * z", "y ~ a * I(age - np.mean(age))"),
    ],
)
def test_a_model_written_in_two_ways_is_one_model(model: str, formula: str, same: str) -> None:
    z = (DATA["age"] - DATA["age"].mean()) / DATA["age"].std(ddof=0)
    data = DATA.assign(z=z, above=1 * (DATA["age"] > DATA["age"].median()))
    rows = data.iloc[[3, 50, 200]].assign(a=["yes", "no", "no"])
    one, other = (
        np.array([(figure.estimate, figure.std_error, figure.low) for _, figure in fit(model, text, "plain", data).predict(rows).rows])
        for text in (formula, same)
    )
    assert other == pytest.approx(one, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("model", [model for model in MODELS if model != "linear"])
@pytest.mark.parametrize(
    ("formula", "same"),
    [("y ~ age + I(age**2)", "y ~ poly(age, 2)"), ("y ~ age", "y ~ I(age - np.mean(age))"), ("y ~ age", "y ~ scale(age)")],
)
def test_effects_of_a_model_written_in_two_ways_are_the_same(model: str, formula: str, same: str) -> None:
    one, other = (
        np.array([(figure.estimate, figure.std_error) for _, figure in fit(model, text, "plain").average_marginal_effects().rows])
        for text in (formula, same)
    )
    assert other == pytest.approx(one, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("model", MODELS)
def test_tests_do_not_depend_on_the_zero_point(model: str) -> None:
    moved = DATA.assign(age=DATA["age"] + 738000)
    here, there = (fit(model, "y ~ age + town", "plain", data) for data in (DATA, moved))
    assert there.wald_test("age", "town").statistic == pytest.approx(here.wald_test("age", "town").statistic, rel=1e-6)
    assert there.params.filter(like="age").to_numpy() == pytest.approx(here.params.filter(like="age").to_numpy(), rel=1e-6)
    if model != "linear":
        ratios = [one.likelihood_ratio_test("age").statistic for one in (here, there)]
        assert ratios[1] == pytest.approx(ratios[0], rel=1e-6)
        goodness = [one.fitted.likelihood.maximum.at.llf for one in (here, there) if one.fitted.likelihood]
        assert goodness[1] == pytest.approx(goodness[0], rel=1e-9)
