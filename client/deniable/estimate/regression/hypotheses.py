"""Tests of several coefficients at once, and of a model as a whole.

Wald: b' V^-1 b, chi-squared with as many degrees of freedom as there are coefficients. If errors have df degrees of freedom
(of clusters, and the least of a linear model's coefficients), of m coefficients F = (df - m + 1) / (df m) W (E. Korn and
B. Graubard, Am. Stat. 44 (1990)). Likelihood ratio: twice what the log-likelihood loses where the coefficients are 0 and all else, the
distribution of the perturbed predictors among it, is fitted anew.

Goodness of fit: Pearson's sum of (observed - expected)^2 / expected over all reports that can come, at each combination of the public
values, against the model that gives each of them a chance of its own. Causes of a poor fit are the link, the terms, the predictors'
distribution, or people who did not follow the design.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.limits import normal
from deniable.estimate.limits.normal import HypothesisTest
from deniable.estimate.regression import cells, failures, likelihood
from deniable.estimate.regression.basis import Naming
from deniable.estimate.regression.fitted import Coefficients, Likelihood
from deniable.estimate.regression.variable import PerturbedVariable
from deniable.mechanism import Channel, Window

MAX_REPORTS = 20_000
"""Most different reports, at all public values together, that a test of a whole model takes."""
_FEW = 5.0  # expected reports of a kind; a fifth may have fewer, none fewer than 1 (W. Cochran, Biometrics 10 (1954))


def wald(fit: Coefficients, terms: Sequence[str]) -> HypothesisTest:
    """Tests whether all coefficients of these terms are 0. Raises EstimateError."""
    places = _places(fit, terms)
    m, statistic = len(places), _statistic(fit, places)
    result = normal.chi_squared(_what(terms), statistic, m)
    if np.isinf(fit.df):
        return result
    df = float(fit.freedom(np.eye(len(fit.params))[places]).min())
    if df < m:
        needed = f"{m + 1} clusters, got {df + 1:g}" if fit.jackknife is None else f"{m} degrees of freedom, got {df:.3g}"
        raise EstimateError(f"a test of {m} coefficients needs at least {needed}")
    return normal.by_f(result, (df - m + 1) / (df * m) * statistic, m, df - m + 1)


def _statistic(fit: Coefficients, places: list[int]) -> float:
    """Returns b' V^-1 b, in the basis: there the hypothesis is that a few orthogonal combinations are 0."""
    if (result := fit.likelihood) is not None:
        size = result.reports.coefficients
        carried, b, v = result.carried, result.maximum.parameters[:size], result.covariance[:size, :size]
    else:
        carried, (b, v) = fit.basis.turn, fit.core or (fit.params, fit.covariance)
    combinations = np.linalg.qr((carried[places] / np.abs(carried[places]).max(axis=1, keepdims=True)).T)[0]
    difference = b @ combinations
    return float(difference @ np.linalg.solve(combinations.T @ v @ combinations, difference))


def likelihood_ratio(fit: Coefficients, terms: Sequence[str]) -> HypothesisTest:
    """Tests whether all coefficients of these terms are 0 by the likelihood ratio.

    Raises:
        EstimateError: A term is unknown, or the model is linear or has weights or clusters.
    """
    result = _plain(fit, "a likelihood-ratio test", "; the Wald test holds")
    places = _places(fit, terms)
    keep = [place for place in range(result.reports.coefficients) if place not in places]
    every = np.eye(result.reports.coefficients) if result.reports.constraint is None else result.reports.constraint
    free = np.linalg.qr(np.linalg.inv(result.carried)[:, keep])[0]  # an orthogonal basis of what is left, in the columns of the fit
    reports = replace(result.reports, constraint=every @ free)
    naming = Naming(tuple(fit.names[place][1] for place in keep), (result.carried @ free)[keep])
    if reports.parameters:
        try:
            restricted = likelihood.maximize(reports, naming, free.T @ result.start).at.objective
        except likelihood.NoMaximumError as error:
            raise failures.separation(f"gives some answer to {fit.request.outcome}", (), error.terms) from None
    else:
        restricted = likelihood.derivatives(reports, np.zeros(0)).objective
    return normal.chi_squared(_what(terms), max(0.0, 2 * (result.maximum.at.objective - restricted)), len(places))


