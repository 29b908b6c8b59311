"""Lines that need the reports themselves: weights and models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd
from benchmarks.atlas.cell import Cell, Limits, Line, Outcome, Scene, interval
from benchmarks.atlas.grid import ALONE, EPSILONS, scale, share
from benchmarks.atlas.one_question import FIVE, YES_NO
from benchmarks.atlas.source import Floats, Reports, Source, survey_of
from numpy.typing import NDArray

from deniable.estimate import regress
from deniable.estimate.regression import perturbed
from deniable.estimate.tables import weighted_mean, weighted_shares
from deniable.survey import Survey

MODELS = tuple(Cell(epsilon, (n,), rare) for rare in (True, False) for epsilon in EPSILONS for n in (50, 200, 1_000, 10_000))

_TWO, _UNEVEN = ((1.0, 5), (4.0, 5)), ((1.0, 6), (4.0, 3), (16.0, 1))
"""Weights, and of how many tenths of the people; the latter are worth a third of as many of one weight, as log-normal ones with sd 1."""


def _weighted(of_mean: bool, weights: Sequence[tuple[float, int]], cell: Cell) -> Scene:
    """People who answer alike. weights: each, and the tenths of them who have it."""
    question, shares = (FIVE, scale(cell)) if of_mean else (YES_NO, np.array([share(cell), 1 - share(cell)]))
    source = Source(survey_of([question], cell.epsilon), shares)
    scores = np.arange(1, 6)

    def judge(*parts: Reports) -> Outcome:
        bits, each = np.vstack([part.bits for part in parts]), np.repeat([weight for weight, _ in weights], [part.n for part in parts])
        if of_mean:
            return interval(float(shares @ scores), lambda: weighted_mean(source.survey, bits, each, "a", scores))
        return interval(share(cell), lambda: weighted_shares(source.survey, bits, each, "a").shares[0])

    return Scene([(source, cell.n * tenths // 10) for _, tenths in weights], judge)


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


def _slope(formula: str, name: str, table: pd.DataFrame | None, bits: NDArray[np.bool_], survey: Survey) -> Limits:
    limits = regress(formula, table, perturbed(survey, bits)).conf_int()
    low, high = limits[[name in str(term) for term in limits.index]].to_numpy()[0]
    return Limits(float(low), float(high))


def lines() -> Iterator[Line]:
    """Yields every line of whole reports."""
    for name, weights in (("", _TWO), (", very uneven weights", _UNEVEN)):
        yield Line(f"weighted share{name}", ("weighted_shares",), ALONE, partial(_weighted, False, weights), cost=2)
        yield Line(f"weighted mean{name}", ("weighted_mean",), ALONE, partial(_weighted, True, weights), cost=2)
    models = ("regress", "Analysis.regress")
    yield Line("logit slope of a public predictor", models, MODELS, _public_predictor, cost=3)
    yield Line("logit slope of a perturbed predictor", models, MODELS, _perturbed_predictor, cost=3)
