"""Measurement of one cell of the atlas, and the bounds beyond which it fails."""

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
    """One simulated setting of a figure.

    Attributes:
        epsilon: The epsilon of a question.
        sizes: The number of reports of each group.
        rare: Whether hardly anyone gives the answer.
    """

    epsilon: float
    sizes: tuple[int, ...]
    rare: bool

    @property
    def n(self) -> int:
        return self.sizes[0]


class Outcome(NamedTuple):
    """The outcome of one survey.

    Attributes:
        holds: Whether the interval holds the truth, or the test is silent.
        remark: "", "warned" or "refused".
        width: The width of the interval; nan for a test.
    """

    holds: bool
    remark: str = ""
    width: float = math.nan


class Limits(NamedTuple):
    """Limits alone, without the remarks of a row, such as that an estimate is below 0 by chance."""

    low: float | None
    high: float | None


class Scene(NamedTuple):
    """The source of a cell's surveys, and the judgement of one.

    Attributes:
        parts: The sources, each with its number of reports.
        judge: Returns the outcome of one survey, from the reports of each part.
        fixed: Whether each survey has the same people, whose shares are the truth.
    """

    parts: Sequence[tuple[Source, int]]
    judge: Callable[..., Outcome]
    fixed: bool = False


@dataclass(frozen=True)
class Line:
    """A figure, measured in several cells.

    Attributes:
        figure: Its name on the page.
        names: The public names that it measures.
        cells: Its cells.
        scene: Returns the scene of a cell.
        claim: EXACT or APPROXIMATE.
        test: Whether it is a test, whose claim is REJECTS.
        cost: The factor by which fewer surveys are drawn, since each takes long.
    """

    figure: str
    names: tuple[str, ...]
    cells: tuple[Cell, ...]
    scene: Callable[[Cell], Scene]
    claim: float = APPROXIMATE
    test: bool = False
    cost: int = 1

    def claim_of(self, cell: Cell) -> float:
        """Returns the claim in a cell: limits for large n are not exact."""
        return self.claim if max(cell.sizes) <= EXACT_UP_TO else APPROXIMATE


class Result(NamedTuple):
    """The result of one cell, as parts of its surveys.

    Attributes:
        cell: The cell.
        holds: Surveys that hold the truth, among those with a figure; nan if none has one.
        misled: Surveys that are wrong without a warning.
        warned: Surveys with a warning.
        refused: Surveys that refuse the figure.
        flat: Surveys with an interval of no width, without a warning.
        surveys: The number of surveys; 0 where all outcomes were enumerated.
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
        """Returns whether more surveys mislead than claimed, beyond the error of the simulation, or an interval has no width."""
        most = REJECTS[1] if line.test else 1 - line.claim_of(self.cell)
        return self.misled > most + ERRORS * self.error + _SAME or self.flat > 0

    def is_careful(self, line: Line) -> bool:
        """Returns whether a test rejects less often than it may: valid, but weak."""
        return line.test and self.misled < REJECTS[0] - ERRORS * self.error


def measure(line: Line, cell: Cell, surveys: int, seed: int = 1) -> Result:
    """Measures a cell: enumerates all outcomes if they are few, else draws surveys. Equal outcomes are judged once."""
    scene, number = line.scene(cell), max(20, surveys // line.cost)
    own = zlib.crc32(f"{line.figure} {cell}".encode())  # separate draws for each cell, the same in every run
    outcomes, weights, drawn = _outcomes(scene, number, np.random.default_rng([seed, own]))
    results = [scene.judge(*(Reports(source, counts) for (source, _), counts in zip(scene.parts, one, strict=True))) for one in outcomes]
    weights = weights / weights.sum()
    holds, width = np.array([one.holds for one in results]), np.array([one.width for one in results])
    warned, refused = (np.array([one.remark == word for one in results]) for word in ("warned", "refused"))
    silent_part, with_figure = ~(warned | refused), float(weights @ ~refused)
    return Result(
        cell,
        holds=float(weights @ (holds & ~refused)) / with_figure if with_figure > 0 else math.nan,
        misled=float(weights @ (~holds & silent_part)),
        warned=float(weights @ warned),
        refused=float(weights @ refused),
        flat=float(weights @ (silent_part & (width <= 0))),
        surveys=drawn,
    )


def _outcomes(scene: Scene, surveys: int, rng: np.random.Generator) -> tuple[list[tuple[Any, ...]], Floats, int]:
    """Returns the counts of each part's reports, their weights, and the number of surveys drawn."""
    if all(len(source.bits) == 2 for source, _ in scene.parts):
        every = [source.of_one_bit(n, scene.fixed) for source, n in scene.parts]
        if math.prod(len(counts) for counts, _ in every) <= 2 * surveys:
            first = [[np.array([one, n - one]) for one in counts] for (counts, _), (_, n) in zip(every, scene.parts, strict=True)]
            return list(product(*first)), np.array([math.prod(some) for some in product(*(chances for _, chances in every))]), 0
    parts = [source.draw(n, surveys, rng, scene.fixed) for source, n in scene.parts]
    distinct, times = np.unique(np.hstack(parts), axis=0, return_counts=True)
    ends = np.cumsum([part.shape[1] for part in parts])[:-1]
    return [tuple(np.split(row, ends)) for row in distinct], times.astype(np.float64), surveys


def interval(truth: float, make: Callable[[], Any]) -> Outcome:
    """Judges an estimate with limits and perhaps a warning."""
    return together([(truth, make)])


def together(figures: Iterable[tuple[float, Callable[[], Any]]]) -> Outcome:
    """Judges several estimates that must all hold; the width is the narrowest."""
    holds, remark, width = True, "", math.inf
    for truth, make in figures:
        try:
            one = make()
        except EstimateError:
            return Outcome(True, "refused")
        if one is None or one.low is None:
            return Outcome(True, "refused")
        holds &= bool(one.low - _SAME <= truth <= one.high + _SAME)
        remark, width = "warned" if getattr(one, "warning", "") else remark, min(width, float(one.high - one.low))
    return Outcome(holds, remark, width)


def silent(make: Callable[[], Any]) -> Outcome:
    """Judges a test at 5%."""
    try:
        one = make()
    except EstimateError:
        return Outcome(True, "refused")
    return Outcome(one.p_value >= 0.05, "warned" if one.warning else "")
