"""Shares that could be true: not below 0, adding to 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def adjusted(ones: NDArray[np.int64], n: int, phi: float, theta: float) -> NDArray[np.float64]:
    """The shares of one question's k categories, shape (k,), from all k counts of set bits."""
    estimate = (ones / n - phi) / (theta - phi)
    falling = np.sort(estimate)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(falling) + 1)
    level = excess[np.flatnonzero(falling > excess)[-1]]
    return np.maximum(estimate - level, 0.0)
