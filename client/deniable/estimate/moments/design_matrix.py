"""Any design as a matrix: P[i, j] = P(report i | true answer j), shape (k, k) or, one per respondent, (n, k, k).

A column is what happens to one true answer, so columns add to 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError

_Floats = NDArray[np.float64]

MAX_CONDITION = 1e6
"""Of a design's matrix: beyond, the noise grows so much that no survey has enough respondents."""

_ROUNDING = 1e-6  # of a column's sum, where probabilities are written with few digits


def checked_matrix(matrix: Any, k: int | None = None) -> _Floats:
    """The matrix as floats. Raises EstimateError unless it is square, of probabilities, its columns add to 1, and it can be inverted.

    matrix: shape (k, k), or (n, k, k) for one per respondent. k: the number of categories it must have.
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
            "the design's matrix must tell the true answers apart: its condition number must be "
            f"at most {MAX_CONDITION:g}, got {condition:g}"
        )
    return result
