"""What is asked of a cell, how it is measured, and when it fails."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from benchmarks.atlas.source import Floats, Reports, Source

from deniable.errors import EstimateError
from deniable.estimate.limits.proportion import EXACT_UP_TO

EXACT, APPROXIMATE = 0.95, 0.93
"""How often an interval must hold the truth at least, or say that it may not."""
REJECTS = (0.03, 0.07)
"""How often a test of what is true should reject it."""
ERRORS = 2  # standard errors of the simulation that a cell may be beyond its bound

_SAME = 1e-9  # of a limit and a truth that are one number


@dataclass(frozen=True)
class Cell:
    """epsilon: of a question. sizes: reports of each group. rare: whether hardly anybody gives the answer."""

    epsilon: float
    sizes: tuple[int, ...]
    rare: bool

    @property
    def n(self) -> int:
        return self.sizes[0]


class Outcome(NamedTuple):
    """What one survey says. holds: the interval holds the truth, or the test is silent. said: "", "warned" or "refused"."""

    holds: bool
    said: str = ""
    width: float = math.nan


class Limits(NamedTuple):
    """Limits alone, without the remarks of a row, such as that an estimate is below 0 by chance."""

    low: float | None
    high: float | None


class Scene(NamedTuple):
    """Where a cell's surveys come from, and what is said of one. fixed: the same people in each survey, whose own shares are the truth."""

    parts: Sequence[tuple[Source, int]]
    judge: Callable[..., Outcome]
    fixed: bool = False


@dataclass(frozen=True)
class Line:
    """A figure. of: the public names it stands for. claim: EXACT or APPROXIMATE; test: whether it is a test, whose claim is REJECTS.

    scene: of a cell. dear: how many times fewer surveys are drawn, since each takes long.
    """

    figure: str
    of: tuple[str, ...]
    cells: tuple[Cell, ...]
    scene: Callable[[Cell], Scene]
    claim: float = APPROXIMATE
    test: bool = False
    dear: int = 1

    def claim_of(self, cell: Cell) -> float:
        """What is claimed of a cell: limits for large n are no exact ones."""
        return self.claim if max(cell.sizes) <= EXACT_UP_TO else APPROXIMATE


class Measured(NamedTuple):
    """Parts of the surveys of one cell. holds: of those that give a figure, nan where none does. misled: that are wrong and do not say so.

    warned, refused; flat: intervals of no width that do not say so. surveys: how many were drawn, 0 where all were enumerated.
    """

    cell: Cell
    holds: float
    misled: float
    warned: float
    refused: float
    flat: float
    surveys: int

    @property
    def error(self) -> float:
        """The standard error of the simulation, of `misled`; 0 where it is exact."""
        return math.sqrt(self.misled * (1 - self.misled) / self.surveys) if self.surveys else 0.0

    def fails(self, line: Line) -> bool:
        """Whether more surveys mislead than the line claims, beyond what the simulation may err; or an interval has no width."""
        most = REJECTS[1] if line.test else 1 - line.claim_of(self.cell)
        return self.misled > most + ERRORS * self.error + _SAME or self.flat > 0

    def is_careful(self, line: Line) -> bool:
        """Whether a test rejects more seldom than it should: never wrong, but weak."""
        return line.test and self.misled < REJECTS[0] - ERRORS * self.error


def measured(line: Line, cell: Cell, surveys: int, seed: int = 1) -> Measured:
    """Enumerates all outcomes where they are not many more than `surveys`, else draws so many. Alike outcomes are judged once."""
    scene, few = line.scene(cell), max(20, surveys // line.dear)
    own = zlib.crc32(f"{line.figure} {cell}".encode())  # each cell has draws of its own, the same in every run
    outcomes, weights, drawn = _outcomes(scene, few, np.random.default_rng([seed, own]))
    found = [scene.judge(*(Reports(source, counts) for (source, _), counts in zip(scene.parts, one, strict=True))) for one in outcomes]
    weights = weights / weights.sum()
    holds, width = np.array([one.holds for one in found]), np.array([one.width for one in found])
    warned, refused = (np.array([one.said == word for one in found]) for word in ("warned", "refused"))
    unsaid, given = ~(warned | refused), float(weights @ ~refused)
    return Measured(
        cell,
        holds=float(weights @ (holds & ~refused)) / given if given > 0 else math.nan,
        misled=float(weights @ (~holds & unsaid)),
        warned=float(weights @ warned),
        refused=float(weights @ refused),
        flat=float(weights @ (unsaid & (width <= 0))),
        surveys=drawn,
    )


def _outcomes(scene: Scene, surveys: int, rng: np.random.Generator) -> tuple[list[tuple[Any, ...]], Floats, int]:
    """Counts of each part's reports, their weights, and how many surveys were drawn."""
    if all(len(source.bits) == 2 for source, _ in scene.parts):
        every = [source.of_one_bit(n, scene.fixed) for source, n in scene.parts]
        if math.prod(len(counts) for counts, _ in every) <= 2 * surveys:
            first = [[np.array([one, n - one]) for one in counts] for (counts, _), (_, n) in zip(every, scene.parts, strict=True)]
            return list(product(*first)), np.array([math.prod(some) for some in product(*(chances for _, chances in every))]), 0
    parts = [source.drawn(n, surveys, rng, scene.fixed) for source, n in scene.parts]
    distinct, times = np.unique(np.hstack(parts), axis=0, return_counts=True)
    ends = np.cumsum([part.shape[1] for part in parts])[:-1]
    return [tuple(np.split(row, ends)) for row in distinct], times.astype(np.float64), surveys


def interval(truth: float, make: Callable[[], Any]) -> Outcome:
    """Of an estimate with limits and perhaps a warning."""
    return together([(truth, make)])


def together(figures: Iterable[tuple[float, Callable[[], Any]]]) -> Outcome:
    """Of several estimates that must all hold; the narrowest width."""
    holds, said, width = True, "", math.inf
    for truth, make in figures:
        try:
            one = make()
        except EstimateError:
            return Outcome(True, "refused")
        if one is None or one.low is None:
            return Outcome(True, "refused")
        holds &= bool(one.low - _SAME <= truth <= one.high + _SAME)
        said, width = "warned" if getattr(one, "warning", "") else said, min(width, float(one.high - one.low))
    return Outcome(holds, said, width)


def silent(make: Callable[[], Any]) -> Outcome:
    """Of a test at 5%."""
    try:
        one = make()
    except EstimateError:
        return Outcome(True, "refused")
    return Outcome(one.p_value >= 0.05, "warned" if one.warning else "")
