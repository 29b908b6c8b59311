"""Estimates from a sample: shares, means, quantiles and cross tables with standard errors for the sampling design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.checks import few
from deniable.estimate.limits import effective_sample_size, normal
from deniable.estimate.limits.interval import Interval
from deniable.estimate.limits.normal import Estimate, HypothesisTest
from deniable.estimate.limits.proportion import Share
from deniable.estimate.moments import applicability, counts, pseudo_answers
from deniable.estimate.moments.shrinkage import adjusted
from deniable.estimate.moments.structural_zeros import impossible, removal
from deniable.estimate.samples.linear import NO_VARIANCE, Linear
from deniable.estimate.samples.sampled_reports import SampledReports
from deniable.estimate.tables import means, respondents
from deniable.estimate.tables.crosstab import Axis, LinearTable, linear_table
from deniable.estimate.tables.differences import Comparison, difference
from deniable.estimate.tables.means import Quantile
from deniable.survey.question import Question

KNOWN = "taken as known, from the margins of the sample: no estimate"


def adjusted_shares(reports: SampledReports, question: Question) -> FloatArray:
    """Returns possible shares, shape (k,): see `shrinkage`, for the number of reports of people drawn alone with the same errors."""
    result, (phi, theta) = reports.linear(question.id), (float(question.channel.phi), float(question.channel.theta))
    rates = np.clip(phi + (theta - phi) * result.shares, 0.0, 1.0)
    spread = float((rates * (1 - rates)).sum()) / (theta - phi) ** 2
    n = max(1.0, spread / max(float(result.variances.sum()), NO_VARIANCE))
    return adjusted(rates * n, n, phi, theta)


def shares(reports: SampledReports, question: Question, interval: Interval) -> tuple[Share, ...]:
    """Returns the share of each option that has one. Raises EstimateError if no report was asked."""
    result, interval = reports.linear(question.id), reports.about(interval)
    _, n, ones = counts.counts(reports.survey, reports.tally, question.id)
    q = float(question.channel.phi), float(question.channel.theta)
    first, unknown = question.k - len(question.shared), ones.size - len(question.shared)
    rows = zip(result.shares[first:].tolist(), result.variances[first:].tolist(), ones[unknown:].tolist(), strict=True)
    return tuple(_share(result, row, n, q, interval) for row in rows)


def _share(figures: Linear, row: tuple[float, float, int], n: int, q: tuple[float, float], interval: Interval) -> Share:
    estimate, variance, ones = row
    method, low, high = effective_sample_size.limits(estimate, variance, figures.effective, q, interval)
    return Share(ones, n, estimate, variance**0.5, low, high, interval.confidence, method, interval.target)


def table(reports: SampledReports, a: str, b: str, interval: Interval, complete: bool = False) -> LinearTable:
    """Returns the joint shares of two questions. Raises EstimateError, also if a third one's shares are taken as known."""
    questions, n, together = counts.pair_counts(reports.survey, reports.tally, a, b)
    axes = [Axis.of(question) for question in questions]
    result, zeros = reports.linear(a, b), impossible(reports.survey, a, b, complete)
    if zeros.any():
        result = result.sums(removal(result.shares.reshape(zeros.shape), [question.channel for question in questions], zeros))
    return replace(linear_table(axes, (n, together, zeros), result, reports.about(interval)), origin=reports.origin)


def independence(table: LinearTable, what: str) -> HypothesisTest:
    """Tests whether the answers to a table's two questions are independent, with the second-order correction for the design.

    J. Rao and A. Scott, Ann. Stat. 12 (1984), 46: with D the covariance that the sample gives the excesses over independence, times the
    inverse for people drawn alone, the statistic over tr D is F with (tr D)^2 / tr D^2 degrees of freedom, and as many times
    df. The returned statistic has mean (r - 1)(c - 1) under independence.
    """
    rows, cols = table.shares.shape
    p, q = table.shares.sum(axis=1), table.shares.sum(axis=0)
    inner = (np.arange(rows * cols).reshape(rows, cols)[:-1, :-1]).ravel()
    change = np.eye(rows * cols) - np.kron(np.eye(rows), np.outer(q, np.ones(cols))) - np.kron(np.outer(p, np.ones(rows)), np.eye(cols))
    excess = (table.shares - np.outer(p, q)).ravel()[inner]
    values = table.linear.covariance_of(change[inner])
    alone = [
        pseudo_answers.covariance(pseudo_answers.possible(margin), [channel], 1.0)[:-1, :-1]
        for margin, channel in zip((p, q), table.channels, strict=True)
    ]
    inverse = np.linalg.inv(np.kron(*alone) / table.n)
    effects = inverse @ values
    trace, squares, m = float(np.trace(effects)), float((effects * effects.T).sum()), len(inner)
    statistic, first = float(excess @ inverse @ excess) / trace, trace**2 / squares
    df, wider = table.interval.df, table.interval.wider
    return normal.by_f(normal.chi_squared(what, m * statistic, m), statistic / wider**2, first, first * df)


def between_options(reports: SampledReports, question: str, one: str, other: str, interval: Interval) -> Estimate:
    """Returns the share of option `one` of a question less the share of option `other`; as `differences.between_options`.

    Raises:
        EstimateError: An option is unknown, or both are the same.
    """
    item, n, ones = counts.counts(reports.survey, reports.tally, question)
    applicability.require_shares("difference of two options", item)
    i, j = counts.option_index(item, one), counts.option_index(item, other)
    if i == j:
        raise EstimateError(f"the two options must differ, got {one!r} twice")
    apart = reports.linear(question).sums((np.eye(item.k)[i] - np.eye(item.k)[j])[None, :])
    value, variance = float(apart.shares[0]), max(float(apart.variances[0]), NO_VARIANCE)
    result = normal.limited(f"{item.id}: {one} less {other}", n, value, variance, reports.about(interval), (-1.0, 1.0))
    return replace(result, warning=few.bits(int(min(ones[i], ones[j])), n), origin=reports.origin)


