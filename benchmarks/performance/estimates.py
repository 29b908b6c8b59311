"""The estimates of many questions, once counted: in a process that has computed nothing like it, and again."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from benchmarks.performance.coins import yes_no
from benchmarks.performance.line import Line

from deniable.estimate import analyse
from deniable.wire.tally import Tally


def seconds(questions: int, n: int, again: bool, rng: np.random.Generator) -> float:
    """The processor's time for the estimates of a new tally, or of the same one a second time."""
    survey = yes_no(questions)
    ones = rng.integers(n // 3, n // 2, questions)
    pairs = np.minimum.outer(ones, ones)
    for _ in range(1 + again):
        begun = time.process_time()
        _ = analyse(survey, Tally(n, pairs)).results.rows
        spent = time.process_time() - begun
    return spent


def lines(quick: bool) -> Iterator[Line]:
    size, rng = 100 if quick else 500, np.random.default_rng(time.monotonic_ns())
    for again, most in ((False, 1.5), (True, 0.05)):
        yield Line(
            f"estimates of {size} questions at n = 10,000, {'again' if again else 'once'}",
            "<= 1",
            lambda again=again: seconds(size, 10_000, again, rng),  # type: ignore[misc]
            most * size / 500,
            f"{most * size / 500:g} s",
            "s",
            rounds=3,
        )
