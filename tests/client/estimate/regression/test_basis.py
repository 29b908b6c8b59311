"""Numbers far from 0, in any unit, are fitted; what follows from other terms or is in no row is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.client.estimate.regression.test_invariance import perturb

from deniable.errors import EstimateError
from deniable.estimate import PerturbedVariable, regress
from deniable.estimate.regression.basis import Basis, orthogonal

N = 800


def unrelated(seed: int) -> tuple[pd.DataFrame, dict[str, PerturbedVariable]]:
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"month": rng.integers(202601, 202613, N), "town": rng.choice(["a", "b", "c"], N)})
    return data, {"y": perturb(rng.integers(0, 2, N), ("yes", "no"), rng), "a": perturb(rng.integers(0, 2, N), ("yes", "no"), rng)}


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("start", [202600, 738000, 10**6, 1_700_000_000])
def test_months_days_and_seconds_are_fitted_as_if_counted_from_0(seed: int, start: int) -> None:
    data, reports = unrelated(seed)
    here = regress("y ~ month + a", data.assign(month=data["month"] - 202600), reports)
    there = regress("y ~ month + a", data.assign(month=data["month"] - 202600 + start), reports)
    assert there.params["month"] == pytest.approx(here.params["month"], rel=1e-4, abs=1e-6)
    assert there.bse["month"] == pytest.approx(here.bse["month"], rel=1e-4)
    assert there.llf == pytest.approx(here.llf, rel=1e-9)


def test_the_coefficients_and_their_covariance_are_carried_back_exactly() -> None:
    data, reports = unrelated(4)
    here, there = (
        regress("y ~ month", data.assign(month=data["month"] - 202606 + zero), reports, errors="observed") for zero in (0, 202606)
    )
    back = np.array([[1.0, -202606.0], [0.0, 1.0]])
    assert there.params.to_numpy() == pytest.approx(back @ here.params.to_numpy(), rel=1e-6)
    assert there.covariance.to_numpy() == pytest.approx(back @ here.covariance.to_numpy() @ back.T, rel=1e-6)


def test_separation_by_a_far_number_is_still_separation() -> None:
    day = 738000.0 + np.arange(40)
    bits = np.column_stack([day >= 738020, day < 738020])
    with pytest.raises(EstimateError, match=r"no interior maximum.*as Intercept, day runs to infinity"):
        regress("y ~ day", pd.DataFrame({"day": day}), {"y": PerturbedVariable(bits, np.eye(2), ("yes", "no"))})


@pytest.mark.parametrize(
    ("right", "message"),
    [
        ("month + I(2 * month - 7)", r"one of month, I\(2 \* month - 7\) follows from the others"),
        ("month + I(month**3) + I(month**4)", r"follows from the others.* centre numbers that are far from 0"),
        ("town + C(town)", "must not be collinear"),
        ("I(0 * month)", r"must have terms that are not 0 in every row, got I\(0 \* month\): no row has it"),
        ("I(month * 1e40)", "use another unit"),
    ],
)
def test_terms_that_follow_from_others_are_refused(right: str, message: str) -> None:
    data, reports = unrelated(5)
    with pytest.raises(EstimateError, match=message):
        regress(f"y ~ {right}", data, reports)


@pytest.mark.parametrize("model", ["logit", "linear"])
def test_a_level_that_no_row_has_is_dropped(model: str) -> None:
    data, reports = unrelated(6)
    levels = data.assign(town=pd.Categorical(data["town"], categories=["a", "b", "never", "c"]))
    for right in ("town", "C(town)", "town * month"):
        assert regress(f"y ~ {right}", levels, reports, model=model).params.tolist() == pytest.approx(
            regress(f"y ~ {right}", data, reports, model=model).params.tolist()
        )


@pytest.mark.parametrize("model", ["logit", "ordinal"])
def test_a_level_of_a_public_outcome_that_no_row_has_is_dropped(model: str) -> None:
    data, reports = unrelated(7)
    levels = data.assign(town=pd.Categorical(data["town"], categories=["a", "b", "never", "c"]))
    here, there = (regress("town ~ a", one, reports, model=model) for one in (data, levels))
    assert there.params.tolist() == here.params.tolist()


@pytest.mark.parametrize("model", ["logit", "probit", "ordinal", "linear"])
@pytest.mark.parametrize("right", ["clinic", "clinic + x"])
def test_clusters_that_are_terms_of_the_model_are_refused_instead_of_errors_of_0(model: str, right: str) -> None:
    data, reports = unrelated(8)
    data = data.rename(columns={"town": "clinic"}).assign(x=np.sin(np.arange(N)))
    with pytest.raises(EstimateError, match=r"clusters must differ within the terms, got .*clinic\[T.b\]"):
        regress(f"y ~ {right}", data, reports, model=model, clusters="clinic")


@pytest.mark.parametrize("right", ["g", "0 + g"])
@pytest.mark.parametrize("alike", ["a", "b"])
def test_a_group_of_outcomes_that_are_all_alike_is_refused_however_it_is_written(right: str, alike: str) -> None:
    data = pd.DataFrame({"g": ["a", "b"] * 30, "y": np.sin(np.arange(60.0))})
    data.loc[data["g"] == alike, "y"] = 1.0
    with pytest.raises(EstimateError, match="must not be all alike: nothing tells its error"):
        regress(f"y ~ {right}", data, model="linear")


def test_a_basis_is_orthogonal_and_reaches_1() -> None:
    x = 202606.0 + np.arange(-5.0, 6.0)
    basis = Basis.of(np.column_stack([np.ones(11), x, x**2]), ["Intercept", "x", "I(x ** 2)"])
    columns = basis.columns(np.column_stack([np.ones(11), x, x**2]))
    assert np.abs(columns).max(axis=0) == pytest.approx(np.ones(3))
    gram = columns.T @ columns
    assert gram == pytest.approx(np.diag(np.diagonal(gram)), abs=1e-4)


def test_an_orthogonal_basis_leaves_out_what_follows() -> None:
    one: Any = np.ones(5)
    assert orthogonal(np.column_stack([one, 1e9 + np.arange(5.0), 3 * one, np.arange(5.0)])).shape == (5, 2)
