"""Maximum likelihood fit of a regression model, from a request to its coefficients."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import EstimateError, ModelError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.regression import failures, likelihood
from deniable.estimate.regression.cells import latent_cells
from deniable.estimate.regression.families import FAMILIES, proportional
from deniable.estimate.regression.fitted import Coefficients, Likelihood
from deniable.estimate.regression.layout import Terms
from deniable.estimate.regression.request import Request
from deniable.estimate.regression.variable import PerturbedVariable

if TYPE_CHECKING:
    import pandas as pd


MAX_OUTCOMES = 64


def fit(request: Request) -> Coefficients:
    """Fits a model by maximum likelihood. Raises EstimateError if there is no maximum, or the request does not fit the model."""
    outcome = request.perturbed.get(request.outcome) or _public_outcome(request)
    outcomes = _outcomes(outcome, request.model)
    terms = request.terms([outcome.patterns()])
    n_asked = request.count_asked(terms.predictors)
    order = [outcome.categories.index(category) for category in outcomes]
    cells = latent_cells([request.perturbed[name].of(terms.rows) for name in terms.predictors], outcome.of(terms.rows), order)
    constraint, start, names = _shape(request.model, outcomes, terms)
    reports = likelihood.Reports(
        count=terms.count(request.sampling.weights),
        x=cells.padded(terms.x),
        w=terms.w,
        a=cells.a,
        b=cells.b,
        family=FAMILIES[request.model],
        constraint=constraint,
    )
    naming = terms.basis.naming([_coefficient_name(name, outcomes) for name in names], constraint, len(outcomes))
    try:
        maximum = likelihood.maximize(reports, naming, start)
    except likelihood.NoMaximumError as error:
        raise _separation(error, reports, terms, request.outcome, outcomes) from None
    covariance = np.asarray(np.linalg.inv(maximum.at.observed), dtype=np.float64)
    b, carried = reports.coefficients, terms.basis.carried(constraint, len(outcomes))
    if request.errors != "observed":
        scores = likelihood.scores(reports, maximum.parameters)
        request.sampling.require_errors(scores[:, :b] @ np.linalg.inv(carried), terms.which, naming.names)
        covariance = covariance @ request.sampling.meat(scores, terms.which) @ covariance
    shares = likelihood.combinations(reports, maximum.parameters)
    answered, size = _answered_share(reports, maximum.parameters, cells.complete), cells.complete
    latent = _latent(terms, shares[:size] / shares[:size].sum())
    return Coefficients(
        request=request,
        outcome=_in_words(request.model, outcomes),
        names=names,
        params=carried @ maximum.parameters[:b],
        covariance=carried @ covariance[:b, :b] @ carried.T,
        layout=terms.layout,
        basis=terms.basis,
        n_asked=n_asked,
        answered=answered,
        likelihood=Likelihood(terms, reports, maximum, covariance, carried, outcome, outcomes, request.sampling, size, start, latent),
    )


def _separation(
    error: likelihood.NoMaximumError, reports: likelihood.Reports, terms: Terms, name: str, outcomes: Sequence[str]
) -> ModelError:
    """Returns the error of a model whose likelihood has no maximum, with the categories whose people have a share of 0 or 1."""
    columns = terms.layout.matrix(*terms.everywhere())
    change = np.abs(terms.basis.columns(columns) @ reports.slopes(error.step).T).max(axis=1)
    outcome = f"answers {name} = {outcomes[0]}" if len(outcomes) == 2 else f"gives some answer to {name}"
    return failures.separation(outcome, failures.at_limit(columns, terms.names, change, terms.layout.categories), error.terms)


def _outcomes(outcome: PerturbedVariable, model: str) -> tuple[str, ...]:
    """Returns the outcome's answers in the family's order. Raises EstimateError if the model does not allow their number."""
    if model == "ordinal":
        return outcome.answers
    if model != "logit" and len(outcome.answers) != 2:
        raise EstimateError(f"the outcome of a {model} model must have 2 answers, got {len(outcome.answers)}; logit and ordinal take more")
    return (*(category for category in outcome.answers if category != outcome.reference), str(outcome.reference))


def _shape(model: str, outcomes: Sequence[str], terms: Terms) -> tuple[FloatArray | None, FloatArray, list[tuple[str, str]]]:
    """Returns the constraint matrix, the starting values, and the names of the coefficients."""
    if model != "ordinal":
        names = [(category, name) for category in outcomes[:-1] for name in terms.names]
        return None, np.zeros(len(names)), names
    if "Intercept" not in terms.names:
        raise EstimateError("an ordinal model has thresholds in place of an intercept: leave `0 +` out of the formula")
    constraint = proportional(len(outcomes), len(terms.names), terms.names.index("Intercept"))
    slopes = [name for name in terms.names if name != "Intercept"]
    thresholds = [f"{low} | {high}" for low, high in itertools.pairwise(outcomes)]
    shares = np.arange(1, len(outcomes)) / len(outcomes)
    start = np.append(np.zeros(len(slopes)), np.log(shares / (1 - shares)))
    return constraint, start, [("", name) for name in (*slopes, *thresholds)]


def _coefficient_name(name: tuple[str, str], outcomes: Sequence[str]) -> str:
    """Returns a coefficient's name in a message."""
    return f"{name[1]} ({name[0]})" if name[0] and len(outcomes) > 2 else name[1]


def _in_words(model: str, outcomes: Sequence[str]) -> str:
    others, reference = " and of ".join(outcomes[:-1]), outcomes[-1]
    return {
        "logit": f"log odds of {others} against {reference}",
        "probit": f"normal quantile of the chance of {others} against {reference}",
        "cloglog": f"complementary log-log of the chance of {others} against {reference}",
        "ordinal": f"log odds of being above each threshold, the same slopes for all: {' < '.join(outcomes)}",
    }[model]


def _answered_share(reports: likelihood.Reports, parameters: FloatArray, complete: int) -> float:
    """Returns the estimated share of people who answered all questions of the model."""
    if complete == reports.x.shape[1]:
        return 1.0
    return float(likelihood.combinations(reports, parameters)[:complete].sum())


def _latent(terms: Terms, shares: FloatArray) -> pd.Series[float] | None:
    """Returns the estimated joint shares of the perturbed predictors, indexed by their answers."""
    import pandas as pd

    if not terms.predictors:
        return None
    variables = terms.layout.predictors.values()
    labels = [tuple(one.answers[place] for one, place in zip(variables, cell, strict=True)) for cell in terms.combinations]
    return pd.Series(shares, index=pd.MultiIndex.from_tuples(labels, names=terms.predictors), name="share")


def _public_outcome(request: Request) -> PerturbedVariable:
    """Returns a public outcome as a variable that came through a channel without noise."""
    name, column = request.outcome, request.table[request.outcome]
    if column.isna().any():
        raise EstimateError(f"{name} must not be missing in any row, got {int(column.isna().sum()):,} missing of {len(column):,}")
    levels = list(column.cat.remove_unused_categories().cat.categories) if hasattr(column, "cat") else sorted(set(column.tolist()))
    if not 2 <= len(levels) <= MAX_OUTCOMES:
        raise EstimateError(f"the outcome {name} must have 2 to {MAX_OUTCOMES} different values, got {len(levels):,}")
    return PerturbedVariable.by_design(column.tolist(), np.eye(len(levels)), levels)
