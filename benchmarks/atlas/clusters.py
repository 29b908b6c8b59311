"""Lines of samples: clinics that were drawn, of one size and of many, where people of one clinic are alike.

The log odds of an answer are normal about a middle, with a standard deviation of 0.7 between clinics; the truth is the mean of all clinics
there could be. New clinics for each survey.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
from benchmarks.atlas.cell import Cell, Line, Outcome, Scene, interval, silent
from benchmarks.atlas.grid import EPSILONS
from benchmarks.atlas.one_question import YES_NO
from benchmarks.atlas.source import Counts, Floats, Reports, Source, survey_of

from deniable.estimate import Sample
from deniable.estimate.limits.interval import Interval
from deniable.estimate.samples.sampled_reports import SampledReports
from deniable.estimate.tables import conditional_share, independence, sampled
from deniable.wire.tally import Tally

CLINICS = ((100,) * 20, tuple(range(20, 220, 10)), (20,) * 10, (40,) * 50, (300, *(20,) * 19), (1_000, *(20,) * 19))
"""Sizes of the clinics of one sample: alike, unequal, few and small, many, one that is nearly half of it, and one that is most of it."""
SPREAD = 0.7
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(60)

CELLS = tuple(Cell(epsilon, sizes, rare) for rare in (True, False) for epsilon in EPSILONS for sizes in CLINICS)


class Clinics(Source):
    """Clinics whose people say yes to both questions at the clinic's rate, or to each at another one (`apart`).

    middle: of the log odds, of all clinics or of each; spread: their standard deviation.
    """

    def __init__(self, epsilon: float, sizes: tuple[int, ...], middle: float | Floats, spread: float = SPREAD, apart: bool = False) -> None:
        self.names = [f"Clinic {number}" for number in range(1, len(sizes) + 1)]
        super().__init__(survey_of([YES_NO, YES_NO], epsilon, groups=self.names), np.full((2, 2), 0.25))
        self.sizes, self.middle, self.spread, self._apart = sizes, middle, spread, apart

    @classmethod
    def of(cls, cell: Cell, apart: bool = False) -> Clinics:
        """Returns the clinics of a cell."""
        return cls(cell.epsilon, cell.sizes, -3.0 if cell.rare else -1.0, apart=apart)

    def draw(self, n: int, surveys: int, rng: np.random.Generator, fixed: bool) -> Counts:
        """Draws the reports of all clinics side by side, shape (surveys, clinics x 4)."""
        rates = odds(self.middle + self.spread * rng.standard_normal((2, surveys, len(self.sizes))))
        one, other = rates if self._apart else (rates[0], rates[0])
        cells = np.stack([one * other, one * (1 - other), (1 - one) * other, (1 - one) * (1 - other)], axis=-1)
        chances = cells @ self.chances
        return np.asarray(rng.multinomial(np.array(self.sizes), chances / chances.sum(axis=-1, keepdims=True)).reshape(surveys, -1))

    def mean(self, power: int) -> float:
        """Returns the mean of a power of the clinics' rates, over all possible clinics."""
        return mean_rate(float(self.middle), self.spread, power)

    def tallies(self, counts: Counts) -> dict[str, Tally]:
        """Returns the tally of each clinic."""
        rows = zip(self.names, counts.reshape(len(self.names), -1), strict=True)
        return {name: Reports(self, row).tally for name, row in rows}


def odds(logit: Floats) -> Floats:
    """Returns the rates with these log odds."""
    return np.asarray(1 / (1 + np.exp(-logit)))


def mean_rate(middle: float, spread: float, power: int) -> float:
    """Returns the mean of a power of rates whose log odds are normal."""
    return float(odds(middle + spread * _NODES) ** power @ _WEIGHTS / _WEIGHTS.sum())


def _drawn(source: Clinics, tallies: Mapping[str, Tally]) -> SampledReports:
    return SampledReports(source.survey, tallies, Sample(clusters="group"))


def _figure(figure: Callable[[SampledReports], object], truth: Callable[[Clinics], float], cell: Cell) -> Scene:
    source = Clinics.of(cell)

    def judge(one: Reports) -> Outcome:
        return interval(truth(source), lambda: figure(_drawn(source, source.tallies(one.counts))))

    return Scene([(source, sum(cell.sizes))], judge)


def _independent(cell: Cell) -> Scene:
    source = Clinics.of(cell, apart=True)

    def judge(one: Reports) -> Outcome:
        return silent(lambda: independence(sampled.table(_drawn(source, source.tallies(one.counts)), "a", "b", Interval())))

    return Scene([(source, sum(cell.sizes))], judge)


def _arms(cell: Cell) -> Scene:
    """Every second clinic against the others."""
    source = Clinics.of(cell)

    def judge(one: Reports) -> Outcome:
        tallies = source.tallies(one.counts)
        first, second = ({name: tallies[name] for name in source.names[start::2]} for start in (0, 1))
        return interval(0.0, lambda: sampled.compare(_drawn(source, first), _drawn(source, second), "a", Interval()).differences[0])

    return Scene([(source, sum(cell.sizes))], judge)


def lines() -> Iterator[Line]:
    """Yields every line of a sample of clusters."""

    def line(name: str, figure: Callable[[SampledReports], object], truth: Callable[[Clinics], float]) -> Line:
        return Line(name, ("Sample", "Analysis.sampled_reports"), CELLS, partial(_figure, figure, truth), cost=3)

    yield line("clusters: share", lambda d: sampled.shares(d, d.survey.items[0], Interval())[0], lambda s: s.mean(1))
    yield line("clusters: mean", lambda d: sampled.mean(d, "a", [1.0, 0.0], Interval()), lambda s: s.mean(1))
    yield line("clusters: cell", lambda d: _cell(d), lambda s: s.mean(2))
    yield line("clusters: share among some", lambda d: _among(d), lambda s: s.mean(2) / s.mean(1))
    yield Line("clusters: difference of two arms", ("Sample",), CELLS, _arms, cost=3)
    yield Line("clusters: test of independence", ("Sample",), CELLS, _independent, test=True, cost=3)


def _cell(reports: SampledReports) -> object:
    return sampled.table(reports, "a", "b", Interval()).share({"a": "yes", "b": "yes"})


def _among(reports: SampledReports) -> object:
    return conditional_share(sampled.table(reports, "a", "b", Interval()), {"a": "yes"}, {"b": "yes"})
