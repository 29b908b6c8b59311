"""Marginal effects and predictions: average marginal effects, and predicted chances, with errors by the delta method.

A prediction is the chance of each answer (or the mean of a linear model) at given values. Its limits are computed for its logit, and
transformed back.

An average marginal effect of a category is the average, over all respondents' other values, of the chance of an answer at this
category less its chance at the reference; of a number, of the chance's slope. Other perturbed values are averaged by their estimated
distribution pi(c | z), the public ones as they were observed:

    AME = sum over i and c of  w_i pi(c | z_i) D(z_i, c)  /  sum over i and c of  w_i pi(c | z_i),    c among people who answered all.

Its variance has two parts: the gradient in all parameters, pi's among them, with their covariance; and the sampling of the respondents'
public values (W. Greene, "Econometric Analysis" (2012), section 17.3; J. Wooldridge, "Econometric Analysis" (2010), problem 12.17).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.normal import Estimate
from deniable.estimate.present.figures import with_error
from deniable.estimate.present.table import Table
from deniable.estimate.present.tabular import Tabular
from deniable.estimate.regression import changes, likelihood
from deniable.estimate.regression.fitted import Coefficients, Likelihood
from deniable.estimate.regression.layout import ModelLayout, labelled

if TYPE_CHECKING:
    import pandas as pd


_LEAST = 1e-9  # of a chance's error: below it nothing is seen of the chance, and the delta method holds no longer


@dataclass(frozen=True)
class Effects(Tabular):
    """Predictions or marginal effects of a model.

    Attributes:
        title: The title.
        names: The columns that identify a figure.
        rows: The values of these columns, and the figure.
    """

    title: str
    names: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], Estimate], ...]

    def tables(self) -> tuple[Table, ...]:
        """Returns one row a figure."""
        rows = ((*labels, *_cells(one)) for labels, one in self.rows)
        level = f"{100 * self.rows[0][1].confidence:g}% interval"
        return (Table(self.title, (*self.names, "estimate", "std error", level), tuple(rows), texts=len(self.names)),)

    def records(self) -> tuple[Table, ...]:
        """Returns one row a figure: the names, then n, estimate, std_error, low, high, confidence."""
        header = (*self.names, "n", "estimate", "std_error", "low", "high", "confidence")
        rows = ((*labels, one.n, one.estimate, one.std_error, one.low, one.high, one.confidence) for labels, one in self.rows)
        return (Table("effect", header, tuple(rows)),)


def _cells(one: Estimate) -> tuple[str, ...]:
    value, error, low, high = with_error((one.estimate, one.std_error, one.low, one.high), one.std_error, 4)
    return value, error, f"{low} – {high}"


def predictions(fit: Coefficients, rows: pd.DataFrame | Mapping[str, Any], confidence: float) -> Effects:
    """Returns the chance of every answer, or the mean of a linear model, for each row of values of the formula's variables.

    A perturbed predictor's value is one of its answers, or a number if it has scores.

    Raises:
        EstimateError: The rows do not fit the model.
    """
    table = _table(rows)
    x = fit.basis.columns(fit.layout.matrix(_values(fit, table)))
    names = tuple(map(str, table.columns))
    labels = [tuple(map(str, row)) for row in table.itertuples(index=False)]
    if (result := fit.likelihood) is None:
        beta, covariance = fit.core or (fit.params, fit.covariance)
        values, errors = x @ beta, np.sqrt(np.einsum("ip,pq,iq->i", x, covariance, x))
        each = zip(values.tolist(), errors.tolist(), fit.freedom(x @ np.linalg.inv(fit.basis.turn)).tolist(), strict=True)
        figures = [_with_limits(fit, "mean", value, error, confidence, df) for value, error, df in each]
        return Effects(f"{fit.request.formula}: {fit.outcome}", names, tuple(zip(labels, figures, strict=True)))
    chances, gradients = _chances(result, x)
    b = result.reports.coefficients
    predicted = [
        ((*label, answer), _chance(fit, chances[i], gradients[i], y, result.covariance[:b, :b], confidence))
        for i, label in enumerate(labels)
        for y, answer in enumerate(result.outcomes)
    ]
    return Effects(f"{fit.request.formula} ({fit.request.model}): chances", (*names, "answer"), tuple(predicted))


def _table(rows: pd.DataFrame | Mapping[str, Any]) -> pd.DataFrame:
    import pandas as pd

    if not isinstance(rows, pd.DataFrame | Mapping):
        raise EstimateError(f"rows must be a DataFrame or a mapping of columns, got {type(rows).__name__}")
    if isinstance(rows, Mapping):
        sizes = {name: np.size(value) for name, value in rows.items() if np.ndim(value)}
        if len(set(sizes.values())) > 1:
            raise EstimateError(
                f"rows must be columns of one length, got {', '.join(f'{size:,} for {name}' for name, size in sizes.items())}"
            )
        rows = pd.DataFrame({name: list(value) if np.ndim(value) else value for name, value in rows.items()}, index=None if sizes else [0])
    if not len(rows):
        raise EstimateError("rows must be one or more, got none")
    return rows.reset_index(drop=True)


def _values(fit: Coefficients, table: pd.DataFrame) -> pd.DataFrame:
    """Returns the variables as the formula sees them. Raises EstimateError for a missing variable, and an unknown answer."""
    frame, layout = table.copy(), fit.layout
    if lacking := sorted(layout.variables - set(frame.columns)):
        raise EstimateError(f"the rows must have a column {lacking[0]}")
    for name in sorted(layout.variables):
        if (missing := int(frame[name].isna().sum())) and missing:
            raise EstimateError(f"{name} must not be missing in any row, got {missing:,} missing of {len(frame):,}")
        if (variable := layout.predictors.get(name)) is None:
            numbers = _numeric(fit.request.table[name])
        elif numbers := variable.scores is not None:
            pass
        elif not set(frame[name].astype(str)) <= set(variable.answers):
            raise EstimateError(f"{name} must be one of {', '.join(variable.answers)}, got another value")
        else:
            frame[name] = labelled(variable, frame[name].astype(str))
        if numbers and not _numeric(frame[name]):
            raise EstimateError(f"{name} must be numbers")
    return frame


def average_marginal_effects(fit: Coefficients, confidence: float) -> Effects:
    """Returns the average marginal effect of every variable on the chance of each answer; of two answers, on the first one's.

    Raises:
        EstimateError: The model is linear: its coefficients are its effects.
    """
    if (result := fit.likelihood) is None:
        raise EstimateError("average marginal effects need a model of chances; the effects of a linear model are its coefficients")
    people = _People.of(result)
    answers = result.outcomes[:1] if len(result.outcomes) == 2 else result.outcomes
    rows = []
    for contrast in _contrasts(people):
        values, errors = _average_effect(people, contrast)
        if not (errors > 0).all():
            raise EstimateError(f"the effect of {contrast.name} has no error: it changes no term of the model. Leave it out of the formula")
        for y, answer in enumerate(answers):
            what = f"{contrast.name}: {contrast.what}, on {answer}"
            rows.append(
                ((contrast.name, contrast.what, answer), _with_limits(fit, what, float(values[y]), float(errors[y]), confidence, fit.df))
            )
    return Effects(f"{fit.request.formula} ({fit.request.model}): average marginal effects", ("variable", "change", "answer"), tuple(rows))


class _Contrast(NamedTuple):
    """Terms at one value of a variable, and at another, for each public kind and combination, (Z C, p).

    Attributes:
        name: The variable.
        what: The change, in words.
        over: The terms at the first value.
        under: The terms at the second value.
        per: The divisor of the difference, (Z C, 1) or (1, 1).
    """

    name: str
    what: str
    over: FloatArray
    under: FloatArray
    per: FloatArray


@dataclass(frozen=True)
class _People:
    """Population that effects are averaged over.

    Attributes:
        fit: The fitted likelihood.
        frame: The formula's variables at every public kind and combination of answers, Z C rows.
        kinds: The public kinds of these rows, (Z C,).
        pi: The cells' distribution, (Z, S).
        weight: Respondents of each public kind, or the sum of their weights, (Z,).
        w: The covariates of pi, (Z, q).
    """

    fit: Likelihood
    frame: pd.DataFrame
    kinds: NDArray[np.int64]
    pi: FloatArray
    weight: FloatArray
    w: FloatArray

    @classmethod
    def of(cls, fit: Likelihood) -> _People:
        terms = fit.terms
        _, first = np.unique(terms.public_kind, return_index=True)
        frame, kinds = terms.everywhere()
        pi = likelihood.distribution(fit.reports, fit.maximum.parameters)[first]
        weight = np.bincount(terms.public_kind, fit.reports.count, minlength=len(terms.public)).astype(np.float64)
        return cls(fit, frame, kinds, pi, weight, fit.reports.w[first])


def _contrasts(people: _People) -> Iterator[_Contrast]:
    """Yields one contrast for each number, and for each category but the reference of other variables."""
    layout, basis, frame = people.fit.terms.layout, people.fit.terms.basis, people.frame
    for name in (name for name in frame.columns if name in layout.variables):
        changes.require_own(layout, name)
        column = frame[name]
        if _numeric(column) and all(factor.expression.category_of != name for factor in layout.factors):
            over, under, per = changes.sides(layout, frame, name, people.kinds)
            yield _Contrast(name, "per unit", basis.columns(over), basis.columns(under), per)
            continue
        levels, labels = _levels(layout, name, column)
        at = [_basis_at(people, name, _constant(column, level)) for level in levels]
        for label, x in zip(labels[1:], at[1:], strict=True):
            yield _Contrast(name, f"{label} against {labels[0]}", x, at[0], np.ones((1, 1)))


def _basis_at(people: _People, name: str, values: Any) -> FloatArray:
    """Returns the basis where a variable has other values."""
    terms = people.fit.terms
    return terms.basis.columns(terms.layout.matrix(people.frame.assign(**{name: values}), people.kinds))


def _levels(layout: ModelLayout, name: str, column: pd.Series[Any]) -> tuple[list[Any], list[str]]:
    """Returns the values of a category, its reference first, and their labels."""
    if hasattr(column, "cat"):
        levels = list(column.cat.categories)
        return levels, [str(level) for level in levels]
    levels = sorted(set(column.tolist()))
    variable = layout.predictors.get(name)
    if variable is None or (scores := variable.answer_scores) is None or len(levels) < len(scores):
        return levels, [str(level) for level in levels]
    answers = dict(zip(scores.tolist(), variable.answers, strict=True))
    return levels, [answers[level] for level in levels]


def _numeric(column: pd.Series[Any]) -> bool:
    return not hasattr(column, "cat") and column.dtype.kind in "iuf"


def _constant(column: pd.Series[Any], level: Any) -> Any:
    """Returns a column of one value, of the original kind."""
    if not hasattr(column, "cat"):
        return level
    import pandas as pd

    return pd.Categorical([level] * len(column), categories=column.cat.categories)


def _average_effect(people: _People, contrast: _Contrast) -> tuple[FloatArray, FloatArray]:
    """Returns the average difference in the chance of each outcome, shape (K,), and its standard error."""
    result, (kinds, cells) = people.fit, people.pi.shape
    size, b = result.complete, people.fit.reports.coefficients
    (over, by_over), (under, by_under) = (_chances(result, x) for x in (contrast.over, contrast.under))
    shares = people.pi[:, :size]
    there = (people.weight[:, None] * shares).ravel()
    total = float(there.sum())
    d = ((over - under) / contrast.per).reshape(kinds, size, -1)
    values = there @ d.reshape(len(there), -1) / total
    gradient = np.zeros((len(values), len(result.covariance)))
    gradient[:, :b] = np.einsum("n,nyb->yb", there, (by_over - by_under) / contrast.per[..., None]) / total
    off = np.zeros((kinds, cells, len(values)))
    off[:, :size] = d - values
    mean = np.einsum("zs,zsy->zy", people.pi, off)
    moved = people.weight[:, None, None] * people.pi[:, :, None] * (off - mean[:, None, :])
    gradient[:, b:] = np.einsum("zsy,zq->ysq", moved[:, 1:], people.w).reshape(len(values), -1) / total
    sampled = result.sampling.meat(mean[result.terms.public_kind], result.terms.which) / total**2
    variances = np.einsum("yb,bc,yc->y", gradient, result.covariance, gradient) + np.diagonal(sampled)
    return values, np.sqrt(variances)


def _chances(fit: Likelihood, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Returns the chances at these rows of the basis, shape (n, K), and their gradient in beta, (n, K, coefficients)."""
    reports, scaled = fit.reports, x
    eta = scaled @ reports.slopes(fit.maximum.parameters).T
    mu = reports.family.chances(eta)
    by_eta = mu[..., None] * reports.family.scores(eta, mu)
    gradient = (by_eta[..., None] * scaled[:, None, None, :]).reshape(*mu.shape, -1)
    return mu, gradient if reports.constraint is None else gradient @ reports.constraint