def mean(reports: SampledReports, question: str, scores: Sequence[float | None] | FloatArray, interval: Interval) -> Estimate:
    """Returns the mean of a question's scores; as `means.mean`. Raises EstimateError."""
    values, counted, shares = _scored(reports, question, scores)
    n = counts.counts(reports.survey, reports.tally, question)[1]
    what, bounds, interval = f"mean of {question}", (float(values[counted].min()), float(values[counted].max())), reports.about(interval)
    if counted.all():
        result = shares.sums(values[None, :])
        output = normal.limited(what, n, float(result.shares[0]), float(result.variances[0]), interval, bounds)
        return replace(output, origin=replace(reports.origin, question=question))
    middle, weights = means.about_middle(values, counted)
    over, under = shares.sums(weights).shares.tolist()
    output = means.ratio_about(middle, what, n, (over, under), shares.covariance_of(weights), interval, bounds)
    return replace(output, origin=replace(reports.origin, question=question))


def line_of_mean(reports: SampledReports, question: str, scores: Sequence[float | None] | FloatArray) -> Linear:
    """Returns the mean of a question's scores as a single figure, shape (1,): linearised, if some answers have no score.

    Raises:
        EstimateError: Too few are estimated to have answered.
    """
    values, counted, shares = _scored(reports, question, scores)
    if counted.all():
        return shares.sums(values[None, :])
    middle, weights = means.about_middle(values, counted)
    over, under = shares.sums(weights).shares.tolist()
    if under <= 0:
        raise EstimateError(f"mean of {question}: too few are estimated to have answered")
    line = shares.sums((weights[0] - over / under * weights[1])[None, :] / under)
    return replace(line, shares=np.array([middle + over / under]))


def _scored(
    reports: SampledReports, question: str, scores: Sequence[float | None] | FloatArray
) -> tuple[FloatArray, NDArray[np.bool_], Linear]:
    """Returns the scores with 0 for categories left out, whether each counts, and the shares, with the variance of rounding."""
    item, n, ones = counts.counts(reports.survey, reports.tally, question)
    values, counted = means.checked_scores(scores, item)
    plain = pseudo_answers.invert(ones / n, [item.channel])
    rounding = respondents.about_mean(Interval(), 0, item, np.where(counted, values, np.nan), plain).rounding
    return values, counted, reports.linear(question, rounding=rounding)


def quantile(reports: SampledReports, question: str, q: float, leave_out: Sequence[str], interval: Interval) -> Quantile:
    """Returns a quantile of a question with ordered options; as `means.quantile`. Raises EstimateError."""
    order = means.order_for(reports.survey, question, q, leave_out)
    item, n, ones = counts.counts(reports.survey, reports.tally, question)
    result = reports.linear(question)
    figures = adjusted_shares(reports, item), result.shares, lambda weights: result.sums(weights).variances
    return means.without_weak_value(means.quantile_of(item, n, figures, (q, order), reports.about(interval)), item, order, ones)


def compare(first: SampledReports, second: SampledReports, question: str, interval: Interval) -> Comparison:
    """Returns the shares of a question in the second sample less the shares in the first, of other groups. Raises EstimateError."""
    if common := sorted(set(first.tallies) & set(second.tallies)):
        raise EstimateError(f"two samples that are compared must be of other groups, got {common[0]} in both")
    item, _ = counts.find(first.survey, question)
    applicability.require_shares("difference of shares", item, instead="use difference for two means; ")
    pairs = zip(item.categories, *(shares(one, item, interval) for one in (first, second)), strict=True)
    apart = tuple(difference(b, a, what=f"{question} = {option}: second less first") for option, a, b in pairs)
    what = f"both samples have the same shares of {question}"
    test = replace(apart[0].test(), what=what) if item.k == 2 else same_shares(what, [first, second], item)
    return Comparison(question, item.categories, apart, test)


def same_shares(what: str, reports: Sequence[SampledReports], question: Question) -> HypothesisTest:
    """Tests whether two samples of other people have the same shares of a question: Wald's test, by an F distribution if clusters are few.

    F = (df - m + 1) / (df m) W with m and df - m + 1 degrees of freedom, df the smaller one of the two samples (E. Korn and B. Graubard,
    Am. Stat. 44 (1990)).

    Raises:
        EstimateError: There are too few clusters for this many options.
    """
    result = [one.linear(question.id) for one in reports]
    m, df, wider = question.k - 1, min(one.design.df for one in reports), max(one.design.wider for one in reports)
    gap = (result[1].shares - result[0].shares)[:-1]
    statistic = float(gap @ np.linalg.solve(np.sum([one.covariance for one in result], axis=0)[:-1, :-1], gap))
    tested = normal.chi_squared(what, statistic, m)
    if np.isinf(df):
        return tested
    if df < m:
        raise EstimateError(
            f"{what}: {m + 1} options need at least {m + 2} clusters on either side for a test, got {df:g} degrees of freedom"
        )
    return normal.by_f(tested, (df - m + 1) / (df * m) * statistic / wider**2, m, df - m + 1)