def goodness(fit: Coefficients) -> HypothesisTest:
    """Tests whether the model explains the reports as well as one that gives each a chance of its own (see above).

    Raises:
        EstimateError: There are too many different reports or public values, not everybody was asked, the model is linear or has weights or
            clusters, or it has as many parameters as there are reports.
    """
    result = _plain(fit, "a test of the whole model", "")
    terms, outcome = result.terms, result.outcome
    variables = [*(terms.layout.predictors[name] for name in terms.predictors), outcome]
    if any(one.was_asked is not None for one in variables):
        raise EstimateError("all respondents must have been asked all questions of the model for a test of the whole model")
    kinds = len(terms.public)
    each = [_every_report(one) for one in variables]
    size = int(np.prod([one.n for one in each]))
    people = np.bincount(terms.public_kind, result.reports.count, minlength=kinds)
    if size * kinds > MAX_REPORTS:
        raise EstimateError(f"the test is of at most {MAX_REPORTS:,} different reports and public values, got {size * kinds:,}")
    expected = people[:, None] * _chances(result, each)
    if expected.min() < 1 or np.mean(expected < _FEW) > 0.2:
        raise EstimateError(
            f"too few respondents for {size:,} different reports at {kinds:,} different public values: the smallest expected number must "
            f"be 1 or more, and a fifth at most below {_FEW:g}; got {expected.min():.2g} and {np.mean(expected < _FEW):.0%}"
        )
    df = kinds * (size - 1) - result.reports.parameters
    if df < 1:
        raise EstimateError(
            "the model must have fewer parameters than there are different reports: no degrees of freedom are left for a test"
        )
    fitted = likelihood.reported(result.reports, result.maximum.parameters) * people[terms.public_kind]
    statistic = float((result.reports.count**2 / fitted).sum() - result.reports.count.sum())  # includes the reports that did not come
    return normal.chi_squared(
        f"{fit.request.formula} ({fit.request.model}) fits as well as a chance of its own for every report", statistic, df
    )


def _chances(fit: Likelihood, each: Sequence[PerturbedVariable]) -> FloatArray:
    """Returns the chance of every combination of reports at every public value, shape (Z, combinations)."""
    rows = np.array(list(itertools.product(*(range(one.n) for one in each))), dtype=np.int64)
    *predictors, outcome = (one.of(rows[:, j]) for j, one in enumerate(each))
    order = [outcome.categories.index(category) for category in fit.outcomes]
    latent = cells.latent_cells(predictors, outcome, order)
    result = []
    for kind in range(len(fit.terms.public)):
        (place, *_) = np.flatnonzero(fit.terms.public_kind == kind)
        x, w = (np.repeat(part[[place]], len(rows), axis=0) for part in (fit.reports.x, fit.reports.w))
        reports = replace(fit.reports, count=np.ones(len(rows)), x=x, w=w, a=latent.a, b=latent.b)
        result.append(likelihood.reported(reports, fit.maximum.parameters))
    return np.array(result)


def _every_report(variable: PerturbedVariable) -> PerturbedVariable:
    """Returns all possible reports of a variable, each once. Raises EstimateError if respondents' designs differ."""
    width = variable.bits.shape[1]
    if not isinstance(variable.channel, Channel) and variable.channel.ndim == 3:
        raise EstimateError("all respondents must have the same design for a test of the whole model")
    several = isinstance(variable.channel, Channel) and not isinstance(variable.channel, Window)
    chosen = itertools.combinations(range(width), variable.channel.d if several and isinstance(variable.channel, Channel) else 1)
    bits = np.array([[place in some for place in range(width)] for some in itertools.islice(chosen, MAX_REPORTS + 1)], dtype=np.bool_)
    return replace(variable, bits=bits)


def _plain(fit: Coefficients, what: str, instead: str) -> Likelihood:
    """Returns the likelihood of a model of people drawn one by one. Raises EstimateError otherwise."""
    if fit.likelihood is None or fit.weighted or np.isfinite(fit.df):
        why = "a linear model" if fit.likelihood is None else "weights" if fit.weighted else "clusters"
        raise EstimateError(f"{what} needs the likelihood of people drawn alone, which there is not with {why}{instead}")
    return fit.likelihood


def _places(fit: Coefficients, terms: Sequence[str]) -> list[int]:
    """Returns the indices of the coefficients of these terms. Raises EstimateError."""
    parts, columns = fit.layout.parts, fit.layout.names
    if not terms:
        raise EstimateError("at least one term must be named")
    if unknown := [name for name in terms if name not in parts and name not in columns]:
        raise EstimateError(f"the term must be one of {', '.join(dict.fromkeys([*parts, *columns]))}, got {unknown[0]!r}")
    chosen = {column for name in terms for column in parts.get(name, [name])}
    if not (places := [place for place, (_, name) in enumerate(fit.names) if name in chosen]):
        raise EstimateError("an ordinal model has no intercept to be tested")
    return places


def _what(terms: Sequence[str]) -> str:
    return f"all coefficients of {', '.join(dict.fromkeys(terms))} are 0"
