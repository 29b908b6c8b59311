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
    covariates: str | None = None,
    errors: str | None = None,
    weights: str | None = None,
    clusters: str | None = None,
) -> Regression:
    """Fits a formula, such as "affair ~ religious + children", to the reports of n respondents.

    A formula uses public columns and perturbed variables alike. A perturbed predictor is a category (its reference is the base), or a
    number if it has scores. If a variable has a `missing` category, the model is of the people who answered all of its questions, and
    states their number. If not everybody was asked, a likelihood takes from each report what it has, a linear model the people who were
    asked all. A number that was rounded at random to a grid can be the outcome of a linear model only (see `applicability`). The result is
    deterministic. A formula can call functions: do not take it from strangers.

    Args:
        formula: The model.
        data: The public columns, a row per respondent.
        perturbed: The perturbed variables by name, of the same respondents in the same order.
        model: "logit", by maximum likelihood, for the log odds of every category of the outcome against its reference (multinomial if
            there are more than two); "probit" and "cloglog" (complementary log-log) for two categories; "ordinal" for proportional odds of
            categories in their order; "linear" for the mean of a numeric outcome (perturbed with scores, or public), by a corrected score.
        covariates: A formula of the public columns that the joint distribution of the perturbed predictors may depend on, by default all
            public terms of `formula`. "1" makes it independent of them. Not for a linear model.
        errors: "sandwich", which holds also if the model is an approximation (the default, and the only choice for a linear model and with
            weights); "observed", the observed information, which holds if the model is right; or "clusters" (the only choice with
            clusters).
        weights: A public column with the number of people that each respondent represents.
        clusters: A public column with the cluster that each respondent was drawn with. Limits use Student's t with one degree of freedom
            less than there are clusters.

    Raises:
        EstimateError: An argument breaks its rule.
        ModelError: The likelihood has no interior maximum or the information is singular; the message has the reason.
    """
    options = {"model": model, "covariates": covariates, "errors": errors, "weights": weights, "clusters": clusters}
    request = checked(formula, data, dict(perturbed or {}), options)
    result = corrected_score.fit(request) if model == "linear" else by_likelihood.fit(request)
    return Regression.build(result)
