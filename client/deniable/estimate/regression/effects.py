"""What a model says of people: predictions, and average marginal effects, with errors by the delta method.

A prediction is the chance of each answer (or the mean of a linear model) at given values. Its limits are those of its logit, carried back.

An average marginal effect of a category is the average, over all respondents' other values, of the chance of an answer at this
category less that at the reference; of a number, of the chance's slope. Other perturbed values are averaged by their estimated
distribution pi(c | z), the public ones as they were observed:

    AME = sum over i and c of  w_i pi(c | z_i) D(z_i, c)  /  sum over i and c of  w_i pi(c | z_i),    c among those who answered all.

Its variance has two parts: the gradient in all parameters, those of pi among them, with their covariance; and that the respondents' public
values are a sample (W. Greene, "Econometric Analysis" (2012), section 17.3; J. Wooldridge, "Econometric Analysis" (2010), problem 12.17).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.normal import Estimate
from deniable.estimate.present.figures import decimals, fixed
from deniable.estimate.present.table import Table
from deniable.estimate.present.tabular import Tabular
from deniable.estimate.regression import likelihood
from deniable.estimate.regression.fitted import Coefficients, Likelihood
from deniable.estimate.regression.formula import labelled

if TYPE_CHECKING:
    import pandas as pd

_Floats = NDArray[np.float64]

_STEP = 1e-4  # of a number's spread, for its slope


@dataclass(frozen=True)
class Effects(Tabular):
    """Figures of a model. names: what tells them apart. rows: (these, the figure) each."""

    title: str
    names: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], Estimate], ...]

    def tables(self) -> tuple[Table, ...]:
        """A row a figure."""
        rows = ((*labels, *_cells(one)) for labels, one in self.rows)
        level = f"{100 * self.rows[0][1].confidence:g}% interval"
        return (Table(self.title, (*self.names, "estimate", "std error", level), tuple(rows), texts=len(self.names)),)

    def records(self) -> tuple[Table, ...]:
        """A row a figure: the names, then n, estimate, std_error, low, high, confidence."""
        header = (*self.names, "n", "estimate", "std_error", "low", "high", "confidence")
        rows = ((*labels, one.n, one.estimate, one.std_error, one.low, one.high, one.confidence) for labels, one in self.rows)
        return (Table("effect", header, tuple(rows)),)


def _cells(one: Estimate) -> tuple[str, ...]:
    value, error, low, high = (fixed(figure, decimals(one.std_error, 4)) for figure in (one.estimate, one.std_error, one.low, one.high))
    return value, error, f"{low} – {high}"


def predictions(fit: Coefficients, rows: pd.DataFrame, confidence: float) -> Effects:
    """The chance of every answer, or the mean of a linear model, for each row of values of the formula's variables.

    A perturbed predictor's value is one of its answers, or a number where it has scores. Raises EstimateError.
    """
    layout = fit.layout
    frame = rows.reset_index(drop=True)
    for name, variable in layout.predictors.items():
        if name not in frame.columns:
            raise EstimateError(f"the rows must have a column {name}")
        if variable.scores is None:
            if unknown := sorted(set(frame[name].astype(str)) - set(variable.answers)):
                raise EstimateError(f"{name} must be one of {', '.join(variable.answers)}, got {unknown[0]!r}")
            frame[name] = labelled(variable, frame[name].astype(str))
    x = layout.of_frame(frame)
    names = tuple(map(str, rows.columns))
    labels = [tuple(map(str, row)) for row in rows.itertuples(index=False)]
    if (found := fit.likelihood) is None:
        values, errors = x @ fit.params, np.sqrt(np.einsum("ip,pq,iq->i", x, fit.covariance, x))
        each = zip(values.tolist(), errors.tolist(), fit.freedom(x).tolist(), strict=True)
        figures = [_limited(fit, "mean", value, error, confidence, df) for value, error, df in each]
        return Effects(f"{fit.request.formula}: {fit.outcome}", names, tuple(zip(labels, figures, strict=True)))
    chances, gradients = _chances(found, x)
    b = found.reports.coefficients
    variances = np.einsum("iyb,bc,iyc->iy", gradients, found.covariance[:b, :b], gradients)
    told = [
        ((*label, answer), _chance(fit, float(chances[i, y]), math.sqrt(variances[i, y]), confidence))
        for i, label in enumerate(labels)
        for y, answer in enumerate(found.outcomes)
    ]
    return Effects(f"{fit.request.formula} ({fit.request.model}): chances", (*names, "answer"), tuple(told))


def average_marginal_effects(fit: Coefficients, confidence: float) -> Effects:
    """The average marginal effect of every variable on the chance of each answer; of two answers, on that of the first.

    Raises EstimateError for a linear model, whose coefficients are its effects.
    """
    if (found := fit.likelihood) is None:
        raise EstimateError("average marginal effects are those of a model of chances; the coefficients of a linear model are its effects")
    people = _People.of(found)
    answers = found.outcomes[:1] if len(found.outcomes) == 2 else found.outcomes
    rows = []
    for contrast in _contrasts(people):
        values, errors = _averaged(people, contrast)
        for y, answer in enumerate(answers):
            what = f"{contrast.name}: {contrast.what}, on {answer}"
            rows.append(
                ((contrast.name, contrast.what, answer), _limited(fit, what, float(values[y]), float(errors[y]), confidence, fit.df))
            )
    return Effects(f"{fit.request.formula} ({fit.request.model}): average marginal effects", ("variable", "change", "answer"), tuple(rows))


class _Contrast(NamedTuple):
    """x at one value of a variable, and at another, of each public kind and combination, (Z C, p). per: what the difference is per."""

    name: str
    what: str
    over: _Floats
    under: _Floats
    per: float


@dataclass(frozen=True)
class _People:
    """frame: the formula's variables at every public kind and combination of answers, Z C rows. pi: (Z, S), the cells' distribution.
    weight: (Z,), respondents of each public kind, or the sum of their weights. w: (Z, q), what pi depends on."""

    found: Likelihood
    frame: pd.DataFrame
    pi: _Floats
    weight: _Floats
    w: _Floats

    @classmethod
    def of(cls, found: Likelihood) -> _People:
        terms = found.terms
        kinds, cells = len(terms.public), len(terms.combinations)
        _, first = np.unique(terms.public_kind, return_index=True)
        public = terms.public.iloc[np.repeat(np.arange(kinds), cells)]
        frame = terms.layout.frame(public, np.tile(terms.combinations, (kinds, 1)))
        pi = likelihood.distribution(found.reports, found.maximum.parameters)[first]
        weight = np.bincount(terms.public_kind, found.reports.count, minlength=kinds).astype(np.float64)
        return cls(found, frame, pi, weight, found.reports.w[first])


def _contrasts(people: _People) -> Iterator[_Contrast]:
    """One for each number, and for each category but the reference of what is none."""
    layout, frame = people.found.terms.layout, people.frame
    for name in frame.columns:
        column, numeric = frame[name], _numeric(frame[name])
        if numeric:
            step = _STEP * (float(column.std(ddof=0)) or 1.0)
            over, under = (layout.of_frame(frame.assign(**{name: column + sign * step})) for sign in (0.5, -0.5))
            yield _Contrast(name, "per unit", over, under, step)
            continue
        levels = list(column.cat.categories) if hasattr(column, "cat") else sorted(set(column.tolist()))
        at = [layout.of_frame(frame.assign(**{name: _constant(column, level)})) for level in levels]
        for level, x in zip(levels[1:], at[1:], strict=True):
            yield _Contrast(name, f"{level} against {levels[0]}", x, at[0], 1.0)


def _numeric(column: pd.Series[Any]) -> bool:
    return not hasattr(column, "cat") and column.dtype.kind in "iuf"


def _constant(column: pd.Series[Any], level: Any) -> Any:
    """A column of one value, of the kind that it was."""
    if not hasattr(column, "cat"):
        return level
    import pandas as pd

    return pd.Categorical([level] * len(column), categories=column.cat.categories)


def _averaged(people: _People, contrast: _Contrast) -> tuple[_Floats, _Floats]:
    """The average difference in the chance of each outcome, shape (K,), and its standard error."""
    found, (kinds, cells) = people.found, people.pi.shape
    size, b = found.complete, people.found.reports.coefficients
    (over, by_over), (under, by_under) = (_chances(found, x) for x in (contrast.over, contrast.under))
    shares = people.pi[:, :size]
    there = (people.weight[:, None] * shares).ravel()
    total = float(there.sum())
    d = ((over - under) / contrast.per).reshape(kinds, size, -1)
    values = there @ d.reshape(len(there), -1) / total
    gradient = np.zeros((len(values), len(found.covariance)))
    gradient[:, :b] = np.einsum("n,nyb->yb", there, (by_over - by_under) / contrast.per) / total
    off = np.zeros((kinds, cells, len(values)))
    off[:, :size] = d - values
    mean = np.einsum("zs,zsy->zy", people.pi, off)
    moved = people.weight[:, None, None] * people.pi[:, :, None] * (off - mean[:, None, :])
    gradient[:, b:] = np.einsum("zsy,zq->ysq", moved[:, 1:], people.w).reshape(len(values), -1) / total
    sampled = found.drawn.meat(mean[found.terms.public_kind], found.terms.which) / total**2
    variances = np.einsum("yb,bc,yc->y", gradient, found.covariance, gradient) + np.diagonal(sampled)
    return values, np.sqrt(variances)


def _chances(found: Likelihood, x: _Floats) -> tuple[_Floats, _Floats]:
    """The chances at these terms, shape (n, K), and their gradient in beta, (n, K, coefficients)."""
    reports, scaled = found.reports, x / found.scale
    eta = scaled @ reports.slopes(found.maximum.parameters).T
    mu = reports.family.chances(eta)
    by_eta = mu[..., None] * reports.family.scores(eta, mu)
    gradient = (by_eta[..., None] * scaled[:, None, None, :]).reshape(*mu.shape, -1)
    return mu, gradient if reports.constraint is None else gradient @ reports.constraint


def _limited(fit: Coefficients, what: str, value: float, error: float, confidence: float, df: float) -> Estimate:
    half = -float(scipy.special.stdtrit(df, Interval(confidence).alpha / 2)) * error
    return Estimate(what, fit.nobs, value, error, value - half, value + half, confidence, "population")


def _chance(fit: Coefficients, value: float, error: float, confidence: float) -> Estimate:
    """Limits by the chance's logit, which are never outside of 0 and 1."""
    half = -float(scipy.special.stdtrit(fit.df, Interval(confidence).alpha / 2)) * error / max(value * (1 - value), 1e-300)
    odds = math.log(max(value, 1e-300)) - math.log(max(1 - value, 1e-300))
    low, high = (1 / (1 + math.exp(-min(max(odds + side, -700.0), 700.0))) for side in (-half, half))
    return Estimate("chance", fit.nobs, value, error, low, high, confidence, "population")
