"""Cells that lines share, and the true shares of answers in them."""

from __future__ import annotations

import numpy as np
from benchmarks.atlas.cell import Cell
from benchmarks.atlas.source import Floats

EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
SIZES = (20, 50, 200, 1_000, 50_000)
GROUPS = ((20, 20), (200, 20), (1_000, 50), (1_000, 1_000), (50_000, 200), (50_000, 50_000))
RARE, COMMON = 0.02, 0.3
"""The share of people who give an answer."""

ALONE = tuple(Cell(epsilon, (n,), rare) for rare in (True, False) for epsilon in EPSILONS for n in SIZES)
PAIRS = tuple(Cell(epsilon, sizes, rare) for rare in (True, False) for epsilon in EPSILONS for sizes in GROUPS)


def share(cell: Cell) -> float:
    """Returns the share of yes."""
    return RARE if cell.rare else COMMON


def scale(cell: Cell) -> Floats:
    """Returns the shares of five options in order; a rare one is the last, far from all others."""
    return np.array([0.95, 0.03, 0.0, 0.0, 0.02]) if cell.rare else np.array([0.1, 0.25, 0.3, 0.2, 0.15])


def two(cell: Cell) -> Floats:
    """Returns the joint shares of two associated yes/no questions, shape (2, 2)."""
    return np.array([[0.02, 0.08], [0.08, 0.82]]) if cell.rare else np.array([[0.2, 0.1], [0.2, 0.5]])


def apart(cell: Cell, k: int) -> Floats:
    """Returns the joint shares of two independent questions of k options, shape (k, k)."""
    margin = {2: np.array([share(cell), 1 - share(cell)]), 3: np.array([0.9, 0.06, 0.04]) if cell.rare else np.array([0.3, 0.3, 0.4])}.get(
        k
    )
    if margin is None:
        margin = np.array([0.9, 0.04, 0.03, 0.02, 0.01]) if cell.rare else scale(cell)
    return np.outer(margin, margin)
