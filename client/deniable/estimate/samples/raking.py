"""Raking (calibration): factors that weight reports to known margins, and the residuals that the margins do not explain.

Each cell (a group, and if a question's shares are known one of its answers) has a mass, and lies in one class of each
margin. W. Deming and F. Stephan, Ann. Math. Stat. 11 (1940); errors: J.-C. Deville and C.-E. Sarndal, J. Am. Stat. Assoc. 87 (1992). With
one margin that is post-stratification.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray

_ROUNDS = 2000
_CLOSE = 1e-13  # of the largest change of a factor in a round


@dataclass(frozen=True)
class Margin:
    """One known margin.

    Attributes:
        classes: The class of each cell, shape (cells,).
        shares: The shares of the classes, adding to 1.
        names: The names of the classes.
    """

    name: str
    classes: NDArray[np.intp]
    shares: FloatArray
    names: Sequence[str]

    def among(self, cells: NDArray[np.bool_]) -> Margin:
        """Returns the same margin over some of the cells."""
        return replace(self, classes=self.classes[cells])


def factors(mass: FloatArray, margins: Sequence[Margin]) -> FloatArray:
    """Returns the factor of each cell's mass, shape (cells,), that gives every margin its shares and keeps the total mass.

    Masses may be negative, as estimates of rare cells are, but not the mass of a whole class.

    Raises:
        EstimateError: A class has no mass, or no factors fit all margins.
    """
    result, total = np.ones(len(mass)), mass.sum()
    for _ in range(_ROUNDS if margins else 0):
        before = result.copy()
        for margin in margins:
            have = np.bincount(margin.classes, mass * result, len(margin.shares))
            if have.min() <= 0:
                name = margin.names[int(have.argmin())]
                raise EstimateError(f"sample: margins need reports of {name} of {margin.name}; got none, or too few")
            result *= (margin.shares * total / have)[margin.classes]
        if np.abs(result / before - 1).max() < _CLOSE:
            break
    else:
        if margins:
            raise EstimateError("sample: no weights give the reports all of these margins at once")
    return result


def explained(mass: FloatArray, sums: FloatArray, margins: Sequence[Margin]) -> FloatArray:
    """Returns the part of each cell's mean that the margins explain: a regression on the classes, by the masses before raking.

    sums: of the explained values, over the mass of each cell, shape (cells, m); so is the result.
    """
    classes = [np.eye(len(margin.shares))[margin.classes] for margin in margins] or [np.ones((len(mass), 1))]
    indicators = np.concatenate(classes, axis=1)
    slopes = np.linalg.pinv(indicators.T @ (indicators * mass[:, None]), rcond=1e-10, hermitian=True) @ (indicators.T @ sums)
    return np.asarray(indicators @ slopes)
