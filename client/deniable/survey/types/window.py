"""Default number of levels and width of the window of a number: a table by epsilon.

Among windows with 12 to 33 outputs, these have a worst-case variance of the mean within 6% of the least. Up to epsilon 4 they have 12
outputs: more would add little, and every output is a bit of each record. `make bench NAME=number_means ARGS=--sizes` recomputes them.
"""

from __future__ import annotations

from bisect import bisect_right

_SIZES = (  # least epsilon, number of outputs, outputs in a window
    (0.0, 12, 6),
    (1.7, 12, 4),
    (3.4, 12, 3),
    (4.1, 16, 4),
    (4.7, 16, 3),
    (5.3, 19, 3),
    (5.9, 22, 3),
    (6.4, 25, 3),
    (7.1, 28, 3),
    (7.9, 32, 2),
    (9.8, 33, 1),
)


def best_window(epsilon: float) -> tuple[int, int]:
    """Returns the number of levels and the width of the window for a privacy loss."""
    _, outputs, window = _SIZES[bisect_right(_SIZES, epsilon, key=lambda row: row[0]) - 1]
    return outputs - window + 1, window
