"""Root finding. scipy's optimizers take as long to load as the rest of the estimator's imports, so they are loaded on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

XTOL = 2e-12


def root(function: Callable[..., Any], low: float, high: float, *, args: tuple[Any, ...] = (), xtol: float = XTOL) -> float:
    """Returns an x from low to high at which `function(x, *args)` is 0, to within xtol, by Brent's method (1973).

    Raises:
        ValueError: The function has the same sign at both ends.
    """
    from scipy.optimize import brentq

    return float(brentq(function, low, high, args=args, xtol=xtol))
