"""Regression request: the checked formula, data and options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.moments import applicability
from deniable.estimate.regression import formula as formulas
from deniable.estimate.regression import layout
from deniable.estimate.regression.families import FAMILIES
from deniable.estimate.regression.sampling import SamplingDesign
from deniable.estimate.regression.variable import PerturbedVariable

if TYPE_CHECKING:
    import pandas as pd

MODELS = (*FAMILIES, "linear")


@dataclass(frozen=True)
class Request:
    """A checked request for a regression.

    Attributes:
        formula: `outcome ~ right`.
        model: As in `regress`.
        outcome: The outcome's name.
        right: The right-hand side.
        table: The public columns.
        perturbed: The perturbed variables.
        covariates: As in `regress`.
        errors: As in `regress`, never None.
        sampling: Weights and clusters.
    """

    formula: str
    model: str
    outcome: str
    right: str
    table: pd.DataFrame
    perturbed: Mapping[str, PerturbedVariable]
    covariates: str | None
    errors: str
    sampling: SamplingDesign

    @property
    def predictors(self) -> dict[str, PerturbedVariable]:
        """All perturbed variables but the outcome."""
        return {name: variable for name, variable in self.perturbed.items() if name != self.outcome}

    def terms(self, outcome_kinds: list[NDArray[Any]]) -> layout.Terms:
        """Returns the right-hand side. outcome_kinds: kinds of respondents by their outcome, (n,) each."""
        public = self.table.drop(columns=[self.outcome], errors="ignore")
        return layout.terms(self.right, self.covariates, public, self.predictors, outcome_kinds)

    def count_asked(self, predictors: list[str]) -> int:
        """Returns how many respondents were asked all questions of the model."""
        variables = [self.perturbed[name] for name in (self.outcome, *predictors) if name in self.perturbed]
        everybody = np.ones(len(self.table), dtype=np.bool_)
        for variable in variables:
            everybody &= True if variable.was_asked is None else variable.was_asked
        if not everybody.any():
            raise EstimateError("there must be at least one respondent who was asked all questions of the model")
        return int(everybody.sum())


def checked(
    formula: str,
    data: pd.DataFrame | None,
    perturbed: Mapping[str, PerturbedVariable],
    options: Mapping[str, Any],
) -> Request:
    """Returns the checked request. options: model, covariates, errors, weights, clusters.

    Raises:
        EstimateError: An argument breaks its rule.
    """
    model, values, weights, clusters = (options[name] for name in ("model", "covariates", "weights", "clusters"))
    if model not in MODELS:
        raise EstimateError(f"model must be one of {', '.join(MODELS)}, got {model!r}")
    errors = _errors(model, options["errors"], weights is not None, clusters is not None)
    table = _table(data, perturbed)
    outcome, right = formulas.split(formula)
    if outcome not in perturbed and outcome not in table.columns:
        raise EstimateError(f"the outcome must be a perturbed variable or a column of the data, got {outcome!r}")
    _refuse_rounded(outcome, formulas.names(right) | (formulas.names(values) if values else set()), perturbed, model)
    return Request(formula, model, outcome, right, table, perturbed, values, errors, SamplingDesign.of(table, weights, clusters))


def _errors(model: str, errors: str | None, weighted: bool, clustered: bool) -> str:
    possible = ("clusters",) if clustered else ("sandwich",) if weighted or model == "linear" else ("sandwich", "observed")
    if errors is not None and errors not in possible:
        why = "with clusters" if clustered else "with weights" if weighted else f"for a {model} model"
        raise EstimateError(f"errors must be {' or '.join(possible)} {why}, got {errors!r}")
    return errors or possible[0]


def _refuse_rounded(outcome: str, others: set[str], perturbed: Mapping[str, PerturbedVariable], model: str) -> None:
    """Raises EstimateError unless a number on a grid is the outcome of a model of means, since only its mean is right."""
    rounded = {name for name, variable in perturbed.items() if variable.on_grid}
    applicability.require("slope on a number", sorted(rounded & others))
    applicability.require("linear regression of a number" if model == "linear" else "logit of a number", sorted(rounded & {outcome}))
    if outcome in rounded and (scores := perturbed[outcome].answer_scores) is not None:
        applicability.require_even(outcome, scores)


def _table(data: pd.DataFrame | None, perturbed: Mapping[str, PerturbedVariable]) -> pd.DataFrame:
    """Returns the public columns, or an empty table; checks that all variables have the same number of respondents."""
    import pandas as pd

    sizes = {f"{name}": variable.n for name, variable in perturbed.items()}
    if data is None:
        if not sizes:
            raise EstimateError("there must be data, perturbed variables, or both")
        data = pd.DataFrame(index=range(next(iter(sizes.values()))))
    for name, size in sizes.items():
        if size != len(data):
            raise EstimateError(f"{name} must have as many respondents as the rest, {len(data):,}, got {size:,}")
        if name in data.columns:
            raise EstimateError(f"{name} must be either public or perturbed, got it in both")
    if not len(data):
        raise EstimateError("there must be at least one respondent")
    return data.reset_index(drop=True)
