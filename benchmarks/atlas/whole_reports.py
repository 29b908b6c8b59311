"""Lines that need the reports themselves: weights and models."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from benchmarks.atlas.cell import Cell, Line, Outcome, Scene, interval
from benchmarks.atlas.grid import ALONE, EPSILONS, scale, share
from benchmarks.atlas.one_question import FIVE, YES_NO
from benchmarks.atlas.source import Floats, Reports, Source, survey_of
from numpy.typing import NDArray

from deniable.estimate import regress
from deniable.estimate.regression import perturbed
from deniable.estimate.tables import weighted_mean, weighted_shares
from deniable.survey import Survey

MODELS = tuple(Cell(epsilon, (n,), rare) for rare in (True, False) for epsilon in EPSILONS for n in (50, 200, 1_000, 10_000))


def _weighted(of_mean: bool, cell: Cell) -> Scene:
    """Half of the people, who answer as all others do, have a weight of 1, half one of 4."""
    question, shares = (FIVE, scale(cell)) if of_mean else (YES_NO, np.array([share(cell), 1 - share(cell)]))
    source = Source(survey_of([question], cell.epsilon), shares)
    scores = np.arange(1, 6)

    def judge(light: Reports, heavy: Reports) -> Outcome:
        bits, weights = np.vstack([light.bits, heavy.bits]), np.repeat([1.0, 4.0], [light.n, heavy.n])
        if of_mean:
            return interval(float(shares @ scores), lambda: weighted_mean(source.survey, bits, weights, "a", scores))
        return interval(share(cell), lambda: weighted_shares(source.survey, bits, weights, "a").shares[0])

    return Scene([(source, cell.n - cell.n // 2), (source, cell.n // 2)], judge)


def _sides(cell: Cell) -> tuple[Floats, float]:
    """The shares of yes in the two halves of the people, and the slope that a logit model has of the half."""
    odds = np.log(share(cell) / (1 - share(cell))) + np.array([0.0, 1.0])
    return 1 / (1 + np.exp(-odds)), 1.0


def _public_predictor(cell: Cell) -> Scene:
    (first, second), slope = _sides(cell)
    survey = survey_of([YES_NO], cell.epsilon)
    sources = [Source(survey, np.array([p, 1 - p])) for p in (first, second)]

    def judge(one: Reports, other: Reports) -> Outcome:
        table = pd.DataFrame({"half": np.repeat([0.0, 1.0], [one.n, other.n])})
        bits = np.vstack([one.bits, other.bits])
        return interval(slope, lambda: _slope("a ~ half", "half", table, bits, survey))

    return Scene([(source, cell.n // 2) for source in sources], judge)


def _perturbed_predictor(cell: Cell) -> Scene:
    shares, slope = _sides(cell)
    joint = np.array([[p / 2, (1 - p) / 2] for p in shares[::-1]]).T
    source = Source(survey_of([YES_NO, YES_NO], cell.epsilon), joint)  # axes a (outcome), b (predictor), yes first
    return Scene([(source, cell.n)], lambda one: interval(slope, lambda: _slope("a ~ b", "b", None, one.bits, source.survey)))


class _Limits:
    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high


def _slope(formula: str, name: str, table: pd.DataFrame | None, bits: NDArray[np.bool_], survey: Survey) -> _Limits:
    limits = regress(formula, table, perturbed(survey, bits)).conf_int()
    low, high = limits[[name in str(term) for term in limits.index]].to_numpy()[0]
    return _Limits(float(low), float(high))


def lines() -> Iterator[Line]:
    """Every line of whole reports."""
    yield Line("weighted share", ("weighted_shares",), ALONE, partial(_weighted, False), dear=2)
    yield Line("weighted mean", ("weighted_mean",), ALONE, partial(_weighted, True), dear=2)
    models = ("regress", "Analysis.regress")
    yield Line("logit slope of a public predictor", models, MODELS, _public_predictor, dear=3)
    yield Line("logit slope of a perturbed predictor", models, MODELS, _perturbed_predictor, dear=3)
