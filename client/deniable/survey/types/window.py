"""How many levels and how wide a window a number has, where its author names none: a table by epsilon.

Of windows with 12 to 33 outputs, those here have a worst-case variance of the mean within 6% of the least, up to epsilon 4 with 12 outputs:
more would add little there, and every output is a bit of each record. `make bench NAME=number_means ARGS=--sizes` finds them again.
"""

from __future__ import annotations

from bisect import bisect_right

_SIZES = (  # from this epsilon on: outputs, of them in a window
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
    """Returns the number of levels and the window's width for this privacy loss."""
    _, outputs, window = _SIZES[bisect_right(_SIZES, epsilon, key=lambda row: row[0]) - 1]
    return outputs - window + 1, window
