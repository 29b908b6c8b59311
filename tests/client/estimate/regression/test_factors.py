"""Formulas mean the same over respondents as over distinct rows and new ones, and what cannot is refused with the reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.client.estimate.regression.test_invariance import perturb

from deniable.errors import EstimateError
from deniable.estimate import PerturbedVariable, Regression, regress

N = 300


def people() -> tuple[pd.DataFrame, dict[str, PerturbedVariable]]:
    rng = np.random.default_rng(11)
    age = np.minimum(18 + rng.exponential(11, N).round(), 80).astype(int)
    age[:20] = np.arange(61, 81)  # rare values: their distinct ones are far from what most have
    columns = {
        "age": age,
        "z": rng.normal(size=N),
        "g": rng.integers(1, 4, N),
        "town": rng.choice(["a", "b"], N),
        "my age": age,
        "clinic": rng.integers(0, 9, N),
    }
    four = perturb(rng.integers(0, 4, N), ("never", "rarely", "often", "always"), rng)
    scored = PerturbedVariable(four.bits, four.channel, four.categories, scores=(0.0, 1.0, 2.0, 4.0))
    yes = perturb((rng.random(N) > 1 / (1 + np.exp(1 - 0.05 * (age - 29)))).astype(int), ("yes", "no"), rng)
    return pd.DataFrame(columns), {"y": yes, "a": scored, "b": four}


DATA, REPORTS = people()


def fit(formula: str, data: pd.DataFrame = DATA, **options: Any) -> Regression:
    return regress(formula, data, REPORTS, **options)


@pytest.mark.parametrize("model", ["logit", "linear"])
@pytest.mark.parametrize(
    ("term", "column"),
    [
        ("I((age - np.mean(age)) / np.std(age))", (DATA["age"] - DATA["age"].mean()) / DATA["age"].std(ddof=0)),
        ("I((age - age.mean())**2)", (DATA["age"] - DATA["age"].mean()) ** 2),
        ("I(1 * (age > np.median(age)))", 1 * (DATA["age"] > DATA["age"].median())),
        ("age.rank()", DATA["age"].rank()),
        ("I(np.digitize(age, np.quantile(age, [0.25, 0.5, 0.75])))", np.digitize(DATA["age"], DATA["age"].quantile([0.25, 0.5, 0.75]))),
        ("I(age - age.groupby(g).transform('mean'))", DATA["age"] - DATA.groupby("g")["age"].transform("mean")),
        ("I(age / len(age))", DATA["age"] / N),
        ("I(`my age` - np.mean(`my age`))", DATA["age"] - DATA["age"].mean()),
        ("I(Q('my age') / 10)", DATA["age"] / 10),
        ("scale(age)", (DATA["age"] - DATA["age"].mean()) / DATA["age"].std()),
        ("center(age)", DATA["age"] - DATA["age"].mean()),
        ("center(np.log(age))", np.log(DATA["age"]) - np.log(DATA["age"]).mean()),
    ],
)
def test_what_looks_at_a_whole_column_looks_at_every_respondent(term: str, column: Any, model: str) -> None:
    here, there = fit(f"y ~ {term}", model=model), fit("y ~ column", DATA.assign(column=column), model=model)
    assert here.params.to_numpy() == pytest.approx(there.params.to_numpy(), rel=1e-6)
    assert here.bse.to_numpy() == pytest.approx(there.bse.to_numpy(), rel=1e-6)


TRANSFORMS = ["center(z)", "scale(z)", "standardize(z)", "poly(z, 2)", "bs(z, 4)", "bs(z, df=5, degree=2)", "C(g)", "C(g, contr.helmert)"]


@pytest.mark.parametrize("term", [*TRANSFORMS, "0 + cs(z, 4)", "0 + cr(z, 4)", "0 + cc(z, 4)", "np.log(np.abs(z))"])
def test_a_transform_of_a_column_needs_it_nowhere_else(term: str) -> None:
    alone, beside = fit(f"y ~ {term}"), fit(f"y ~ {term} + age")
    assert len(alone.params) + 1 == len(beside.params)


@pytest.mark.parametrize(
    "term", [*TRANSFORMS, "I((z - np.mean(z)) / np.std(z))", "I(z > z.median())", "C(np.digitize(z, np.quantile(z, [0.3])))"]
)
@pytest.mark.parametrize("model", ["logit", "linear"])
def test_a_row_is_predicted_the_same_alone_and_beside_others(term: str, model: str) -> None:
    found, rows = fit(f"y ~ {term} + a", model=model), DATA.assign(a=2.0).iloc[[0, 7, 30]]
    together = np.array([(one.estimate, one.std_error) for _, one in found.predict(rows).rows])
    separate = np.array([(one.estimate, one.std_error) for row in range(3) for _, one in found.predict(rows.iloc[[row]]).rows])
    assert separate == pytest.approx(together, rel=1e-9)


def test_a_factor_of_ranks_has_no_value_for_new_rows() -> None:
    with pytest.raises(EstimateError, match=r"age.rank\(\) looks at all respondents' rows together, so it has no value for new rows"):
        fit("y ~ age.rank()").predict(DATA.iloc[:1])


def test_what_the_answers_distribution_depends_on_looks_at_every_respondent_too() -> None:
    log = DATA.assign(above=1.0 * (DATA["age"] > DATA["age"].mean()))
    here, there = fit("y ~ a", covariates="I(1.0 * (age > np.mean(age)))"), fit("y ~ a", log, covariates="above")
    assert here.llf == pytest.approx(there.llf, rel=1e-9)
    assert here.params.to_numpy() == pytest.approx(there.params.to_numpy(), rel=1e-6)


@pytest.mark.parametrize("door", ["right", "given"])
@pytest.mark.parametrize(
    ("term", "message"),
    [
        ("np.cumsum(z)", "must not depend on the order of the rows"),
        ("z.shift(1, fill_value=0.0)", "must not depend on the order of the rows"),
        ("I(age.iloc[0] * z)", "must not depend on the order of the rows"),
        ("I(age.iloc[-1] * z)", "must not depend on the order of the rows"),
        ("age.rank(method='first')", "must not depend on the order of the rows"),
        (f"I(np.arange({N}))", "must not depend on the order of the rows"),
        ("np.random.normal(size=len(z))", "must give the same values each time"),
    ],
)
def test_what_depends_on_the_order_of_rows_or_on_chance_is_refused(door: str, term: str, message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        fit(f"y ~ a + {term}") if door == "right" else fit("y ~ a", covariates=term)


@pytest.mark.parametrize(
    "term",
    [
        "I(a - np.mean(a))",
        "center(a)",
        "scale(a)",
        "poly(a, 2)",
        "bs(a, 3)",
        "a.rank()",
        "I(z * (a - a.mean()))",
        "I(a > np.median(a))",
        "np.cumsum(a)",
    ],
)
def test_answers_that_nobody_knows_have_no_mean(term: str) -> None:
    with pytest.raises(
        EstimateError, match=r"must compute a perturbed variable from each answer alone, got .*: the true answers to a are not known"
    ):
        fit(f"y ~ {term}")


@pytest.mark.parametrize(
    ("term", "same"), [("I(a**2 - a)", "I(a * (a - 1))"), ("I(a * (age - np.mean(age)))", "a:center(age)"), ("C(a)", "b")]
)
def test_a_function_of_each_answer_alone_is_welcome(term: str, same: str) -> None:
    assert fit(f"y ~ {term}").params.to_numpy() == pytest.approx(fit(f"y ~ {same}").params.to_numpy(), rel=1e-6)


@pytest.mark.parametrize("name", ["sum", "max", "log", "exp", "scale", "lag", "I", "poly", "id", "_column_0", "_constant_0", "my z", "1z"])
def test_a_column_may_have_the_name_of_a_function(name: str) -> None:
    data = DATA.rename(columns={"z": name})
    quoted = name if name.isidentifier() else f"`{name}`"
    found = fit(f"y ~ {quoted} + np.log(np.abs({quoted}) + 1) + center({quoted}**2)", data)
    assert found.params.to_numpy() == pytest.approx(fit("y ~ z + np.log(np.abs(z) + 1) + center(z**2)").params.to_numpy(), rel=1e-9)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "float32"])
def test_small_types_do_not_overflow_in_a_formula(kind: str) -> None:
    small = fit("y ~ I(age**2) + I(age - 100)", DATA.astype({"age": kind}))
    assert small.params.to_numpy() == pytest.approx(fit("y ~ I(age**2) + I(age - 100)").params.to_numpy(), rel=1e-6)


@pytest.mark.parametrize(
    ("right", "message"),
    [
        ("a | b", r"formula must have one right-hand side, without `\|`.*clusters"),
        ("a |", r"formula must have one right-hand side, without `\|`"),
        ("z + (1 | clinic)", r'name it as the clusters \(clusters="clinic"\)'),
        ("z + (z || clinic)", "formula"),
        ("age + offset(z)", r"formula must be without offset\(\)"),
        ("partty", r"must name known questions and columns \(a, b, age, z, g, town, my age, clinic\), got partty"),
        ("np.log(partty)", "got partty"),
        ("center(partty)", "got partty"),
        ("foo(z)", "got foo"),
        (".", "formula must name its terms"),
        ("z +* a", "formula cannot be read: Operator `[+][*]` is incorrectly used"),
        ("np.log(z", "formula cannot be read"),
        ("np.log(`class`)", "formula cannot be read"),
        ("I(z / town)", "formula cannot be computed: I"),
        ("C(g, levels=[1, 2])", r"C\(g, levels=\[1, 2\]\) must be one of 1, 2, got another value"),
    ],
)
@pytest.mark.filterwarnings("ignore")  # formulaic and pandas warn of levels before the refusal
def test_a_formula_that_cannot_be_is_refused_in_plain_words(right: str, message: str) -> None:
    with pytest.raises(EstimateError, match=message) as caught:
        fit(f"y ~ {right}")
    assert "\x1b" not in str(caught.value)
    assert "NameError" not in str(caught.value)


def test_a_time_is_refused_and_days_are_named() -> None:
    with pytest.raises(EstimateError, match="day must be a number or a category, got times; convert them to days"):
        fit("y ~ day", DATA.assign(day=pd.date_range("2026-01-01", periods=N)))
