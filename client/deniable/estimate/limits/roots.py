"""Where a function is 0. scipy's optimizers take as long to load as all else that estimates need, so they come when one is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

XTOL = 2e-12


def root(function: Callable[..., Any], low: float, high: float, *, args: tuple[Any, ...] = (), xtol: float = XTOL) -> float:
    """Where `function(x, *args)` is 0, for x from low to high, to within xtol, by Brent's method (1973).

    Raises ValueError where the function has the same sign at both ends.
    """
    from scipy.optimize import brentq

    return float(brentq(function, low, high, args=args, xtol=xtol))
