"""Design matrix of any randomization: P[i, j] = P(report i | true answer j), shape (k, k) or, one per respondent, (n, k, k).

A column holds the probabilities for one true answer, so columns add to 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray

MAX_CONDITION = 1e6
"""Of a design's matrix: beyond, the noise grows so much that no survey has enough respondents."""

_ROUNDING = 1e-6  # of a column's sum, where probabilities are written with few digits


def checked_matrix(matrix: Any, k: int | None = None) -> FloatArray:
    """Returns the matrix as floats.

    Args:
        matrix: Shape (k, k), or (n, k, k) for one per respondent.
        k: The number of categories that it must have.

    Raises:
        EstimateError: The matrix is not square, has other numbers than probabilities, has a column that does not add to 1, or cannot be
            inverted.
    """
    try:
        result = np.asarray(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise EstimateError("the design's matrix must be numbers in rows of equal length") from None
    if result.ndim not in (2, 3) or result.shape[-1] != result.shape[-2] or result.shape[-1] < 2 or not result.size:
        raise EstimateError(f"the design's matrix must have as many rows as columns, 2 or more, got shape {result.shape}")
    if k is not None and result.shape[-1] != k:
        raise EstimateError(f"the design's matrix must have {k} rows and columns, one per category, got {result.shape[-1]}")
    if not ((result >= 0) & (result <= 1)).all():
        raise EstimateError("the design's matrix must hold probabilities from 0 to 1")
    sums = result.sum(axis=-2)
    if np.abs(sums - 1).max() > _ROUNDING:
        worst = sums.flat[np.abs(sums - 1).argmax()]
        raise EstimateError(f"the columns of the design's matrix, P(report | true answer), must add to 1, got {worst:g}")
    condition = float(np.max(np.linalg.cond(result)))
    if not condition <= MAX_CONDITION:
        raise EstimateError(
            f"the design's matrix must separate the true answers: its condition number must be at most {MAX_CONDITION:g}, got {condition:g}"
        )
    return result
