"""Association of two perturbed questions, from their cross table: tests, phi, Cramér's V, odds ratios and conditional shares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import scipy
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.checks import few
from deniable.estimate.limits import normal
from deniable.estimate.limits.closed_form import normal_quantile
from deniable.estimate.limits.normal import Estimate, HypothesisTest
from deniable.estimate.limits.roots import root
from deniable.estimate.moments import applicability, pseudo_answers
from deniable.estimate.tables import answered_table, bootstrap, sampled
from deniable.estimate.tables.answered_table import AnsweredTable, among_answered
from deniable.estimate.tables.crosstab import Crosstab, LinearTable, in_words
from deniable.estimate.tables.ratios import share_among

_IMPOSSIBLE = "significantly above 1, which is impossible: too few reports, or too small an epsilon, for such rare options"


def independence(table: Crosstab) -> HypothesisTest:
    """Tests whether the two questions' true answers are independent; (r - 1)(c - 1) degrees of freedom.

    It is a Wald test of shares less products of margins, whose covariance under independence is the product of the questions' own
    covariances. For yes/no it is Pearson's test of the perturbed table. If fewer than 5 reports are expected to name a pair of options, the
    p-value is by a parametric bootstrap (see `bootstrap`). For a sample see `sampled.independence`; if no report names some pair, a warning
    says that its p-value may be wrong. Optional questions are tested among people who answered both (see `answered_table`); for a number on
    a grid "no answer" is one of the options.

    Raises:
        EstimateError: The table has no two questions, or a margin is not clearly above 0.
    """
    applicability.require("test of independence", table.on_grid)
    two_dimensional(table)
    what = f"{' and '.join(table.questions)} are independent"
    if isinstance(valid := _valid(table), AnsweredTable):
        return answered_table.independence(valid, f"{what} among those who answered both")
    if isinstance(table, LinearTable):
        _require_all_possible("test of independence", table)
        return replace(sampled.independence(table, what), warning=few.test(_has_unseen_pair(table)))
    result = normal.chi_squared(what, float(_statistic(table.together, table)), (table.shares.shape[0] - 1) * (table.shares.shape[1] - 1))
    rows, cols = (table.together.sum(axis=axis) / channel.d for axis, channel in zip((1, 0), reversed(table.channels), strict=True))
    if rows.min() * cols.min() / table.n >= bootstrap.SMALL:
        return result
    if not bootstrap.feasible(table.n, table.channels):
        return replace(result, warning=few.test(_has_unseen_pair(table)))
    margins = [pseudo_answers.possible(margin) for margin in _margins(table)]
    draws = bootstrap.tables(margins, table.channels, table.n, bootstrap.generator())
    p_value = bootstrap.p_value(result.statistic, lambda reports: _statistic(reports, table), draws)
    return replace(result, p_value=p_value, reference=bootstrap.REFERENCE)


def _statistic(together: NDArray[np.int64], table: Crosstab) -> FloatArray:
    """Returns the Wald statistics of tables of counts, shape (.., k_a, k_b).

    If no report names some option, the shares are taken at possible ones: this option's coins alone vary then.
    """
    shares = pseudo_answers.invert(together / table.n, table.channels)
    p, q = shares.sum(axis=-1), shares.sum(axis=-2)
    excess = (shares - p[..., :, None] * q[..., None, :])[..., :-1, :-1]
    rows, cols = (
        pseudo_answers.covariances(np.where(named[..., None], margin, pseudo_answers.each_possible(margin)), channel)[..., :-1, :-1]
        for named, margin, channel in zip((_is_named(together, -1), _is_named(together, -2)), (p, q), table.channels, strict=True)
    )
    by_both = np.linalg.solve(rows, excess) * np.linalg.solve(cols, excess.swapaxes(-1, -2)).swapaxes(-1, -2)
    return np.asarray(table.n * by_both.sum(axis=(-1, -2)))


def _is_named(together: NDArray[np.int64], axis: int) -> NDArray[np.bool_]:
    """Returns whether each option of the other axis is named in some report, survey by survey."""
    return np.asarray(together.any(axis=axis).all(axis=-1))


def phi_coefficient(table: Crosstab) -> Estimate:
    """Estimates phi, the correlation of two questions of two options each; positive if first options go together. Delta method.

    Questions that may be left unanswered are analysed among people who answered both.

    Raises:
        EstimateError: The table has another shape or a number on a grid, or a margin is not clearly within (0, 1).
    """
    applicability.require("phi", table.on_grid)
    two_dimensional(table)
    table = _valid(table)
    if table.shares.shape != (2, 2):
        raise EstimateError(f"phi needs a table of 2 by 2 options, got {_shape(table)}; cramers_v takes larger ones")
    margins = _positive_margins(table, "phi")
    (p, _), (q, _) = margins
    spread_p, spread_q = p * (1 - p), q * (1 - q)
    scale = math.sqrt(spread_p * spread_q)
    value = float(table.shares[0, 0] - p * q) / scale
    by_p = -q / scale - value * (1 - 2 * p) / (2 * spread_p)
    by_q = -p / scale - value * (1 - 2 * q) / (2 * spread_q)
    gradient = np.array([[1 / scale + by_p + by_q, by_p], [by_q, 0.0]])
    what = f"phi of {' and '.join(table.questions)}"
    result = normal.limited(what, table.n, value, table.variance_of(gradient), table.interval, (-1.0, 1.0))
    return replace(result, warning=table.too_few(*(_only(table, cell) for cell in np.ndindex(2, 2))), origin=table.origin)


def cramers_v(table: Crosstab) -> Estimate:
    """Estimates Cramér's V without the bias of noise: 0 for independent questions, 1 for questions that determine each other.

    V^2 is a sum of squares, so noise alone makes it large; its expectation is subtracted, and a negative result is 0.
    Limits: all V under which the sum of squares is no surprise, by a scaled noncentral chi-squared distribution of the
    same mean and variance; 0 is inside them about when `independence` finds nothing. Questions that may be left unanswered are analysed
    among people who answered both.

    Raises:
        EstimateError: The table has a number on a grid or a sample, or a margin is not clearly above 0.
    """
    applicability.require("Cramér's V", table.on_grid)
    if isinstance(table, AnsweredTable) and isinstance(table.whole, LinearTable):
        table = table.whole
    if isinstance(table, LinearTable):
        _require_all_possible("Cramér's V", table)
        raise EstimateError("there is no Cramér's V of a sample: its limits do not know of clusters; the test of independence does")
    two_dimensional(table)
    table = _valid(table)
    p, q = _positive_margins(table, "Cramér's V")
    expected, size = np.outer(p, q), min(table.shares.shape) - 1
    observed = float(((table.shares - expected) ** 2 / expected).sum())
    noise = _noise(table, p, q)
    trace, trace_of_square = float(np.trace(noise)), float((noise * noise.T).sum())
    squares = table.shares**2 / expected
    gradient = 2 * table.shares / expected - (squares.sum(axis=1) / p)[:, None] - (squares.sum(axis=0) / q)[None, :]
    along = table.variance_of(gradient) / (4 * observed) if observed > 0 else trace_of_square / trace
    unbiased = max(0.0, observed - trace)
    spread = math.sqrt((along * unbiased + trace_of_square / 2) / max(unbiased, trace))
    ends = _noncentrality_limits(observed, trace, trace_of_square, along, table.interval.alpha)
    value, std_error = math.sqrt(unbiased / size), spread / math.sqrt(size)
    low, high = (min(1.0, math.sqrt(end / size)) for end in ends)
    what = f"Cramér's V of {' and '.join(table.questions)}"
    warning = few.test(_has_unseen_pair(table)) or (_IMPOSSIBLE if ends[0] >= size else "")
    return Estimate(what, table.n, value, std_error, low, high, table.confidence, table.target, warning, origin=table.origin)


def odds_ratio(table: Crosstab, rows: Sequence[str] | None = None, cols: Sequence[str] | None = None) -> Estimate:
    """Estimates an odds ratio: the odds of the first column against the second in the first row, over the same odds in the second row.

    Limits are Fieller's for the ratio of the two products; if the denominator may be 0 nothing bounds it from above, and a warning says so.

    Args:
        table: The cross table of two questions.
        rows: Two options of the first question; may be left out if it has two.
        cols: Two options of the second question; may be left out if it has two.

    Raises:
        EstimateError: A question is a number on a grid, or a share of the denominator is estimated at 0 or less.
    """
    applicability.require("odds ratio", table.on_grid)
    two_dimensional(table)
    (i, j), (k, m) = (_two(table, axis, chosen) for axis, chosen in enumerate((rows, cols)))
    cells = [(i, k), (j, m), (i, m), (j, k)]
    a, b, c, d = (float(table.shares[cell]) for cell in cells)
    over, under = np.zeros(table.shares.shape), np.zeros(table.shares.shape)
    over[cells[0]], over[cells[1]], under[cells[2]], under[cells[3]] = b, a, d, c
    what = f"odds ratio of {' and '.join(table.questions)}"
    if min(c, d) <= 0:
        raise EstimateError(f"{what}: both shares of the denominator must be above 0, got {c:.4g} and {d:.4g}")
    covariance = table.covariance_of(over, under)
    result = normal.ratio(what, table.n, (a * b, c * d), covariance, table.interval, (0.0, math.inf))
    warning = result.warning or table.too_few(*(_only(table, cell) for cell in cells))
    return replace(result, warning=warning, origin=table.origin)


def conditional_share(table: Crosstab, of: Mapping[str, str | Sequence[str]], among: Mapping[str, str | Sequence[str]]) -> Estimate:
    """Estimates the conditional share P(of | among): among people with the options `among`, the share of people with the options `of`.

    Limits are Fieller's, with the errors of a part's own limits if few reports name it. If the share of `among` may be 0 they can be the
    whole range, and a warning says so.

    Args:
        table: The cross table of the questions.
        of: A question of the table -> an option or several.
        among: As `of`.

    Raises:
        EstimateError: A question is a number on a grid, the share of `among` is estimated at 0 or less, or `of` can hold for all or none
            of the people in `among`.
    """
    applicability.require("conditional share", [name for name in table.on_grid if name in {*of, *among}])
    if not of:
        raise EstimateError("of must name options of at least one question, got none")
    if not among:
        return table.share(of)
    under = table.cells(among)
    over = under * table.cells(of)
    what = f"{in_words(of)} among {in_words(among)}"
    if not over.any() or not (under - over).any():
        remedy = "name other options" if not over.any() else "name fewer options"
        raise EstimateError(f"`of` must select some of the people in `among`, got {what}, {'none' if not over.any() else 'all'}; {remedy}")
    if isinstance(table, LinearTable) and table.impossible.any():
        for part in (over, under - over):
            table.require_possible(part, what)
    return share_among(table, over, under, what)


def _require_all_possible(figure: str, table: LinearTable) -> None:
    if table.impossible.any():
        raise EstimateError(
            f"there is no {figure} of {' and '.join(table.questions)}: they go together by design, since one is only shown after some "
            "answers to the other"
        )


def _valid(table: Crosstab) -> Crosstab:
    """Returns the table among people who answered both questions, if one is optional; else the same table."""
    by_design = isinstance(table, LinearTable) and bool(table.impossible.any())
    return among_answered(table) if table.optional and not table.on_grid and not by_design else table


def two_dimensional(table: Crosstab) -> None:
    """Requires a table of two questions.

    Raises:
        EstimateError: The table has another number of questions.
    """
    if table.shares.ndim != 2:
        raise EstimateError(f"the table must be of two questions, got {_shape(table)} options")


def _margins(table: Crosstab) -> tuple[FloatArray, FloatArray]:
    two_dimensional(table)
    return table.shares.sum(axis=1), table.shares.sum(axis=0)


def _positive_margins(table: Crosstab, what: str) -> tuple[FloatArray, FloatArray]:
    """Returns the margins, all clearly above 0. Raises EstimateError otherwise."""
    p, q = _margins(table)
    z = normal_quantile(table.interval.alpha)
    for name, margin, options in zip(table.questions, (p, q), table.options, strict=True):
        errors = table.margin(name).std_error
        for option, share, error in zip(options, margin, errors, strict=True):
            if share <= z * error:
                raise EstimateError(
                    f"{what}: every option's share must be clearly above 0, got {share:.4g} with a standard error of {error:.4g} "
                    f"for {option} of {name}"
                )
    return p, q


def _has_unseen_pair(table: Crosstab) -> bool:
    """Returns whether no report names some pair of options: the distribution of the test is then far off."""
    return int(table.together.min()) < 1


def _only(table: Crosstab, cell: tuple[int, ...]) -> FloatArray:
    chosen = np.zeros(table.shares.shape)
    chosen[cell] = 1.0
    return chosen


def _noise(table: Crosstab, p: FloatArray, q: FloatArray) -> FloatArray:
    """Returns the covariance of the excesses over independence, scaled so that its trace is what noise adds to the sum of squares."""
    rows, cols = table.shares.shape
    change = np.eye(rows * cols) - np.kron(np.eye(rows), np.outer(q, np.ones(cols))) - np.kron(np.outer(p, np.ones(rows)), np.eye(cols))
    noise: FloatArray = change @ table.covariance @ change.T / np.outer(p, q).ravel()
    return noise


def _noncentrality_limits(observed: float, trace: float, trace_of_square: float, along: float, alpha: float) -> tuple[float, float]:
    """Returns limits of x = |m|^2 from a sum of squares |z|^2, where z is normal with mean m and covariance C.

    The sum has the mean tr C + x and the variance 2 tr C^2 + 4 m'Cm, where m'Cm is taken as along * x. So has g times a noncentral
    chi-squared variable of trace / g degrees of freedom and noncentrality x / g, with the g below. The limits enclose all x >= 0
    whose p-value is above alpha: the chance of a sum as far off, as in Feldman-Cousins less what is unavoidable since x >= 0.
    """
    least, length = math.sqrt(trace), math.sqrt(observed)

    def p_value(x: float) -> float:
        g, centre = (trace_of_square + 2 * x * along) / (trace + 2 * x), math.sqrt(trace + x)
        off = (centre - length) ** 2 - max(0.0, least - length) ** 2
        down = centre - math.sqrt(off)
        if down < least:
            down = (centre + least - off / (centre - least)) / 2 if centre > least else 0.0
        ends = np.array([max(0.0, down), centre + math.sqrt(off)]) ** 2
        below, up_to = scipy.special.chndtr(ends / g, trace / g, x / g)
        return float(below + 1 - up_to)

    best = max(0.0, observed - trace)
    low = 0.0 if p_value(0.0) > alpha else root(lambda x: p_value(x) - alpha, 0.0, best, xtol=1e-12)
    top = best + trace
    while p_value(top) > alpha:
        top *= 2
    return low, root(lambda x: p_value(x) - alpha, best, top, xtol=1e-12)


def _two(table: Crosstab, axis: int, chosen: Sequence[str] | None) -> tuple[int, int]:
    options = table.options[axis]
    if chosen is None and len(options) == 2:
        return 0, 1
    if chosen is None or len(chosen) != 2 or chosen[0] == chosen[1] or not set(chosen) <= set(options):
        raise EstimateError(f"two different options of question {table.questions[axis]} must be named ({', '.join(options[:8])})")
    return options.index(chosen[0]), options.index(chosen[1])


def _shape(table: Crosstab) -> str:
    return " by ".join(map(str, table.shares.shape))
