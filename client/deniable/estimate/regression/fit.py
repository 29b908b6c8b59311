"""Regression where the outcome, the predictors or both were perturbed: docs/reference/regression.md has derivation and measurements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from deniable.estimate.regression import by_likelihood, corrected_score
from deniable.estimate.regression.request import checked
from deniable.estimate.regression.result import Regression
from deniable.estimate.regression.variable import PerturbedVariable

if TYPE_CHECKING:
    import pandas as pd


def regress(
    formula: str,
    data: pd.DataFrame | None = None,
    perturbed: Mapping[str, PerturbedVariable] | None = None,
    *,
    model: str = "logit",
    given: str | None = None,
    errors: str | None = None,
    weights: str | None = None,
    clusters: str | None = None,
) -> Regression:
    """Fits `formula`, as in "affair ~ religious + children", to n respondents.

    data: the public columns, a row per respondent. perturbed: name -> `PerturbedVariable`, of the same respondents in the same order.
    A formula uses both alike: a perturbed predictor is a category (its reference is the base), or a number where it has scores.
    model: "logit", by maximum likelihood; the log odds of every category of the outcome against its reference, so multinomial where
    it has more than two. "probit" and "cloglog" (complementary log-log): of two categories, by other links. "ordinal": proportional odds
    of categories in their order. "linear": the mean of a numeric outcome (perturbed with scores, or public), by a corrected score.
    given: of models with a likelihood, a formula of public columns that the joint distribution of the perturbed predictors may depend on;
    by default all terms of `formula` that are public. "1" says that it depends on none.
    errors: "sandwich" (the default: holds also where the model is an approximation; the only one for linear, and with weights) or
    "observed" (the observed information, which holds where the model is right) or "clusters" (the default, and the only one, with
    clusters).
    weights: a public column, how many people each respondent stands for. clusters: a public column, which of several clusters each
    respondent was drawn with; limits use Student's t with one degree of freedom less than there are clusters.
    Where a variable has a `missing` category the model is of those who answered all of its questions, and says how many they are; where
    not everybody was asked, a likelihood takes from each report what it has, a linear model those who were asked all.
    Deterministic. A formula can call functions: do not take it from strangers.
    A number that was rounded at random to a grid can be the outcome of a linear model, whose mean the rounding keeps; what else it
    could be is refused (see `applicability`). Raises EstimateError for that, for what breaks a rule, and with the reason where no
    interior maximum exists or the information is singular.
    """
    options = {"model": model, "given": given, "errors": errors, "weights": weights, "clusters": clusters}
    request = checked(formula, data, dict(perturbed or {}), options)
    result = corrected_score.fit(request) if model == "linear" else by_likelihood.fit(request)
    return Regression.build(result)
