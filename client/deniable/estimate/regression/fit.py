"""Regression where the outcome, the predictors or both were perturbed: docs/reference/regression.md has derivation and measurements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.moments import applicability
from deniable.estimate.regression import corrected_score, likelihood
from deniable.estimate.regression import formula as layout
from deniable.estimate.regression.result import Regression
from deniable.estimate.regression.variable import Perturbed

if TYPE_CHECKING:
    import pandas as pd

_Floats = NDArray[np.float64]

MODELS = ("logit", "linear")
_ERRORS = {"logit": ("observed", "sandwich"), "linear": ("sandwich",)}
MAX_OUTCOMES = 64


@dataclass(frozen=True)
class _Request:
    formula: str
    outcome: str
    right: str
    table: pd.DataFrame
    perturbed: dict[str, Perturbed]
    given: str | None
    errors: str

    @property
    def predictors(self) -> dict[str, Perturbed]:
        """All perturbed variables but the outcome."""
        return {name: variable for name, variable in self.perturbed.items() if name != self.outcome}

    def terms(self, given: str | None, outcome_kinds: NDArray[Any]) -> layout.Terms:
        public = self.table.drop(columns=[self.outcome], errors="ignore")
        return layout.terms(self.right, given, public, self.predictors, [outcome_kinds])


def regress(
    formula: str,
    data: pd.DataFrame | None = None,
    perturbed: Mapping[str, Perturbed] | None = None,
    *,
    model: str = "logit",
    given: str | None = None,
    errors: str | None = None,
) -> Regression:
    """Fits `formula`, as in "affair ~ religious + children", to n respondents.

    data: the public columns, a row per respondent. perturbed: name -> `Perturbed`, of the same respondents in the same order. A formula
    uses both alike: a perturbed predictor is a category (its reference is the base), or a number where it has scores.
    model: "logit", by maximum likelihood; the log odds of every category of the outcome against its reference, so multinomial where
    it has more than two. "linear": the mean of a numeric outcome (perturbed with scores, or public), by a corrected score.
    given: of the logit model, a formula of public columns that the joint distribution of the perturbed predictors may depend on; by
    default all terms of `formula` that are public. "1" says that it depends on none.
    errors: "observed" (the observed information; the default for logit) or "sandwich" (holds also where the model is an approximation;
    the only one for linear).
    Deterministic. A formula can call functions: do not take it from strangers.
    A number that was rounded at random to a grid can be the outcome of a linear model, whose mean the rounding keeps; what else it
    could be is refused (see `applicability`). Raises EstimateError for that, for what breaks a rule, and with the reason where no
    interior maximum exists or the information is singular.
    """
    if model not in MODELS:
        raise EstimateError(f"model must be one of {', '.join(MODELS)}, got {model!r}")
    errors = errors or _ERRORS[model][0]
    if errors not in _ERRORS[model]:
        raise EstimateError(f"errors must be {' or '.join(_ERRORS[model])} for a {model} model, got {errors!r}")
    perturbed = dict(perturbed or {})
    table = _table(data, perturbed)
    name, right = layout.split(formula)
    if name not in perturbed and name not in table.columns:
        raise EstimateError(f"the outcome must be a perturbed variable or a column of the data, got {name!r}")
    _refuse_rounded(name, layout.names(right) | (layout.names(given) if given else set()), perturbed, model)
    request = _Request(formula, name, right, table, perturbed, given, errors)
    return _logit(request) if model == "logit" else _linear(request)


def _refuse_rounded(outcome: str, others: set[str], perturbed: Mapping[str, Perturbed], model: str) -> None:
    """Of a number on a grid only the mean is right: it can be the outcome of a model of means, and nothing else."""
    rounded = {name for name, variable in perturbed.items() if variable.on_grid}
    applicability.require("slope on a number", sorted(rounded & others))
    applicability.require("logit of a number" if model == "logit" else "linear regression of a number", sorted(rounded & {outcome}))
    if outcome in rounded and (scores := perturbed[outcome].scores) is not None:
        applicability.require_even(outcome, np.asarray(scores))


def _table(data: pd.DataFrame | None, perturbed: Mapping[str, Perturbed]) -> pd.DataFrame:
    """The public columns, or a table of none; checks that all have as many respondents."""
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


def _logit(request: _Request) -> Regression:
    outcome = request.perturbed.get(request.outcome) or _public_outcome(request.outcome, request.table)
    order = [i for i, category in enumerate(outcome.categories) if category != outcome.reference]
    others = [outcome.categories[i] for i in order]
    terms = request.terms(request.given, outcome.patterns())
    scale = np.abs(terms.x).max(axis=(0, 1))
    reports = likelihood.Reports(
        count=terms.count,
        x=terms.x / scale,
        w=terms.w,
        a=_product(terms, [request.perturbed[name].of(terms.rows).likelihood() for name in terms.predictors]),
        b=outcome.of(terms.rows).likelihood()[:, [*order, outcome.categories.index(str(outcome.reference))]],
    )
    index = _index(others, terms.names)
    maximum = likelihood.maximize(reports, [key if isinstance(key, str) else f"{key[1]} ({key[0]})" for key in index])
    covariance = np.linalg.inv(maximum.at.observed)
    if request.errors == "sandwich":
        covariance = covariance @ maximum.at.outer @ covariance
    b, scales = reports.coefficients, np.tile(scale, len(others))
    return Regression.build(
        formula=request.formula,
        model="logit",
        outcome=f"log odds of {' and of '.join(others)} against {outcome.reference}",
        index=index,
        params=maximum.parameters[:b] / scales,
        covariance=covariance[:b, :b] / np.outer(scales, scales),
        errors=request.errors,
        nobs=len(request.table),
        llf=maximum.at.llf,
        steps=maximum.steps,
        latent=_latent(terms, request.perturbed, likelihood.combinations(reports, maximum.parameters)),
    )


def _linear(request: _Request) -> Regression:
    if request.given is not None:
        raise EstimateError("given must be left out of a linear model, which assumes nothing about the predictors' distribution")
    outcome, values = _numbers(request.outcome, request.table, request.perturbed)
    terms = request.terms(None, values)
    u = _product(terms, [request.perturbed[name].of(terms.rows).pseudo_answers() for name in terms.predictors])
    beta, covariance = corrected_score.solve(terms.count, terms.x, u, values[terms.rows], terms.names)
    return Regression.build(
        formula=request.formula,
        model="linear",
        outcome=f"mean of {outcome}",
        index=_index([request.outcome], terms.names),
        params=beta,
        covariance=covariance,
        errors=request.errors,
        nobs=len(request.table),
        llf=None,
        steps=1,
        latent=None,
    )


def _public_outcome(name: str, table: pd.DataFrame) -> Perturbed:
    """A public outcome is one that came through a channel without noise."""
    column = table[name]
    if column.isna().any():
        raise EstimateError(f"{name} must not be missing in any row, got {int(column.isna().sum()):,} missing of {len(column):,}")
    levels = list(column.cat.categories) if hasattr(column, "cat") else sorted(set(column.tolist()))
    if not 2 <= len(levels) <= MAX_OUTCOMES:
        raise EstimateError(f"the outcome {name} must have 2 to {MAX_OUTCOMES} different values, got {len(levels):,}")
    return Perturbed.by_design(column.tolist(), np.eye(len(levels)), levels)


def _numbers(name: str, table: pd.DataFrame, perturbed: Mapping[str, Perturbed]) -> tuple[str, _Floats]:
    """Of a numeric outcome: what it is called in words, and an unbiased number for every respondent, shape (n,)."""
    if name not in perturbed:
        try:
            values = table[name].to_numpy(dtype=np.float64)
        except (TypeError, ValueError):
            raise EstimateError(f"the outcome {name} of a linear model must be numbers") from None
        if not np.isfinite(values).all():
            raise EstimateError(f"the outcome {name} of a linear model must be finite numbers in every row")
        return name, values
    variable = perturbed[name]
    if variable.scores is None:
        if len(variable.categories) == 2:
            scores = np.array([category != variable.reference for category in variable.categories], dtype=np.float64)
            return f"{name} (1 for {variable.categories[int(scores.argmax())]}, else 0)", variable.pseudo_answers() @ scores
        raise EstimateError(f"the outcome {name} of a linear model must have scores, a number for each of its categories")
    return f"{name}'s scores", variable.pseudo_answers() @ np.asarray(variable.scores)


def _product(terms: layout.Terms, factors: list[_Floats]) -> _Floats:
    """For each kind of respondent and combination the product over the predictors, shape (R, C)."""
    product = np.ones((len(terms.rows), len(terms.combinations)))
    for j, factor in enumerate(factors):
        product *= factor[:, terms.combinations[:, j]]
    return product


def _index(outcomes: list[str], names: list[str]) -> pd.Index[Any]:
    import pandas as pd

    if len(outcomes) == 1:
        return pd.Index(names, name="term")
    return pd.MultiIndex.from_product([outcomes, names], names=["outcome", "term"])


def _latent(terms: layout.Terms, perturbed: Mapping[str, Perturbed], shares: _Floats) -> pd.Series[float] | None:
    """The estimated joint shares of the perturbed predictors, indexed by their categories."""
    import pandas as pd

    if not terms.predictors:
        return None
    labels = [tuple(perturbed[key].categories[c] for key, c in zip(terms.predictors, cell, strict=True)) for cell in terms.combinations]
    return pd.Series(shares, index=pd.MultiIndex.from_tuples(labels, names=terms.predictors), name="share")
