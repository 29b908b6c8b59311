"""Lines of reports that were collected by hand, with the classic designs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from benchmarks.atlas.cell import EXACT, Cell, Limits, Line, Outcome, Scene, interval, silent
from benchmarks.atlas.grid import ALONE, apart, share, two
from benchmarks.atlas.source import Floats, Reports, Source, whole

from deniable.estimate import collected
from deniable.estimate.designs import (
    CategoryDesign,
    Design,
    RowDesigns,
    category_shares,
    collected_mean,
    collected_pair,
    forced_response,
    independent_answers,
    matrix_design,
)

_LABELS = ("never", "once", "often")


class _Design(Source):
    """A source whose reports are the columns of a design's matrix P[reported, true]."""

    def __init__(self, matrix: Floats, shares: Floats) -> None:
        self.chances, self.shares, self.bits = matrix.T, shares, np.eye(len(matrix), dtype=np.int64)


def _limits(row: Any) -> Limits:
    return Limits(row.low, row.high)


def _forced(epsilon: float) -> Design:
    """A die that forces both answers alike, so often that a report gives away epsilon."""
    part = 1 / (1 + math.exp(epsilon))
    return forced_response(part, part)


def _forced_response(target: str, cell: Cell) -> Scene:
    design, shares = _forced(cell.epsilon), np.array([share(cell), 1 - share(cell)])
    source, fixed = _Design(np.array([[design.q1, design.q0], [1 - design.q1, 1 - design.q0]]), shares), target == "respondents"
    truth = whole(cell.n, shares)[0] / cell.n if fixed else share(cell)

    def judge(one: Reports) -> Outcome:
        answers = np.repeat([1, 0], one.counts)
        return interval(truth, lambda: _limits(collected(answers, design, target=target).rows[0]))

    return Scene([(source, cell.n)], judge, fixed)


def _neighbours(cell: Cell) -> CategoryDesign:
    """Three options in order: the nearer a report to the answer, the likelier it is."""
    away = np.abs(np.subtract.outer(range(3), range(3)))
    odds = np.exp(cell.epsilon * (1 - away / 2))
    return matrix_design(_LABELS, odds / odds.sum(axis=0))


def _categories(cell: Cell) -> Scene:
    """The share of those who say "often"."""
    design, p = _neighbours(cell), np.array([0.9, 0.08, 0.02]) if cell.rare else np.array([0.3, 0.4, 0.3])
    source = _Design(np.asarray(design.matrix), p)

    def judge(one: Reports) -> Outcome:
        return interval(float(p[2]), lambda: _limits(collected(np.repeat(_LABELS, one.counts), design).rows[2]))

    return Scene([(source, cell.n)], judge)


def _by_row(cell: Cell) -> Scene:
    """Half of the people have a die that hides more."""
    designs = [_forced(cell.epsilon), _forced(cell.epsilon / 2)]
    shares = np.array([share(cell), 1 - share(cell)])
    sources = [_Design(np.array([[one.q1, one.q0], [1 - one.q1, 1 - one.q0]]), shares) for one in designs]

    def judge(one: Reports, other: Reports) -> Outcome:
        answers = np.concatenate([np.repeat([1, 0], part.counts) for part in (one, other)])
        rows = RowDesigns(*(np.repeat([getattr(design, q) for design in designs], [one.n, other.n]) for q in ("q0", "q1")))
        return interval(share(cell), lambda: _limits(collected(answers, rows).rows[0]))

    return Scene([(source, cell.n // 2) for source in sources], judge)


def _category_shares(cell: Cell) -> Scene:
    """Its covariance, as Wald's interval of the most frequent of three."""
    design, p = _neighbours(cell), np.array([0.3, 0.4, 0.3])
    source = _Design(np.asarray(design.matrix), p)

    def judge(one: Reports) -> Outcome:
        estimates, covariance = category_shares(one.counts, design.matrix)
        half = 1.96 * math.sqrt(covariance[1, 1])
        return Outcome(bool(abs(estimates[1] - p[1]) <= half), width=2 * half)

    return Scene([(source, cell.n)], judge)


def _mean(cell: Cell) -> Scene:
    """Scores 1, 2, 3 of the three options."""
    design, p, scores = _neighbours(cell), np.array([0.9, 0.08, 0.02]) if cell.rare else np.array([0.3, 0.4, 0.3]), np.arange(1.0, 4.0)
    source = _Design(np.asarray(design.matrix), p)

    def judge(one: Reports) -> Outcome:
        return interval(float(p @ scores), lambda: collected_mean(np.repeat(_LABELS, one.counts), design, scores))

    return Scene([(source, cell.n)], judge)


def _two(cell: Cell, shares: Floats) -> tuple[Design, _Design]:
    """Two yes/no questions, each with a die of its own: yes yes, yes no, no yes, no no."""
    design = _forced(cell.epsilon)
    one = np.array([[design.q1, design.q0], [1 - design.q1, 1 - design.q0]])
    return design, _Design(np.kron(one, one), shares.ravel())


def _answers(one: Reports, design: Design) -> list[tuple[Any, Design]]:
    return [(np.repeat(reported, one.counts), design) for reported in ([1, 1, 0, 0], [1, 0, 1, 0])]


def _pair(cell: Cell) -> Scene:
    """The share of those who would say yes to both."""
    design, source = _two(cell, two(cell))

    def judge(one: Reports) -> Outcome:
        return interval(float(two(cell)[0, 0]), lambda: _limits(collected_pair(*_answers(one, design)).rows[0]))

    return Scene([(source, cell.n)], judge)


def _independent(cell: Cell) -> Scene:
    design, source = _two(cell, apart(cell, 2))
    return Scene([(source, cell.n)], lambda one: silent(lambda: independent_answers(*_answers(one, design))))


def lines() -> Iterator[Line]:
    """Yields every line of reports collected by hand."""
    large = tuple(cell for cell in ALONE if cell.n >= 200 and not cell.rare)
    yield Line("by hand: share", ("collected",), ALONE, lambda cell: _forced_response("population", cell), EXACT, cost=2)
    yield Line(
        "by hand: share of the respondents", ("collected",), ALONE, lambda cell: _forced_response("respondents", cell), EXACT, cost=4
    )
    yield Line("by hand: share of one of three, any matrix", ("collected",), ALONE, _categories, cost=2)
    yield Line("by hand: share, designs that vary by row", ("collected",), ALONE, _by_row, cost=4)
    yield Line("by hand: mean", ("collected_mean",), ALONE, _mean, cost=2)
    yield Line("by hand: pair of answers", ("collected_pair",), ALONE, _pair, cost=8)
    yield Line("by hand: test of independence", ("independent_answers",), ALONE, _independent, test=True, cost=4)
    yield Line("by hand: errors of shares, any matrix", ("category_shares",), large, _category_shares)
