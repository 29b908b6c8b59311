"""Lines of one question among everybody: shares, means, quantiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from benchmarks.atlas.cell import EXACT, Cell, Limits, Line, Outcome, Scene, interval, silent
from benchmarks.atlas.grid import ALONE, scale, share
from benchmarks.atlas.source import Floats, Reports, Source, survey_of, whole

from deniable.estimate import Analysis, Share, estimate, mean, quantile
from deniable.estimate import share as share_of
from deniable.estimate.checks import known_prevalence
from deniable.estimate.tables import between_options
from deniable.mechanism import Channel

YES_NO: dict[str, object] = {"type": "yes_no"}
FIVE: dict[str, object] = {"type": "scale", "options": list("abcde")}
OPTIONAL: dict[str, object] = {"type": "scale", "options": list("abcde"), "required": False}
NUMBER: dict[str, object] = {"type": "number", "low": 0, "high": 100}
BINS: dict[str, object] = {**NUMBER, "bins": [{"from": 20 * i, "name": name} for i, name in enumerate("abcde")]}

_known = cache(share_of)


def _yes(cell: Cell) -> Source:
    return Source(survey_of([YES_NO], cell.epsilon), np.array([share(cell), 1 - share(cell)]))


def _share(cell: Cell) -> Scene:
    source = _yes(cell)
    channel = source.survey.items[0].channel

    def judge(one: Reports) -> Outcome:
        return interval(share(cell), lambda: _found(int(one.counts[0]), one.n, channel, "population"))

    return Scene([(source, cell.n)], judge)


def _of_respondents(cell: Cell) -> Scene:
    source = _yes(cell)
    channel, truth = source.survey.items[0].channel, whole(cell.n, source.shares)[0] / cell.n

    def judge(one: Reports) -> Outcome:
        return interval(truth, lambda: _found(int(one.counts[0]), one.n, channel, "respondents"))

    return Scene([(source, cell.n)], judge, fixed=True)


class _Halves(Source):
    """A survey that asks each person one of its two yes/no questions; of kinds of people who say yes or no to the first."""

    def __init__(self, cell: Cell) -> None:
        self.survey, self.shares = survey_of([YES_NO, YES_NO], cell.epsilon, ask=1), np.array([share(cell), 1 - share(cell)])
        self.bits = np.array([[1, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 1], [0, 1, 0, 0]])  # which was asked, then the answer to each
        theta = float(self.survey.items[0].channel.theta)
        self.chances = np.array([[theta, 1 - theta, 1 - theta, theta], [1 - theta, theta, 1 - theta, theta]]) / 2


def _of_respondents_asked(cell: Cell) -> Scene:
    source = _Halves(cell)
    truth = whole(cell.n, source.shares)[0] / cell.n

    def judge(one: Reports) -> Outcome:
        row = Analysis(source.survey, one.tally, target="respondents").results.rows[0]
        return interval(truth, lambda: Limits(row.low, row.high))

    return Scene([(source, cell.n)], judge, fixed=True)


def _level_of_respondents(cell: Cell) -> Scene:
    """The lowest of five levels: 5% or 80% of the people are half a level above it, and count by half; the others are at the highest."""
    survey, part = survey_of([{**NUMBER, "levels": 5}], cell.epsilon), 0.05 if cell.rare else 0.8
    scores, shares = np.array(survey.items[0].scores, dtype=np.float64), np.array([part, 1 - part])
    source = Source(survey, shares, np.array([_rounded(12.5, scores), _rounded(100.0, scores)]))
    truth = whole(cell.n, shares)[0] / cell.n / 2

    def judge(one: Reports) -> Outcome:
        row = estimate(survey, one.tally, target="respondents").rows[0]
        return interval(truth, lambda: Limits(row.low, row.high))

    return Scene([(source, cell.n)], judge, fixed=True)


def _found(ones: int, n: int, channel: Channel, target: str) -> Share:
    return _known(ones, n, q0=channel.phi, q1=channel.theta, target=target)


def _all_options(cell: Cell) -> Scene:
    source, truth = Source(survey_of([FIVE], cell.epsilon), scale(cell)), scale(cell).tolist()

    def judge(one: Reports) -> Outcome:
        rows = estimate(source.survey, one.tally, simultaneous=True).rows
        holds = all(row.low is not None and row.high is not None and row.low <= p <= row.high for row, p in zip(rows, truth, strict=True))
        return Outcome(holds, width=min((row.high or 0.0) - (row.low or 0.0) for row in rows))

    return Scene([(source, cell.n)], judge)


def _mean(question: dict[str, object], scores: Sequence[float | None], shares: Floats, cell: Cell, target: str = "population") -> Scene:
    """Of a scale. The truth is among those whose option has a score."""
    source = Source(survey_of([question], cell.epsilon), shares)
    fixed = target == "respondents"
    people = np.array(whole(cell.n, shares)) / cell.n if fixed else shares
    counted = np.array([score is not None for score in scores])
    truth = float(people[counted] @ np.array([score for score in scores if score is not None]) / people[counted].sum())
    return Scene([(source, cell.n)], lambda one: interval(truth, lambda: mean(source.survey, one.tally, "a", scores, target=target)), fixed)


def _mean_of_scale(cell: Cell) -> Scene:
    return _mean(FIVE, range(1, 6), scale(cell), cell)


def _mean_of_respondents(cell: Cell) -> Scene:
    return _mean(FIVE, range(1, 6), scale(cell), cell, "respondents")


def _mean_among_answered(cell: Cell) -> Scene:
    """Four of ten do not answer."""
    return _mean(OPTIONAL, [*range(1, 6), None], np.append(0.6 * scale(cell), 0.4), cell)


def _mean_of_number(target: str, cell: Cell) -> Scene:
    """Most are at the lowest number, a few at the highest; or half between two levels a quarter of the way up, half higher."""
    survey = survey_of([NUMBER], cell.epsilon)
    scores = np.array(survey.items[0].scores, dtype=np.float64)
    numbers, shares = (np.array([0.0, 100.0]), np.array([0.98, 0.02])) if cell.rare else (np.array([26.0, 71.0]), np.array([0.5, 0.5]))
    source, fixed = Source(survey, shares, np.array([_rounded(number, scores) for number in numbers.tolist()])), target == "respondents"
    people = np.array(whole(cell.n, shares)) / cell.n if fixed else shares
    truth, values = float(people @ numbers), scores.tolist()
    return Scene([(source, cell.n)], lambda one: interval(truth, lambda: mean(survey, one.tally, "a", values, target=target)), fixed)


def _rounded(number: float, levels: Floats) -> Floats:
    """The chances of the levels that a number is rounded to."""
    index = min(int(np.searchsorted(levels, number, side="right")) - 1, len(levels) - 2)
    part = (number - levels[index]) / (levels[index + 1] - levels[index])
    chances = np.zeros(len(levels))
    chances[index], chances[index + 1] = 1 - part, part
    return chances


def _median(cell: Cell) -> Scene:
    source = Source(survey_of([FIVE], cell.epsilon), scale(cell))
    truth = int(np.flatnonzero(np.cumsum(scale(cell)) >= 0.5)[0])

    def judge(one: Reports) -> Outcome:
        median = quantile(source.survey, one.tally, "a")
        low, high = ("abcde".index(end) for end in (median.low, median.high))
        return Outcome(low <= truth <= high, width=high - low + 1)  # a single option is some width

    return Scene([(source, cell.n)], judge)


def _median_of_bins(cell: Cell) -> Scene:
    """A number with five bins, in which people are spread evenly, as the figure assumes."""
    source, shares = Source(survey_of([BINS], cell.epsilon), scale(cell)), scale(cell)
    truth = float(np.interp(0.5, np.concatenate([[0.0], np.cumsum(shares)]), np.arange(0, 120, 20)))

    def judge(one: Reports) -> Outcome:
        median = quantile(source.survey, one.tally, "a")
        if median.value_low is None or median.value_high is None:
            return Outcome(True, "refused")
        return Outcome(median.value_low - 1e-9 <= truth <= median.value_high + 1e-9, width=median.value_high - median.value_low)

    return Scene([(source, cell.n)], judge)


def _between(cell: Cell) -> Scene:
    """The last option less the second."""
    source, p = Source(survey_of([FIVE], cell.epsilon), scale(cell)), scale(cell)
    return Scene([(source, cell.n)], lambda one: interval(p[4] - p[1], lambda: between_options(source.survey, one.tally, "a", "e", "b")))


def _answered(cell: Cell) -> Scene:
    """Four of ten do not answer a yes/no question."""
    source = Source(survey_of([{**YES_NO, "required": False}], cell.epsilon), np.array([0.6 * share(cell), 0.6 * (1 - share(cell)), 0.4]))
    return Scene([(source, cell.n)], lambda one: interval(share(cell), lambda: Analysis(source.survey, one.tally).answered("a").shares[0]))


def _difference_is_none(cell: Cell) -> Scene:
    """The test of `Estimate`: the mean of a scale is what it is."""
    source, p = Source(survey_of([FIVE], cell.epsilon), scale(cell)), scale(cell)
    truth = float(p @ np.arange(1, 6))
    return Scene([(source, cell.n)], lambda one: silent(lambda: mean(source.survey, one.tally, "a", range(1, 6)).test(truth)))


def _known_share(cell: Cell) -> Scene:
    source = _yes(cell)
    return Scene([(source, cell.n)], lambda one: silent(lambda: known_prevalence(source.survey, one.tally, "a", "yes", share(cell))))


def lines() -> Iterator[Line]:
    """Yields every line of one question."""
    shares = ("share", "estimate", "share_rows", "Analysis.results")
    yield Line("share", shares, ALONE, _share, EXACT)
    yield Line("share, of the respondents", shares, ALONE, _of_respondents, EXACT)
    yield Line("share, of the respondents, half of them asked", ("Analysis.results",), ALONE, _of_respondents_asked, cost=10)
    yield Line("share of a level, of the respondents", ("estimate",), ALONE, _level_of_respondents, cost=2)
    yield Line("shares of five options, all at once", ("estimate",), ALONE, _all_options, EXACT, cost=2)
    yield Line("mean of a scale", ("mean", "mean_rows", "Analysis.mean"), ALONE, _mean_of_scale)
    yield Line("mean of a scale, of the respondents", ("mean",), ALONE, _mean_of_respondents)
    yield Line("mean of a scale among those who answered", ("mean", "mean_rows"), ALONE, _mean_among_answered)
    yield Line("mean of a number", ("mean", "mean_rows", "Analysis.mean"), ALONE, lambda cell: _mean_of_number("population", cell))
    yield Line("mean of a number, of the respondents", ("mean",), ALONE, lambda cell: _mean_of_number("respondents", cell))
    yield Line("median of a scale", ("quantile", "Analysis.quantile"), ALONE, _median)
    yield Line("median of a number with bins", ("quantile",), ALONE, _median_of_bins)
    yield Line("difference of two options", ("between_options",), ALONE, _between)
    yield Line("share among those who answered", ("Analysis.answered",), ALONE, _answered)
    yield Line("test of a mean", ("Estimate.test",), ALONE, _difference_is_none, test=True)
    yield Line("test of a known share", ("known_prevalence",), ALONE, _known_share, test=True)
