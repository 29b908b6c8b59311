"""Average marginal effects: categories are compared, slopes are those of the formula, and slopes that are not defined are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.client.estimate.regression.test_factors import DATA, fit

from deniable.errors import EstimateError
from deniable.estimate import Regression


def effects(found: Regression) -> dict[tuple[str, ...], tuple[float, float]]:
    return {names: (one.estimate, one.std_error) for names, one in found.average_marginal_effects().rows}


@pytest.mark.parametrize("kind", ["int64", "float64", "Int64", "int8"])
def test_a_number_inside_c_is_a_category(kind: str) -> None:
    texts = effects(fit("y ~ C(g) + z", DATA.assign(g=DATA["g"].astype(str))))
    numbers = effects(fit("y ~ C(g) + z", DATA.astype({"g": kind})))
    assert list(numbers.values()) == [pytest.approx(pair, rel=1e-6) for pair in texts.values()]
    assert [names[1].replace(".0", "") for names in numbers] == [names[1] for names in texts]


def test_scores_inside_c_are_the_answers() -> None:
    scored, labelled = effects(fit("y ~ C(a) + z")), effects(fit("y ~ b + z"))
    assert {("a", *names[1:]): pytest.approx(pair, rel=1e-6) for names, pair in labelled.items() if names[0] == "b"} == {
        names: pair for names, pair in scored.items() if names[0] == "a"
    }


@pytest.mark.parametrize(
    ("right", "name"),
    [
        ("I(1 * (age > 40))", "age"),
        ("I(1 * (age > 40.5))", "age"),
        ("age + I(1 * (age > 40.5))", "age"),
        ("I(age // 10)", "age"),
        ("C(age // 30)", "age"),
        ("np.round(z)", "z"),
        ("np.sign(z)", "z"),
        ("np.where(z > 0, 1.0, -1.0)", "z"),
        ("np.where(age > 40, 'old', 'young')", "age"),
        ("I(np.digitize(age, np.quantile(age, [0.25, 0.75])))", "age"),
        ("I(z > z.median())", "z"),
        ("I(1 * (a > 1))", "a"),
    ],
)
def test_a_slope_across_steps_is_refused(right: str, name: str) -> None:
    with pytest.raises(EstimateError, match=f"the slope of {name} must be defined, and .* jumps near"):
        fit(f"y ~ {right}").average_marginal_effects()


def test_a_slope_at_a_corner_is_refused_and_beside_it_is_right() -> None:
    with pytest.raises(
        EstimateError, match=r"the slope of age must be defined at each value, and np.maximum\(age - 40, 0\) has a corner at 40"
    ):
        fit("y ~ np.maximum(age - 40, 0)").average_marginal_effects()
    found = fit("y ~ np.maximum(age - 40.5, 0)")
    chance = 1 / (1 + np.exp(-(found.params.iloc[0] + found.params.iloc[1] * np.maximum(DATA["age"] - 40.5, 0))))
    expected = (chance * (1 - chance) * found.params.iloc[1] * (DATA["age"] > 40.5)).mean()
    assert effects(found)["age", "per unit", "yes"][0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("right", "slope"),
    [
        ("I(age - np.mean(age))", lambda age: 1.0),
        ("scale(age)", lambda age: 1 / DATA["age"].std()),
        ("np.log(age)", lambda age: 1 / age),
        ("np.sqrt(age)", lambda age: 0.5 / np.sqrt(age)),
        ("np.log(age - 17.999)", lambda age: 1 / (age - 17.999)),
    ],
)
def test_a_slope_is_that_of_the_formula(right: str, slope: Any) -> None:
    found, age = fit(f"y ~ {right}"), DATA["age"].astype(float)
    chance = found.predict(DATA).to_frame().query("answer == 'yes'")["estimate"].to_numpy()
    expected = float((chance * (1 - chance) * found.params.iloc[1] * slope(age)).mean())
    assert effects(found)["age", "per unit", "yes"][0] == pytest.approx(expected, rel=1e-4)


def test_a_slope_of_a_spline_stays_within_its_bounds() -> None:
    (estimate, error) = effects(fit("y ~ bs(age, 4)"))["age", "per unit", "yes"]
    assert 0 < estimate < 0.1
    assert error > 0


def test_what_looks_at_all_rows_has_no_effect_of_its_own() -> None:
    with pytest.raises(EstimateError, match=r"the effect of age must follow from a row's own value, and age.rank\(\) looks at all rows"):
        fit("y ~ age.rank()").average_marginal_effects()


def test_a_column_that_only_the_answers_distribution_depends_on_has_no_effect() -> None:
    assert {names[0] for names in effects(fit("y ~ a + z", covariates="town"))} == {"a", "z"}


def test_no_interval_has_no_width() -> None:
    for right in ("C(g) + a", "C(a) * z", "a * age", "poly(age, 2) + town", "I(age - np.mean(age)):z"):
        assert all(error > 0 for _, error in effects(fit(f"y ~ {right}")).values()), right
    with pytest.raises(EstimateError, match="a chance there is 0 or 1 to nine digits"):
        fit("y ~ age").predict({"age": 10**5})


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"z": 1.0}, "the rows must have a column town"),
        ({"z": "high", "town": "a"}, "z must be numbers"),
        ({"z": [1.0, None], "town": ["a", "b"]}, "z must not be missing in any row, got 1 missing of 2"),
        ({"z": 1.0, "town": "elsewhere"}, "town must be one of a, b, got another value"),
        ([1.0], "rows must be a DataFrame or a mapping of columns, got list"),
        ({"z": [], "town": []}, "rows must be one or more, got none"),
        (pd.DataFrame({"z": [], "town": []}), "rows must be one or more, got none"),
        ({"z": [1.0, 2.0], "town": ["a"]}, "rows must be columns of one length, got 2 for z, 1 for town"),
    ],
)
def test_rows_that_cannot_be_predicted_are_refused_by_name(rows: Any, message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        fit("y ~ z + town").predict(rows)


def test_a_mapping_of_single_values_is_a_row() -> None:
    found = fit("y ~ z + town")
    one, other = (found.predict(rows).to_frame() for rows in ({"z": 1.0, "town": "b"}, pd.DataFrame({"z": [1.0], "town": ["b"]})))
    assert one.equals(other)
    with pytest.raises(EstimateError, match="b must be one of never, rarely, often, always"):
        fit("y ~ b").predict({"b": "sometimes"})