def _with_limits(fit: Coefficients, what: str, value: float, error: float, confidence: float, df: float) -> Estimate:
    half = -float(scipy.special.stdtrit(df, Interval(confidence).alpha / 2)) * error
    return Estimate(what, fit.nobs, value, error, value - half, value + half, confidence, "population")


def _chance(fit: Coefficients, chances: FloatArray, gradients: FloatArray, y: int, covariance: FloatArray, confidence: float) -> Estimate:
    """Returns one answer's chance.

    Its limits come from its log odds, by the smaller of the chance and the rest, and so are never 0 or 1.
    """
    others = np.arange(len(chances)) != y
    own, rest = float(chances[y]), float(chances[others].sum())
    gradient = gradients[y] if own <= rest else -gradients[others].sum(axis=0)
    error = math.sqrt(float(gradient @ covariance @ gradient))
    if not (own > 0 and rest > 0 and error > _LEAST):
        raise EstimateError("the rows must be nearer to the respondents' values: a chance there is 0 or 1 to nine digits")
    half = -float(scipy.special.stdtrit(fit.df, Interval(confidence).alpha / 2)) * error / (own * rest)
    odds = math.log(own) - math.log(rest)
    low, high = (1 / (1 + math.exp(-min(max(odds + side, -700.0), 700.0))) for side in (-half, half))
    return Estimate("chance", fit.nobs, own, error, low, high, confidence, "population")
